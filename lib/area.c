/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/area.h"

#include <string.h>

#include "lib/changes.h"
#include "lib/compiler.h"
#include "lib/index/history.h"
#include "lib/memory.h"
#include "lib/payload.h"
#include "lib/scratch.h"
#include "lib/shared.h"
#include "lib/steps/steps.h"

static int out_of_memory(struct seam_space *space)
{
	space->no_memory = true;
	return -SEAM_EALLOC;
}

static bool journal_grow(struct seam_space *space)
{
	struct journal *journal = &space->journal;
	size_t room = journal->room * 2;
	struct edit *edits;

	if (journal->edits == journal->few) {
		edits = space->alloc.alloc(space->alloc.ctx, room * sizeof(*edits));
		if (edits)
			memcpy(edits, journal->few, sizeof(journal->few));
	} else {
		edits = memory_resize(&space->alloc, journal->edits, journal->room * sizeof(*edits),
				      room * sizeof(*edits));
	}
	if (!edits)
		return false;
	journal->edits = edits;
	journal->room = room;
	return true;
}

/* The most edits that one function here makes. */
#define MOST_EDITS (2 * MOST_EXCHANGED)

static bool journal_room(struct seam_space *space)
{
	return space->journal.nr + MOST_EDITS <= space->journal.room || journal_grow(space);
}

/* An edit that the caller describes; it has made sure that there is room. */
static struct edit *journal_add(struct seam_space *space, enum edit_kind kind)
{
	struct edit *edit = &space->journal.edits[space->journal.nr++];

	edit->kind = kind;
	return edit;
}

/* All bits where it holds: what is counted differs from area to area, branches guess ill. */
static uint64_t where(bool holds)
{
	return -(uint64_t)holds;
}

/* @pages may be negative. */
static void count_pages(struct seam_totals *totals, uint64_t flags, uint64_t pages)
{
	uint64_t kind = flags & (SEAM_VM_EXEC | SEAM_VM_WRITE | SEAM_VM_GROWSDOWN);
	uint64_t data = flags & (SEAM_VM_WRITE | SEAM_VM_SHARED | SEAM_VM_GROWSDOWN);

	totals->total_pages += pages;
	totals->locked_pages += pages & where(flags & SEAM_VM_LOCKED);
	totals->exec_pages += pages & where(kind == SEAM_VM_EXEC);
	totals->stack_pages += pages & where(flags & SEAM_VM_GROWSDOWN);
	totals->data_pages += pages & where(data == SEAM_VM_WRITE);
}

void area_count(const struct seam_space *space, const struct area *area, struct seam_totals *totals,
		int sign)
{
	uint64_t pages = pages_of(space, area->end - area->start);

	count_pages(totals, area_flags(space, area), sign < 0 ? -pages : pages);
}

static void hold(struct seam_space *space, const struct area *area)
{
	attr_hold(&space->attrs, area->attr);
	anon_hold(space->family, area->anon);
}

static void drop(struct seam_space *space, const struct area *area)
{
	attr_drop(&space->attrs, area->attr);
	anon_drop(space->family, area->anon);
}

/* The three edits, in the index and in the shape that steps are counted by; in both or in neither. */

static bool edit_insert(struct seam_space *space, struct cursor *cursor, const struct area *area)
{
	if (!steps_reserve(space, 1) || index_insert(&space->index, cursor, area))
		return false;
	if (space->steps)
		steps_area_inserted(space, area);
	return true;
}

static void edit_remove(struct seam_space *space, struct cursor *cursor, const struct area *area)
{
	index_remove(&space->index, cursor);
	if (space->steps)
		steps_area_removed(space, area);
}

static bool edit_store(struct seam_space *space, struct cursor *cursor, const struct area *before,
		       const struct area *after)
{
	if (index_store(&space->index, cursor, after))
		return false;
	if (space->steps)
		steps_area_stored(space, before, after);
	return true;
}

int area_insert_at(struct seam_space *space, struct cursor *cursor, const struct area *area)
{
	if (!journal_room(space) || !edit_insert(space, cursor, area))
		return out_of_memory(space);
	journal_add(space, EDIT_INSERT)->after = *area;
	hold(space, area);
	area_count(space, area, &space->mm.totals, 1);
	return 0;
}

