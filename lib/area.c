/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/area.h"

#include <string.h>

#include "lib/changes.h"
#include "lib/memory.h"
#include "lib/payload.h"
#include "lib/steps/steps.h"

static int out_of_memory(struct seam_space *space)
{
	space->no_memory = true;
	return -SEAM_EALLOC;
}

static bool journal_room(struct seam_space *space)
{
	struct journal *journal = &space->journal;
	size_t room = journal->room * 2;
	struct edit *edits;

	if (journal->nr < journal->room)
		return true;
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

void area_count(const struct seam_space *space, const struct area *area, struct seam_totals *totals,
		int sign)
{
	uint64_t flags = area_flags(space, area);
	uint64_t pages = pages_of(space, area->end - area->start);

	if (sign < 0)
		pages = -pages;
	totals->total_pages += pages;
	if (flags & SEAM_VM_LOCKED)
		totals->locked_pages += pages;
	if ((flags & (SEAM_VM_EXEC | SEAM_VM_WRITE | SEAM_VM_GROWSDOWN)) == SEAM_VM_EXEC)
		totals->exec_pages += pages;
	else if (flags & SEAM_VM_GROWSDOWN)
		totals->stack_pages += pages;
	else if ((flags & (SEAM_VM_WRITE | SEAM_VM_SHARED)) == SEAM_VM_WRITE)
		totals->data_pages += pages;
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

int area_insert(struct seam_space *space, const struct area *area, struct cursor *ret_cursor)
{
	if (!journal_room(space) || index_insert(&space->index, area, ret_cursor))
		return out_of_memory(space);
	if (space->steps && !steps_area_inserted(space, area)) {
		struct cursor cursor;

		index_seek(&space->index, area->start, &cursor);
		index_remove(&space->index, &cursor);
		return out_of_memory(space);
	}
	space->journal.edits[space->journal.nr++] =
		(struct edit) { .kind = EDIT_INSERT, .after = *area };
	hold(space, area);
	area_count(space, area, &space->mm.totals, 1);
	return 0;
}

int area_remove(struct seam_space *space, struct cursor *cursor)
{
	struct area area;

	/* it must be possible to put back all that the call has taken out */
	if (!journal_room(space) || index_reserve(&space->index, space->journal.nr + 1))
		return out_of_memory(space);
	index_load(&space->index, cursor, &area);
	index_remove(&space->index, cursor);
	if (space->steps)
		steps_area_removed(space, &area);
	space->journal.edits[space->journal.nr++] =
		(struct edit) { .kind = EDIT_REMOVE, .before = area };
	area_count(space, &area, &space->mm.totals, -1);
	drop(space, &area);
	return 0;
}

int area_store(struct seam_space *space, struct cursor *cursor, const struct area *area)
{
	struct area before;

	if (!journal_room(space))
		return out_of_memory(space);
	index_load(&space->index, cursor, &before);
	if (index_store(&space->index, cursor, area))
		return out_of_memory(space);
	if (space->steps)
		steps_area_stored(space, &before, area);
	space->journal.edits[space->journal.nr++] =
		(struct edit) { .kind = EDIT_STORE, .before = before, .after = *area };
	hold(space, area);
	area_count(space, area, &space->mm.totals, 1);
	area_count(space, &before, &space->mm.totals, -1);
	drop(space, &before);
	return 0;
}

int area_split(struct seam_space *space, struct cursor *cursor, uint64_t at)
{
	struct area lower, upper;
	int err;

	index_load(&space->index, cursor, &lower);
	upper = lower;
	upper.start = at;
	upper.pgoff = area_offset_at(space, &lower, at);
	lower.end = at;
	err = area_store(space, cursor, &lower);
	if (err)
		return err;
	err = area_insert(space, &upper, cursor);
	if (err)
		return err;
	index_prev(&space->index, cursor);
	space->mm.stats.splits++;
	return 0;
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
	struct area area;
	struct attr attr;

	index_load(&space->index, cursor, &area);
	attr = *area_attr(space, &area);
	attr.flags = flags;
	area.attr = area_intern(space, &attr);
	if (!area.attr)
		return -SEAM_EALLOC;
	return area_store(space, cursor, &area);
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
	const struct attr *attr = area_attr(space, area);

	*ret_area = (struct seam_area) {
		.start = area->start,
		.end = area->end,
		.flags = attr->flags,
		.pgoff = area->pgoff,
		.file = attr->file,
		.tag = area->tag,
		.anon_vma = anon_serial_of(space->family, area->anon),
		.anon_chain = anon_length(space->family, area->anon),
		.numa = attr->numa,
		.uffd = attr->uffd,
		.name = attr->name,
		.traits = attr->traits,
	};
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

static void undo(struct seam_space *space, const struct edit *edit)
{
	struct cursor cursor;

	switch (edit->kind) {
	case EDIT_INSERT:
		index_seek(&space->index, edit->after.start, &cursor);
		index_remove(&space->index, &cursor);
		if (space->steps)
			steps_area_removed(space, &edit->after);
		drop(space, &edit->after);
		break;
	case EDIT_REMOVE:
		/* neither this nor the store below fails: nothing gives back memory in a call */
		index_insert(&space->index, &edit->before, NULL);
		if (space->steps)
			steps_area_inserted(space, &edit->before);
		hold(space, &edit->before);
		break;
	case EDIT_STORE:
		index_seek(&space->index, edit->after.start, &cursor);
		index_store(&space->index, &cursor, &edit->before);
		if (space->steps)
			steps_area_stored(space, &edit->after, &edit->before);
		hold(space, &edit->before);
		drop(space, &edit->after);
		break;
	}
}

/* What was done stays done: nothing is needed any more to take it back. */
static void keep(struct seam_space *space)
{
	struct seam_stats *stats = &space->mm.stats;

	if (index_count(&space->index) > stats->peak_areas)
		stats->peak_areas = index_count(&space->index);
	steps_settle(space, false);
	attr_sweep(&space->attrs);
	anon_sweep(space->family);
}

/* Makes an edit anew; ask has set the room for it aside. */
static void redo(struct seam_space *space, const struct edit *edit)
{
	struct cursor cursor;

	if (edit->kind != EDIT_INSERT)
		index_seek(&space->index, edit->before.start, &cursor);
	switch (edit->kind) {
	case EDIT_INSERT:
		index_insert(&space->index, &edit->after, NULL);
		if (space->steps)
			steps_area_inserted(space, &edit->after);
		hold(space, &edit->after);
		break;
	case EDIT_REMOVE:
		index_remove(&space->index, &cursor);
		if (space->steps)
			steps_area_removed(space, &edit->before);
		drop(space, &edit->before);
		break;
	case EDIT_STORE:
		index_store(&space->index, &cursor, &edit->after);
		if (space->steps)
			steps_area_stored(space, &edit->before, &edit->after);
		hold(space, &edit->after);
		drop(space, &edit->before);
		break;
	}
}

void call_suspend(struct seam_space *space)
{
	space->mm_after = space->mm;
	for (size_t i = space->journal.nr; i--;)
		undo(space, &space->journal.edits[i]);
	space->mm = space->mm_before;
	steps_settle(space, true);
}

void call_resume(struct seam_space *space)
{
	for (size_t i = 0; i < space->journal.nr; i++)
		redo(space, &space->journal.edits[i]);
	space->mm = space->mm_after;
	keep(space);
}

void call_tell(const struct seam_space *space)
{
	payload_retain(space);
	changes_tell(space);
	payload_release(space);
}

void call_begin(struct seam_space *space)
{
	space->journal.nr = 0;
	space->move.len = 0;
	space->no_memory = false;
	space->mm_before = space->mm;
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
	if (result != -SEAM_EALLOC)
		call_tell(space);
	return result;
}
