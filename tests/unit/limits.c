/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The limit of areas at each call, as measured on 6.18: the highest count at which it still works.
 * And the other limits.
 */
#include "tests/unit/space.h"

#define MAX 100

/* A space with @count areas: five pages at BASE, the others single pages far above. */
static struct seam_space *filled(uint64_t count)
{
	struct seam_space_options options = space_options("linux-6.18.44");
	struct seam_space *space;

	options.max_areas = UINT64_MAX;
	space = space_new(&options);
	map(space, 0, 5, RW, 0);
	for (uint64_t i = 1; i < count; i++)
		map(space, 100 + 2 * i, 1, RW, 0);
	seam_space_set_limit(space, SEAM_LIMIT_AREAS, MAX);
	return space;
}

static int do_mmap(struct seam_space *space)
{
	return map(space, 50, 1, RW, 0);
}

static int do_mmap_joining(struct seam_space *space)
{
	return map(space, 5, 1, RW, 0);
}

static int do_mmap_over(struct seam_space *space)
{
	return map(space, 0, 5, RW, 0);
}

static int do_mprotect_edge(struct seam_space *space)
{
	return protect(space, 0, 2, R);
}

static int do_mprotect_middle(struct seam_space *space)
{
	return protect(space, 2, 1, R);
}

static int do_madvise_edge(struct seam_space *space)
{
	int err = seam_space_madvise(space, AT(0), PAGE, SEAM_MADV_DONTDUMP);

	return err == -SEAM_EAGAIN ? -SEAM_ENOMEM : err;
}

static int do_mlock_edge(struct seam_space *space)
{
	return seam_space_mlock(space, AT(0), PAGE, 0);
}

static int do_munmap_middle(struct seam_space *space)
{
	return unmap(space, 2, 1);
}

static int do_munmap_edge(struct seam_space *space)
{
	return unmap(space, 3, 5);
}

static int do_mremap_maymove(struct seam_space *space)
{
	return remap(space, 0, 4, 5, SEAM_MREMAP_MAYMOVE, 0);
}

static int do_mremap_fixed(struct seam_space *space)
{
	return remap(space, 0, 5, 5, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 20);
}

static int do_mremap_dontunmap(struct seam_space *space)
{
	return remap(space, 0, 5, 5, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_DONTUNMAP, 20);
}

static int do_mremap_in_place(struct seam_space *space)
{
	return remap(space, 0, 5, 6, 0, 0);
}

static int do_mremap_shrink(struct seam_space *space)
{
	return remap(space, 0, 4, 3, 0, 0);
}

static int do_fork(struct seam_space *space)
{
	struct seam_space *child;
	int err = seam_space_fork(space, &child);

	if (!err)
		seam_space_destroy(child);
	return err;
}

static void areas(void)
{
	static const struct {
		const char *what;
		int (*call)(struct seam_space *space);
		uint64_t last; /* 0: at any count */
	} rows[] = {
		{ "mmap", do_mmap, MAX },
		{ "mmap that joins", do_mmap_joining, MAX },
		{ "mmap over an area", do_mmap_over, MAX },
		{ "mprotect, one cut", do_mprotect_edge, MAX - 1 },
		{ "mprotect, two cuts", do_mprotect_middle, MAX - 2 },
		{ "madvise, one cut", do_madvise_edge, MAX - 1 },
		{ "mlock, one cut", do_mlock_edge, MAX - 1 },
		{ "munmap of the middle", do_munmap_middle, MAX - 1 },
		{ "munmap of an edge", do_munmap_edge, 0 },
		{ "mremap MAYMOVE", do_mremap_maymove, MAX - 4 },
		{ "mremap FIXED", do_mremap_fixed, MAX - 6 },
		{ "mremap DONTUNMAP", do_mremap_dontunmap, MAX - 6 },
		{ "mremap in place", do_mremap_in_place, 0 },
		{ "mremap that cuts out", do_mremap_shrink, MAX - 1 },
		{ "fork", do_fork, 0 },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t last = 0;

		for (uint64_t count = MAX - 10; count <= MAX + 1; count++) {
			struct seam_space *space = filled(count);
			int err = rows[i].call(space);

			if (err && err != -SEAM_ENOMEM)
				last = 1;
			else if (!err)
				last = count;
			seam_space_destroy(space);
		}
		ok(last == (rows[i].last ? rows[i].last : MAX + 1), "%s: works up to %llu",
		   rows[i].what, (unsigned long long)last);
	}
}

