/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the living kernels differ: the same calls under each, as kernels running answered them; and each
 * rule of each of them switched off, which one of these must notice.
 */
#include "tests/unit/space.h"

#define HUGE_PAGES 512
#define COMMIT_PAGES 1000
#define MOVE (SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED)

enum {
	V5_10,
	V5_10_251,
	V5_10_262,
	V6_1,
	V6_1_176,
	V6_1_192,
	V6_12,
	V6_12_117,
	V6_12_118,
	V6_16,
	V6_17,
	V6_18,
	V6_18_44,
	V6_19,
	V6_19_14,
	V7_0,
	V7_1,
	V7_2,
	V7_2_9,
	V7_2_13,
	V7_3,
	NR
};

static const char *const policies[NR] = {
	[V5_10] = "linux-5.10",		[V5_10_251] = "linux-5.10.251",
	[V5_10_262] = "linux-5.10.262", [V6_1] = "linux-6.1",
	[V6_1_176] = "linux-6.1.176",	[V6_1_192] = "linux-6.1.192",
	[V6_12] = "linux-6.12",		[V6_12_117] = "linux-6.12.117",
	[V6_12_118] = "linux-6.12.118", [V6_16] = "linux-6.16",
	[V6_17] = "linux-6.17",		[V6_18] = "linux-6.18.15",
	[V6_18_44] = "linux-6.18.44",	[V6_19] = "linux-6.19",
	[V6_19_14] = "linux-6.19.14",	[V7_0] = "linux-7.0",
	[V7_1] = "linux-7.1",		[V7_2] = "linux-7.2",
	[V7_2_9] = "linux-7.2.9",	[V7_2_13] = "linux-7.2.13",
	[V7_3] = "linux-7.3",
};

/* Never touched memory was writable once, and is beside memory that never was. */
static void accounting(struct seam_space *space)
{
	map(space, 0, 1, R, 0);
	map(space, 1, 1, RW, 0);
	protect(space, 1, 1, R);
}

static void accounting_touched(struct seam_space *space)
{
	map(space, 0, 1, R, 0);
	map(space, 1, 1, RW, 0);
	touch(space, 1, 1);
	protect(space, 1, 1, R);
}

static void touched_beside_untouched(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	map(space, 1, 1, R, 0);
	protect(space, 1, 1, RW | SEAM_PROT_EXEC);
	touch(space, 1, 1);
	protect(space, 1, 1, RW);
}

static void grown_to_the_next(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	map(space, 2, 1, RW, 0);
	remap(space, 0, 1, 2, 0, 0);
}

/* In place of a map that would be hard to read: one page for yes, two for no. */
static void say(struct seam_space *space, bool yes)
{
	seam_space_munmap(space, PAGE, UINT64_C(0x7ffffffff000) - PAGE);
	map(space, 0, yes ? 1 : 2, R, 0);
}

/* The guard flag lies on one side only. */
static void guarded(struct seam_space *space)
{
	map(space, 0, 2, RW, 0);
	touch(space, 0, 2);
	map(space, 4, 1, R, 0);
	seam_space_madvise(space, AT(0), PAGE, SEAM_MADV_GUARD_INSTALL);
	map(space, 2, 1, RW, 0);
}

/* The flag goes over to what joins. */
static void guard_told(struct seam_space *space)
{
	struct seam_area area = { 0 };

	guarded(space);
	seam_area_find(space, AT(2), &area);
	say(space, area.flags & SEAM_VM_MAYBE_GUARD);
}

static void on_fault(struct seam_space *space)
{
	map(space, 0, 1, NONE, 0);
	if (seam_space_mlock(space, AT(0), PAGE, SEAM_MLOCK_ONFAULT))
		map(space, 9, 1, NONE, 0);
}

static void several_moved(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	map(space, 1, 1, R, 0);
	remap(space, 0, 2, 2, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 10);
}

/*
 * Four pages may be locked: two are the source's, which stay counted but for 6.1.192, 6.12.117 and
 * 7.2; do those of its copy count?
 */
static void locked_copy(struct seam_space *space)
{
	map(space, 0, 2, RW, SEAM_MAP_LOCKED);
	remap(space, 0, 2, 2, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_DONTUNMAP, 10);
	map(space, 20, 2, NONE, 0);
	seam_space_set_limit(space, SEAM_LIMIT_MEMLOCK, 4 * PAGE);
	seam_space_mlock(space, AT(20), 2 * PAGE, 0);
}

static void copied_from_the_middle(struct seam_space *space)
{
	map(space, 0, 3, RW, 0);
	map(space, 4, 1, R, 0);
	remap(space, 1, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_DONTUNMAP | SEAM_MREMAP_FIXED, 10);
}

static void copied_beside(struct seam_space *space)
{
	map(space, 0, 3, RW, 0);
	map(space, 5, 1, R, 0);
	remap(space, 1, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_DONTUNMAP | SEAM_MREMAP_FIXED, 3);
}

