/* SPDX-License-Identifier: BSD-2-Clause */
/* Where mmap puts what has no fixed place. */
#include "tests/unit/space.h"

#define TOP UINT64_C(0x7ffbff6ff000) /* the layout's mmap_base */
#define LEGACY UINT64_C(0x2aaaaaaab000)
#define HUGE (UINT64_C(2) << 20)

static void lands(int64_t found, int64_t expected, const char *what)
{
	ok(found == expected, "%s: %llx", what, (unsigned long long)found);
}

static void top_down(void)
{
	struct seam_space *space = space_of("linux-6.18.44");
	uint64_t first = TOP - 3 * PAGE;

	lands(map_anywhere(space, 0, 3 * PAGE, 0), (int64_t)first, "at the top");
	lands(map_anywhere(space, 0, PAGE, SEAM_MAP_NORESERVE), (int64_t)(first - PAGE),
	      "below it");
	seam_space_munmap(space, first, PAGE);
	lands(map_anywhere(space, 0, 2 * PAGE, 0), (int64_t)(first - 3 * PAGE),
	      "a hole that is too small is passed over");
	lands(map_anywhere(space, 0, PAGE, 0), (int64_t)first, "a hole that fits is filled");
	lands(map_anywhere(space, AT(3) + 17, PAGE, 0), (int64_t)AT(3), "a hint, rounded down");
	lands(map_anywhere(space, AT(3), PAGE, 0), (int64_t)(first - 4 * PAGE),
	      "a hint that is taken is dropped");
	lands(map_anywhere(space, 0x2000, PAGE, 0), 0x10000, "a low hint is raised");
	lands(map_anywhere(space, 0x10, PAGE, 0), (int64_t)(first - 5 * PAGE),
	      "a hint within the first page is none");
	seam_space_destroy(space);
}

static void ranges(void)
{
	struct seam_space *space = space_of("linux-6.18.44");

	lands(map_anywhere(space, 0, PAGE, SEAM_MAP_32BIT), 0x40000000, "MAP_32BIT");
	lands(map_anywhere(space, 0, PAGE, SEAM_MAP_32BIT), 0x40001000, "MAP_32BIT again");
	lands(map_anywhere(space, 0, UINT64_C(1) << 30, SEAM_MAP_32BIT), -SEAM_ENOMEM,
	      "MAP_32BIT, too long");
	lands(map_anywhere(space, 0, TOP - (UINT64_C(5) << 30),
			   SEAM_MAP_ABOVE4G | SEAM_MAP_NORESERVE),
	      INT64_C(5) << 30, "the search below the top reaches down to 4 GiB");
	lands(map_anywhere(space, 0, (UINT64_C(2) << 30) + PAGE, SEAM_MAP_ABOVE4G), (int64_t)TOP,
	      "and then begins at the legacy base");
	seam_space_destroy(space);
}

static void bottom_up(void)
{
	struct seam_space_options options = space_options("linux-6.18.44");
	struct seam_space *space;

	options.flags |= SEAM_SPACE_BOTTOM_UP;
	space = space_new(&options);
	lands(map_anywhere(space, 0, 3 * PAGE, 0), (int64_t)LEGACY, "legacy: from the base");
	lands(map_anywhere(space, 0, PAGE, SEAM_MAP_NORESERVE), (int64_t)(LEGACY + 3 * PAGE),
	      "above it");
	lands(map_anywhere(space, 0, HUGE, 0), 0x2aaaaac00000, "aligned to huge pages");
	seam_space_destroy(space);
}

/* A first request of 2 MiB leaves a hole; following ones join it. */
static void huge_pages(void)
{
	static const struct {
		const char *policy;
		uint64_t len;
		bool aligned;
	} rows[] = {
		{ "linux-6.1", HUGE, false },	      { "linux-6.8", HUGE, true },
		{ "linux-6.8", HUGE + PAGE, true },   { "linux-6.18", HUGE, true },
		{ "linux-6.18", HUGE + PAGE, false }, { "linux-6.18", 3 * HUGE / 2, false },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seam_space *space = space_of(rows[i].policy);
		int64_t end = rows[i].aligned ? (int64_t)(((TOP - rows[i].len) & ~(HUGE - 1)))
					      : (int64_t)(TOP - rows[i].len);

		lands(map_anywhere(space, 0, rows[i].len, 0), end, rows[i].policy);
		seam_space_destroy(space);
	}
}

