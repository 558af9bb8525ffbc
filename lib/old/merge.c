/* SPDX-License-Identifier: BSD-2-Clause */
/* How the old kernels joined areas, one function a generation, and how they cut them. */
#include "lib/compiler.h"
#include "lib/old/old.h"
#include "lib/scratch.h"

/* The area's start moves, its contents stay where they are. */
static void move_start(const struct seam_space *space, struct area *area, uint64_t start)
{
	area->pgoff = area_offset_at(space, area, start);
	area->start = start;
}

int merge_pair(struct seam_space *space, struct spot *lower, const struct spot *upper)
{
	struct exchange *exchange = &scratch_of(space)->exchange;

	exchange_init(exchange, 2);
	lower->area.end = upper->area.end;
	exchange_add(exchange, &lower->area, 0);
	space->mm.stats.joins++;
	return area_exchange(space, &lower->cursor, exchange);
}

/* @at: for a range in free space, what index_seek finds for its start. */
static noinline_for_stack void find_neighbours(const struct seam_space *space,
					       const struct area *range, const struct spot *within,
					       const struct cursor *at, struct neighbours *ret)
{
	if (within) {
		ret->has_below = range->start == within->area.start &&
				 spot_below(space, within, &ret->below);
		ret->has_above = range->end == within->area.end &&
				 spot_above(space, within, &ret->above);
	} else {
		ret->above.cursor = *at;
		ret->has_above = spot_load(space, &ret->above);
		ret->has_below = spot_below(space, &ret->above, &ret->below);
	}
	ret->has_below = ret->has_below && ret->below.area.end == range->start;
	ret->has_above = ret->has_above && ret->above.area.start == range->end;
}

/* The range, joined with what touches, by a style up to JOIN_FILES. */
static noinline_for_stack int merge_beside(struct seam_space *space, enum join_style style,
					   bool keep_pgoff, const struct area *fresh,
					   struct neighbours *n, bool *ret_joined)
{
	struct area *joined = &scratch_of(space)->old_joined;
	struct exchange *exchange = &scratch_of(space)->exchange;
	bool below, above;

	*ret_joined = false;
	if (!join_takes(style, area_flags(space, fresh), file_of(space, fresh)))
		return 0;
	if (style == JOIN_BELOW)
		n->has_above = false;
	space->mm.stats.join_tries += n->has_below + n->has_above;
	below = n->has_below && join_check(space, &n->below.area, fresh, NEIGHBOUR_LEFT);
	above = n->has_above && join_check(space, fresh, &n->above.area, NEIGHBOUR_RIGHT);
	if (!below && !above)
		return 0;
	*ret_joined = true;
	space->mm.stats.joins += below + above;
	if (!below) {
		*joined = n->above.area;
		if (keep_pgoff)
			move_start(space, joined, fresh->start);
		joined->start = fresh->start;
		return area_store(space, &n->above.cursor, joined);
	}
	exchange_init(exchange, 1 + above);
	joined = exchange_add(exchange, &n->below.area, 0);
	joined->end = above ? n->above.area.end : fresh->end;
	return area_exchange(space, &n->below.cursor, exchange);
}

static noinline_for_stack bool pair_joins(struct seam_space *space, const struct spot *lower,
					  const struct spot *upper)
{
	if (lower->area.end != upper->area.start)
		return false;
	space->mm.stats.join_tries++;
	return join_check(space, &lower->area, &upper->area, NEIGHBOUR_LEFT);
}

int merge_scan(struct seam_space *space, uint64_t start, uint64_t end)
{
	struct spot *lower = &scratch_of(space)->neighbours.below;
	struct spot *upper = &scratch_of(space)->neighbours.above;
	bool found;
	int err;

	found = spot_find(space, start, lower);
	steps_insert(space, start, &lower->cursor);
	if (!found)
		return 0;
	steps_forget_last(space);
	spot_below(space, lower, lower);
	while (lower->area.start < end && spot_above(space, lower, upper)) {
		if (!pair_joins(space, lower, upper)) {
			*lower = *upper;
			continue;
		}
		err = merge_pair(space, lower, upper);
		if (err)
			return err;
	}
	return 0;
}