/* The copy lies between its source and memory that it fits. */
static void copied_between(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	map(space, 2, 1, RW, 0);
	remap(space, 0, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_DONTUNMAP | SEAM_MREMAP_FIXED, 1);
}

/* Moved back home, between memory that nobody has touched. */
static void moved_beside_untouched(struct seam_space *space)
{
	map(space, 2, 1, RW, 0);
	touch(space, 2, 1);
	remap(space, 2, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 10);
	map(space, 1, 1, RW, 0);
	remap(space, 10, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 2);
}

static void populated_over_a_hole(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	map(space, 2, 1, RW, 0);
	seam_space_madvise(space, AT(0), 3 * PAGE, SEAM_MADV_POPULATE_WRITE);
}

/* Memory watched for writes too, then only for being missing: its upper half. */
static void registered_anew(struct seam_space *space)
{
	map(space, 0, 2, RW, 0);
	seam_space_uffd_register(space, AT(0), 2 * PAGE, 1, SEAM_VM_UFFD_WP);
	seam_space_uffd_register(space, AT(1), PAGE, 1, SEAM_VM_UFFD_MISSING);
}

static const struct seam_file file = { .id = 5, .traits = SEAM_FILE_READ | SEAM_FILE_WRITE };

static void offsets(struct seam_space *space)
{
	map_file(space, &file, 0, 1, RW, SEAM_MAP_SHARED, 0);
	map_file(space, &file, 1, 1, RW, SEAM_MAP_SHARED, 7);
}

/* Private memory of a file keeps what it was charged, touched or not. */
static void accounting_file(struct seam_space *space)
{
	map_file(space, &file, 0, 1, R, SEAM_MAP_PRIVATE, 0);
	map_file(space, &file, 1, 1, RW, SEAM_MAP_PRIVATE, 1);
	protect(space, 1, 1, R);
}

static void two_files(struct seam_space *space)
{
	static const struct seam_file other = { 6, SEAM_FILE_READ | SEAM_FILE_WRITE, 0 };

	map_file(space, &file, 0, 1, RW, SEAM_MAP_SHARED, 0);
	map_file(space, &other, 1, 1, RW, SEAM_MAP_SHARED, 1);
}

static void bound(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	seam_space_mbind(space, AT(0), PAGE, 3);
	map(space, 1, 1, RW, 0);
}

static void watched_by_two(struct seam_space *space)
{
	map(space, 0, 2, RW, 0);
	seam_space_uffd_register(space, AT(0), PAGE, 1, SEAM_VM_UFFD_MISSING);
	seam_space_uffd_register(space, AT(1), PAGE, 2, SEAM_VM_UFFD_MISSING);
}

/* The second begins within an area and ends where the first begins. */
static void watched_tail(struct seam_space *space)
{
	map(space, 0, 3, RW, 0);
	seam_space_uffd_register(space, AT(2), PAGE, 1, SEAM_VM_UFFD_MISSING);
	seam_space_uffd_register(space, AT(1), PAGE, 1, SEAM_VM_UFFD_MISSING);
}

static void named(struct seam_space *space)
{
	map(space, 0, 2, RW, 0);
	seam_space_set_name(space, AT(0), PAGE, 1);
	seam_space_set_name(space, AT(1), PAGE, 2);
}

static const struct seam_file driver = { 7, SEAM_FILE_READ | SEAM_FILE_WRITE | SEAM_FILE_CLOSE, 0 };

/* A border that moves, and a whole area that would vanish. */
static void closed(struct seam_space *space)
{
	map_file(space, &driver, 0, 3, RW, SEAM_MAP_SHARED, 0);
	protect(space, 0, 1, R);
	protect(space, 1, 1, R);
	protect(space, 2, 1, R);
}

/* Up to what would continue it. */
static void grown_of_a_driver(struct seam_space *space)
{
	map_file(space, &driver, 0, 1, RW, SEAM_MAP_SHARED, 0);
	map_file(space, &driver, 3, 1, RW, SEAM_MAP_SHARED, 3 * PAGE);
	remap(space, 0, 1, 3, 0, 0);
}

static void of_a_driver(struct seam_space *space)
{
	struct seam_area area = {
		.start = AT(0),
		.end = AT(2),
		.flags = SEAM_VM_READ | SEAM_VM_MAYREAD | SEAM_VM_PFNMAP,
		.file = 9,
	};

	seam_space_adopt(space, &area);
	protect(space, 0, 1, NONE);
	protect(space, 0, 1, R);
}

static void between_two(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	map(space, 2, 1, RW, 0);
	touch(space, 0, 1);
	touch(space, 2, 1);
	map(space, 1, 1, RW, 0);
}

static void cannot_be_charged(struct seam_space *space)
{
	map(space, 0, 2, R, 0);
	map(space, 1, 2 * COMMIT_PAGES, RW, 0);
}

static void heap_above_another(struct seam_space *space)
{
	uint64_t brk;

	map(space, 0, 1, RW, 0);
	seam_space_set_brk(space, AT(1), AT(1));
	seam_space_brk(space, AT(2), &brk);
}

