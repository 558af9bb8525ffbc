/* SPDX-License-Identifier: BSD-2-Clause */
/* Page faults: which anon_vma, and how stacks grow. */
#include "tests/unit/space.h"

static void choice(void)
{
	struct seam_space *space = space_of("linux-6.18.44");

	map(space, 0, 1, RW, 0);
	map(space, 1, 1, R, 0);
	map(space, 2, 1, RW, 0);
	ok(!seam_space_touch(space, AT(0), 3 * PAGE, 0, NULL), "read");
	holds(space, 0, "0-1rw 1-2r- 2-3rw", "reading makes nothing anonymous");
	touch(space, 2, 1);
	touch(space, 0, 1);
	holds(space, 0, "0-1rw:1 1-2r- 2-3rw:2", "only direct neighbours count");
	protect(space, 1, 1, RW | SEAM_PROT_EXEC);
	touch(space, 1, 1);
	holds(space, 0, "0-1rw:1 1-2rwx:2 2-3rw:2", "the next one's first");
	unmap(space, 2, 1);
	map(space, 2, 1, NONE, 0);
	protect(space, 2, 1, SEAM_PROT_WRITE);
	touch(space, 2, 1);
	holds(space, 0, "0-1rw:1 1-2rwx:2 2-3-w:2", "else the one before");
	map(space, 3, 1, RW, SEAM_MAP_NORESERVE);
	touch(space, 3, 1);
	holds(space, 0, "0-1rw:1 1-2rwx:2 2-3-w:2 3-4rwN:3", "not where other flags differ");
	seam_space_destroy(space);
}

static void refused(void)
{
	struct seam_space *space = space_of("linux-6.18.44");
	uint64_t done = 0;

	map(space, 0, 2, RW, 0);
	map(space, 2, 1, R, 0);
	ok(seam_space_touch(space, AT(0), 4 * PAGE, 1, &done) == -SEAM_EFAULT && done == AT(2),
	   "writing stops where it is not allowed");
	ok(seam_space_touch(space, AT(0), 4 * PAGE, 0, &done) == -SEAM_EFAULT && done == AT(3),
	   "reading stops where nothing is");
	ok(!seam_space_touch(space, AT(1) + 5, PAGE, 0, &done) && done == AT(3),
	   "every page of a range");
	map(space, 8, 2, RW, SEAM_MAP_SHARED | SEAM_MAP_ANONYMOUS);
	remap(space, 8, 2, 4, 0, 0);
	ok(seam_space_touch(space, AT(8), 4 * PAGE, 1, &done) == -SEAM_EFAULT && done == AT(10),
	   "shared memory that grew has no pages there");
	holds(space, 0, "0-2rw:1 2-3r- 8-12rws", "the map");
	seam_space_destroy(space);
}

static void growing(void)
{
	struct seam_space_options options = space_options("linux-6.18.44");
	struct seam_space *space;

	options.limit_stack = 16 * PAGE;
	space = space_new(&options);
	map(space, 1000, 4, RW, SEAM_MAP_GROWSDOWN);
	ok(!seam_space_touch(space, AT(995), PAGE, 0, NULL), "below a stack");
	holds(space, 0, "995-1004rwG:1", "it grew, and is anonymous now");
	ok(touch(space, 987, 1) == -SEAM_EFAULT, "beyond RLIMIT_STACK");
	seam_space_set_limit(space, SEAM_LIMIT_STACK, SEAM_NO_LIMIT);
	map(space, 980, 2, R, 0);
	ok(touch(space, 990, 1) == -SEAM_EFAULT, "too near to other memory");
	map(space, 980, 2, NONE, 0);
	ok(!touch(space, 982, 1), "a guard may be near");
	holds(space, 0, "980-982-- 982-1004rwG:1", "they touch");
	seam_space_destroy(space);
}

static void populate(void)
{
	struct seam_space *space = space_of("linux-6.18.44");

	map(space, 0, 1, RW, SEAM_MAP_POPULATE);
	map(space, 2, 1, R, SEAM_MAP_POPULATE);
	map(space, 4, 1, NONE, SEAM_MAP_LOCKED);
	map(space, 6, 1, RW, SEAM_MAP_POPULATE | SEAM_MAP_NONBLOCK);
	holds(space, 0, "0-1rw:1 2-3r- 4-5--L 6-7rw", "writable memory is brought in by writing");
	seam_space_destroy(space);
}

int main(void)
{
	choice();
	refused();
	growing();
	populate();
	return tap_done();
}
