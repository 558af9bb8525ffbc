/* SPDX-License-Identifier: BSD-2-Clause */
/* The heap: what it joins, and when it does not move. */
#include "tests/unit/space.h"

static bool sets(struct seam_space *space, uint64_t page, uint64_t expected)
{
	uint64_t found;

	seam_space_brk(space, AT(page), &found);
	return ok(found == AT(expected), "brk %llu gives %lld", (unsigned long long)page,
		  (long long)(found - BASE) / (long long)PAGE);
}

static void moves(void)
{
	struct seam_space *space = space_of("linux-6.18.44");
	struct seam_stats stats;

	seam_space_set_brk(space, AT(10), AT(10));
	sets(space, 5, 10);
	sets(space, 14, 14);
	sets(space, 16, 16);
	holds(space, SHOW_ACCOUNT, "10-16rwA", "one area");
	seam_space_get_stats(space, &stats);
	ok(stats.join_tries == 1 && stats.joins == 1, "only what lies below is compared");
	map(space, 20, 1, RW, 0);
	sets(space, 20, 16);
	sets(space, 19, 19);
	holds(space, 0, "10-19rw 20-21rw", "one page stays free");
	map(space, 19, 1, RW, 0);
	holds(space, 0, "10-21rw", "mmap fills it and joins");
	sets(space, 12, 12);
	holds(space, 0, "10-12rw 19-21rw", "shrunk");
	unmap(space, 10, 2);
	sets(space, 11, 12);
	seam_space_destroy(space);
}

/* Rounded up to whole pages it is 0: less than the break, and no wish to shrink. */
static void last_page(const char *policy)
{
	struct seam_space *space = space_of(policy);
	uint64_t found;

	map(space, 4, 2, RW, 0);
	seam_space_set_brk(space, AT(10), AT(10));
	sets(space, 12, 12);
	seam_space_brk(space, UINT64_MAX, &found);
	ok(found == AT(12), "%s: a break on the last page is refused", policy);
	holds(space, 0, "4-6rw 10-12rw", "and nothing is unmapped");
	seam_space_destroy(space);
}

/* Memory right below the heap's start: the bss. */
static void below(void)
{
	for (int i = 0; i < 2; i++) {
		struct seam_space *space = space_of(i ? "linux-6.1" : "linux-5.10");

		map(space, 8, 2, RW, 0);
		seam_space_set_brk(space, AT(10), AT(10));
		sets(space, 12, 12);
		holds(space, 0, i ? "8-10rw 10-12rw" : "8-12rw", "beside the bss");
		seam_space_destroy(space);
	}
}

static void limits(void)
{
	struct seam_space_options options = space_options("linux-6.18.44");
	struct seam_space *space;

	options.limit_data = 6 * PAGE;
	options.max_areas = 2;
	space = space_new(&options);
	seam_space_set_brk(space, AT(10), AT(10));
	seam_space_set_code(space, 0, 0, 2 * PAGE);
	sets(space, 15, 10);
	sets(space, 14, 14);
	map(space, 0, 1, R, 0);
	map(space, 2, 1, R, 0);
	sets(space, 13, 13);
	map(space, 4, 1, R, 0);
	sets(space, 14, 13);
	seam_space_destroy(space);
}

static void under_a_stack(void)
{
	struct seam_space *space = space_of("linux-6.18.44");

	seam_space_set_brk(space, AT(10), AT(10));
	map(space, 1000, 1, RW, SEAM_MAP_GROWSDOWN);
	sets(space, 744, 10);
	sets(space, 743, 743);
	seam_space_destroy(space);
}

/* PR_SET_MM: no area comes of it, and brk works from there. */
static void moved(void)
{
	static const struct {
		enum seam_bound bound;
		uint64_t page;
		int result;
	} steps[] = {
		{ SEAM_BOUND_BRK, 20, 0 },
		{ SEAM_BOUND_START_BRK, 21, -SEAM_EINVAL },
		{ SEAM_BOUND_START_BRK, 20, 0 },
		{ SEAM_BOUND_BRK, 19, -SEAM_EINVAL },
		{ SEAM_BOUND_START_DATA, 3, -SEAM_EINVAL },
		{ SEAM_BOUND_END_DATA, 4, 0 },
		{ SEAM_BOUND_START_DATA, 3, 0 },
		{ (enum seam_bound)5, 3, -SEAM_EINVAL },
	};
	struct seam_space *space = space_of("linux-6.18");
	uint64_t brk;

	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		ok(seam_space_set_bound(space, steps[i].bound, AT(steps[i].page)) ==
			   steps[i].result,
		   "bound %d at page %d", steps[i].bound, (int)steps[i].page);
	ok(seam_space_set_bound(space, SEAM_BOUND_BRK, 0x1000) == -SEAM_EINVAL &&
		   seam_space_set_bound(space, SEAM_BOUND_BRK, UINT64_C(1) << 47) == -SEAM_EINVAL,
	   "below all memory, beyond it");
	ok(!seam_space_areas(space), "no area came of it");
	ok(!seam_space_brk(space, AT(22), &brk) && brk == AT(22), "brk works from there");
	holds(space, 0, "20-22rw", "a heap");
	seam_space_set_limit(space, SEAM_LIMIT_DATA, 4 * PAGE);
	ok(seam_space_set_bound(space, SEAM_BOUND_BRK, AT(24)) == -SEAM_EINVAL &&
		   !seam_space_set_bound(space, SEAM_BOUND_BRK, AT(23)),
	   "RLIMIT_DATA counts data and heap");
	seam_space_destroy(space);

	/* nothing is there to be taken away */
	for (int i = 0; i < 2; i++) {
		space = space_of(i ? "linux-6.1" : "linux-5.10");
		seam_space_set_brk(space, AT(20), AT(24));
		ok(!seam_space_brk(space, AT(22), &brk) && brk == (i ? AT(24) : AT(22)),
		   "a break falls through nothing up to 5.14 (%d)", i);
		seam_space_destroy(space);
	}
}

int main(void)
{
	moved();
	moves();
	last_page("linux-6.18.44");
	last_page("linux-2.6.24");
	below();
	limits();
	under_a_stack();
	return tap_done();
}