static void for_a_stack(struct seam_space *space)
{
	map(space, 0, 1, RW, SEAM_MAP_STACK);
}

/* Whether so much lands on a huge page, when one page lies at the top. */
static bool lands_huge(struct seam_space *space, uint64_t pages, const struct seam_file *of)
{
	struct seam_mmap args = {
		.len = pages * PAGE,
		.prot = R,
		.flags = of ? SEAM_MAP_PRIVATE : ANON,
		.file = of,
	};
	uint64_t addr = 1;

	map_anywhere(space, 0, PAGE, 0);
	seam_space_mmap(space, &args, &addr);
	return !(addr % (HUGE_PAGES * PAGE));
}

static void large_file(struct seam_space *space)
{
	static const struct seam_file of = { 8, SEAM_FILE_READ | SEAM_FILE_THP_ALIGN, 0 };

	say(space, lands_huge(space, 2 * HUGE_PAGES, &of));
}

static void hinted_huge(struct seam_space *space)
{
	map_anywhere(space, AT(1), HUGE_PAGES * PAGE, SEAM_MAP_HUGETLB | SEAM_MAP_NORESERVE);
}

/* A hint in the first huge page of all: that is forbidden, or another place is found. */
static void hinted_low(struct seam_space *space)
{
	say(space, map_anywhere(space, 0x19b000, PAGE, SEAM_MAP_HUGETLB | SEAM_MAP_NORESERVE) ==
			   -SEAM_EPERM);
}

/* Right below what lies in the gap of a stack, or below the gap. */
static void in_a_gap(struct seam_space *space)
{
	uint64_t stack = (uint64_t)map_anywhere(space, 0, PAGE, SEAM_MAP_GROWSDOWN), found;

	map(space, (stack - BASE) / PAGE - 8, 1, R, 0);
	found = (uint64_t)map_anywhere(space, 0, PAGE, 0);
	say(space, stack - found <= 256 * PAGE);
}

static void dropped(struct seam_space *space)
{
	map(space, 0, 1, RW, SEAM_MAP_DROPPABLE | SEAM_MAP_ANONYMOUS);
}

static void dropped_watched(struct seam_space *space)
{
	dropped(space);
	seam_space_uffd_register(space, AT(0), PAGE, 1, SEAM_VM_UFFD_MISSING);
}

static void dropped_later_locked(struct seam_space *space)
{
	seam_space_mlockall(space, SEAM_MCL_FUTURE | SEAM_MCL_ONFAULT);
	dropped(space);
}

static void nothing_above_4g(struct seam_space *space)
{
	struct seam_mmap all = {
		.addr = UINT64_C(1) << 32,
		.len = UINT64_C(0x7ffffffff000) - (UINT64_C(1) << 32),
		.flags = ANON | FIXED,
	};
	uint64_t addr;

	seam_space_mmap(space, &all, &addr);
	say(space, map_anywhere(space, 0, PAGE, SEAM_MAP_ABOVE4G) > 0);
}

static void same_page_merging(struct seam_space *space)
{
	seam_space_set_memory_merge(space, 1);
	map(space, 0, 1, RW, 0);
	map(space, 1, 1, RW, 0);
}

static void kept_mapped(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	remap(space, 0, 1, 1, MOVE | SEAM_MREMAP_DONTUNMAP, 10);
	map_file(space, &file, 4, 1, RW, SEAM_MAP_SHARED, 0);
	remap(space, 4, 1, 1, MOVE | SEAM_MREMAP_DONTUNMAP, 12);
}

static void little_room(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	seam_space_set_limit(space, SEAM_LIMIT_AREAS, 5);
	remap(space, 0, 1, 1, MOVE, 10);
}

static void less_room(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	seam_space_set_limit(space, SEAM_LIMIT_AREAS, 4);
	remap(space, 0, 1, 2, 0, 0);
}

static void target_without_source(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	remap(space, 20, 1, 1, MOVE, 0);
}

static void no_source(struct seam_space *space)
{
	say(space, !remap(space, 20, 1, 1, 0, 0));
}

static void given_up(struct seam_space *space)
{
	map(space, 0, 600, RW, 0);
	map(space, 600, 600, RW, 0);
	remap(space, 0, 1200, 1, MOVE, 2000);
	say(space, !seam_space_mprotect(space, AT(2000), PAGE, R, -1));
}

static void unknown_advice(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	say(space, !seam_space_madvise(space, AT(0), PAGE, SEAM_MADV_POPULATE_READ));
}

static void older_advice(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	say(space, !seam_space_madvise(space, AT(0), PAGE, SEAM_MADV_COLD));
}

static void sealed(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	seam_space_mseal(space, AT(0), PAGE, 0);
}

/* What a call said, for a map to show. */
static void note(struct seam_space *space, bool it)
{
	if (it)
		map(space, 20, 1, NONE, 0);
}