/* The first of two cuts stays, and nothing heals it. */
static void half_cut(void)
{
	struct seam_space *space = filled(MAX - 1);

	ok(do_mprotect_middle(space) == -SEAM_ENOMEM, "no room for the second cut");
	seam_space_set_limit(space, SEAM_LIMIT_AREAS, 65530);
	unmap(space, 100, 1000);
	holds(space, 0, "0-2rw 2-5rw", "the first is left behind");
	protect(space, 0, 5, RW);
	holds(space, 0, "0-2rw 2-5rw", "a call that changes nothing does not heal it");
	seam_space_destroy(space);
}

static void bytes(void)
{
	struct seam_space_options options = space_options("linux-6.18.44");
	struct seam_space *space;

	options.limit_as = 10 * PAGE;
	options.limit_data = 6 * PAGE;
	options.limit_memlock = 4 * PAGE;
	options.may = 0;
	space = space_new(&options);
	ok(map(space, 0, 7, RW, 0) == -SEAM_ENOMEM, "RLIMIT_DATA");
	ok(!map(space, 0, 6, RW, 0), "just within");
	ok(map(space, 10, 5, R, 0) == -SEAM_ENOMEM, "RLIMIT_AS");
	ok(!map(space, 0, 6, R, 0), "what is replaced does not count");
	ok(map(space, 0, 5, R, SEAM_MAP_LOCKED) == -SEAM_EAGAIN, "RLIMIT_MEMLOCK");
	ok(remap(space, 0, 6, 11, SEAM_MREMAP_MAYMOVE, 0) == -SEAM_ENOMEM, "mremap: RLIMIT_AS");
	ok(!map(space, 0, 4, R, SEAM_MAP_LOCKED), "just within");
	ok(remap(space, 0, 4, 5, SEAM_MREMAP_MAYMOVE, 0) == -SEAM_EAGAIN, "mremap: RLIMIT_MEMLOCK");
	seam_space_set_limit(space, SEAM_LIMIT_MEMLOCK, 0);
	ok(map(space, 6, 1, R, SEAM_MAP_LOCKED) == -SEAM_EPERM, "no locking at all");
	seam_space_destroy(space);
}

static void committed(void)
{
	struct seam_space_options options = space_options("linux-6.18.44");
	struct seam_space *space;

	options.commit_limit_pages = 100;
	space = space_new(&options);
	ok(map(space, 0, 101, RW, 0) == -SEAM_ENOMEM, "more at once than there is");
	ok(!map(space, 0, 101, RW, SEAM_MAP_NORESERVE), "not reserved");
	ok(!map(space, 0, 101, NONE, 0), "not writable");
	ok(protect(space, 0, 101, RW) == -SEAM_ENOMEM, "made writable");
	ok(map(space, 200, 101, RW, SEAM_MAP_SHARED | SEAM_MAP_ANONYMOUS) == -SEAM_ENOMEM,
	   "an object of shared memory");
	ok(!map(space, 200, 100, RW, 0) && !map(space, 400, 100, RW, 0), "together more");
	seam_space_destroy(space);

	options.overcommit = 1;
	space = space_new(&options);
	ok(!map(space, 0, 101, RW, 0), "mode 1: always");
	seam_space_destroy(space);

	options.overcommit = 2;
	space = space_new(&options);
	ok(!map(space, 0, 60, RW, 0), "mode 2: within");
	ok(map(space, 100, 60, RW, SEAM_MAP_NORESERVE) == -SEAM_ENOMEM, "together more");
	ok(!unmap(space, 0, 30) && !map(space, 100, 60, RW, 0), "given back");
	ok(!remap(space, 100, 60, 60, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 200) &&
		   !unmap(space, 0, 300) && !map(space, 0, 99, RW, 0),
	   "a move charges nothing");
	ok(map(space, 100, 1, RW, 0) == -SEAM_ENOMEM, "exactly");
	seam_space_destroy(space);
}

int main(void)
{
	areas();
	half_cut();
	bytes();
	committed();
	ok(!strcmp(seam_version(), "libseam " SEAM_VERSION), "the version is that of the build");
	return tap_done();
}
