/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two levels: an array of parts, each a short sorted array. Neighbouring edits, which is what
 * programs make, stay in one part.
 *
 * Where a search ends cannot be foreseen, so it has no branches: ranges that end too early are
 * counted, always as many, and no compare waits for another.
 */
#include "replay/range_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAF_RANGES 64
#define GROUP 8
#define BEYOND_ALL UINT64_MAX

struct range_leaf {
	unsigned int nr;
	struct valued_range ranges[LEAF_RANGES]; /* beyond nr: their ends are BEYOND_ALL */
};

struct range_part {
	uint64_t end;		 /* of its last range */
	struct range_leaf *leaf; /* not empty */
};

struct position {
	size_t part;
	unsigned int slot;
};

/* The first part whose last range ends behind @addr; nr_parts when there is none. */
static size_t find_part(const struct range_map *map, uint64_t addr)
{
	size_t low = 0, nr = map->nr_parts, count = 0;

	for (; nr > GROUP; nr -= nr / 2)
		low += map->parts[low + nr / 2 - 1].end <= addr ? nr / 2 : 0;
	for (size_t i = 0; i < nr; i++)
		count += map->parts[low + i].end <= addr;
	return low + count;
}

/* The first range of a leaf that ends behind @addr; there is one. */
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
	if (!map->found_addr || map->found_addr != addr) {
		size_t part = find_part(map, addr);

		if (part == map->nr_parts)
			return false;
		map->found_addr = addr;
		map->found_part = part;
		map->found_slot = find_slot(map->parts[part].leaf, addr);
	}
	*ret = (struct position) { .part = map->found_part, .slot = map->found_slot };
	return true;
}

static struct range_leaf *leaf_at(const struct range_map *map, size_t part)
{
	return map->parts[part].leaf;
}

static struct valued_range *range_at(const struct range_map *map, const struct position *at)
{
	return &leaf_at(map, at->part)->ranges[at->slot];
}

/* After each change of the ends of a part's ranges, or of their places. */
static void note_change(struct range_map *map, size_t part)
{
	const struct range_leaf *leaf = leaf_at(map, part);

	map->parts[part].end = leaf->ranges[leaf->nr - 1].end;
	map->found_addr = 0;
}

/* The range before; false at the first one. */
static bool step_back(const struct range_map *map, struct position *at)
{
	if (at->slot) {
		at->slot--;
		return true;
	}
	if (!at->part)
		return false;
	at->part--;
	at->slot = leaf_at(map, at->part)->nr - 1;
	return true;
}

/* The range behind; false at the last one. */
static bool step_forward(const struct range_map *map, struct position *at)
{
	if (at->slot + 1 < leaf_at(map, at->part)->nr) {
		at->slot++;
		return true;
	}
	if (at->part + 1 >= map->nr_parts)
		return false;
	at->part++;
	at->slot = 0;
	return true;
}

/* Slots from @from on hold no range any more. */
static void clear_slots(struct range_leaf *leaf, unsigned int from, unsigned int end)
{
	for (unsigned int i = from; i < end; i++)
		leaf->ranges[i].end = BEYOND_ALL;
}

static int insert_part(struct range_map *map, size_t at, struct range_leaf *leaf)
{
	if (map->nr_parts == map->room) {
		size_t room = map->room ? map->room * 2 : 4;
		struct range_part *parts = realloc(map->parts, room * sizeof(*parts));

		if (!parts)
			return -ENOMEM;
		map->parts = parts;
		map->room = room;
	}
	memmove(&map->parts[at + 1], &map->parts[at], (map->nr_parts - at) * sizeof(*map->parts));
	map->parts[at].leaf = leaf;
	map->nr_parts++;
	return 0;
}

