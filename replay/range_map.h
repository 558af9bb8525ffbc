/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay/range_map.h - disjoint address ranges in order, each with a value; touching ranges of one
 * value are one range. Replay keeps in such maps where recorded memory lies under another kernel.
 */
#ifndef REPLAY_RANGE_MAP_H
#define REPLAY_RANGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct valued_range {
	uint64_t start, end; /* [start, end) */
	uint64_t value;
};

struct range_part;

/* All zero is an empty map. */
struct range_map {
	struct range_part *parts;
	size_t nr_parts, room;
	/* found last, as long as nothing was changed since */
	uint64_t found_addr; /* 0: nothing */
	size_t found_part;
	unsigned int found_slot;
};

static inline bool range_map_is_empty(const struct range_map *map)
{
	return !map->nr_parts;
}

/* The first range that ends behind @addr: the one that holds it, or the next one up. */
bool range_map_find(struct range_map *map, uint64_t addr, struct valued_range *ret_range);
/* [start, end) gets @value, whatever it had. -ENOMEM: nothing has changed, or it has no value. */
int range_map_set(struct range_map *map, uint64_t start, uint64_t end, uint64_t value);
/* [start, end) has no value any more. -ENOMEM: nothing has changed. */
int range_map_clear(struct range_map *map, uint64_t start, uint64_t end);
/* What [from, from + len) has goes to @to; nothing of it stays. -ENOMEM. */
int range_map_move(struct range_map *map, uint64_t from, uint64_t len, uint64_t to);
/* *ret_copy is an empty map before. -ENOMEM: it is empty after. */
int range_map_copy(const struct range_map *map, struct range_map *ret_copy);
/* The map is empty afterwards. */
void range_map_free(struct range_map *map);

#endif
