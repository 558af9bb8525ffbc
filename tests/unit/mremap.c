/* SPDX-License-Identifier: BSD-2-Clause */
/* mremap: shrinking, growing, moving; what joins, what stays behind, which errors. */
#include "tests/unit/space.h"

#define MAYMOVE SEAM_MREMAP_MAYMOVE
#define TO (SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED)
#define COPY (SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED | SEAM_MREMAP_DONTUNMAP)

static void in_place(void)
{
	struct seam_space *space = space_of("linux-6.18.44");
	struct seam_stats stats;

	map(space, 0, 4, RW, 0);
	touch(space, 0, 4);
	ok(!remap(space, 1, 3, 3, 0, 0), "the same size");
	ok(!remap(space, 1, 3, 2, 0, 0), "smaller");
	ok(!remap(space, 1, 2, 5, 0, 0), "larger");
	holds(space, 0, "0-6rw:1", "in place");
	map(space, 8, 1, RW, 0);
	ok(!remap(space, 0, 6, 8, 0, 0), "up to the next");
	holds(space, 0, "0-9rw:1", "joins it");
	seam_space_get_stats(space, &stats);
	ok(stats.join_tries == 3 && stats.joins == 3, "itself and the next are compared");
	map(space, 9, 1, R, 0);
	ok(remap(space, 0, 9, 10, 0, 0) == -SEAM_ENOMEM, "no room, may not move");
	ok(remap(space, 0, 8, 10, 0, 0) == -SEAM_ENOMEM, "not to the end of the area");
	ok(!remap(space, 0, 12, 1, 0, 0), "the tail may lie over other areas");
	holds(space, 0, "0-1rw:1", "and over holes");
	seam_space_destroy(space);

	space = space_of("linux-5.10");
	map(space, 0, 2, RW, 0);
	map(space, 3, 1, RW, 0);
	remap(space, 0, 2, 3, 0, 0);
	holds(space, 0, "0-3rw 3-4rw", "5.10 does not join what lies above");
	seam_space_destroy(space);
}

static void moved(void)
{
	struct seam_space *space = space_of("linux-6.18.44");

	map(space, 0, 2, RW, 0);
	map(space, 20, 2, RW, 0);
	ok(!remap(space, 0, 2, 2, TO, 22), "unfaulted memory, beside other");
	holds(space, 0, "20-24rw", "is numbered anew, and joins");
	touch(space, 20, 1);
	map(space, 0, 2, RW, 0);
	touch(space, 0, 2);
	ok(!remap(space, 0, 2, 2, TO, 24), "touched memory");
	holds(space, 0, "20-24rw:1 24-26rw:2", "keeps its numbers");
	ok(!remap(space, 25, 1, 1, TO, 1) && !remap(space, 24, 1, 1, TO, 0), "back home");
	holds(space, 0, "0-2rw:1 20-24rw:2", "is one again");
	ok(!remap(space, 21, 2, 2, TO, 40), "out of the middle");
	holds(space, 0, "0-2rw:1 20-21rw:2 23-24rw:2 40-42rw:2", "the rest stays");
	ok(!remap(space, 0, 2, 4, MAYMOVE, 0), "larger, with room");
	map(space, 4, 1, R, 0);
	ok(!remap(space, 0, 4, 6, MAYMOVE, 0), "larger, without");
	unmap(space, 4, 1);
	ok(seam_space_areas(space) == 4, "it went elsewhere");
	seam_space_destroy(space);
}