/* Of four pages the second is sealed, then all; and so that the part behind what joined is not the last. */
static void sealed_twice(struct seam_space *space)
{
	map(space, 0, 4, RW, 0);
	seam_space_mseal(space, AT(1), PAGE, 0);
	seam_space_mseal(space, AT(0), 4 * PAGE, 0);
	map(space, 8, 8, RW, 0);
	seam_space_mseal(space, AT(9), PAGE, 0);
	seam_space_mseal(space, AT(11), PAGE, 0);
	seam_space_mseal(space, AT(8), 6 * PAGE, 0);
}

/* Below what mmap may reach by itself. */
static void watched_low(struct seam_space *space)
{
	const uint64_t low = 0xf000;
	struct seam_mmap args = { .addr = low, .len = PAGE, .prot = RW, .flags = ANON | FIXED };
	uint64_t addr;

	seam_space_mmap(space, &args, &addr);
	note(space, seam_space_uffd_register(space, low, PAGE, 1, SEAM_VM_UFFD_MISSING));
	seam_space_munmap(space, low, PAGE);
}

static void copied_watched(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	map(space, 8, 1, RW, 0);
	seam_space_uffd_register(space, AT(0), PAGE, 1, SEAM_VM_UFFD_MISSING);
	seam_space_uffd_register(space, AT(8), PAGE, 1, SEAM_VM_UFFD_MISSING);
	remap(space, 8, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 1);
}

/* Touched, moved, copied from there: what is left is untouched memory. */
static void left_behind(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	touch(space, 0, 1);
	remap(space, 0, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 8);
	remap(space, 8, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_DONTUNMAP | SEAM_MREMAP_FIXED, 16);
	map(space, 9, 1, RW, 0);
}

/* What a copy left is copied again, beside memory that nobody has touched. */
static void copied_twice(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	touch(space, 0, 1);
	remap(space, 0, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_DONTUNMAP | SEAM_MREMAP_FIXED, 8);
	map(space, 11, 1, RW, 0);
	remap(space, 0, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_DONTUNMAP | SEAM_MREMAP_FIXED, 10);
}

/* New memory over a part of a huge page. */
static void huge_page_pierced(struct seam_space *space)
{
	map(space, HUGE_PAGES, HUGE_PAGES, RW, SEAM_MAP_HUGETLB | SEAM_MAP_NORESERVE);
	say(space, map(space, HUGE_PAGES + 1, 1, RW, 0) == -SEAM_ENOMEM);
}

/* The same beyond RLIMIT_AS, from the middle of other memory on. */
static void huge_page_pierced_beyond(struct seam_space *space)
{
	uint64_t half = HUGE_PAGES / 2;

	map(space, 0, HUGE_PAGES, RW, 0);
	map(space, HUGE_PAGES, HUGE_PAGES, RW, SEAM_MAP_HUGETLB | SEAM_MAP_NORESERVE);
	seam_space_set_limit(space, SEAM_LIMIT_AS, PAGE);
	map(space, half, HUGE_PAGES, R, 0);
	seam_space_munmap(space, AT(HUGE_PAGES), HUGE_PAGES * PAGE);
}

/* The lower page of a file gets the anon_vma of the upper, which was moved since it was touched. */
static void file_moved(struct seam_space *space)
{
	map_file(space, &file, 0, 1, RW, SEAM_MAP_PRIVATE, 1);
	touch(space, 0, 1);
	remap(space, 0, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 9);
	map_file(space, &file, 8, 1, SEAM_PROT_WRITE, SEAM_MAP_PRIVATE, 0);
	touch(space, 8, 1);
	protect(space, 8, 1, RW);
}

/* The same, but both moved by as much. */
static void file_moved_whole(struct seam_space *space)
{
	map_file(space, &file, 0, 1, RW, SEAM_MAP_PRIVATE, 0);
	map_file(space, &file, 1, 1, RW, SEAM_MAP_PRIVATE, 1);
	touch(space, 0, 2);
	remap(space, 1, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 9);
	remap(space, 0, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 8);
}

static void pages_removed(struct seam_space *space)
{
	map_file(space, &file, 0, 1, R, SEAM_MAP_SHARED, 0);
	note(space, seam_space_madvise(space, AT(0), PAGE, SEAM_MADV_REMOVE) == -SEAM_EACCES);
}

static void huge_pages_inherited(struct seam_space *space)
{
	const uint32_t flags = ANON | SEAM_MAP_HUGETLB | SEAM_MAP_NORESERVE;

	map(space, 512, 512, RW, flags);
	note(space, seam_space_madvise(space, AT(512), 512 * PAGE, SEAM_MADV_DOFORK));
}

static void advised_at_the_limit(struct seam_space *space)
{
	map(space, 0, 3, RW, 0);
	seam_space_set_limit(space, SEAM_LIMIT_AREAS, 1);
	note(space, seam_space_madvise(space, AT(1), PAGE, SEAM_MADV_DONTFORK) == -SEAM_EAGAIN);
}

