/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/reach.h - the memory that a recorded call works on: where the map may change through it. */
#ifndef VERIFY_REACH_H
#define VERIFY_REACH_H

#include <seam/space.h>

#include "trace/event.h"
#include "trace/range.h"

#define REACH_MAX 2 /* mremap has two */

struct reach {
	bool all; /* the whole map */
	unsigned int nr;
	struct range range[REACH_MAX]; /* whole pages */
};

/*
 * @space: as it is before the call. Without a result (EVENT_NO_RESULT) there is no telling where the
 * kernel will place something.
 */
void reach_of(const struct event *call, const struct seam_space *space, struct reach *ret_reach);

/* An address just below a range: what holds it touches the range. */
static inline uint64_t reach_below(const struct range *range)
{
	return range->start ? range->start - 1 : 0;
}

/* The areas of a range and those beside it, in order. *at: reach_below at first. False: no more. */
static inline bool reach_next(const struct range *range, const struct seam_space *space,
			      uint64_t *at, struct seam_area *ret_area)
{
	struct seam_area area;

	if (!seam_area_find(space, *at, &area) || area.start > range->end)
		return false;
	*at = area.end;
	*ret_area = area;
	return true;
}

#endif