/* The range and what is below (and above) it become one. */
static noinline_for_stack int merge_into_below(struct seam_space *space, const struct area *range,
					       const struct spot *within, struct neighbours *n,
					       bool above)
{
	bool whole = within && within->area.end == range->end;
	struct exchange *exchange = &scratch_of(space)->exchange;
	struct area *joined;

	exchange_init(exchange, 1u + !!within + above);
	joined = exchange_add(exchange, &n->below.area, 0);
	joined->end = above ? n->above.area.end : range->end;
	if (!joined->anon && within && (whole || rule(space, SEAM_RULE_border_anon)))
		joined->anon = within->area.anon;
	if (!joined->anon && above)
		joined->anon = n->above.area.anon;
	if (within && !whole)
		move_start(space, exchange_add(exchange, &within->area, 1), range->end);
	return area_exchange(space, &n->below.cursor, exchange);
}

/* The range and what is above it become one. */
static noinline_for_stack int merge_into_above(struct seam_space *space, const struct area *range,
					       const struct spot *within, struct neighbours *n)
{
	bool whole = within && within->area.start == range->start;
	struct exchange *exchange = &scratch_of(space)->exchange;
	struct cursor at = within ? within->cursor : n->above.cursor;
	struct area *joined;

	exchange_init(exchange, 1 + !!within);
	if (within && !whole)
		exchange_add(exchange, &within->area, 0)->end = range->start;
	joined = exchange_add(exchange, &n->above.area, !!within);
	move_start(space, joined, range->start);
	if (whole && within->area.anon)
		joined->anon = within->area.anon;
	if (!joined->anon && within && rule(space, SEAM_RULE_border_anon))
		joined->anon = within->area.anon;
	return area_exchange(space, &at, exchange);
}

/*
 * 2.6.7 - mm/mmap.c vma_merge. @range is new, in free space (@within NULL), or the changed form of a
 * part of the area @within.
 */
static noinline_for_stack int merge_cases(struct seam_space *space, const struct area *range,
					  const struct spot *within, struct neighbours *n,
					  bool *ret_joined)
{
	bool below, above;

	space->mm.stats.join_tries += n->has_below + n->has_above;
	below = n->has_below && join_check(space, &n->below.area, range, NEIGHBOUR_LEFT);
	above = n->has_above && join_check(space, range, &n->above.area, NEIGHBOUR_RIGHT);
	if (below && above && !join_bridged(space, &n->below.area, &n->above.area))
		above = false;
	*ret_joined = below || above;
	space->mm.stats.joins += below + above;
	if (below)
		return merge_into_below(space, range, within, n, above);
	if (above)
		return merge_into_above(space, range, within, n);
	return 0;
}

/*
 * 2.2: put in, and merge_segments then goes over it. Where it joins what is below, which stays, it
 * comes and goes in the kernel's tree alone.
 */
static noinline_for_stack int merge_by_scan(struct seam_space *space, const struct area *fresh,
					    struct neighbours *n, bool *ret_joined)
{
	struct exchange *exchange = &scratch_of(space)->exchange;
	struct area *joined = &scratch_of(space)->old_joined;
	bool above;
	int err;

	if (!n->has_below || !join_check(space, &n->below.area, fresh, NEIGHBOUR_LEFT))
		return 0;
	*ret_joined = true;
	err = area_pass(space, fresh);
	if (err)
		return err;
	*joined = n->below.area;
	joined->end = fresh->end;
	above = n->has_above && join_check(space, joined, &n->above.area, NEIGHBOUR_LEFT);
	space->mm.stats.join_tries += 1 + n->has_above;
	space->mm.stats.joins += 1 + above;
	exchange_init(exchange, 1 + above);
	if (above)
		joined->end = n->above.area.end;
	exchange_add(exchange, joined, 0);
	return area_exchange(space, &n->below.cursor, exchange);
}

int merge_fresh(struct seam_space *space, enum join_style style, bool keep_pgoff,
		const struct area *fresh, const struct cursor *at)
{
	struct neighbours *n = &scratch_of(space)->neighbours;
	struct cursor place = *at;
	bool joined = false;
	struct cursor below;
	int err = 0;

	/* 2.4.3 asks for the area that holds the byte below */
	if (style == JOIN_BELOW &&
	    join_takes(style, area_flags(space, fresh), file_of(space, fresh))) {
		index_seek(&space->index, fresh->start - 1, &below);
		steps_find(space, fresh->start - 1, &below);
	}
	find_neighbours(space, fresh, NULL, at, n);
	if (style == JOIN_CASES)
		err = merge_cases(space, fresh, NULL, n, &joined);
	else if (style == JOIN_SCAN)
		err = merge_by_scan(space, fresh, n, &joined);
	else
		err = merge_beside(space, style, keep_pgoff, fresh, n, &joined);
	if (err || joined)
		return err;
	err = area_insert_at(space, &place, fresh);
	if (!err && style == JOIN_SCAN)
		err = merge_scan(space, fresh->start, fresh->end);
	return err;
}

