/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/op/join_new.h"

#include "lib/join.h"
#include "lib/scratch.h"
#include "lib/steps/steps.h"

static void seek_neighbours(const struct seam_space *space, struct join_new *join)
{
	const struct index *index = &space->index;

	if (!join->sought)
		join->has_next = index_seek(index, join->area.start, &join->next_at);
	join->prev_at = join->next_at;
	join->has_prev = index_prev(index, &join->prev_at);
	if (join->has_next)
		index_load(index, &join->next_at, &join->next);
	if (join->has_prev)
		index_load(index, &join->prev_at, &join->prev);
}

static void find_neighbours(const struct seam_space *space, struct join_new *join)
{
	if (!join->beside)
		seek_neighbours(space, join);
	join->has_next = join->has_next && join->next.start == join->area.end;
	join->has_prev = join->has_prev && join->prev.end == join->area.start &&
			 join->prev.end > join->prev_above;
}

/* mremap DONTUNMAP: where the kernel does not let the copy join what it is a copy of */
static bool is_source(const struct join_new *join, const struct area *neighbour)
{
	return join->apart_from && neighbour->start == join->apart_from;
}

static bool fits(const struct seam_space *space, const struct join_new *join,
		 enum join_neighbour side)
{
	const struct area *neighbour = side == NEIGHBOUR_LEFT ? &join->prev : &join->next;

	if (is_source(join, neighbour))
		return false;
	return side == NEIGHBOUR_LEFT ? join_check(space, neighbour, &join->area, side)
				      : join_check(space, &join->area, neighbour, side);
}

/* 6.1 - 6.11 mmap_region: the right one first, then the left as a neighbour of both. */
static void decide_right_first(const struct seam_space *space, struct join_new *join)
{
	struct area area = join->area;

	join->joins_right = join->has_next && fits(space, join, NEIGHBOUR_RIGHT);
	if (join->joins_right)
		join->area.anon = join->next.anon;
	join->joins_left = join->has_prev && fits(space, join, NEIGHBOUR_LEFT);
	join->area = area;
}

static void decide_left_first(const struct seam_space *space, struct join_new *join)
{
	uint32_t anon = join->area.anon;

	join->joins_left = join->has_prev && fits(space, join, NEIGHBOUR_LEFT);
	/* from 6.16 on an extension is no copy: it may be a fork child beside unfaulted memory */
	if (join->extends && rule(space, SEAM_RULE_anon_vma) >= 3 && join->has_next &&
	    !join->next.anon)
		join->area.anon = 0;
	join->joins_right = join->has_next && fits(space, join, NEIGHBOUR_RIGHT) &&
			    (!join->joins_left || join_bridged(space, &join->prev, &join->next));
	join->area.anon = anon;
}

void join_new_decide(struct seam_space *space, struct join_new *join)
{
	struct seam_stats *stats = &space->mm.stats;

	find_neighbours(space, join);
	steps_insert(space, join->area.start, &join->next_at);
	join->has_next = join->has_next && !join->left_only;
	join->joins_left = join->joins_right = false;
	if (rule(space, SEAM_RULE_special) && area_flags(space, &join->area) & SEAM_VM_SPECIAL)
		return;
	if (join->alone)
		return;
	if (join->alone_beside && ((join->has_prev && is_source(join, &join->prev)) ||
				   (join->has_next && is_source(join, &join->next))))
		return;
	if (join->right_first)
		decide_right_first(space, join);
	else
		decide_left_first(space, join);
	if (join->joins_left && join->joins_right && !join_removable(space, &join->next))
		join->joins_right = false;
	stats->join_tries += join->has_prev + join->has_next;
	stats->joins += join->joins_left + join->joins_right;
}

/* What untouched memory takes over from the touched copy that joins it. 6.16 forgot to. */
static uint32_t brought_anon(const struct seam_space *space, const struct join_new *join)
{
	return rule(space, SEAM_RULE_anon_lost) ? 0 : join->area.anon;
}

/* [prev)[area)[next) -> [prev		) */
static int grow_prev(struct seam_space *space, const struct join_new *join,
		     struct cursor *ret_cursor)
{
	struct exchange *exchange = &scratch_of(space)->exchange;
	uint64_t sticky = area_flags(space, &join->area);
	struct area *grown;

	exchange_init(exchange, 1 + join->joins_right);
	grown = exchange_add(exchange, &join->prev, 0);
	*ret_cursor = join->prev_at;
	grown->end = join->area.end;
	if (join->joins_right) {
		grown->end = join->next.end;
		sticky |= area_flags(space, &join->next);
		if (!grown->anon)
			grown->anon = join->next.anon;
	}
	if (!grown->anon)
		grown->anon = brought_anon(space, join);
	if (!join_keep_sticky(space, grown, sticky))
		return -SEAM_EALLOC;
	return area_exchange(space, ret_cursor, exchange);
}

/* [area)[next) -> [next	) */
static int grow_next(struct seam_space *space, const struct join_new *join,
		     struct cursor *ret_cursor)
{
	struct area *grown = &scratch_of(space)->grown;

	*grown = join->next;
	*ret_cursor = join->next_at;
	grown->start = join->area.start;
	grown->pgoff -= pages_of(space, join->area.end - join->area.start);
	if (!grown->anon)
		grown->anon = brought_anon(space, join);
	if (!join_keep_sticky(space, grown, area_flags(space, &join->area)))
		return -SEAM_EALLOC;
	return area_store(space, ret_cursor, grown);
}

int join_new_commit(struct seam_space *space, const struct join_new *join,
		    struct cursor *ret_cursor)
{
	if (join->joins_left)
		return grow_prev(space, join, ret_cursor);
	if (join->joins_right)
		return grow_next(space, join, ret_cursor);
	*ret_cursor = join->next_at;
	return area_insert_at(space, ret_cursor, &join->area);
}