/* Neither a source nor room. */
static void nothing_to_move(struct seam_space *space)
{
	map(space, 4, 1, RW, 0);
	seam_space_set_limit(space, SEAM_LIMIT_AREAS, 6);
	note(space,
	     remap(space, 0, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 8) == -SEAM_ENOMEM);
}

/* Room for four areas more, and the copy of locked memory wants five. */
static void copied_with_little_room(struct seam_space *space)
{
	map(space, 0, 3, RW, SEAM_MAP_LOCKED);
	seam_space_set_limit(space, SEAM_LIMIT_AREAS, 5);
	note(space, remap(space, 1, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_DONTUNMAP, 8));
}

static void anothers_watch(struct seam_space *space)
{
	map(space, 0, 2, RW, 0);
	seam_space_uffd_register(space, AT(0), PAGE, 1, SEAM_VM_UFFD_MISSING);
	note(space, seam_space_uffd_unregister(space, AT(0), PAGE, 2));
	note(space, seam_space_uffd_unregister(space, AT(1), PAGE, 2));
}

#define MEMFD (SEAM_FILE_READ | SEAM_FILE_WRITE | SEAM_FILE_SHMEM)

/* Writers and readers of both kinds of sealed files, each in place of other memory. */
static void sealed_files(struct seam_space *space)
{
	static const struct seam_file write = { 11, MEMFD, 0x8 }, future = { 12, MEMFD, 0x10 };

	map(space, 0, 12, R, 0);
	map_file(space, &write, 1, 1, RW, SEAM_MAP_SHARED, 0);
	map_file(space, &write, 3, 1, R, SEAM_MAP_SHARED, 0);
	map_file(space, &future, 5, 1, RW, SEAM_MAP_SHARED, 0);
	map_file(space, &future, 7, 1, R, SEAM_MAP_SHARED, 0);
	map_file(space, &future, 8, 1, R, SEAM_MAP_SHARED, 1);
	protect(space, 7, 1, RW);
}

/* Readers from before and after the seal. */
static void sealed_later(struct seam_space *space)
{
	static const struct seam_file open = { 11, MEMFD, 0 }, sealed = { 11, MEMFD, 0x10 };

	map_file(space, &open, 0, 1, R, SEAM_MAP_SHARED, 0);
	map_file(space, &sealed, 1, 1, R, SEAM_MAP_SHARED, 1);
	map_file(space, &sealed, 2, 1, R, SEAM_MAP_SHARED, 2);
}

/* Beside a page that is to be dumped again, and without a descriptor's first say. */
static void secret_memory(struct seam_space *space)
{
	static const struct seam_file secret = {
		11, SEAM_FILE_READ | SEAM_FILE_WRITE | SEAM_FILE_SECRET, 0
	};

	map_file(space, &secret, 0, 1, RW, SEAM_MAP_SHARED, 0);
	if (seam_space_madvise(space, AT(0), PAGE, SEAM_MADV_DONTNEED))
		seam_space_mlockall(space, SEAM_MCL_FUTURE);
	seam_space_madvise(space, AT(0), PAGE, SEAM_MADV_DODUMP);
	map_file(space, &secret, 1, 1, RW, SEAM_MAP_SHARED, 1);
	seam_space_munlockall(space);
	map(space, 8, 1, R, 0);
	map_file(space, &secret, 8, 1, RW, SEAM_MAP_PRIVATE, 0);
}

