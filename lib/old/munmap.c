/* SPDX-License-Identifier: BSD-2-Clause */
/* munmap. Source: mm/mmap.c do_munmap, split_vma (2.6). */
#include "lib/compiler.h"
#include "lib/old/old.h"
#include "lib/scratch.h"

/*
 * May the range be cut out? Up to 2.4 only a hole in the middle of one area counts; 2.6 makes a cut
 * at each end of the range, and the first stays when the second is refused.
 */
static noinline_for_stack int check_cuts(struct seam_space *space, const struct spot *first,
					 uint64_t start, uint64_t end)
{
	bool low = first->area.start < start, high;
	uint64_t nr = index_count(&space->index), limit = space->limit[SEAM_LIMIT_AREAS];
	struct spot *last = &scratch_of(space)->old_cut;
	int err;

	if (nr + 1 < limit)
		return 0;
	if (!rule(space, SEAM_RULE_cut_limit))
		return low && first->area.end > end && nr >= limit ? -SEAM_ENOMEM : 0;
	high = spot_find(space, end, last) && last->area.start < end;
	if (low && nr >= limit)
		return -SEAM_ENOMEM;
	if (!high || nr + low < limit)
		return 0;
	if (low) {
		err = old_cut(space, first, start);
		if (err)
			return err;
	}
	return -SEAM_ENOMEM;
}

/*
 * Takes [start, end) out of the area @spot, which it overlaps:
 *	[head  (start	end)  tail)  ->  [head)		[tail)
 * The cursor goes on to what is above the range.
 */
static noinline_for_stack int cut_out(struct seam_space *space, struct spot *spot, uint64_t start,
				      uint64_t end)
{
	struct exchange *exchange = &scratch_of(space)->exchange;
	const struct area *area = &spot->area;
	bool head = area->start<start, tail = area->end> end;
	struct area *upper;
	int err;

	exchange_init(exchange, 1);
	if (head)
		exchange_add(exchange, area, 0)->end = start;
	if (tail) {
		upper = exchange_add(exchange, area, head ? NEW_AREA : 0);
		upper->pgoff = area_offset_at(space, area, end);
		upper->start = end;
	}
	space->mm.stats.splits += head && tail;
	err = area_exchange(space, &spot->cursor, exchange);
	if (!err && head)
		index_step(&space->index, &spot->cursor);
	return err;
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

int old_unmap(struct seam_space *space, uint64_t start, uint64_t len)
{
	struct spot *spot = &scratch_of(space)->old_unmapped;
	uint64_t end;
	bool found;
	int err;

	if (start & (page_size(space) - 1) || start > space->user_end ||
	    len > space->user_end - start)
		return -SEAM_EINVAL;
	end = start + round_up(space, len);
	if (end == start)
		return rule(space, SEAM_RULE_munmap_empty) ? -SEAM_EINVAL : 0;
	found = spot_find(space, start, spot);
	steps_insert(space, start, &spot->cursor);
	if (!found || spot->area.start >= end)
		return 0;
	err = check_cuts(space, spot, start, end);
	if (err)
		return err;
	steps_forget_last(space);
	do {
		place_freed(space, max(spot->area.start, start), min(spot->area.end, end));
		err = cut_out(space, spot, start, end);
		if (err)
			return err;
	} while (spot_load(space, spot) && spot->area.start < end);
	place_hole(space, &spot->cursor);
	return 0;
}

int old_munmap(struct seam_space *space, uint64_t addr, uint64_t len)
{
	return old_unmap(space, addr, len);
}
