/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/changes.h"

#include <string.h>

#include "lib/area.h"
#include "lib/memory.h"

#define FIRST_ROOM 16

static bool grow(const struct seam_alloc *alloc, void **array, size_t *room, size_t nr, size_t size)
{
	size_t larger = *room ? *room * 2 : FIRST_ROOM;
	void *fresh;

	if (nr < *room)
		return true;
	fresh = memory_resize(alloc, *array, *room * size, larger * size);
	if (!fresh)
		return false;
	*array = fresh;
	*room = larger;
	return true;
}

/* Where the area that starts at @start stands, or would stand. Calls work upward, so look there. */
static size_t place(const struct area *areas, size_t nr, uint64_t start)
{
	size_t low = 0, high = nr;

	if (nr && areas[nr - 1].start < start)
		return nr;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (areas[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool put(struct seam_space *space, struct area **areas, size_t *nr, size_t *room,
		const struct area *area)
{
	size_t at = place(*areas, *nr, area->start);

	if (!grow(&space->alloc, (void **)areas, room, *nr, sizeof(*area)))
		return false;
	memmove(*areas + at + 1, *areas + at, (*nr - at) * sizeof(*area));
	(*areas)[at] = *area;
	++*nr;
	return true;
}

/* An area goes: one that the call itself has made leaves no trace, another one was there before. */
static bool take_out(struct seam_space *space, struct changes *changes, const struct area *area)
{
	size_t at = place(changes->after, changes->nr_after, area->start);

	if (at < changes->nr_after && changes->after[at].start == area->start) {
		changes->nr_after--;
		memmove(changes->after + at, changes->after + at + 1,
			(changes->nr_after - at) * sizeof(*area));
		return true;
	}
	return put(space, &changes->before, &changes->nr_before, &changes->before_room, area);
}

static bool replay_journal(struct seam_space *space, struct changes *changes)
{
	const struct journal *journal = &space->journal;

	for (size_t i = 0; i < journal->nr; i++) {
		const struct edit *edit = &journal->edits[i];

		if (edit->kind != EDIT_INSERT && !take_out(space, changes, &edit->before))
			return false;
		if (edit->kind != EDIT_REMOVE && !put(space, &changes->after, &changes->nr_after,
						      &changes->after_room, &edit->after))
			return false;
	}
	return true;
}

static bool add(struct seam_space *space, enum seam_change_kind kind, const struct area *before,
		const struct area *after)
{
	struct changes *changes = space->changes;
	struct seam_change *change;

	if (!grow(&space->alloc, (void **)&changes->list, &changes->room, changes->nr,
		  sizeof(*changes->list)))
		return false;
	change = &changes->list[changes->nr++];
	memset(change, 0, sizeof(*change));
	change->kind = kind;
	if (before)
		area_export(space, before, &change->before);
	if (after)
		area_export(space, after, &change->after);
	return true;
}

static bool overlap(const struct area *a, const struct area *b)
{
	return a->start < b->end && b->start < a->end;
}

static bool same(const struct area *a, const struct area *b)
{
	return a->start == b->start && a->end == b->end && a->pgoff == b->pgoff &&
	       a->attr == b->attr && a->anon == b->anon && a->tag == b->tag;
}

/* How many areas of a sorted list overlap @area; *ret_first the first of them. */
static size_t overlaps(const struct area *areas, size_t nr, const struct area *area,
		       size_t *ret_first)
{
	size_t at = place(areas, nr, area->start), found = 0;

	if (at && areas[at - 1].end > area->start)
		at--;
	*ret_first = at;
	for (; at < nr && overlap(&areas[at], area); at++)
		found++;
	return found;
}

static bool is_moved(const struct area *area, const struct move *move, uint64_t from)
{
	const struct area range = { .start = from, .end = from + move->len };

	return move->len && overlap(area, &range);
}

/* What lies below @start of an area is left out. */
static void begin_at(const struct seam_space *space, struct area *area, uint64_t start)
{
	area->pgoff = area_offset_at(space, area, start);
	area->start = start;
}

/* Of an area that has moved, what mremap has cut off its end is gone all the same. */
static bool tell_gone(struct seam_space *space, const struct changes *c, const struct move *move)
{
	size_t first;

	for (size_t i = 0; i < c->nr_before; i++) {
		struct area gone = c->before[i];

		if (is_moved(&gone, move, move->from))
			begin_at(space, &gone, move->from + move->len);
		if (gone.start < gone.end &&
		    !overlaps(c->after, c->nr_after, &c->before[i], &first) &&
		    !add(space, SEAM_CHANGE_REMOVED, &gone, NULL))
			return false;
	}
	return true;
}

/*
 * The first area behind @addr as it was before the call: one that the call has changed, or, since
 * DONTUNMAP may leave the old place as it is, one that it has not.
 */
static bool stood_at(const struct seam_space *space, const struct changes *c, uint64_t addr,
		     struct area *ret_area)
{
	size_t at = place(c->before, c->nr_before, addr), unused;
	bool found = false;
	struct cursor cursor;
	struct area now;

	if (at && c->before[at - 1].end > addr)
		at--;
	if (at < c->nr_before) {
		*ret_area = c->before[at];
		found = true;
	}
	if (!area_seek(space, addr, &cursor, &now))
		return found;
	if ((!found || now.start < ret_area->start) &&
	    !overlaps(c->after, c->nr_after, &now, &unused)) {
		*ret_area = now;
		found = true;
	}
	return found;
}

/* The memory of each area of the old place, and the area that holds it now. */
static bool tell_moved(struct seam_space *space, const struct changes *c, const struct move *move)
{
	uint64_t end = move->from + move->len, addr = move->from;
	struct area before, there;
	size_t first;

	while (addr < end && stood_at(space, c, addr, &before) && before.start < end) {
		uint64_t start = before.start > move->from ? before.start : move->from;

		begin_at(space, &before, start);
		before.end = before.end < end ? before.end : end;
		addr = before.end;
		there.start = before.start - move->from + move->to;
		there.end = before.end - move->from + move->to;
		if (overlaps(c->after, c->nr_after, &there, &first) &&
		    !add(space, SEAM_CHANGE_MOVED, &before, &c->after[first]))
			return false;
	}
	return true;
}

static bool tell_splits(struct seam_space *space, const struct changes *c)
{
	for (size_t i = 0; i < c->nr_before; i++) {
		size_t first, nr = overlaps(c->after, c->nr_after, &c->before[i], &first);

		for (size_t k = first; nr > 1 && k < first + nr; k++)
			if (!add(space, SEAM_CHANGE_SPLIT, &c->before[i], &c->after[k]))
				return false;
	}
	return true;
}

static bool tell_joins(struct seam_space *space, const struct changes *c)
{
	for (size_t i = 0; i < c->nr_after; i++) {
		size_t first, nr = overlaps(c->before, c->nr_before, &c->after[i], &first);

		for (size_t k = first; nr > 1 && k < first + nr; k++)
			if (!add(space, SEAM_CHANGE_JOINED, &c->before[k], &c->after[i]))
				return false;
	}
	return true;
}

/* One to one, with a difference. */
static bool tell_changed(struct seam_space *space, const struct changes *c)
{
	for (size_t i = 0; i < c->nr_before; i++) {
		const struct area *before = &c->before[i], *after;
		size_t first, back;

		if (overlaps(c->after, c->nr_after, before, &first) != 1)
			continue;
		after = &c->after[first];
		if (overlaps(c->before, c->nr_before, after, &back) == 1 && !same(before, after) &&
		    !add(space, SEAM_CHANGE_CHANGED, before, after))
			return false;
	}
	return true;
}

static bool tell_created(struct seam_space *space, const struct changes *c, const struct move *move)
{
	size_t first;

	for (size_t i = 0; i < c->nr_after; i++)
		if (!overlaps(c->before, c->nr_before, &c->after[i], &first) &&
		    !is_moved(&c->after[i], move, move->to) &&
		    !add(space, SEAM_CHANGE_CREATED, NULL, &c->after[i]))
			return false;
	return true;
}

void changes_note_move(struct seam_space *space, const struct seam_mremap *args, int result,
		       uint64_t new_addr)
{
	uint64_t shorter = args->new_len < args->old_len ? args->new_len : args->old_len;
	/* a move of several areas that fails has moved some of them, and names the place */
	uint64_t to = result ? args->new_addr : new_addr;

	if (to != args->old_addr)
		space->move = (struct move) { .from = args->old_addr,
					      .to = to,
					      .len = page_up(space, shorter) };
}

int changes_make(struct seam_space *space)
{
	const struct move *move = &space->move;
	struct changes *changes = space->changes;

	if (!changes) {
		changes = space->changes = memory_zeroed(&space->alloc, sizeof(*changes));
		if (!changes)
			return -SEAM_EALLOC;
	}
	changes->nr = changes->nr_before = changes->nr_after = 0;
	if (replay_journal(space, changes) && tell_gone(space, changes, move) &&
	    tell_moved(space, changes, move) && tell_splits(space, changes) &&
	    tell_joins(space, changes) && tell_changed(space, changes) &&
	    tell_created(space, changes, move))
		return 0;
	changes->nr = 0;
	return -SEAM_EALLOC;
}

void changes_tell(const struct seam_space *space)
{
	for (size_t i = 0; space->hook && i < space->changes->nr; i++)
		space->hook(space->hook_ctx, space, &space->changes->list[i]);
}

void changes_free(struct seam_space *space)
{
	struct changes *changes = space->changes;

	if (!changes)
		return;
	memory_free(&space->alloc, changes->list, changes->room * sizeof(*changes->list));
	memory_free(&space->alloc, changes->before, changes->before_room * sizeof(struct area));
	memory_free(&space->alloc, changes->after, changes->after_room * sizeof(struct area));
	memory_free(&space->alloc, changes, sizeof(*changes));
}
