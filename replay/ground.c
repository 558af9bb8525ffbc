/* SPDX-License-Identifier: BSD-2-Clause */
#include "replay/ground.h"

#include <errno.h>

/* A distance is a multiple of the page size, so it has room for these. */
#define LOST 1 /* no distance */
#define FREED 2

static uint64_t distance(const struct valued_range *range)
{
	return range->value & ~(uint64_t)FREED;
}

bool ground_next_recorded(struct ground *ground, uint64_t start, uint64_t end, struct piece *ret)
{
	struct valued_range range;

	if (start >= end)
		return false;
	*ret = (struct piece) { .kind = GROUND_HERE, .start = start, .end = end, .at = start };
	if (!range_map_find(&ground->moved, start, &range) || range.start >= end)
		return true;
	if (range.start > start) {
		ret->end = range.start;
		return true;
	}
	if (range.value == LOST)
		ret->kind = GROUND_GONE;
	else
		ret->kind = range.value & FREED ? GROUND_FREED : GROUND_MOVED;
	ret->at = start + distance(&range);
	if (range.end < end)
		ret->end = range.end;
	return true;
}

bool ground_next(struct ground *ground, uint64_t start, uint64_t end, struct piece *ret)
{
	struct valued_range range;

	if (!ground_next_recorded(ground, start, end, ret))
		return false;
	if (ret->kind != GROUND_HERE || !range_map_find(&ground->taken, start, &range) ||
	    range.start >= ret->end)
		return true;
	if (range.start > start) {
		ret->end = range.start;
		return true;
	}
	ret->kind = GROUND_TAKEN;
	if (range.end < ret->end)
		ret->end = range.end;
	return true;
}

bool ground_is_taken(struct ground *ground, uint64_t start, uint64_t end)
{
	struct valued_range range;

	return range_map_find(&ground->taken, start, &range) && range.start < end;
}

uint64_t ground_translate(struct ground *ground, uint64_t addr)
{
	struct valued_range range;

	if (!range_map_find(&ground->moved, addr, &range) || range.start > addr ||
	    range.value == LOST)
		return addr;
	return addr + distance(&range);
}

int ground_settle(struct ground *ground, uint64_t start, uint64_t len, uint64_t at)
{
	if (start == at) {
		if (ground_is_plain(ground))
			return 0;
		if (range_map_clear(&ground->moved, start, start + len))
			return -ENOMEM;
		return range_map_clear(&ground->taken, at, at + len);
	}
	if (range_map_set(&ground->moved, start, start + len, at - start))
		return -ENOMEM;
	return range_map_set(&ground->taken, at, at + len, 0);
}

int ground_lose(struct ground *ground, uint64_t start, uint64_t len)
{
	return range_map_set(&ground->moved, start, start + len, LOST);
}

int ground_take(struct ground *ground, uint64_t at, uint64_t len)
{
	return range_map_set(&ground->taken, at, at + len, 0);
}

int ground_freed_piece(struct ground *ground, const struct piece *piece)
{
	if (piece->kind == GROUND_GONE)
		return range_map_clear(&ground->moved, piece->start, piece->end);
	if (piece->kind == GROUND_MOVED)
		return range_map_set(&ground->moved, piece->start, piece->end,
				     (piece->at - piece->start) | FREED);
	return 0;
}

int ground_freed(struct ground *ground, uint64_t start, uint64_t end)
{
	struct piece piece;
	int err = 0;

	if (range_map_is_empty(&ground->moved))
		return 0;
	for (; !err && ground_next_recorded(ground, start, end, &piece); start = piece.end)
		err = ground_freed_piece(ground, &piece);
	return err;
}

int ground_forget(struct ground *ground, uint64_t start, uint64_t end)
{
	return range_map_clear(&ground->moved, start, end);
}

int ground_release(struct ground *ground, uint64_t at, uint64_t len)
{
	return range_map_clear(&ground->taken, at, at + len);
}

int ground_copy(const struct ground *ground, struct ground *ret_copy)
{
	if (range_map_copy(&ground->moved, &ret_copy->moved))
		return -ENOMEM;
	if (range_map_copy(&ground->taken, &ret_copy->taken)) {
		range_map_free(&ret_copy->moved);
		return -ENOMEM;
	}
	return 0;
}

void ground_free(struct ground *ground)
{
	range_map_free(&ground->moved);
	range_map_free(&ground->taken);
}