static void dontunmap(void)
{
	static const struct {
		const char *policy, *beside, *part, *between, *locked;
	} rows[] = {
		{ "linux-5.10", "0-4rwA", "0-6rwA", "0-5rwA", "0-6rwA:1 10-12rwLA:1" },
		{ "linux-6.1.192", "0-2rwA 2-4rwA", "0-4rwA 4-6rwA", "0-2rwA 2-4rwA 4-5rwA",
		  "0-2rwLA:1 2-4rwA 4-6rwLA:1 10-12rwLA:1" },
		{ "linux-6.12.118", "0-2rwA 2-4rwA", "0-4rwA 4-6rwA", "0-2rwA 2-5rwA",
		  "0-2rwLA:1 2-4rwA 4-6rwLA:1 10-12rwLA:1" },
		{ "linux-6.16", "0-4rw", "0-6rw", "0-5rw", "0-6rw:1 10-12rwLA:1" },
		{ "linux-6.18.44", "0-4rwA", "0-6rwA", "0-5rwA", "0-6rwA:1 10-12rwLA:1" },
		{ "linux-7.3", "0-2rwA 2-4rwA", "0-4rwA 4-6rwA", "0-2rwA 2-5rwA",
		  "0-2rwLA:1 2-4rwA 4-6rwLA:1 10-12rwLA:1" },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seam_space *space = space_of(rows[i].policy);

		map(space, 0, 2, RW, 0);
		remap(space, 0, 2, 2, COPY, 2);
		holds(space, SHOW_ACCOUNT, rows[i].beside, "a copy of unfaulted memory beside it");
		unmap(space, 0, 9);
		map(space, 0, 4, RW, 0);
		remap(space, 1, 2, 2, COPY, 4);
		holds(space, SHOW_ACCOUNT, rows[i].part, "a copy of a part");
		unmap(space, 0, 9);
		map(space, 0, 2, RW, 0);
		map(space, 4, 1, RW, 0);
		remap(space, 0, 2, 2, COPY, 2);
		holds(space, SHOW_ACCOUNT, rows[i].between,
		      "a copy between its source and another");
		unmap(space, 0, 9);
		map(space, 0, 6, RW, SEAM_MAP_LOCKED);
		remap(space, 2, 2, 2, COPY, 10);
		holds(space, SHOW_ACCOUNT, rows[i].locked, "a copy of a locked part");
		seam_space_destroy(space);
	}

	struct seam_space *space = space_of("linux-6.18.44");

	map(space, 0, 2, RW, SEAM_MAP_LOCKED);
	remap(space, 0, 2, 2, COPY, 10);
	holds(space, 0, "0-2rw 10-12rwL:1", "the source is unlocked, and as if never touched");
	map(space, 20, 4, RW, SEAM_MAP_LOCKED);
	remap(space, 20, 2, 2, COPY, 30);
	holds(space, 0, "0-2rw 10-12rwL:1 20-24rw:2 30-32rwL:2",
	      "of a part: all of it is unlocked");
	seam_space_destroy(space);
}

/* Moved memory, touched, keeps its old numbers; what is left of it all since 7.2 does not. */
static void left_behind(void)
{
	for (int i = 0; i < 2; i++) {
		struct seam_space *space = space_of(i ? "linux-7.2" : "linux-7.1");

		map(space, 0, 2, RW, 0);
		touch(space, 0, 2);
		remap(space, 0, 2, 2, TO, 30);
		remap(space, 30, 2, 2, COPY, 50);
		map(space, 32, 1, RW, 0);
		holds(space, 0, i ? "30-33rw 50-52rw:1" : "30-32rw 32-33rw 50-52rw:1",
		      "what is left, and a new neighbour");
		seam_space_destroy(space);
	}
}

static void several(void)
{
	struct seam_space *space = space_of("linux-6.18.44");

	map(space, 0, 2, RW, 0);
	map(space, 3, 1, R, 0);
	map(space, 4, 2, RW, 0);
	ok(!remap(space, 1, 8, 8, TO, 21), "several areas, a gap at the end");
	holds(space, 0, "0-1rw 21-22rw 23-24r- 24-26rw", "the gaps are kept");
	ok(remap(space, 20, 4, 4, TO, 41) == -SEAM_EFAULT, "a gap at the start");
	seam_space_mseal(space, AT(23), PAGE, 0);
	ok(remap(space, 21, 5, 5, TO, 41) == -SEAM_EPERM, "a sealed one in between");
	holds(space, 0, "0-1rw 23-24r-S 24-26rw 41-42rw", "what came before it has moved");
	seam_space_destroy(space);

	space = space_of("linux-6.16");
	map(space, 0, 2, RW, 0);
	map(space, 2, 2, R, 0);
	ok(remap(space, 0, 4, 4, TO, 20) == -SEAM_EFAULT, "up to 6.16 one area only");
	holds(space, 0, "0-2rw 2-4r-", "nothing moved");
	seam_space_destroy(space);
}