static const struct {
	const char *what;
	void (*calls)(struct seam_space *space);
	const char *maps[NR]; /* NULL: as the one before */
} rows[] = {
	{ "rw to r of untouched memory, beside r",
	  accounting,
	  { [V5_10] = "0-1r- 1-2r-A", [V6_12] = "0-2r-" } },
	{ "rw to r of touched memory, beside r",
	  accounting_touched,
	  { [V5_10] = "0-1r- 1-2r-A:1" } },
	{ "touched memory made to fit untouched",
	  touched_beside_untouched,
	  { [V5_10] = "0-1rwA 1-2rwA:1", [V6_16] = "0-2rwA:1" } },
	{ "growth up to the next area",
	  grown_to_the_next,
	  { [V5_10] = "0-2rwA 2-3rwA", [V6_1] = "0-3rwA" } },
	{ "a guard, and a new neighbour", guarded, { [V5_10] = "0-3rwA:1 4-5r-" } },
	{ "a guard in the new neighbour", guard_told, { [V5_10] = "0-2r-", [V6_18_44] = "0-1r-" } },
	{ "lock on fault where no access is allowed",
	  on_fault,
	  { [V5_10] = "0-1--L 9-10--", [V6_1] = "0-1--L" } },
	{ "populating over a hole",
	  populated_over_a_hole,
	  { [V5_10] = "0-1rwA 2-3rwA",
	    [V6_1] = "0-1rwA:1 2-3rwA:2",
	    [V6_12] = "0-1rwA:1 2-3rwA" } },
	{ "locked memory copied",
	  locked_copy,
	  { [V5_10] = "0-2rwA:1 10-12rwLA:1 20-22--L",
	    [V6_1] = "0-2rwA 10-12rwLA:1 20-22--L",
	    [V6_16] = "0-2rw 10-12rwLA:1 20-22--",
	    [V6_17] = "0-2rwA 10-12rwLA:1 20-22--",
	    [V7_2_9] = "0-2rwA 10-12rwLA:1 20-22--L" } },
	{ "a copy out of the middle, and the area behind",
	  copied_from_the_middle,
	  { [V5_10] = "0-3rwA 4-5r-A 10-11rwA",
	    [V6_1] = "0-3rwA 4-5r- 10-11rwA",
	    [V6_16] = "0-3rw 4-5r- 10-11rwA",
	    [V6_17] = "0-3rwA 4-5r- 10-11rwA" } },
	{ "a copy between its source and another",
	  copied_between,
	  { [V5_10] = "0-3rwA",
	    [V6_1_192] = "0-1rwA 1-2rwA 2-3rwA",
	    [V6_12] = "0-3rwA",
	    [V6_12_117] = "0-1rwA 1-3rwA",
	    [V6_16] = "0-3rw",
	    [V6_17] = "0-3rwA",
	    [V7_2_13] = "0-1rwA 1-3rwA" } },
	{ "registered anew without write protection",
	  registered_anew,
	  { [V5_10] = "0-1rwAU 1-2rwAU", [V7_3] = "0-2rwAU" } },
	{ "what another userfaultfd watches",
	  anothers_watch,
	  { [V5_10] = "0-2rwA", [V6_17] = "0-1rwAU 1-2rwA 20-21--" } },
	{ "sealed files",
	  sealed_files,
	  { [V5_10] = "0-1r- 2-3r- 4-5r- 6-7r- 7-9r-s 9-12r-",
	    [V5_10_251] = "0-3r- 3-4r-s 4-5r- 6-7r- 7-9r-s 9-12r-",
	    [V6_12_117] = "0-3r- 3-4r-s 4-7r- 7-9r-s 9-12r-" } },
	{ "readers before and after the seal",
	  sealed_later,
	  { [V5_10] = "0-3r-s", [V5_10_251] = "0-1r-s 1-3r-s" } },
	{ "memory of memfd_secret",
	  secret_memory,
	  { [V5_10] = "0-2rws 8-9rwA",
	    [V6_1] = "0-2rwsL",
	    [V6_12_117] = "0-2rws",
	    [V6_16] = "0-1rwsL 1-2rwsL",
	    [V7_2] = "0-1rws 1-2rws" } },
	{ "a copy that joins its source, and the area behind",
	  copied_beside,
	  { [V5_10] = "0-4rwA 5-6r-",
	    [V6_1_192] = "0-3rwA 3-4rwA 5-6r-",
	    [V6_12] = "0-4rwA 5-6r-",
	    [V6_12_117] = "0-3rwA 3-4rwA 5-6r-",
	    [V6_16] = "0-4rw 5-6r-",
	    [V6_17] = "0-4rwA 5-6r-",
	    [V7_2_13] = "0-3rwA 3-4rwA 5-6r-" } },
	{ "touched memory moved beside untouched memory",
	  moved_beside_untouched,
	  { [V5_10] = "1-2rwA 2-3rwA:1", [V6_16] = "1-3rwA", [V6_18] = "1-3rwA:1" } },
	{ "two areas moved at once",
	  several_moved,
	  { [V5_10] = "0-1rwA 1-2r-", [V6_17] = "10-11rwA 11-12r-" } },
	{ "numbers that do not continue", offsets, { [V5_10] = "0-1rws 1-2rws" } },
	{ "two files", two_files, { [V5_10] = "0-1rws 1-2rws" } },
	{ "a memory policy", bound, { [V5_10] = "0-1rwA 1-2rwA" } },
	{ "two userfaultfds", watched_by_two, { [V5_10] = "0-1rwAU 1-2rwAU" } },
	{ "the end of an area watched as what follows is",
	  watched_tail,
	  { [V5_10] = "0-1rwA 1-2rwAU 2-3rwAU", [V6_12] = "0-1rwA 1-3rwAU" } },
	{ "two names", named, { [V5_10] = "0-2rwA", [V6_1] = "0-1rwA 1-2rwA" } },
	{ "a close operation",
	  closed,
	  { [V5_10] = "0-1r-s 1-2r-s 2-3r-s", [V6_12] = "0-2r-s 2-3r-s" } },
	{ "memory with a close operation grown", grown_of_a_driver, { [V5_10] = "0-3rws 3-4rws" } },
	{ "a driver's memory", of_a_driver, { [V5_10] = "0-1r- 1-2r-" } },
	{ "a gap between two that do not fit",
	  between_two,
	  { [V5_10] = "0-2rwA:1 2-3rwA:2",
	    [V6_1] = "0-1rwA:1 1-3rwA:2",
	    [V6_12] = "0-2rwA:1 2-3rwA:2" } },
	{ "fixed memory that cannot be charged",
	  cannot_be_charged,
	  { [V5_10] = "0-1r-", [V6_12] = "0-1r- 1-2r-" } },
	{ "a heap above other memory",
	  heap_above_another,
	  { [V5_10] = "0-2rwA", [V6_1] = "0-1rwA 1-2rwA" } },
	{ "MAP_STACK", for_a_stack, { [V5_10] = "0-1rwA", [V6_12] = "0-1rwAH" } },
	{ "a large file on a huge page", large_file, { [V5_10] = "0-2r-", [V6_1] = "0-1r-" } },
	{ "a hint for huge pages", hinted_huge, { [V5_10] = "0-512rwN", [V6_16] = "512-1024rwN" } },
	{ "a low hint for huge pages", hinted_low, { [V5_10] = "0-1r-", [V6_16] = "0-2r-" } },
	{ "a page in the gap of a stack", in_a_gap, { [V5_10] = "0-1r-", [V6_1] = "0-2r-" } },
	{ "droppable memory", dropped, { [V5_10] = "", [V6_12] = "0-1rwNWD" } },
	{ "droppable memory, watched",
	  dropped_watched,
	  { [V5_10] = "", [V6_12] = "0-1rwNWDU", [V6_17] = "0-1rwNWD" } },
	{ "droppable memory under MCL_FUTURE",
	  dropped_later_locked,
	  { [V5_10] = "",
	    [V6_12] = "0-1rwLNWD",
	    [V6_12_117] = "0-1rwNWD:1",
	    [V6_16] = "0-1rwLNWD",
	    [V6_18_44] = "0-1rwNWD:1",
	    [V6_19] = "0-1rwLNWD",
	    [V7_0] = "0-1rwNWD:1" } },
	{ "nothing is free above 4 GiB",
	  nothing_above_4g,
	  { [V5_10] = "0-1r-", [V6_12] = "0-2r-" } },
	{ "same-page merging",
	  same_page_merging,
	  { [V5_10] = "0-2rwA", [V6_12] = "0-1rwAM 1-2rwAM", [V6_17] = "0-2rwAM" } },
	{ "copies of memory and of a file",
	  kept_mapped,
	  { [V5_10] = "0-1rwA 4-5rws 10-11rwA",
	    [V6_1] = "0-1rwA 4-5rws 10-11rwA 12-13rws",
	    [V6_16] = "0-1rw 4-5rws 10-11rwA 12-13rws",
	    [V6_17] = "0-1rwA 4-5rws 10-11rwA 12-13rws" } },
	{ "little room for a move", little_room, { [V5_10] = "0-1rwA", [V7_1] = "10-11rwA" } },
	{ "less, for growing in place", less_room, { [V5_10] = "0-2rwA", [V7_1] = "0-1rwA" } },
	{ "a target without a source", target_without_source, { [V5_10] = "", [V6_1] = "0-1rwA" } },
	{ "no source, and nothing to do", no_source, { [V5_10] = "0-1r-", [V6_1] = "0-2r-" } },
	{ "what is given up is charged",
	  given_up,
	  { [V5_10] = "0-1r-", [V6_16] = "0-2r-", [V7_3] = "0-1r-" } },
	{ "an advice of 5.14", unknown_advice, { [V5_10] = "0-2r-", [V6_1] = "0-1r-" } },
	{ "an advice of 5.4", older_advice, { [V5_10] = "0-1r-" } },
	{ "rw to r of a file, beside r", accounting_file, { [V5_10] = "0-1r- 1-2r-A" } },
	{ "sealed memory", sealed, { [V5_10] = "0-1rwA", [V6_12] = "0-1rwAS" } },
	{ "a part sealed, then all",
	  sealed_twice,
	  { [V5_10] = "0-4rwA 8-16rwA",
	    [V6_12] = "0-4rwAS 8-14rwAS 14-16rwA",
	    [V6_17] = "0-2rwAS 2-4rwAS 8-10rwAS 10-11rwAS 11-14rwAS 14-16rwA",
	    [V6_18_44] = "0-4rwAS 8-14rwAS 14-16rwA",
	    [V6_19] = "0-2rwAS 2-4rwAS 8-10rwAS 10-11rwAS 11-14rwAS 14-16rwA",
	    [V6_19_14] = "0-4rwAS 8-14rwAS 14-16rwA" } },
	{ "low memory watched",
	  watched_low,
	  { [V5_10] = "20-21--",
	    [V5_10_262] = "",
	    [V6_1] = "20-21--",
	    [V6_1_176] = "",
	    [V6_12] = "20-21--",
	    [V6_12_117] = "",
	    [V6_16] = "20-21--",
	    [V6_18_44] = "",
	    [V6_19] = "20-21--",
	    [V7_0] = "" } },
	{ "what a userfaultfd watches moved beside another",
	  copied_watched,
	  { [V5_10] = "0-2rwA",
	    [V6_12_118] = "0-1rwAU 1-2rwA",
	    [V6_16] = "0-2rwA",
	    [V7_3] = "0-1rwAU 1-2rwA" } },
	{ "what DONTUNMAP leaves, and a new neighbour",
	  left_behind,
	  { [V5_10] = "8-9rwA:1 9-10rwA 16-17rwA:1",
	    [V6_1] = "8-9rwA 9-10rwA 16-17rwA:1",
	    [V6_1_192] = "8-10rwA 16-17rwA:1",
	    [V6_12] = "8-9rwA 9-10rwA 16-17rwA:1",
	    [V6_12_117] = "8-10rwA 16-17rwA:1",
	    [V6_16] = "8-9rw 9-10rwA 16-17rwA:1",
	    [V6_17] = "8-9rwA 9-10rwA 16-17rwA:1",
	    [V7_2] = "8-10rwA 16-17rwA:1" } },
	{ "what DONTUNMAP leaves, copied once more",
	  copied_twice,
	  { [V5_10] = "0-1rwA:1 8-9rwA:1 10-11rwA:1 11-12rwA",
	    [V6_1] = "0-1rwA 8-9rwA:1 10-12rwA",
	    [V6_16] = "0-1rw 8-9rwA:1 10-11rw 11-12rwA",
	    [V6_17] = "0-1rwA 8-9rwA:1 10-12rwA" } },
	{ "new memory over a part of a huge page",
	  huge_page_pierced,
	  { [V5_10] = "0-1r-", [V6_12] = "0-2r-" } },
	{ "the same beyond RLIMIT_AS",
	  huge_page_pierced_beyond,
	  { [V5_10] = "0-512rwA", [V6_12] = "0-256rwA 256-512rwA" } },
	{ "a file's page beside one that was moved",
	  file_moved,
	  { [V5_10] = "8-10rwA:1", [V7_3] = "8-9rwA:1 9-10rwA:2" } },
	{ "a file's pages moved to the same distance",
	  file_moved_whole,
	  { [V5_10] = "8-10rwA:1" } },
	{ "pages of shared memory removed that cannot be written",
	  pages_removed,
	  { [V5_10] = "0-1r-s 20-21--", [V5_10_251] = "0-1r-s" } },
	{ "huge pages to be inherited",
	  huge_pages_inherited,
	  { [V5_10] = "512-1024rwN", [V7_0] = "20-21-- 512-1024rwN" } },
	{ "advice at the area limit",
	  advised_at_the_limit,
	  { [V5_10] = "0-3rwA", [V6_1] = "0-3rwA 20-21--" } },
	{ "a move without source and room",
	  nothing_to_move,
	  { [V5_10] = "4-5rwA 20-21--",
	    [V6_1] = "4-5rwA",
	    [V6_16] = "4-5rwA 20-21--",
	    [V7_1] = "4-5rwA" } },
	{ "a copy of locked memory near the limit",
	  copied_with_little_room,
	  { [V5_10] = "0-3rwLA:1 20-21--",
	    [V7_1] = "0-3rwA:1 8-9rwLA:1",
	    [V7_2_13] = "0-3rwLA:1 20-21--" } },
};
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static struct seam_space *under(const struct seam_policy *policy, unsigned int row)
{
	struct seam_space_options options = space_options(policies[0]);
	struct seam_space *space;

	options.policy = policy;
	options.may = 0;
	options.commit_limit_pages = COMMIT_PAGES;
	space = space_new(&options);
	rows[row].calls(space);
	return space;
}

