/* SPDX-License-Identifier: BSD-2-Clause */
#include "replay/ground.h"

#include <errno.h>

/* A distance is a multiple of the page size, so this is none. */
#define LOST 1

static bool next_by_record(struct ground *ground, uint64_t start, uint64_t end, struct piece *ret)
{
	struct range range;

	if (start >= end)
		return false;
	*ret = (struct piece) { .kind = GROUND_HERE, .start = start, .end = end, .at = start };
	if (!range_map_find(&ground->moved, start, &range) || range.start >= end)
		return true;
	if (range.start > start) {
		ret->end = range.start;
		return true;
	}
	ret->kind = range.value == LOST ? GROUND_GONE : GROUND_MOVED;
	ret->at = start + range.value;
	if (range.end < end)
		ret->end = range.end;
	return true;
}

bool ground_next(struct ground *ground, uint64_t start, uint64_t end, struct piece *ret)
{
	struct range range;

	if (!next_by_record(ground, start, end, ret))
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

bool ground_next_whole(struct ground *ground, uint64_t start, uint64_t end, struct piece *ret)
{
	struct range range;

	if (!next_by_record(ground, start, end, ret))
		return false;
	if (ret->kind == GROUND_HERE && range_map_find(&ground->taken, start, &range) &&
	    range.start < ret->end)
		ret->kind = GROUND_TAKEN;
	return true;
}

uint64_t ground_translate(struct ground *ground, uint64_t addr)
{
	struct range range;

	if (!range_map_find(&ground->moved, addr, &range) || range.start > addr ||
	    range.value == LOST)
		return addr;
	return addr + range.value;
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
