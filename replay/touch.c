/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Touches. Which memory has been written to decides about anon_vma and so about joining, and no
 * call tells it. *Eager* replay takes all private anonymous memory that is mapped writable as
 * touched: memory is touched when it is made writable, and what is made unwritable is remembered
 * until it becomes so. So nothing is looked at twice.
 */
#include <errno.h>

#include "replay/call.h"

/* A touch, and the steps of it. */
static int touch_counted(struct lane *lane, struct lane_mm *mm, uint64_t at, uint64_t len,
			 bool write, uint64_t *ret_done)
{
	struct seam_stats before, after;
	int err;

	if (lane->counting) {
		counting_set_touch(lane->counting, true);
		err = seam_space_touch(mm->space, at, len, write, ret_done);
		counting_set_touch(lane->counting, false);
		return err;
	}
	seam_space_get_stats(mm->space, &before);
	err = seam_space_touch(mm->space, at, len, write, ret_done);
	seam_space_get_stats(mm->space, &after);
	lane->result->touch_find_steps += after.steps.find - before.steps.find;
	return err;
}

int touch_range(struct lane *lane, struct lane_mm *mm, uint64_t at, uint64_t len, bool write,
		uint64_t *ret_done)
{
	uint64_t done = at;
	int err = touch_counted(lane, mm, at, len, write, &done);

	lane->result->touched_pages += (done - at) >> seam_space_page_shift(mm->space);
	if (ret_done)
		*ret_done = done;
	return err;
}

static bool is_eager(const struct call *call)
{
	return call->lane->touch == TOUCH_EAGER;
}

void touch_made(struct call *call, uint64_t at, uint64_t len, bool writable)
{
	struct range_map *untouched = &call->mm->untouched;

	if (!is_eager(call))
		return;
	if (!writable) {
		call_keep(call, range_map_set(untouched, at, at + len, 0));
		return;
	}
	if (!range_map_is_empty(untouched))
		call_keep(call, range_map_clear(untouched, at, at + len));
	call_check(call, touch_range(call->lane, call->mm, at, len, true, NULL));
}

/* The writable areas in [start, end), which was never touched. */
static void touch_writable(struct call *call, uint64_t start, uint64_t end)
{
	struct seam_area area;
	uint64_t at = start;

	while (at < end && seam_area_find(call->space, at, &area) && area.start < end) {
		uint64_t from = area.start > start ? area.start : start;
		uint64_t to = area.end < end ? area.end : end;

		if (is_private_anonymous(&area) && area.flags & SEAM_VM_WRITE) {
			call_check(call,
				   touch_range(call->lane, call->mm, from, to - from, true, NULL));
			call_keep(call, range_map_clear(&call->mm->untouched, from, to));
		}
		at = to;
	}
}

void touch_after_protect(struct call *call, uint64_t at, uint64_t len)
{
	struct valued_range range;
	uint64_t end = at + len;

	while (at < end && range_map_find(&call->mm->untouched, at, &range) && range.start < end) {
		uint64_t from = range.start > at ? range.start : at;
		uint64_t to = range.end < end ? range.end : end;

		touch_writable(call, from, to);
		at = to;
	}
}

void touch_gone(struct call *call, uint64_t at, uint64_t len)
{
	if (!range_map_is_empty(&call->mm->untouched))
		call_keep(call, range_map_clear(&call->mm->untouched, at, at + len));
}

void touch_moved(struct call *call, uint64_t from, uint64_t len, uint64_t to)
{
	call_keep(call, range_map_move(&call->mm->untouched, from, len, to));
}

int touch_all(struct lane *lane, struct lane_mm *mm)
{
	struct seam_area area;
	uint64_t at = 0;

	while (seam_area_next(mm->space, &at, &area)) {
		if (!is_private_anonymous(&area) || area.anon_vma)
			continue;
		if (area.flags & SEAM_VM_WRITE) {
			if (touch_range(lane, mm, area.start, area.end - area.start, true, NULL) ==
			    -SEAM_EALLOC)
				return -ENOMEM;
		} else if (range_map_set(&mm->untouched, area.start, area.end, 0)) {
			return -ENOMEM;
		}
	}
	return 0;
}