/*
 * 2.4.10 - 2.6.6: the head or the whole of an anonymous private area goes to the area below, whose
 * flags it gets. No other case joins here.
 */
static noinline_for_stack int merge_head(struct seam_space *space, const struct spot *spot,
					 const struct area *changed, bool *ret_joined)
{
	struct spot *below = &scratch_of(space)->neighbours.below;
	struct exchange *exchange = &scratch_of(space)->exchange;

	*ret_joined = false;
	if (changed->start != spot->area.start ||
	    !join_takes(JOIN_ANON, area_flags(space, changed), file_of(space, changed)) ||
	    !spot_below(space, spot, below) || below->area.end != changed->start)
		return 0;
	space->mm.stats.join_tries++;
	if (!join_check(space, &below->area, changed, NEIGHBOUR_LEFT))
		return 0;
	*ret_joined = true;
	if (changed->end == spot->area.end)
		return merge_pair(space, below, spot);
	space->mm.stats.joins++;
	exchange_init(exchange, 2);
	exchange_add(exchange, &below->area, 0)->end = changed->end;
	exchange_add(exchange, &spot->area, 1)->start = changed->end;
	return area_exchange(space, &below->cursor, exchange);
}

int old_cut(struct seam_space *space, const struct spot *within, uint64_t at)
{
	struct cursor cursor = within->cursor;

	if (rule(space, SEAM_RULE_cut_limit) &&
	    index_count(&space->index) >= space->limit[SEAM_LIMIT_AREAS])
		return -SEAM_ENOMEM;
	return area_split(space, &cursor, at);
}

/* Up to the area limit, which refuses the second cut or both. -SEAM_ENOMEM */
static noinline_for_stack int cut_singly(struct seam_space *space, const struct spot *within,
					 uint64_t start, uint64_t end)
{
	struct spot *spot = &scratch_of(space)->old_cut;
	int err;

	*spot = *within;
	if (start > spot->area.start) {
		err = old_cut(space, spot, start);
		if (err)
			return err;
		spot_find(space, start, spot);
	}
	return end < spot->area.end ? old_cut(space, spot, end) : 0;
}

/* A part of the area changes: [lower)[changed)[upper) */
static noinline_for_stack int cut_and_set(struct seam_space *space, const struct spot *within,
					  const struct area *changed)
{
	struct exchange *exchange = &scratch_of(space)->exchange;
	bool lower = changed->start > within->area.start, upper = changed->end < within->area.end;
	struct cursor at = within->cursor;
	struct area *rest;

	if (lower + upper && rule(space, SEAM_RULE_cut_limit) &&
	    index_count(&space->index) + lower + upper > space->limit[SEAM_LIMIT_AREAS])
		return cut_singly(space, within, changed->start, changed->end);
	exchange_init(exchange, 1);
	if (lower)
		exchange_add(exchange, &within->area, 0)->end = changed->start;
	exchange_add(exchange, changed, lower ? NEW_AREA : 0);
	if (upper) {
		rest = exchange_add(exchange, &within->area, NEW_AREA);
		rest->pgoff = area_offset_at(space, &within->area, changed->end);
		rest->start = changed->end;
	}
	space->mm.stats.splits += lower + upper;
	return area_exchange(space, &at, exchange);
}

static noinline_for_stack uint64_t end_of_area_at(const struct seam_space *space, uint64_t addr)
{
	struct spot spot;

	spot_find(space, addr, &spot);
	return spot.area.end;
}

int merge_changed(struct seam_space *space, enum join_style style, const struct spot *spot,
		  uint64_t start, uint64_t end, uint64_t flags, uint64_t *ret_end)
{
	struct neighbours *n = &scratch_of(space)->neighbours;
	struct attr *attr = &scratch_of(space)->attr;
	struct area *changed = &scratch_of(space)->fresh;
	bool joined = false;
	int err = 0;

	*attr = *area_attr(space, &spot->area);
	attr->flags = flags;
	*changed = spot->area;
	changed->pgoff = area_offset_at(space, &spot->area, start);
	changed->start = start;
	changed->end = end;
	changed->attr = area_intern(space, attr);
	if (!changed->attr)
		return -SEAM_EALLOC;
	if (style == JOIN_CASES) {
		find_neighbours(space, changed, spot, NULL, n);
		err = merge_cases(space, changed, spot, n, &joined);
	} else if (style == JOIN_ANON) {
		err = merge_head(space, spot, changed, &joined);
	}
	if (!err && !joined)
		err = cut_and_set(space, spot, changed);
	if (!err)
		*ret_end = end_of_area_at(space, start);
	return err;
}
