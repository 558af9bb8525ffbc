/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay/segment.h - what happened to a space since the kernel's own map was last seen, so that it
 * can be gone through again with other guesses about what was touched.
 */
#ifndef REPLAY_SEGMENT_H
#define REPLAY_SEGMENT_H

#include "replay/lane.h"

struct segment {
	struct seam_area *areas; /* when it began */
	uint32_t nr_areas, room_areas;
	uint64_t peak;
	uint64_t start_brk, brk, limits[SEAM_LIMIT_MEMLOCK + 1];
	struct range_map untouched;
	struct event *calls; /* since, and touches that the record tells */
	uint32_t nr_calls, room_calls;
	bool overflowed; /* more calls than are kept */
};

/* The space begins a new segment: its areas are what is known for sure. 0 or -ENOMEM. */
int segment_begin(struct lane_mm *mm);
/* A call was made, or a touch told. 0 or -ENOMEM. */
int segment_add(struct lane_mm *mm, const struct event *event);
/* The space as it was when the segment began. *ret_again is to be freed by lane_mm_free either way. */
int segment_restore(const struct lane_mm *mm, struct lane_mm *ret_again);
void segment_free(struct lane_mm *mm);

/*
 * resolve.c: some outcomes of joining hang on what was touched, which the record does not tell.
 * Goes through the segment again with other guesses where borders between areas are not as in the
 * truth, until the policy gives exactly the kernel's. Then the space is as it comes out, and
 * *ret_undetermined is how many calls it took guesses for; else it is as it was. 0 or -ENOMEM.
 */
int segment_resolve(struct lane *lane, struct lane_mm *mm, const struct seam_area *truth,
		    size_t nr_truth, uint64_t *ret_undetermined);

#endif
