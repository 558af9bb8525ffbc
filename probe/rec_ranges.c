/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorted ranges of addresses that do not overlap. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/rec.h"

size_t rec_ranges_find(const struct rec_ranges *ranges, uint64_t addr)
{
	size_t low = 0, high = ranges->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (ranges->list[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool rec_ranges_meet(const struct rec_ranges *ranges, uint64_t start, uint64_t end)
{
	size_t at = rec_ranges_find(ranges, start);

	return at < ranges->nr && ranges->list[at].start < end;
}

static int insert_at(struct rec_ranges *ranges, size_t at, const struct rec_range *range)
{
	if (ranges->nr == ranges->room) {
		size_t room = ranges->room ? 2 * ranges->room : 32;
		struct rec_range *list = reallocarray(ranges->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		ranges->list = list;
		ranges->room = room;
	}
	memmove(&ranges->list[at + 1], &ranges->list[at],
		(ranges->nr - at) * sizeof(*ranges->list));
	ranges->list[at] = *range;
	ranges->nr++;
	if (range->held)
		range->held->nr_ranges++;
	return 0;
}

int rec_ranges_insert(struct rec_ranges *ranges, const struct rec_range *range)
{
	return insert_at(ranges, rec_ranges_find(ranges, range->start), range);
}

static void remove_at(struct rec *rec, struct rec_ranges *ranges, size_t at)
{
	struct rec_held *held = ranges->list[at].held;

	ranges->nr--;
	memmove(&ranges->list[at], &ranges->list[at + 1],
		(ranges->nr - at) * sizeof(*ranges->list));
	if (!held)
		return;
	held->nr_ranges--;
	rec_put_held(rec, held);
}

void rec_ranges_cut(struct rec *rec, struct rec_ranges *ranges, uint64_t start, uint64_t end)
{
	size_t at = rec_ranges_find(ranges, start);

	while (at < ranges->nr && ranges->list[at].start < end) {
		struct rec_range *range = &ranges->list[at];
		struct rec_range behind = { end, range->end, range->held };

		if (range->start < start) {
			if (range->end > end && insert_at(ranges, at + 1, &behind))
				return;
			ranges->list[at].end = start;
			at++;
		} else if (range->end > end) {
			range->start = end;
			return;
		} else {
			remove_at(rec, ranges, at);
		}
	}
}

int rec_ranges_copy(struct rec_ranges *to, const struct rec_ranges *from)
{
	for (size_t i = 0; i < from->nr; i++)
		if (insert_at(to, to->nr, &from->list[i]))
			return -ENOMEM;
	return 0;
}

void rec_ranges_free(struct rec *rec, struct rec_ranges *ranges)
{
	while (ranges->nr)
		remove_at(rec, ranges, ranges->nr - 1);
	free(ranges->list);
	*ranges = (struct rec_ranges) { 0 };
}
