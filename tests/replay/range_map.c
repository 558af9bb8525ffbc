/* SPDX-License-Identifier: BSD-2-Clause */
/* Random edits of a range map, held against one value a page. */
#include "replay/range_map.h"

#include <string.h>

#include "tests/random.h"
#include "tests/tap.h"

#define PAGES 4096
#define NONE UINT64_MAX

static uint64_t pages[PAGES];

/* Order, maximal ranges, and the value of each page. */
static bool same(struct range_map *map)
{
	struct valued_range range = { 0 }, before = { 0 };
	uint64_t at = 0, page = 0;

	while (range_map_find(map, at, &range)) {
		if (range.start >= range.end || range.start < before.end || range.end > PAGES)
			return false;
		if (at && range.start == before.end && range.value == before.value)
			return false;
		for (; page < range.start; page++)
			if (pages[page] != NONE)
				return false;
		for (; page < range.end; page++)
			if (pages[page] != range.value)
				return false;
		before = range;
		at = range.end;
	}
	for (; page < PAGES; page++)
		if (pages[page] != NONE)
			return false;
	return true;
}

static int edit(struct range_map *map, uint64_t longest, uint64_t values)
{
	uint64_t start = random_below(PAGES), len = 1 + random_below(longest);
	uint64_t end = start + len > PAGES ? PAGES : start + len;
	uint64_t value = random_below(values + 1);

	for (uint64_t page = start; page < end; page++)
		pages[page] = value == values ? NONE : value;
	return value == values ? range_map_clear(map, start, end)
			       : range_map_set(map, start, end, value);
}

static void test_random(uint64_t longest, uint64_t values)
{
	struct range_map map = { 0 }, copy = { 0 };
	bool good = true;

	memset(pages, 0xff, sizeof(pages));
	for (int i = 0; i < 20000 && good; i++) {
		good = !edit(&map, longest, values);
		if (i % 16 == 0)
			good = good && same(&map);
	}
	good = good && !range_map_copy(&map, &copy) && same(&copy);
	ok(good, "random edits of up to %llu pages with %llu values", (unsigned long long)longest,
	   (unsigned long long)values);
	range_map_free(&map);
	range_map_free(&copy);
	ok(range_map_is_empty(&map) && !range_map_find(&map, 0, &(struct valued_range) { 0 }),
	   "empty when freed");
}

/* Runs at one end: what programs do. The value of each page differs, so nothing joins. */
static void test_run(bool downward)
{
	struct range_map map = { 0 };
	bool good = true;

	memset(pages, 0xff, sizeof(pages));
	for (uint64_t i = 0; i < PAGES && good; i++) {
		uint64_t page = downward ? PAGES - 1 - i : i;

		pages[page] = page;
		good = !range_map_set(&map, page, page + 1, page);
	}
	ok(good && same(&map), "a run %s", downward ? "downward" : "upward");
	ok(map.nr_parts <= PAGES / 64 + 2, "fills its leaves: %zu", map.nr_parts);
	good = !range_map_set(&map, 0, PAGES, 7) && map.nr_parts == 1;
	ok(good, "one range over all leaves one");
	range_map_free(&map);
}

int main(void)
{
	test_random(4, 1);
	test_random(4, 3);
	test_random(64, 2);
	test_random(PAGES, 4);
	test_run(false);
	test_run(true);
	return tap_done();
}
