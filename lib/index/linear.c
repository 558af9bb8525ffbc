/* SPDX-License-Identifier: BSD-2-Clause */
/* The index as a sorted array: nothing to get wrong, so the reference for every other one. */
#include <string.h>

#include "lib/index/index.h"
#include "lib/memory.h"

void index_init(struct index *index, const struct seam_alloc *alloc, unsigned int page_shift)
{
	*index = (struct index) { .alloc = alloc };
}

void index_destroy(struct index *index)
{
	memory_free(index->alloc, index->areas, index->room * sizeof(*index->areas));
	index_init(index, index->alloc, 0);
}

bool index_seek(const struct index *index, uint64_t addr, struct cursor *ret_cursor)
{
	size_t low = 0, high = index->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->areas[middle].end > addr)
			high = middle;
		else
			low = middle + 1;
	}
	ret_cursor->node = NULL;
	ret_cursor->slot = low;
	return low < index->nr;
}

bool index_look_up(const struct index *index, uint64_t addr, struct cursor *ret_cursor)
{
	return index_seek(index, addr, ret_cursor);
}

bool index_last(const struct index *index, struct cursor *ret_cursor)
{
	ret_cursor->node = NULL;
	ret_cursor->slot = index->nr ? index->nr - 1 : 0;
	return index->nr;
}

bool index_next(const struct index *index, struct cursor *cursor)
{
	if (cursor->slot + 1 >= index->nr)
		return false;
	cursor->slot++;
	return true;
}

bool index_prev(const struct index *index, struct cursor *cursor)
{
	if (!cursor->slot)
		return false;
	cursor->slot--;
	return true;
}

void index_step(const struct index *index, struct cursor *cursor)
{
	cursor->slot++;
}

bool index_on_area(const struct index *index, const struct cursor *cursor)
{
	return cursor->slot < index->nr;
}

void index_load(const struct index *index, const struct cursor *cursor, struct area *ret_area)
{
	*ret_area = index->areas[cursor->slot];
}

int index_reserve(struct index *index, size_t nr)
{
	size_t room = index->room ? index->room : 32;
	struct area *areas;

	if (index->nr + nr <= index->room)
		return 0;
	while (room < index->nr + nr)
		room += room / 2;
	areas = memory_resize(index->alloc, index->areas, index->room * sizeof(*areas),
			      room * sizeof(*areas));
	if (!areas)
		return -SEAM_EALLOC;
	index->areas = areas;
	index->room = room;
	return 0;
}

int index_reserve_apart(struct index *index, size_t nr)
{
	return index_reserve(index, nr);
}

int index_insert(struct index *index, struct cursor *cursor, const struct area *area)
{
	struct area *at;

	if (index_reserve(index, 1))
		return -SEAM_EALLOC;
	at = index->areas + cursor->slot;
	memmove(at + 1, at, (index->nr - cursor->slot) * sizeof(*area));
	*at = *area;
	index->nr++;
	return 0;
}

void index_remove(struct index *index, struct cursor *cursor)
{
	struct area *at = index->areas + cursor->slot;

	index->nr--;
	memmove(at, at + 1, (index->nr - cursor->slot) * sizeof(*at));
}

int index_store(struct index *index, struct cursor *cursor, const struct area *area)
{
	index->areas[cursor->slot] = *area;
	return 0;
}

bool index_replace(struct index *index, struct cursor *cursor, unsigned int nr_old,
		   const struct area *areas, unsigned int nr)
{
	struct area *at;

	if (index_reserve(index, nr))
		return false;
	at = index->areas + cursor->slot;
	memmove(at + nr, at + nr_old, (index->nr - cursor->slot - nr_old) * sizeof(*at));
	if (nr)
		memcpy(at, areas, nr * sizeof(*at));
	index->nr += (size_t)nr - nr_old;
	return true;
}

bool index_gap_highest(const struct index *index, uint64_t len, uint64_t lo, uint64_t hi,
		       struct gap *ret_gap)
{
	struct cursor at;
	uint64_t top = hi;

	if (hi <= lo || hi - lo < len)
		return false;
	/* at: the first area that could bound the range from above */
	index_seek(index, hi - 1, &at);
	if (at.slot < index->nr && index->areas[at.slot].start < top)
		top = index->areas[at.slot].start;
	for (size_t slot = at.slot;; slot--) {
		uint64_t bottom = slot ? index->areas[slot - 1].end : 0;

		if (bottom < lo)
			bottom = lo;
		if (top >= bottom && top - bottom >= len) {
			*ret_gap = (struct gap) { .start = bottom, .end = top, .above.slot = slot };
			return true;
		}
		if (!slot || bottom == lo)
			return false;
		top = index->areas[slot - 1].start;
	}
}

bool index_gap_lowest(const struct index *index, uint64_t len, uint64_t lo, uint64_t hi,
		      struct gap *ret_gap)
{
	struct cursor at;
	uint64_t bottom = lo;

	if (hi <= lo || hi - lo < len)
		return false;
	index_seek(index, lo, &at);
	for (size_t slot = at.slot;; slot++) {
		uint64_t top = slot < index->nr ? index->areas[slot].start : hi;

		if (top > hi)
			top = hi;
		if (top >= bottom && top - bottom >= len) {
			*ret_gap = (struct gap) { .start = bottom, .end = top, .above.slot = slot };
			return true;
		}
		if (slot >= index->nr || top == hi)
			return false;
		bottom = index->areas[slot].end;
	}
}

bool index_gap_lowest_from(const struct index *index, const struct cursor *at, uint64_t len,
			   uint64_t lo, uint64_t hi, struct gap *ret_gap)
{
	return index_gap_lowest(index, len, lo, hi, ret_gap);
}

uint64_t index_between(const struct index *index, const struct cursor *first,
		       const struct cursor *last)
{
	return last->slot - first->slot;
}

uint64_t index_largest_gap(const struct index *index, const struct cursor *first,
			   const struct cursor *last, uint64_t lo)
{
	uint64_t bottom = lo, largest = 0;

	for (size_t slot = first->slot; slot < last->slot; slot++) {
		uint64_t start = index->areas[slot].start;

		if (start > bottom && start - bottom > largest)
			largest = start - bottom;
		bottom = index->areas[slot].end;
	}
	return largest;
}
