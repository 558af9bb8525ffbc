/* SPDX-License-Identifier: BSD-2-Clause */
/* The validator of a whole space. */
#include "lib/area.h"
#include "lib/export.h"

static const char *check_area(const struct seam_space *space, const struct area *area)
{
	uint64_t mask = page_size(space) - 1;

	if (area->start >= area->end)
		return "an area is empty";
	if ((area->start | area->end) & mask)
		return "an area is not page aligned";
	if (area->end > space->user_end && !rule(space, SEAM_RULE_brk_unbound))
		return "an area lies beyond user space";
	if (!area->attr || area->attr >= space->attrs.nr || !space->attrs.slots[area->attr].refs)
		return "an area has an attribute set that nobody counts";
	if (area->anon >= space->family->nr ||
	    (area->anon && !space->family->links[area->anon].refs))
		return "an area has an anon_vma that nobody counts";
	return NULL;
}

/* Each area and each adopted number of each space holds a link, and links hold links. */
static bool identities_right(const struct family *family)
{
	uint64_t held = anon_holds(family), counted = 0, spaces = 0;

	for (const struct seam_space *member = family->members; member;
	     member = member->next_in_family) {
		struct cursor cursor;
		struct area area;

		spaces++;
		for_each_area(member, 0, &cursor, &area)
			held += area.anon != 0;
		for (uint32_t i = 0; i < member->adopted_room; i++)
			held += member->adopted[i].link != 0;
	}
	for (uint32_t id = 1; id < family->nr; id++)
		counted += family->links[id].refs;
	if (spaces != family->spaces)
		return false;
	return family->foreign ? held <= counted : held == counted;
}

SEAM_EXPORT const char *seam_space_check(const struct seam_space *space)
{
	struct seam_totals totals = { 0 };
	uint64_t nr = 0, attr_refs = 0, before = 0;
	struct cursor cursor;
	struct area area;
	const char *wrong;

	for_each_area(space, 0, &cursor, &area) {
		if (area.start < before)
			return "two areas overlap or are out of order";
		before = area.end;
		wrong = check_area(space, &area);
		if (wrong)
			return wrong;
		area_count(space, &area, &totals, 1);
		nr++;
	}
	if (nr != index_count(&space->index))
		return "the count of areas is wrong";
	for (uint32_t id = 1; id < space->attrs.nr; id++)
		attr_refs += space->attrs.slots[id].refs;
	if (attr_refs != nr)
		return "attribute sets are counted wrongly";
	if (WITH_KERNELS && !space->pending && !identities_right(space->family))
		return "anon_vmas are counted wrongly";
	/* an ask keeps the sets of what it would make */
	for (unsigned int i = 0; i < NR_RECENT && !space->pending; i++)
		if (space->attrs.recent[i] && !space->attrs.slots[space->attrs.recent[i]].refs)
			return "an attribute set asked for lately is one that no area has";
	if (totals.total_pages != space->mm.totals.total_pages ||
	    totals.locked_pages != space->mm.totals.locked_pages ||
	    totals.data_pages != space->mm.totals.data_pages ||
	    totals.stack_pages != space->mm.totals.stack_pages ||
	    totals.exec_pages != space->mm.totals.exec_pages)
		return "the totals are not the sums over the areas";
	return NULL;
}