static const char *expected_of(unsigned int row, unsigned int version)
{
	while (!rows[row].maps[version])
		version--;
	return rows[row].maps[version];
}

/* Whether a row comes out otherwise than it should. */
static bool noticed(const struct seam_policy *policy, unsigned int version)
{
	for (unsigned int row = 0; row < NR_ROWS; row++) {
		struct seam_space *space = under(policy, row);
		bool same = !strcmp(shape_of(space, SHOW_ACCOUNT), expected_of(row, version));

		seam_space_destroy(space);
		if (!same)
			return true;
	}
	return false;
}

static void switch_off(unsigned int version)
{
	const struct seam_policy *policy = seam_policy_find(policies[version]);

	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++) {
		struct seam_policy changed = *policy;

		/* of steps alone: no map shows it */
		if (!policy->rule[rule] || rule == SEAM_RULE_area_tree)
			continue;
		/* where the source is unlocked only as far as it was copied, the count is right anyway */
		if (rule == SEAM_RULE_dontunmap_locked && policy->rule[SEAM_RULE_dontunmap_apart])
			continue;
		changed.rule[rule] = 0;
		ok(noticed(&changed, version), "%s without %s", policy->name, seam_rule_name(rule));
	}
}

int main(void)
{
	for (unsigned int row = 0; row < NR_ROWS; row++) {
		for (unsigned int version = 0; version < NR; version++) {
			struct seam_space *space = under(seam_policy_find(policies[version]), row);

			holds(space, SHOW_ACCOUNT, expected_of(row, version), rows[row].what);
			seam_space_destroy(space);
		}
	}
	for (unsigned int version = 0; version < NR; version++)
		switch_off(version);
	return tap_done();
}
