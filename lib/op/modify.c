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
	o->has_prev = at_start && load_prev(space, *cursor, &o->prev) &&
		      o->prev.end == o->range.start &&
		      fits(space, &o->prev, &o->range, NEIGHBOUR_LEFT);
	o->has_next = at_end && load_next(space, *cursor, &o->next) &&
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

/* What a join leaves of the area. */
static int shrink(struct seam_space *space, struct cursor *cursor, struct outcome *o,
		  uint64_t start, uint64_t end)
{
	o->rest = o->area;
	o->rest.pgoff = area_offset_at(space, &o->area, start);
	o->rest.start = start;
	o->rest.end = end;
	return area_store(space, cursor, &o->rest);
}

/* prev | range [| next]  ->  prev, which swallows the range, and next too when it fits */
static noinline_for_stack int join_left(struct seam_space *space, struct cursor *cursor,
					struct outcome *o)
{
	const struct area *taken = o->has_next ? &o->next : NULL;
	struct area *joined = &o->joined;
	uint64_t flags = area_flags(space, &o->range);
	int err;

	*joined = o->prev;
	joined->end = taken ? taken->end : o->range.end;
	joined->anon = survivor_anon(&o->prev, &o->range, taken);
	if (taken)
		flags |= area_flags(space, taken);
	if (!join_keep_sticky(space, joined, flags))
		return -SEAM_EALLOC;
	if (o->whole) {
		err = area_remove(space, cursor);
		if (!err && taken)
			err = area_remove(space, cursor);
		space->mm.stats.joins += 1 + !!taken;
	} else {
		err = shrink(space, cursor, o, o->range.end, o->area.end);
		space->mm.stats.joins++;
	}
	if (err)
		return err;
	index_seek(&space->index, o->prev.start, cursor);
	return area_store(space, cursor, joined);
}

/* range | next  ->  next, which begins lower */
static noinline_for_stack int join_right(struct seam_space *space, struct cursor *cursor,
					 struct outcome *o)
{
	struct area *joined = &o->joined;
	int err;

	*joined = o->next;
	joined->start = o->range.start;
	joined->pgoff = o->range.pgoff;
	joined->anon = survivor_anon(&o->next, &o->range, NULL);
	if (!join_keep_sticky(space, joined, area_flags(space, &o->range)))
		return -SEAM_EALLOC;
	if (o->whole)
		err = area_remove(space, cursor);
	else
		err = shrink(space, cursor, o, o->area.start, o->range.start);
	space->mm.stats.joins++;
	if (err)
		return err;
	index_seek(&space->index, o->next.start, cursor);
	return area_store(space, cursor, joined);
}

static noinline_for_stack int cut(struct seam_space *space, struct cursor *cursor, uint64_t at)
{
	struct area area;

	index_load(&space->index, cursor, &area);
	if (limit_areas_reached(space))
		return -SEAM_ENOMEM;
	if (!may_cut(space, &area, at))
		return -SEAM_EINVAL;
	return area_split(space, cursor, at);
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
	return o;
}

static int modify(struct seam_space *space, struct cursor *cursor, struct outcome *o)
{
	int err;

	decide(space, cursor, o);
	if (o->has_prev)
		return join_left(space, cursor, o);
	if (o->has_next)
		return join_right(space, cursor, o);
	if (o->area.start < o->range.start) {
		err = cut(space, cursor, o->range.start);
		if (err)
			return err;
		index_next(&space->index, cursor);
	}
	if (o->area.end > o->range.end) {
		err = cut(space, cursor, o->range.end);
		if (err)
			return err;
	}
	return area_store(space, cursor, &o->range);
}

int modify_range(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
		 const struct attr *attr)
{
	struct outcome *o = take_range(space, cursor, start, end);

	o->range.attr = area_intern(space, attr);
	return o->range.attr ? modify(space, cursor, o) : -SEAM_EALLOC;
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
	struct outcome *o = take_range(space, cursor, start, end);

	o->attr = *area_attr(space, &o->area);
	o->attr.flags = flags;
	o->range.attr = area_intern(space, &o->attr);
	return o->range.attr ? modify(space, cursor, o) : -SEAM_EALLOC;
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