int area_insert(struct seam_space *space, const struct area *area, struct cursor *ret_cursor)
{
	struct cursor cursor;
	int err;

	index_seek(&space->index, area->start, &cursor);
	err = area_insert_at(space, &cursor, area);
	if (!err && ret_cursor)
		*ret_cursor = cursor;
	return err;
}

int area_pass(struct seam_space *space, const struct area *area)
{
	if (!steps_reserve(space, 1))
		return out_of_memory(space);
	if (space->steps)
		steps_area_passed(space, area);
	return 0;
}

int area_remove(struct seam_space *space, struct cursor *cursor)
{
	struct area *area;

	/* it must be possible to put back all that the call has taken out */
	if (!journal_room(space) || index_reserve(&space->index, space->journal.nr + 1))
		return out_of_memory(space);
	area = &journal_add(space, EDIT_REMOVE)->before;
	index_load(&space->index, cursor, area);
	edit_remove(space, cursor, area);
	area_count(space, area, &space->mm.totals, -1);
	drop(space, area);
	return 0;
}

/* What an area is counted for, when it becomes another: mostly only its size, or nothing, changes. */
static void recount(struct seam_space *space, const struct area *before, const struct area *after)
{
	uint64_t old = pages_of(space, before->end - before->start);
	uint64_t new = pages_of(space, after->end - after->start);

	if (before->attr != after->attr) {
		attr_hold(&space->attrs, after->attr);
		count_pages(&space->mm.totals, area_flags(space, after), new);
		count_pages(&space->mm.totals, area_flags(space, before), -old);
		attr_drop(&space->attrs, before->attr);
	} else if (old != new) {
		count_pages(&space->mm.totals, area_flags(space, after), new - old);
	}
	if (before->anon != after->anon) {
		anon_hold(space->family, after->anon);
		anon_drop(space->family, before->anon);
	}
}

int area_store(struct seam_space *space, struct cursor *cursor, const struct area *area)
{
	struct edit *edit;

	if (!journal_room(space))
		return out_of_memory(space);
	edit = &space->journal.edits[space->journal.nr];
	index_load(&space->index, cursor, &edit->before);
	if (!edit_store(space, cursor, &edit->before, area))
		return out_of_memory(space);
	edit->kind = EDIT_STORE;
	edit->after = *area;
	space->journal.nr++;
	recount(space, &edit->before, area);
	return 0;
}

/* The identities that the areas of the edit have, or have no more. */
static void identify(struct seam_space *space, const struct edit *edit)
{
	if (edit->kind != EDIT_REMOVE)
		hold(space, &edit->after);
	if (edit->kind != EDIT_INSERT)
		drop(space, &edit->before);
}

/* Makes one edit. False: no memory. */
static bool carry_out(struct seam_space *space, const struct edit *edit)
{
	struct cursor cursor;

	index_seek(&space->index,
		   edit->kind == EDIT_INSERT ? edit->after.start : edit->before.start, &cursor);
	switch (edit->kind) {
	case EDIT_INSERT:
		return edit_insert(space, &cursor, &edit->after);
	case EDIT_REMOVE:
		edit_remove(space, &cursor, &edit->before);
		return true;
	case EDIT_STORE:
		return edit_store(space, &cursor, &edit->before, &edit->after);
	}
	return false;
}

/* Tells of an edit that the index has made already, for which there is room. */
static void tell_steps(struct seam_space *space, const struct edit *edit)
{
	switch (edit->kind) {
	case EDIT_INSERT:
		steps_area_inserted(space, &edit->after);
		break;
	case EDIT_REMOVE:
		steps_area_removed(space, &edit->before);
		break;
	case EDIT_STORE:
		steps_area_stored(space, &edit->before, &edit->after);
		break;
	}
}

static void count_edit(struct seam_space *space, const struct edit *edit)
{
	if (edit->kind == EDIT_STORE) {
		recount(space, &edit->before, &edit->after);
		return;
	}
	area_count(space, edit->kind == EDIT_INSERT ? &edit->after : &edit->before,
		   &space->mm.totals, edit->kind == EDIT_INSERT ? 1 : -1);
	identify(space, edit);
}

static bool shrinks(const struct edit *edit)
{
	return edit->before.start <= edit->after.start && edit->after.end <= edit->before.end;
}

static void write_store(struct edit *edit, const struct area *before, const struct area *after)
{
	edit->kind = EDIT_STORE;
	edit->before = *before;
	edit->after = *after;
}

