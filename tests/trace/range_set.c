/* SPDX-License-Identifier: BSD-2-Clause */
/* The set of ranges against an array of flags. */
#include <string.h>

#include "tests/random.h"
#include "tests/tap.h"
#include "trace/range_set.h"

#define NR 512

/* Do set and flags hold the same, in ranges that neither touch nor overlap? */
static bool same(const struct range_set *set, const bool *flags)
{
	struct range range = { 0, 0 };
	uint64_t at = 0;

	while (range_set_find(set, range.end, NR, &range)) {
		if (range.start >= range.end || (at && range.start <= at))
			return false;
		for (; at < range.start; at++)
			if (flags[at])
				return false;
		for (; at < range.end; at++)
			if (!flags[at])
				return false;
	}
	for (; at < NR; at++)
		if (flags[at])
			return false;
	return true;
}

static bool questions_agree(const struct range_set *set, const bool *flags, uint64_t start,
			    uint64_t end)
{
	bool any = false, all = start < end;

	for (uint64_t i = start; i < end; i++) {
		any |= flags[i];
		all &= flags[i];
	}
	return range_set_overlaps(set, start, end) == any &&
	       range_set_covers(set, start, end) == all;
}

static bool one_run(unsigned int steps)
{
	struct range_set set = { 0 }, copy = { 0 };
	bool flags[NR] = { false };
	bool good = true;

	for (unsigned int i = 0; good && i < steps; i++) {
		uint64_t start = random_below(NR), end = start + random_below(NR - start + 1);
		bool add = random_below(2);

		if (add ? range_set_add(&set, start, end) : range_set_remove(&set, start, end))
			return false;
		memset(flags + start, add, end - start);
		good = same(&set, flags) &&
		       questions_agree(&set, flags, random_below(NR / 2), random_below(NR));
	}
	good = good && !range_set_copy(&set, &copy) && same(&copy, flags);
	good = good && !range_set_add(&copy, 0, NR) && same(&set, flags);
	range_set_free(&set);
	range_set_free(&copy);
	return good;
}

int main(void)
{
	struct range_set set = { 0 };
	struct range range;
	bool good = true;

	for (int i = 0; good && i < 200; i++)
		good = one_run(100);
	ok(good, "200 random runs against an array");
	for (uint64_t i = 0; i < 100000; i++)
		range_set_add(&set, i * 8192, i * 8192 + 4096);
	ok(range_set_find(&set, 8192 * 50000 + 4096, UINT64_MAX, &range) &&
		   range.start == 8192 * 50001u,
	   "100,000 ranges");
	range_set_free(&set);
	ok(!range_set_add(&set, UINT64_MAX - 10, UINT64_MAX) &&
		   range_set_covers(&set, UINT64_MAX - 5, UINT64_MAX) &&
		   !range_set_overlaps(&set, 0, UINT64_MAX - 10),
	   "the top of all addresses");
	range_set_free(&set);
	ok(!range_set_overlaps(&set, 0, UINT64_MAX) && !set.head[0], "empty again");
	return tap_done();
}
