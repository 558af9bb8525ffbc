/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two levels: an array of leaves, each a short sorted array. Neighbouring edits, which is what
 * programs make, stay in one leaf.
 */
#include "replay/range_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAF_RANGES 64
#define GROUP 8

struct range_leaf {
	unsigned int nr;
	struct valued_range ranges[LEAF_RANGES]; /* beyond nr: their ends are BEYOND_ALL */
};

#define BEYOND_ALL UINT64_MAX

struct position {
	size_t leaf;
	unsigned int slot;
};

static bool leaf_reaches(const struct range_map *map, size_t leaf, uint64_t addr)
{
	const struct range_leaf *l = map->leaves[leaf];

	return l->ranges[l->nr - 1].end > addr;
}

/* The first leaf whose last range ends behind @addr; nr_leaves when there is none. */
static size_t find_leaf(const struct range_map *map, uint64_t addr)
{
	size_t low = 0, high = map->nr_leaves;

	if (map->last < high && leaf_reaches(map, map->last, addr) &&
	    (!map->last || !leaf_reaches(map, map->last - 1, addr)))
		return map->last;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (leaf_reaches(map, middle, addr))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/*
 * The first range of a leaf that ends behind @addr; there is one. The groups that end before it are
 * counted, and then the ranges of one group, always as many: no compare waits for another, and there
 * is no branch, which could not be foreseen.
 */
static unsigned int find_slot(const struct range_leaf *leaf, uint64_t addr)
{
	const struct valued_range *ranges = leaf->ranges;
	unsigned int slot = 0, in_group = 0;

	for (unsigned int i = GROUP - 1; i < LEAF_RANGES; i += GROUP)
		slot += ranges[i].end <= addr;
	ranges += slot *= GROUP;
	for (unsigned int i = 0; i < GROUP - 1; i++)
		in_group += ranges[i].end <= addr;
	return slot + in_group;
}

/* The first range that ends behind @addr. */
static bool find(struct range_map *map, uint64_t addr, struct position *ret)
{
	size_t at = find_leaf(map, addr);

	if (!map->leaves || at == map->nr_leaves)
		return false;
	map->last = at;
	*ret = (struct position) { .leaf = at, .slot = find_slot(map->leaves[at], addr) };
	return true;
}

static struct valued_range *range_at(const struct range_map *map, const struct position *at)
{
	return &map->leaves[at->leaf]->ranges[at->slot];
}

/* The range before; false at the first one. */
static bool step_back(const struct range_map *map, struct position *at)
{
	if (at->slot) {
		at->slot--;
		return true;
	}
	if (!at->leaf)
		return false;
	at->leaf--;
	at->slot = map->leaves[at->leaf]->nr - 1;
	return true;
}

/* The range behind; false at the last one. */
static bool step_forward(const struct range_map *map, struct position *at)
{
	if (at->slot + 1 < map->leaves[at->leaf]->nr) {
		at->slot++;
		return true;
	}
	if (at->leaf + 1 >= map->nr_leaves)
		return false;
	at->leaf++;
	at->slot = 0;
	return true;
}

/* Slots from @from on hold no range any more. */
static void clear_slots(struct range_leaf *leaf, unsigned int from, unsigned int end)
{
	for (unsigned int i = from; i < end; i++)
		leaf->ranges[i].end = BEYOND_ALL;
}

static int insert_leaf(struct range_map *map, size_t at, struct range_leaf *leaf)
{
	if (map->nr_leaves == map->room) {
		size_t room = map->room ? map->room * 2 : 4;
		struct range_leaf **leaves =
			realloc(map->leaves, room * sizeof(struct range_leaf *));

		if (!leaves)
			return -ENOMEM;
		map->leaves = leaves;
		map->room = room;
	}
	memmove(&map->leaves[at + 1], &map->leaves[at],
		(map->nr_leaves - at) * sizeof(struct range_leaf *));
	map->leaves[at] = leaf;
	map->nr_leaves++;
	return 0;
}

/* A leaf with room for one more range at @at, which may come to lie in the next leaf. */
static int make_room(struct range_map *map, struct position *at)
{
	struct range_leaf *leaf, *upper;
	unsigned int keep;

	if (map->nr_leaves && map->leaves[at->leaf]->nr < LEAF_RANGES)
		return 0;
	upper = malloc(sizeof(*upper));
	if (!upper)
		return -ENOMEM;
	upper->nr = 0;
	clear_slots(upper, 0, LEAF_RANGES);
	if (insert_leaf(map, map->nr_leaves ? at->leaf + 1 : 0, upper)) {
		free(upper);
		return -ENOMEM;
	}
	if (map->nr_leaves == 1)
		return 0;
	leaf = map->leaves[at->leaf];
	/* a run of edits at one end leaves full leaves behind, not half-full ones */
	if (at->slot == LEAF_RANGES)
		keep = LEAF_RANGES - 1;
	else if (!at->slot)
		keep = 1;
	else
		keep = LEAF_RANGES / 2;
	upper->nr = LEAF_RANGES - keep; /* it was full */
	memcpy(upper->ranges, &leaf->ranges[keep], upper->nr * sizeof(struct valued_range));
	leaf->nr = keep;
	clear_slots(leaf, keep, LEAF_RANGES);
	if (at->slot > keep) {
		at->leaf++;
		at->slot -= keep;
	}
	return 0;
}

/* Puts a range in before the one that stands at @at. */
static int insert(struct range_map *map, struct position *at, const struct valued_range *range)
{
	struct range_leaf *leaf;

	if (make_room(map, at))
		return -ENOMEM;
	leaf = map->leaves[at->leaf];
	memmove(&leaf->ranges[at->slot + 1], &leaf->ranges[at->slot],
		(leaf->nr - at->slot) * sizeof(*range));
	leaf->ranges[at->slot] = *range;
	leaf->nr++;
	map->last = at->leaf;
	return 0;
}

/* Takes out the ranges [first, end) of a leaf. */
static void take_out(struct range_leaf *leaf, unsigned int first, unsigned int end)
{
	memmove(&leaf->ranges[first], &leaf->ranges[end],
		(leaf->nr - end) * sizeof(struct valued_range));
	clear_slots(leaf, leaf->nr - (end - first), leaf->nr);
	leaf->nr -= end - first;
}

static void drop_if_empty(struct range_map *map, size_t at)
{
	if (map->leaves[at]->nr)
		return;
	free(map->leaves[at]);
	map->nr_leaves--;
	memmove(&map->leaves[at], &map->leaves[at + 1],
		(map->nr_leaves - at) * sizeof(struct range_leaf *));
}

static void remove_slots(struct range_map *map, size_t at, unsigned int first, unsigned int end)
{
	if (first == end)
		return;
	take_out(map->leaves[at], first, end);
	drop_if_empty(map, at);
}

bool range_map_find(struct range_map *map, uint64_t addr, struct valued_range *ret_range)
{
	struct position at;

	if (!find(map, addr, &at))
		return false;
	*ret_range = *range_at(map, &at);
	return true;
}

/* Takes [start, end) out of the middle of the range at @at. */
static int punch(struct range_map *map, const struct position *at, uint64_t start, uint64_t end)
{
	struct position above = { .leaf = at->leaf, .slot = at->slot + 1 };
	struct valued_range *range = range_at(map, at);
	struct valued_range upper = { .start = end, .end = range->end, .value = range->value };

	range->end = start;
	if (!insert(map, &above, &upper))
		return 0;
	range_at(map, at)->end = upper.end;
	return -ENOMEM;
}

/*
 * Clears [start, end), in which the range at @at is the first. Afterwards @at is the first range
 * behind; false when there is none.
 */
static bool clear_from(struct range_map *map, struct position *at, uint64_t start, uint64_t end)
{
	struct valued_range *range = range_at(map, at);
	struct range_leaf *leaf;
	unsigned int slot;

	if (range->start < start) {
		range->end = start;
		at->slot++;
	}
	while (at->leaf < map->nr_leaves) {
		leaf = map->leaves[at->leaf];
		slot = at->slot;
		while (slot < leaf->nr && leaf->ranges[slot].end <= end)
			slot++;
		if (slot < leaf->nr) {
			if (leaf->ranges[slot].start < end)
				leaf->ranges[slot].start = end;
			remove_slots(map, at->leaf, at->slot, slot);
			return true;
		}
		if (at->slot)
			remove_slots(map, at->leaf++, at->slot, slot);
		else
			remove_slots(map, at->leaf, 0, slot); /* the next leaf comes in its place */
		at->slot = 0;
	}
	return false;
}

int range_map_clear(struct range_map *map, uint64_t start, uint64_t end)
{
	struct position at;

	if (start >= end || !find(map, start, &at) || range_at(map, &at)->start >= end)
		return 0;
	if (range_at(map, &at)->start < start && range_at(map, &at)->end > end)
		return punch(map, &at, start, end);
	clear_from(map, &at, start, end);
	return 0;
}

/* The position behind the last range. */
static struct position behind_all(const struct range_map *map)
{
	if (!map->nr_leaves)
		return (struct position) { 0 };
	return (struct position) { .leaf = map->nr_leaves - 1,
				   .slot = map->leaves[map->nr_leaves - 1]->nr };
}

/* Joins the range at @at with touching neighbours of its value. */
static void join(struct range_map *map, struct position at)
{
	struct valued_range *range = range_at(map, &at);
	struct position near = at;

	if (step_forward(map, &near) && range_at(map, &near)->start == range->end &&
	    range_at(map, &near)->value == range->value) {
		range->end = range_at(map, &near)->end;
		take_out(map->leaves[near.leaf], near.slot, near.slot + 1);
		if (near.leaf != at.leaf)
			drop_if_empty(map, near.leaf);
	}
	near = at;
	if (step_back(map, &near) && range_at(map, &near)->end == range->start &&
	    range_at(map, &near)->value == range->value) {
		range_at(map, &near)->end = range->end;
		remove_slots(map, at.leaf, at.slot, at.slot + 1);
	}
}

/* Puts in a range before the one at @at, where @above says that there is one; or into a neighbour. */
static int put(struct range_map *map, struct position at, bool above,
	       const struct valued_range *range)
{
	struct valued_range *next = above ? range_at(map, &at) : NULL, *below = NULL;
	struct position near = at;

	if (step_back(map, &near))
		below = range_at(map, &near);
	if (below && below->end == range->start && below->value == range->value) {
		below->end = range->end;
		if (next && next->start == range->end)
			join(map, near);
		return 0;
	}
	if (next && next->start == range->end && next->value == range->value) {
		next->start = range->start;
		return 0;
	}
	return insert(map, &at, range);
}

int range_map_set(struct range_map *map, uint64_t start, uint64_t end, uint64_t value)
{
	struct valued_range range = { .start = start, .end = end, .value = value };
	struct position at;
	bool above;

	if (start >= end)
		return 0;
	above = find(map, start, &at);
	if (above && range_at(map, &at)->start < end) {
		const struct valued_range *old = range_at(map, &at);

		if (old->start == start && old->end == end) {
			range_at(map, &at)->value = value;
			join(map, at);
			return 0;
		}
		if (old->start < start && old->end > end) {
			if (punch(map, &at, start, end))
				return -ENOMEM;
			above = find(map, start, &at);
		} else {
			above = clear_from(map, &at, start, end);
		}
	}
	if (!above)
		at = behind_all(map);
	return put(map, at, above, &range);
}

int range_map_move(struct range_map *map, uint64_t from, uint64_t len, uint64_t to)
{
	struct range_map part = { 0 };
	struct valued_range range;
	uint64_t at = from, end = from + len;
	int err = 0;

	if (range_map_is_empty(map) || from == to)
		return 0;
	for (; !err && at < end && range_map_find(map, at, &range) && range.start < end;
	     at = range.end) {
		uint64_t start = range.start > from ? range.start : from;
		uint64_t stop = range.end < end ? range.end : end;

		err = range_map_set(&part, start - from + to, stop - from + to, range.value);
	}
	if (!err)
		err = range_map_clear(map, from, end);
	for (at = 0; !err && range_map_find(&part, at, &range); at = range.end)
		err = range_map_set(map, range.start, range.end, range.value);
	range_map_free(&part);
	return err;
}

int range_map_copy(const struct range_map *map, struct range_map *ret_copy)
{
	for (size_t i = 0; i < map->nr_leaves; i++) {
		struct range_leaf *leaf = malloc(sizeof(*leaf));

		if (!leaf || insert_leaf(ret_copy, i, leaf)) {
			free(leaf);
			range_map_free(ret_copy);
			return -ENOMEM;
		}
		*leaf = *map->leaves[i];
	}
	return 0;
}

void range_map_free(struct range_map *map)
{
	for (size_t i = 0; i < map->nr_leaves; i++)
		free(map->leaves[i]);
	free(map->leaves);
	*map = (struct range_map) { 0 };
}
