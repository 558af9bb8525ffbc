/* SPDX-License-Identifier: BSD-2-Clause */
/* Taking over areas as they are given, and forgetting memory: maps that come from elsewhere. */
#include "lib/area.h"
#include "lib/export.h"
#include "lib/join.h"
#include "lib/table.h"

#define FIRST_ROOM 16

static uint32_t place_of(const struct adopted *table, uint32_t room, uint32_t number,
			 uint32_t length)
{
	uint32_t mask = room - 1;
	uint32_t at = (number * UINT32_C(0x9e3779b1)) & mask;

	while (table[at].link && (table[at].number != number || table[at].length != length))
		at = (at + 1) & mask;
	return at;
}

static bool grow_table(struct seam_space *space)
{
	uint32_t old_room = space->adopted_room;
	uint32_t room = old_room ? old_room * 2 : FIRST_ROOM;
	struct adopted *old = space->adopted;
	struct adopted *table = table_new(&space->alloc, room * sizeof(*table));

	if (!table)
		return false;
	for (uint32_t i = 0; i < old_room; i++)
		if (old[i].link)
			table[place_of(table, room, old[i].number, old[i].length)] = old[i];
	WRITE_RELEASE(space->adopted, table);
	space->adopted_room = room;
	table_free(&space->alloc, old);
	return true;
}

/*
 * The link that stands for the caller's anon_vma; the table counts as one that has it, so that a
 * number means the same as long as the space lives.
 */
static uint32_t adopted_link(struct seam_space *space, uint32_t number, uint32_t length)
{
	struct adopted *entry;

	if (space->nr_adopted * 2 >= space->adopted_room && !grow_table(space))
		return 0;
	entry = &space->adopted[place_of(space->adopted, space->adopted_room, number, length)];
	if (!entry->link) {
		uint32_t link = anon_adopted(space->family, length);

		if (!link)
			return 0;
		entry->number = number;
		entry->length = length;
		WRITE_RELEASE(entry->link, link);
		space->nr_adopted++;
		anon_hold(space->family, link);
	}
	return entry->link;
}

static int adopt(struct seam_space *space, const struct seam_area *given)
{
	struct attr attr = {
		.flags = join_flags_then(policy_of(space), given->flags),
		.file = given->file,
		.numa = given->numa,
		.uffd = given->uffd,
		.name = given->name,
		.traits = given->traits,
		.moved_pages = given->moved_pages,
	};
	struct area area = {
		.start = given->start,
		.end = given->end,
		.pgoff = given->pgoff,
		.tag = given->tag,
	};
	int err = area_clear(space, given->start, given->end);

	if (err)
		return err;
	area.attr = area_intern(space, &attr);
	if (WITH_KERNELS && given->anon_vma)
		area.anon = adopted_link(space, given->anon_vma, given->anon_chain);
	if (!area.attr || (WITH_KERNELS && given->anon_vma && !area.anon)) {
		space->no_memory = true;
		return -SEAM_EALLOC;
	}
	return area_insert(space, &area, NULL);
}

/* A taken-over map is not this kernel's doing: it leaves no trace in the counters but the peak. */
static int end_unseen(struct seam_space *space, int result)
{
	space->mm.stats = space->mm_before.stats;
	return call_end(space, result);
}

SEAM_EXPORT int seam_space_adopt(struct seam_space *space, const struct seam_area *area)
{
	if (area->start >= area->end || (area->start | area->end) & (page_size(space) - 1) ||
	    area->end > space->user_end)
		return -SEAM_EINVAL;
	if (space_busy(space))
		return -SEAM_EBUSY;
	call_begin(space);
	return end_unseen(space, adopt(space, area));
}

SEAM_EXPORT int seam_space_forget(struct seam_space *space, uint64_t start, uint64_t end)
{
	if ((start | end) & (page_size(space) - 1))
		return -SEAM_EINVAL;
	if (space_busy(space))
		return -SEAM_EBUSY;
	call_begin(space);
	return end_unseen(space, area_clear(space, start, end));
}