/* A leaf with room for one more range at @at, which may come to lie in the next leaf. */
static int make_room(struct range_map *map, struct position *at)
{
	struct range_leaf *leaf, *upper;
	unsigned int keep;

	if (map->nr_parts && leaf_at(map, at->part)->nr < LEAF_RANGES)
		return 0;
	upper = malloc(sizeof(*upper));
	if (!upper)
		return -ENOMEM;
	upper->nr = 0;
	clear_slots(upper, 0, LEAF_RANGES);
	if (insert_part(map, map->nr_parts ? at->part + 1 : 0, upper)) {
		free(upper);
		return -ENOMEM;
	}
	if (map->nr_parts == 1)
		return 0;
	leaf = leaf_at(map, at->part);
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
	note_change(map, at->part);
	note_change(map, at->part + 1);
	if (at->slot > keep) {
		at->part++;
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
	leaf = leaf_at(map, at->part);
	memmove(&leaf->ranges[at->slot + 1], &leaf->ranges[at->slot],
		(leaf->nr - at->slot) * sizeof(*range));
	leaf->ranges[at->slot] = *range;
	leaf->nr++;
	note_change(map, at->part);
	return 0;
}

/* Takes out the ranges [first, end) of a part; what is left empty goes. */
static void take_out(struct range_map *map, size_t part, unsigned int first, unsigned int end)
{
	struct range_leaf *leaf = leaf_at(map, part);

	if (first == end)
		return;
	memmove(&leaf->ranges[first], &leaf->ranges[end],
		(leaf->nr - end) * sizeof(struct valued_range));
	clear_slots(leaf, leaf->nr - (end - first), leaf->nr);
	leaf->nr -= end - first;
	if (leaf->nr) {
		note_change(map, part);
		return;
	}
	free(leaf);
	map->found_addr = 0;
	map->nr_parts--;
	memmove(&map->parts[part], &map->parts[part + 1],
		(map->nr_parts - part) * sizeof(*map->parts));
}

bool range_map_find(struct range_map *map, uint64_t addr, struct valued_range *ret_range)
{
	struct position at;

	if (!find(map, addr, &at))
		return false;
	*ret_range = *range_at(map, &at);
	return true;
}

static void set_end(struct range_map *map, const struct position *at, uint64_t end)
{
	range_at(map, at)->end = end;
	note_change(map, at->part);
}

/* Takes [start, end) out of the middle of the range at @at. */
static int punch(struct range_map *map, const struct position *at, uint64_t start, uint64_t end)
{
	struct position above = { .part = at->part, .slot = at->slot + 1 };
	struct valued_range upper = *range_at(map, at);

	upper.start = end;
	set_end(map, at, start);
	if (!insert(map, &above, &upper))
		return 0;
	set_end(map, at, upper.end);
	return -ENOMEM;
}

/*
 * Nothing from @at on, where a range begins or a part ends, reaches into what is below @end any more.
 * Afterwards @at is the first range behind; false when there is none.
 */
static bool clear_below(struct range_map *map, struct position *at, uint64_t end)
{
	while (at->part < map->nr_parts) {
		struct range_leaf *leaf = leaf_at(map, at->part);
		unsigned int slot = at->slot, nr = leaf->nr;

		while (slot < nr && leaf->ranges[slot].end <= end)
			slot++;
		if (slot < nr && leaf->ranges[slot].start < end)
			leaf->ranges[slot].start = end;
		take_out(map, at->part, at->slot, slot);
		if (slot < nr)
			return true;
		/* where nothing is left of the part the next one comes in its place */
		at->part += at->slot != 0;
		at->slot = 0;
	}
	return false;
}

/* What reaches into [start, ...) from below ends there; @at goes to what is behind. */
static void cut_below(struct range_map *map, struct position *at, uint64_t start)
{
	if (range_at(map, at)->start >= start)
		return;
	set_end(map, at, start);
	at->slot++;
}

int range_map_clear(struct range_map *map, uint64_t start, uint64_t end)
{
	struct position at;

	if (start >= end || !find(map, start, &at) || range_at(map, &at)->start >= end)
		return 0;
	if (range_at(map, &at)->start < start && range_at(map, &at)->end > end)
		return punch(map, &at, start, end);
	cut_below(map, &at, start);
	clear_below(map, &at, end);
	return 0;
}

/* The position behind the last range. */
static struct position behind_all(const struct range_map *map)
{
	if (!map->nr_parts)
		return (struct position) { 0 };
	return (struct position) { .part = map->nr_parts - 1,
				   .slot = leaf_at(map, map->nr_parts - 1)->nr };
}

/* Does the one end where the other begins, with the same value? */
static bool continues(const struct valued_range *lower, const struct valued_range *upper)
{
	return lower->end == upper->start && lower->value == upper->value;
}

/* Joins the range at @at with touching neighbours of its value. */
static void join(struct range_map *map, struct position at)
{
	struct position near = at;

	if (step_forward(map, &near) && continues(range_at(map, &at), range_at(map, &near))) {
		set_end(map, &at, range_at(map, &near)->end);
		take_out(map, near.part, near.slot, near.slot + 1);
	}
	near = at;
	if (step_back(map, &near) && continues(range_at(map, &near), range_at(map, &at))) {
		set_end(map, &near, range_at(map, &at)->end);
		take_out(map, at.part, at.slot, at.slot + 1);
	}
}

/* Puts in a range before the one at @at, where @above says that there is one; or into a neighbour. */
static int put(struct range_map *map, struct position at, bool above,
	       const struct valued_range *range)
{
	struct valued_range *next = above ? range_at(map, &at) : NULL;
	struct position near = at;

	if (step_back(map, &near) && continues(range_at(map, &near), range)) {
		set_end(map, &near, range->end);
		if (next && next->start == range->end)
			join(map, near);
		return 0;
	}
	if (next && continues(range, next)) {
		next->start = range->start;
		return 0;
	}
	return insert(map, &at, range);
}

/* The range at @at is the first of those that lie in @range or reach into it, and not around it. */
static int overwrite(struct range_map *map, struct position at, const struct valued_range *range)
{
	struct position behind;
	bool above;

	cut_below(map, &at, range->start);
	if (at.slot < leaf_at(map, at.part)->nr && range_at(map, &at)->end <= range->end) {
		/* one that lies in it gives it its place */
		*range_at(map, &at) = *range;
		note_change(map, at.part);
		behind = (struct position) { .part = at.part, .slot = at.slot + 1 };
		clear_below(map, &behind, range->end);
		join(map, at);
		return 0;
	}
	above = clear_below(map, &at, range->end);
	return put(map, above ? at : behind_all(map), above, range);
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
		if (old->start >= start || old->end <= end)
			return overwrite(map, at, &range);
		if (punch(map, &at, start, end))
			return -ENOMEM;
		above = find(map, start, &at);
	}
	return put(map, above ? at : behind_all(map), above, &range);
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
	for (size_t i = 0; i < map->nr_parts; i++) {
		struct range_leaf *leaf = malloc(sizeof(*leaf));

		if (!leaf || insert_part(ret_copy, i, leaf)) {
			free(leaf);
			range_map_free(ret_copy);
			return -ENOMEM;
		}
		*leaf = *leaf_at(map, i);
		note_change(ret_copy, i);
	}
	return 0;
}

void range_map_free(struct range_map *map)
{
	for (size_t i = 0; i < map->nr_parts; i++)
		free(leaf_at(map, i));
	free(map->parts);
	*map = (struct range_map) { 0 };
}