static void errors(void)
{
	struct seam_space *space = space_of("linux-6.18.44");

	map(space, 0, 4, RW, 0);
	map(space, 20, 1, R, 0);
	ok(remap(space, 0, 2, 2, 8, 0) == -SEAM_EINVAL, "an unknown flag");
	ok(remap(space, 0, 2, 0, 0, 0) == -SEAM_EINVAL, "to nothing");
	ok(remap(space, 0, 2, 2, SEAM_MREMAP_FIXED, 20) == -SEAM_EINVAL, "fixed, not moving");
	ok(remap(space, 0, 2, 2, TO, 1) == -SEAM_EINVAL, "onto itself");
	ok(remap(space, 0, 2, 3, COPY, 20) == -SEAM_EINVAL, "a copy of another size");
	ok(remap(space, 0, 0, 2, TO, 20) == -SEAM_EINVAL, "a duplicate of private memory");
	ok(remap(space, 2, 4, 6, TO, 20) == -SEAM_EFAULT, "past the end of the area");
	ok(remap(space, 9, 1, 1, 0, 0) == -SEAM_EFAULT, "where nothing is");
	holds(space, 0, "0-4rw 20-21r-", "nothing was done, the target neither");
	seam_space_destroy(space);

	space = space_of("linux-6.12");
	map(space, 0, 4, RW, 0);
	map(space, 20, 1, R, 0);
	ok(remap(space, 2, 4, 6, TO, 20) == -SEAM_EFAULT, "past the end of the area");
	holds(space, 0, "0-4rw", "up to 6.16 the target is gone all the same");
	ok(remap(space, 9, 1, 1, 0, 0) == -SEAM_EFAULT, "where nothing is");
	seam_space_destroy(space);

	space = space_of("linux-5.10");
	ok(!remap(space, 9, 1, 1, 0, 0), "up to 5.15 nobody looks");
	seam_space_destroy(space);

	space = space_of("linux-5.4");
	map(space, 0, 2, RW, 0);
	ok(remap(space, 0, 2, 2, COPY, 20) == -SEAM_EINVAL, "DONTUNMAP is not known before 5.7");
	seam_space_destroy(space);
}

static void duplicate(void)
{
	struct seam_space *space = space_of("linux-6.18.44");

	map(space, 0, 2, RW, SEAM_MAP_SHARED | SEAM_MAP_ANONYMOUS);
	ok(!remap(space, 0, 0, 2, TO, 2), "old length 0 of shared memory");
	holds(space, 0, "0-2rws 2-4rws", "a second view, whose offsets do not continue");
	ok(!remap(space, 1, 0, 1, TO, 20) && !remap(space, 0, 0, 1, TO, 19), "by pages");
	holds(space, 0, "0-2rws 2-4rws 19-21rws", "where they continue they join");
	seam_space_destroy(space);
}

/* Eight pages move as two; no more than five can be charged at once. */
static void given_up(void)
{
	for (int i = 0; i < 2; i++) {
		struct seam_space_options options = space_options(i ? "linux-6.16" : "linux-6.12");
		struct seam_space *space;
		int err;

		options.commit_limit_pages = 5;
		space = space_new(&options);
		map(space, 0, 8, NONE, 0);
		protect(space, 0, 4, RW);
		protect(space, 4, 4, RW);
		err = remap(space, 0, 8, 2, TO, 20);
		ok(err == (i ? -SEAM_ENOMEM : 0), "%s: what is given up is charged: %d",
		   i ? "6.16" : "6.12", err);
		seam_space_destroy(space);
	}
}

int main(void)
{
	in_place();
	moved();
	dontunmap();
	left_behind();
	several();
	errors();
	duplicate();
	given_up();
	return tap_done();
}
