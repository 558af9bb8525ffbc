/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The child of a fork that came in the middle of a call has a half-made change. The nodes are put
 * back from the copies that readers would look at; everything that is told twice is made anew from
 * the areas.
 */
#include <seam/read.h>

#include <string.h>

#include "lib/export.h"
#include "lib/index/history.h"
#include "lib/space.h"
#include "lib/table.h"

static void recount_anons(const struct seam_space *space)
{
	struct cursor cursor;
	struct area area;

	for_each_area(space, 0, &cursor, &area)
		anon_recount(space->family, area.anon);
	for (uint32_t i = 0; i < space->adopted_room; i++)
		anon_recount(space->family, space->adopted[i].link);
}

/* A member that was being made nobody has yet, and one that was being ended nobody has any more. */
static void drop_in_hand(struct family *family)
{
	family->spaces = 0;
	space_unlink(family, family->in_hand);
	for (const struct seam_space *member = family->members; member;
	     member = member->next_in_family)
		family->spaces++;
	family->in_hand = NULL;
}

static void recover_family(struct family *family)
{
	if (!WITH_KERNELS)
		return;
	anon_recount_begin(family);
	for (const struct seam_space *member = family->members; member;
	     member = member->next_in_family)
		recount_anons(member);
	anon_recount_end(family);
}

static void recover_attrs(struct seam_space *space)
{
	struct cursor cursor;
	struct area area;

	attr_recount_begin(&space->attrs);
	for_each_area(space, 0, &cursor, &area)
		attr_hold(&space->attrs, area.attr);
	if (space->attrs.buckets)
		attr_recount_end(&space->attrs);
}

static void recover_adopted(struct seam_space *space)
{
	if (!WITH_KERNELS)
		return;
	space->adopted_room = (uint32_t)(table_bytes(space->adopted) / sizeof(*space->adopted));
	space->nr_adopted = 0;
	for (uint32_t i = 0; i < space->adopted_room; i++)
		space->nr_adopted += space->adopted[i].link != 0;
}

/* What was being built for the call is left where it is. */
static void forget_call(struct seam_space *space)
{
	journal_init(&space->journal);
	space->changes = NULL;
	space->no_memory = space->pending = space->telling = space->changing = false;
	space->move.len = 0;
}

SEAM_EXPORT int seam_space_after_fork(struct seam_space *space)
{
	bool finished;
	int err;

	if (!WITH_READERS || !space->history)
		return -SEAM_EINVAL;
	if (space->family->in_hand) {
		drop_in_hand(space->family);
		recover_family(space->family);
	}
	if (!space->changing)
		return 0;
	/* readers see it already: only the tidying up was left */
	finished = space->history->committed != space->began_at;
	err = index_recover(&space->index, finished);
	if (err)
		return err;
	if (!finished)
		space->mm = space->mm_before;
	recover_adopted(space);
	recover_attrs(space);
	recover_family(space->family);
	forget_call(space);
	return 0;
}
