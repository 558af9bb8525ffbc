/* SPDX-License-Identifier: BSD-2-Clause */
#include "replay/segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"

#define MAX_CALLS (1u << 18) /* of a segment: more are not gone through again */

void segment_free(struct lane_mm *mm)
{
	struct segment *segment = mm->segment;

	if (!segment)
		return;
	range_map_free(&segment->untouched);
	free(segment->areas);
	free(segment->calls);
	free(segment);
	mm->segment = NULL;
}

int segment_begin(struct lane_mm *mm)
{
	struct segment *segment = mm->segment;
	struct seam_area area;
	uint64_t at = 0;

	if (!segment) {
		segment = mm->segment = calloc(1, sizeof(*segment));
		if (!segment)
			return -ENOMEM;
	}
	segment->nr_areas = segment->nr_calls = 0;
	segment->overflowed = false;
	while (seam_area_next(mm->space, &at, &area)) {
		if (grow(&segment->areas, segment->nr_areas, &segment->room_areas,
			 sizeof(*segment->areas)))
			return -ENOMEM;
		segment->areas[segment->nr_areas++] = area;
	}
	segment->peak = mm->peak;
	segment->start_brk = seam_space_get_start_brk(mm->space);
	segment->brk = seam_space_get_brk(mm->space);
	for (unsigned int i = 0; i <= SEAM_LIMIT_MEMLOCK; i++)
		segment->limits[i] = seam_space_limit(mm->space, (enum seam_limit)i);
	range_map_free(&segment->untouched);
	return range_map_copy(&mm->untouched, &segment->untouched);
}

int segment_add(struct lane_mm *mm, const struct event *event)
{
	struct segment *segment = mm->segment;
	struct event *copy;

	if (segment->overflowed || segment->nr_calls == MAX_CALLS) {
		segment->overflowed = true;
		return 0;
	}
	if (grow(&segment->calls, segment->nr_calls, &segment->room_calls, sizeof(*segment->calls)))
		return -ENOMEM;
	copy = &segment->calls[segment->nr_calls++];
	*copy = *event;
	copy->areas = NULL;
	copy->nr_areas = 0;
	copy->text = NULL;
	return 0;
}

int segment_restore(const struct lane_mm *mm, struct lane_mm *ret_again)
{
	const struct segment *segment = mm->segment;

	*ret_again = (struct lane_mm) {
		.options = mm->options,
		.heap_known = true,
		.wide = mm->wide,
		.future_locks = mm->future_locks,
		.peak = segment->peak,
	};
	if (seam_space_create(&ret_again->options, &ret_again->space) ||
	    range_map_copy(&segment->untouched, &ret_again->untouched) ||
	    ground_copy(&mm->ground, &ret_again->ground))
		return -ENOMEM;
	if (ret_again->future_locks)
		seam_space_mlockall(ret_again->space, ret_again->future_locks);
	for (uint32_t i = 0; i < segment->nr_areas; i++)
		if (seam_space_adopt(ret_again->space, &segment->areas[i]) == -SEAM_EALLOC)
			return -ENOMEM;
	seam_space_set_code(ret_again->space, mm->code[0], mm->code[1], mm->code[2]);
	seam_space_set_brk(ret_again->space, segment->start_brk, segment->brk);
	for (unsigned int i = 0; i <= SEAM_LIMIT_MEMLOCK; i++)
		seam_space_set_limit(ret_again->space, (enum seam_limit)i, segment->limits[i]);
	return 0;
}