/* Of files that have no way of their own to find room, and do not ask to be aligned. */
static void huge_plain_file(void)
{
	static const struct seam_file plain = { 11, SEAM_FILE_READ, 0 };
	static const struct seam_file shmem = { 12, SEAM_FILE_READ | SEAM_FILE_SHMEM, 0 };
	static const struct {
		const char *policy;
		const struct seam_file *file;
		bool aligned;
	} rows[] = {
		{ "linux-6.8", &plain, false },
		{ "linux-6.12", &plain, true },
		{ "linux-6.12", &shmem, false },
		{ "linux-6.16", &plain, false },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seam_space *space = space_of(rows[i].policy);
		const struct seam_mmap args = {
			.len = 2 * HUGE,
			.prot = SEAM_PROT_READ,
			.flags = SEAM_MAP_SHARED,
			.file = rows[i].file,
			.pgoff = 1,
		};
		uint64_t top = TOP - 2 * HUGE, addr = 0;

		seam_space_mmap(space, &args, &addr);
		lands((int64_t)addr,
		      (int64_t)(rows[i].aligned ? ((top - PAGE) & ~(HUGE - 1)) + PAGE : top),
		      rows[i].policy);
		seam_space_destroy(space);
	}
}

static void huge_neighbours(void)
{
	struct seam_space *space = space_of("linux-6.18");

	lands(map_anywhere(space, AT(1), HUGE, 0), (int64_t)AT(1), "a hint is taken");
	lands(map_anywhere(space, AT(1), HUGE, 0), (int64_t)(TOP - HUGE),
	      "with a hint nothing is aligned");
	seam_space_destroy(space);

	space = space_of("linux-6.18");
	map_anywhere(space, 0, HUGE, 0);
	map_anywhere(space, 0, HUGE, 0);
	ok(seam_space_areas(space) == 1, "two aligned ones are one area");
	seam_space_destroy(space);
}

static void stack_gap(void)
{
	struct seam_space *space = space_of("linux-6.18.44");
	uint64_t stack = TOP - 16 * PAGE;

	seam_space_stack(space, stack, 8 * PAGE);
	lands(map_anywhere(space, 0, 16 * PAGE, 0), (int64_t)(stack - (256 + 16) * PAGE),
	      "256 pages below a stack stay free");
	lands(map_anywhere(space, stack - 300 * PAGE, PAGE, 0), (int64_t)(stack - 300 * PAGE),
	      "a hint 300 pages below");
	lands(map_anywhere(space, stack - 200 * PAGE, PAGE, 0), (int64_t)(stack + 15 * PAGE),
	      "a hint 200 pages below is dropped");
	seam_space_destroy(space);
}

/*
 *	[	6 pages		] of which 3 in the middle are given back, and a stack put there
 * Its gap reaches below all of them.
 */
static void stack_in_a_hole(void)
{
	for (int i = 0; i < 2; i++) {
		struct seam_space *space = space_of(i ? "linux-6.1" : "linux-5.10");
		uint64_t base = TOP - 6 * PAGE, stack = base + 3 * PAGE;

		map_anywhere(space, 0, 6 * PAGE, 0);
		seam_space_munmap(space, base + PAGE, 3 * PAGE);
		lands(map_anywhere(space, 0, PAGE, SEAM_MAP_GROWSDOWN), (int64_t)stack,
		      "a stack at the top of a hole");
		lands(map_anywhere(space, 0, PAGE, 0),
		      (int64_t)(i ? stack - 257 * PAGE : base - PAGE),
		      "the gap counts in its own hole only, or (6.1-) everywhere");
		seam_space_destroy(space);
	}
}

/* Where only the end of user space is given, placement finds its way. */
static void small_space(void)
{
	struct seam_space_options options = { .size = sizeof(options), .user_end = 12 * PAGE };
	struct seam_mmap args = { .len = 2 * PAGE, .flags = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS };
	struct seam_space *space;
	uint64_t addr = 0;

	ok(!seam_space_create(&options, &space), "a space of twelve pages");
	ok(!seam_space_mmap(space, &args, &addr) && addr == 10 * PAGE, "filled from its end");
	seam_space_destroy(space);
	options.flags = SEAM_SPACE_BOTTOM_UP;
	ok(!seam_space_create(&options, &space) && !seam_space_mmap(space, &args, &addr) &&
		   addr == 4 * PAGE,
	   "or from a third of it");
	seam_space_destroy(space);
}

int main(void)
{
	small_space();
	top_down();
	ranges();
	bottom_up();
	huge_pages();
	huge_plain_file();
	huge_neighbours();
	stack_gap();
	stack_in_a_hole();
	return tap_done();
}
