/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/op/modify.h"

#include "lib/compiler.h"
#include "lib/join.h"
#include "lib/op/limits.h"
#include "lib/op/unmap.h"
#include "lib/scratch.h"

static bool fits(struct seam_space *space, const struct area *left, const struct area *right,
		 enum join_neighbour neighbour)
{
	space->mm.stats.join_tries++;
	return left->end == right->start && join_check(space, left, right, neighbour);
}

static bool load_prev(const struct seam_space *space, struct cursor cursor, struct area *ret_prev)
{
	if (!index_prev(&space->index, &cursor))
		return false;
	index_load(&space->index, &cursor, ret_prev);
	return true;
}

static bool load_next(const struct seam_space *space, struct cursor cursor, struct area *ret_next)
{
	return area_next(space, &cursor, ret_next);
}

static noinline_for_stack void decide(struct seam_space *space, const struct cursor *cursor,
				      struct outcome *o)
{
	bool at_start = o->range.start == o->area.start;
	bool at_end = o->range.end == o->area.end;

	o->whole = at_start && at_end;
	o->has_prev = o->has_next = false;
	if (rule(space, SEAM_RULE_special) && area_flags(space, &o->range) & SEAM_VM_SPECIAL)
		return;
	o->has_prev = at_start && !(WITH_KERNELS && o->starts_apart) &&
		      load_prev(space, *cursor, &o->prev) && o->prev.end == o->range.start &&
		      fits(space, &o->prev, &o->range, NEIGHBOUR_LEFT);
	o->has_next = at_end && !o->ends_apart && load_next(space, *cursor, &o->next) &&
		      o->next.start == o->range.end &&
		      fits(space, &o->range, &o->next, NEIGHBOUR_RIGHT);
	if (o->has_prev && o->has_next && !join_bridged(space, &o->prev, &o->next))
		o->has_next = false;
	if (o->whole && !join_removable(space, &o->area))
		o->has_prev = o->has_next = false;
	if (o->has_prev && o->has_next && !join_removable(space, &o->next))
		o->has_next = false;
}

/* An area without anon_vma takes over that of what it swallows (6.18 dup_anon_vma). */
static uint32_t survivor_anon(const struct area *survivor, const struct area *a,
			      const struct area *b)
{
	if (survivor->anon)
		return survivor->anon;
	if (b && b->anon)
		return b->anon;
	return a->anon;
}

/* The part [start, end) of the area that is changed becomes an area: that one, or a new one. */
static void add_part(const struct seam_space *space, struct exchange *exchange,
		     const struct outcome *o, uint64_t start, uint64_t end, int of)
{
	struct area *part = exchange_add(exchange, &o->area, of);

	part->pgoff = area_offset_at(space, &o->area, start);
	part->start = start;
	part->end = end;
}

/* prev | range [| next]  ->  prev, which swallows the range, and next too when it fits */
static noinline_for_stack int join_left(struct seam_space *space, struct cursor *cursor,
					struct outcome *o)
{
	struct exchange *exchange = &scratch_of(space)->exchange;
	const struct area *taken = o->has_next ? &o->next : NULL;
	uint64_t flags = area_flags(space, &o->range);
	struct area *joined;

	exchange_init(exchange, 2 + !!taken);
	joined = exchange_add(exchange, &o->prev, 0);
	joined->end = taken ? taken->end : o->range.end;
	joined->anon = survivor_anon(&o->prev, &o->range, taken);
	if (taken)
		flags |= area_flags(space, taken);
	if (!join_keep_sticky(space, joined, flags))
		return -SEAM_EALLOC;
	if (!o->whole)
		add_part(space, exchange, o, o->range.end, o->area.end, 1);
	space->mm.stats.joins += 1 + !!taken;
	index_prev(&space->index, cursor);
	return area_exchange(space, cursor, exchange);
}

/* range | next  ->  next, which begins lower */
static noinline_for_stack int join_right(struct seam_space *space, struct cursor *cursor,
					 struct outcome *o)
{
	struct exchange *exchange = &scratch_of(space)->exchange;
	struct area *joined;
	int err;

	exchange_init(exchange, 2);
	if (!o->whole)
		add_part(space, exchange, o, o->area.start, o->range.start, 0);
	joined = exchange_add(exchange, &o->next, 1);
	joined->start = o->range.start;
	joined->pgoff = o->range.pgoff;
	joined->anon = survivor_anon(&o->next, &o->range, NULL);
	if (!join_keep_sticky(space, joined, area_flags(space, &o->range)))
		return -SEAM_EALLOC;
	space->mm.stats.joins++;
	err = area_exchange(space, cursor, exchange);
	if (!err && !o->whole)
		index_step(&space->index, cursor);
	return err;
}

/* Whether the area may be cut at @at, after @cuts that are not made yet. */
static int check_cut(const struct seam_space *space, const struct area *area, uint64_t at,
		     unsigned int cuts)
{
	if (limit_areas_reached(space, cuts))
		return -SEAM_ENOMEM;
	return may_cut(space, area, at) ? 0 : -SEAM_EINVAL;
}