/*
 * As single edits, in an order in which no area ever reaches into another, nor does when they are
 * taken back: what goes, what shrinks, what grows, what is new. Returns how many.
 */
static noinline_for_stack size_t write_edits(const struct exchange *exchange,
					     const struct area *old, struct edit *edits)
{
	bool stays[MOST_EXCHANGED] = { false };
	struct edit *edit = edits;

	for (unsigned int i = 0; i < exchange->nr; i++)
		if (exchange->of[i] != NEW_AREA)
			stays[exchange->of[i]] = true;
	for (unsigned int i = 0; i < exchange->nr_old; i++) {
		if (!stays[i]) {
			edit->kind = EDIT_REMOVE;
			edit++->before = old[i];
		}
	}
	for (int growing = 0; growing < 2; growing++) {
		for (unsigned int i = 0; i < exchange->nr; i++) {
			if (exchange->of[i] == NEW_AREA)
				continue;
			write_store(edit, &old[exchange->of[i]], &exchange->areas[i]);
			edit += shrinks(edit) != growing;
		}
	}
	for (unsigned int i = 0; i < exchange->nr; i++) {
		if (exchange->of[i] == NEW_AREA) {
			edit->kind = EDIT_INSERT;
			edit++->after = exchange->areas[i];
		}
	}
	return (size_t)(edit - edits);
}

/* One edit after the other: where areas of several nodes are concerned. */
static noinline_for_stack int exchange_singly(struct seam_space *space, struct cursor *cursor,
					      uint64_t start, size_t nr)
{
	struct journal *journal = &space->journal;

	for (; nr; nr--) {
		const struct edit *edit = &journal->edits[journal->nr];

		if (!carry_out(space, edit))
			return out_of_memory(space);
		count_edit(space, edit);
		journal->nr++;
	}
	index_seek(&space->index, start, cursor);
	return 0;
}

int area_exchange(struct seam_space *space, struct cursor *cursor, struct exchange *exchange)
{
	struct journal *journal = &space->journal;
	struct area *old = exchange->old;
	struct edit *edits;
	struct cursor at;
	size_t nr;

	if (exchange->nr_old == 1 && !exchange->nr)
		return area_remove(space, cursor);
	if (exchange->nr_old == 1 && exchange->nr == 1)
		return area_store(space, cursor, &exchange->areas[0]);
	/* it must be possible to put back all that the call has taken out */
	if (!journal_room(space) || !steps_reserve(space, exchange->nr) ||
	    index_reserve(&space->index, journal->nr + exchange->nr_old))
		return out_of_memory(space);
	at = *cursor;
	for (unsigned int i = 0; i < exchange->nr_old; i++) {
		index_load(&space->index, &at, &old[i]);
		index_next(&space->index, &at);
	}
	edits = &journal->edits[journal->nr];
	nr = write_edits(exchange, old, edits);
	if (!index_replace(&space->index, cursor, exchange->nr_old, exchange->areas, exchange->nr))
		return exchange_singly(space, cursor, old[0].start, nr);
	for (size_t i = 0; i < nr; i++) {
		count_edit(space, &edits[i]);
		if (space->steps)
			tell_steps(space, &edits[i]);
	}
	journal->nr += nr;
	return 0;
}

int area_split(struct seam_space *space, struct cursor *cursor, uint64_t at)
{
	struct exchange *exchange = &scratch_of(space)->exchange;
	struct area *lower, *upper;

	exchange_init(exchange, 1);
	index_load(&space->index, cursor, &exchange->old[0]);
	lower = exchange_add(exchange, &exchange->old[0], 0);
	upper = exchange_add(exchange, &exchange->old[0], NEW_AREA);
	lower->end = upper->start = at;
	upper->pgoff = area_offset_at(space, lower, at);
	space->mm.stats.splits++;
	return area_exchange(space, cursor, exchange);
}

uint32_t area_intern(struct seam_space *space, const struct attr *attr)
{
	uint32_t id = attr_intern(&space->attrs, &space->alloc, attr);

	if (!id)
		space->no_memory = true;
	return id;
}

uint32_t area_new_anon(struct seam_space *space)
{
	uint32_t link = anon_new(space->family);

	if (!link)
		space->no_memory = true;
	return link;
}

