/* SPDX-License-Identifier: BSD-2-Clause */
/* What a child gets, and what may join in it. */
#include "tests/unit/space.h"

static struct seam_space *child_of(struct seam_space *parent)
{
	struct seam_space *child;

	if (seam_space_fork(parent, &child))
		exit(1);
	return child;
}

static void inherited(void)
{
	struct seam_space *parent = space_of("linux-6.18.44"), *child, *grandchild;

	map(parent, 0, 2, RW, 0);
	touch(parent, 0, 2);
	map(parent, 4, 1, RW, SEAM_MAP_LOCKED);
	map(parent, 6, 1, RW, 0);
	seam_space_madvise(parent, AT(6), PAGE, SEAM_MADV_DONTFORK);
	map(parent, 8, 1, RW, 0);
	touch(parent, 8, 1);
	seam_space_madvise(parent, AT(8), PAGE, SEAM_MADV_WIPEONFORK);
	map(parent, 10, 1, RW, 0);
	child = child_of(parent);
	holds(parent, 0, "0-2rw:1 4-5rwL:2 6-7rwC 8-9rwW:3 10-11rw", "the parent");
	holds(child, 0, "0-2rw:1f 4-5rw:2f 8-9rwW 10-11rw", "the child");

	map(child, 2, 1, RW, 0);
	map(child, 11, 1, RW, 0);
	holds(child, 0, "0-2rw:1f 2-3rw 4-5rw:2f 8-9rwW 10-12rw",
	      "joins only what was not touched");
	touch(child, 2, 1);
	holds(child, 0, "0-2rw:1f 2-3rw:2 4-5rw:3f 8-9rwW 10-12rw", "shares no inherited anon_vma");
	protect(child, 0, 1, R);
	protect(child, 0, 1, RW);
	holds(child, 0, "0-2rw:1f 2-3rw:2 4-5rw:3f 8-9rwW 10-12rw", "its own pieces do join");
	map(parent, 2, 1, RW, 0);
	holds(parent, 0, "0-3rw:1 4-5rwL:2 6-7rwC 8-9rwW:3 10-11rw", "and so does the parent");
	grandchild = child_of(child);
	holds(grandchild, 0, "0-2rw:1f 2-3rw:2f 4-5rw:3f 8-9rwW 10-12rw", "a grandchild");
	seam_space_destroy(child);
	seam_space_destroy(grandchild);
	holds(parent, 0, "0-3rw:1 4-5rwL:2 6-7rwC 8-9rwW:3 10-11rw", "the parent in the end");
	seam_space_destroy(parent);
}

/* An inherited area that grows is no copy: it joins unfaulted memory above (6.16 -). */
static void grows(void)
{
	struct seam_space *parent = space_of("linux-6.18.44"), *child;

	map(parent, 0, 2, RW, 0);
	touch(parent, 0, 2);
	child = child_of(parent);
	map(child, 3, 1, RW, 0);
	ok(!remap(child, 0, 2, 3, 0, 0), "grows in place");
	holds(child, 0, "0-4rw:1f", "and joins");
	seam_space_destroy(child);
	seam_space_destroy(parent);
}

/* The set that the parent made last is left out: its number is another's in the child. */
static void left_out(void)
{
	struct seam_space *parent = space_of("linux-6.18.44"), *child;

	map(parent, 0, 1, RW, 0);
	map(parent, 2, 1, RW, 0);
	seam_space_madvise(parent, AT(2), PAGE, SEAM_MADV_DONTFORK);
	child = child_of(parent);
	holds(child, 0, "0-1rw", "a child without the last set");
	seam_space_madvise(child, AT(0), PAGE, SEAM_MADV_DONTFORK);
	map(child, 4, 1, R, 0);
	map(child, 6, 1, R, SEAM_MAP_NORESERVE);
	holds(child, 0, "0-1rwC 4-5r- 6-7r-N", "which it makes anew");
	seam_space_destroy(child);
	seam_space_destroy(parent);
}

/* The limit of areas is not looked at; the charge is. */
static void limits(void)
{
	struct seam_space_options options = space_options("linux-6.18.44");
	struct seam_space *parent, *child;

	options.max_areas = 1;
	parent = space_new(&options);
	map(parent, 0, 1, RW, 0);
	map(parent, 2, 1, RW, 0);
	child = child_of(parent);
	holds(child, 0, "0-1rw 2-3rw", "over the limit of areas");
	seam_space_destroy(child);
	seam_space_destroy(parent);

	options = space_options("linux-6.18.44");
	options.overcommit = 2;
	options.commit_limit_pages = 3000;
	parent = space_new(&options);
	map(parent, 0, 1500, RW, 0);
	ok(seam_space_fork(parent, &child) == -SEAM_ENOMEM, "no more to be charged");
	holds(parent, 0, "0-1500rw", "the parent lives on");
	seam_space_destroy(parent);
}

/* 100 generations: an anon_vma that nobody uses is taken again, the chain stays short. */
static void generations(void)
{
	struct seam_space *space = space_of("linux-6.18.44"), *child;
	struct seam_area area;

	map(space, 0, 1, RW, 0);
	touch(space, 0, 1);
	for (int i = 0; i < 100; i++) {
		child = child_of(space);
		seam_space_destroy(space);
		space = child;
	}
	seam_area_find(space, 0, &area);
	ok(area.anon_chain > 1 && area.anon_chain < 5, "chain of %u", area.anon_chain);
	holds(space, 0, "0-1rw:1f", "a hundred generations");
	seam_space_destroy(space);
}

/* A snapshot of a member keeps the counts of its relatives' areas, and is whole all the same. */
static void snapshot_of_member(void)
{
	struct seam_space *parent = space_of("linux-6.18.44"), *child, *copy;

	map(parent, 0, 1, RW, 0);
	touch(parent, 0, 1);
	child = child_of(parent);
	ok(!seam_space_snapshot(child, &copy) && !seam_space_check(copy),
	   "a snapshot of a child passes the check");
	seam_space_destroy(parent);
	seam_space_destroy(child);
	seam_space_munmap(copy, AT(0), PAGE);
	ok(!seam_space_check(copy), "also when its relatives are gone");
	seam_space_destroy(copy);
}

/* A set that the fork made (locks are dropped) goes with its last area, as any other does. */
static void sets_of_child(void)
{
	struct seam_space *parent = space_of("linux-6.18.44"), *child;

	map(parent, 0, 1, RW, SEAM_MAP_LOCKED);
	child = child_of(parent);
	map(child, 4, 1, RW, 0);
	seam_space_munmap(child, AT(0), 5 * PAGE);
	ok(!seam_space_check(child), "a set that the fork made is given up with its last area");
	seam_space_destroy(parent);
	seam_space_destroy(child);
}

int main(void)
{
	inherited();
	grows();
	left_out();
	limits();
	generations();
	snapshot_of_member();
	sets_of_child();
	return tap_done();
}