/* [below  range  above]  ->  [below][range][above] */
static noinline_for_stack int set_apart(struct seam_space *space, struct cursor *cursor,
					struct outcome *o)
{
	bool cuts_below = o->area.start < o->range.start, cuts_above = o->range.end < o->area.end;
	struct exchange *exchange = &scratch_of(space)->exchange;
	int err = 0;

	if (cuts_below)
		err = check_cut(space, &o->area, o->range.start, 0);
	if (err)
		return err;
	if (cuts_above)
		err = check_cut(space, &o->area, o->range.end, cuts_below);
	/* the kernel has made the first cut before it finds that it cannot make the second */
	if (err)
		return cuts_below && area_split(space, cursor, o->range.start) ? -SEAM_EALLOC : err;
	exchange_init(exchange, 1);
	if (cuts_below)
		add_part(space, exchange, o, o->area.start, o->range.start, 0);
	exchange_add(exchange, &o->range, cuts_below ? NEW_AREA : 0);
	if (cuts_above)
		add_part(space, exchange, o, o->range.end, o->area.end, NEW_AREA);
	space->mm.stats.splits += (uint64_t)cuts_below + cuts_above;
	err = area_exchange(space, cursor, exchange);
	if (!err && cuts_below)
		index_step(&space->index, cursor);
	return err;
}

/* The part of the area under the cursor that will be changed, as it is. */
static noinline_for_stack struct outcome *take_range(struct seam_space *space,
						     const struct cursor *cursor, uint64_t start,
						     uint64_t end)
{
	struct outcome *o = &scratch_of(space)->outcome;

	index_load(&space->index, cursor, &o->area);
	o->range = o->area;
	o->range.start = start;
	o->range.end = end;
	o->range.pgoff = area_offset_at(space, &o->area, start);
	o->starts_apart = o->ends_apart = false;
	return o;
}

static int modify(struct seam_space *space, struct cursor *cursor, struct outcome *o)
{
	decide(space, cursor, o);
	if (o->has_prev)
		return join_left(space, cursor, o);
	if (o->has_next)
		return join_right(space, cursor, o);
	return set_apart(space, cursor, o);
}

/* The range gets the attribute set. */
static int modify_attr(struct seam_space *space, struct cursor *cursor, struct outcome *o,
		       const struct attr *attr)
{
	o->range.attr = area_intern(space, attr);
	return o->range.attr ? modify(space, cursor, o) : -SEAM_EALLOC;
}

int modify_range(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
		 const struct attr *attr)
{
	return modify_attr(space, cursor, take_range(space, cursor, start, end), attr);
}

/* 6.1 fs/userfaultfd.c compares the part with the page offset of the whole area. */
int modify_watched(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
		   const struct attr *attr)
{
	struct outcome *o = take_range(space, cursor, start, end);

	o->ends_apart = rule(space, SEAM_RULE_uffd_cut_apart) && start > o->area.start;
	return modify_attr(space, cursor, o, attr);
}

int modify_tag(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
	       uint64_t tag)
{
	struct outcome *o = take_range(space, cursor, start, end);

	o->range.tag = tag;
	return modify(space, cursor, o);
}

int modify_flags(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
		 uint64_t flags)
{
	return modify_flags_apart(space, cursor, start, end, flags, false);
}

int modify_flags_apart(struct seam_space *space, struct cursor *cursor, uint64_t start,
		       uint64_t end, uint64_t flags, bool apart)
{
	struct outcome *o = take_range(space, cursor, start, end);
	struct attr *attr = &scratch_of(space)->attr;

	*attr = *area_attr(space, &o->area);
	attr->flags = flags;
	if (WITH_KERNELS)
		o->starts_apart = o->ends_apart = apart;
	return modify_attr(space, cursor, o, attr);
}

int walk_range(struct seam_space *space, uint64_t start, uint64_t end, enum holes holes,
	       visit_fn *visit, void *ctx)
{
	bool hole = false;
	struct cursor cursor;
	struct area area;

	while (start < end) {
		uint64_t stop;
		int err;

		if (!index_seek(&space->index, start, &cursor)) {
			hole = true;
			break;
		}
		index_load(&space->index, &cursor, &area);
		if (area.start > start) {
			hole = true;
			start = area.start;
			if (holes == HOLES_STOP || start >= end)
				break;
		}
		stop = area.end < end ? area.end : end;
		err = visit(space, &cursor, start, stop, ctx);
		if (err)
			return err;
		start = stop;
	}
	return hole && holes != HOLES_FORGIVE ? -SEAM_ENOMEM : 0;
}

bool range_has_hole(const struct seam_space *space, uint64_t start, uint64_t end)
{
	struct cursor cursor;
	struct area area;

	for_each_area(space, start, &cursor, &area) {
		if (start >= end || area.start > start)
			break;
		start = area.end;
	}
	return start < end;
}

int range_end(const struct seam_space *space, uint64_t start, uint64_t len, uint64_t *ret_end)
{
	uint64_t rounded = page_up(space, len);

	if (start & (page_size(space) - 1) || (len && !rounded) || start + rounded < start)
		return -SEAM_EINVAL;
	*ret_end = start + rounded;
	return 0;
}