int area_set_flags(struct seam_space *space, struct cursor *cursor, uint64_t flags)
{
	struct attr *attr = &scratch_of(space)->attr;
	struct area *area = &scratch_of(space)->flagged;

	index_load(&space->index, cursor, area);
	*attr = *area_attr(space, area);
	attr->flags = flags;
	area->attr = area_intern(space, attr);
	return area->attr ? area_store(space, cursor, area) : -SEAM_EALLOC;
}

int area_clear(struct seam_space *space, uint64_t start, uint64_t end)
{
	struct cursor cursor;
	struct area area;
	int err;

	while (start < end && index_seek(&space->index, start, &cursor)) {
		index_load(&space->index, &cursor, &area);
		if (area.start >= end)
			break;
		if (area.start < start) {
			err = area_split(space, &cursor, start);
			if (err)
				return err;
			continue;
		}
		if (area.end > end) {
			err = area_split(space, &cursor, end);
			if (err)
				return err;
		}
		err = area_remove(space, &cursor);
		if (err)
			return err;
	}
	return 0;
}

void area_export(const struct seam_space *space, const struct area *area,
		 struct seam_area *ret_area)
{
	area_show(space, area, ret_area);
}

uint64_t area_heap_tag(const struct seam_space *space, uint64_t end)
{
	struct cursor cursor;
	struct area heap;

	if (end <= space->mm.start_brk || !index_seek(&space->index, end - 1, &cursor))
		return 0;
	index_load(&space->index, &cursor, &heap);
	return heap.end == end ? heap.tag : 0;
}

/* What was done stays done: nothing is needed any more to take it back. */
static void keep(struct seam_space *space)
{
	struct seam_stats *stats = &space->mm.stats;

	if (index_count(&space->index) > stats->peak_areas)
		stats->peak_areas = index_count(&space->index);
	steps_settle(space, false);
	index_commit(&space->index);
	if (space->attrs.idle_slots)
		attr_sweep(&space->attrs);
	if (space->family->idle_links)
		anon_sweep(space->family);
	WRITE_RELEASE(space->changing, false);
}

/* Neither of the two fails: nothing gives back memory in a call, and ask has set more aside. */

static void undo(struct seam_space *space, const struct edit *edit)
{
	static const enum edit_kind inverse[] = {
		[EDIT_INSERT] = EDIT_REMOVE, [EDIT_REMOVE] = EDIT_INSERT, [EDIT_STORE] = EDIT_STORE
	};
	struct edit back = { .kind = inverse[edit->kind],
			     .before = edit->after,
			     .after = edit->before };

	carry_out(space, &back);
	identify(space, &back);
}

static void redo(struct seam_space *space, const struct edit *edit)
{
	carry_out(space, edit);
	identify(space, edit);
}

void call_suspend(struct seam_space *space)
{
	space->mm_after = space->mm;
	index_spend(&space->index);
	for (size_t i = space->journal.nr; i--;)
		undo(space, &space->journal.edits[i]);
	space->mm = space->mm_before;
	steps_settle(space, true);
	index_commit(&space->index);
	WRITE_RELEASE(space->changing, false);
}

/* From here on the child of a fork finds a call half done (seam_space_after_fork). */
static void begin_change(struct seam_space *space)
{
	if (!WITH_READERS || !space->history)
		return;
	space->began_at = space->history->committed;
	WRITE_RELEASE(space->changing, true);
}

void call_resume(struct seam_space *space)
{
	begin_change(space);
	index_spend(&space->index);
	for (size_t i = 0; i < space->journal.nr; i++)
		redo(space, &space->journal.edits[i]);
	space->mm = space->mm_after;
	keep(space);
}

void call_tell(struct seam_space *space)
{
	if (!space->hook && !space->payload.retain)
		return;
	space->telling = true;
	payload_retain(space);
	changes_tell(space);
	payload_release(space);
	space->telling = false;
}

void call_begin(struct seam_space *space)
{
	space->journal.nr = 0;
	space->move.len = 0;
	space->no_memory = false;
	space->mm_before = space->mm;
	begin_change(space);
}

int call_end(struct seam_space *space, int result)
{
	if (space->hook && !space->no_memory && changes_make(space))
		space->no_memory = true;
	if (space->no_memory) {
		call_suspend(space);
		result = -SEAM_EALLOC;
	}
	keep(space);
	if (result != -SEAM_EALLOC && (space->hook || space->payload.retain))
		call_tell(space);
	return result;
}
