/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/op/fault.h"

#include "lib/join.h"

/*
 * One area may take over the anon_vma of its touching neighbour: they may become one later, so
 * rwx does not count (6.18 mm/vma.c anon_vma_compatible). Names and uffd contexts are not looked at.
 */
static bool may_share(const struct seam_space *space, const struct area *left,
		      const struct area *right)
{
	const struct attr *l = area_attr(space, left), *r = area_attr(space, right);

	return left->end == right->start && l->numa == r->numa && l->file == r->file &&
	       !(join_flags(&space->policy, l->flags, r->flags) & ~SEAM_VM_RWX) &&
	       area_offset_at(space, left, left->end) == right->pgoff;
}

static bool reusable(const struct seam_space *space, const struct area *neighbour)
{
	return neighbour->anon && anon_length(space->family, neighbour->anon) == 1;
}

/* The neighbour's link that the area may use; 0 none. */
static uint32_t shared_link(const struct seam_space *space, const struct cursor *cursor,
			    const struct area *area)
{
	struct cursor at = *cursor;
	struct area neighbour;

	if (index_next(&space->index, &at)) {
		index_load(&space->index, &at, &neighbour);
		if (reusable(space, &neighbour) && may_share(space, area, &neighbour))
			return neighbour.anon;
	}
	at = *cursor;
	if (index_prev(&space->index, &at)) {
		index_load(&space->index, &at, &neighbour);
		if (reusable(space, &neighbour) && may_share(space, &neighbour, area))
			return neighbour.anon;
	}
	return 0;
}

int fault_anon(struct seam_space *space, struct cursor *cursor)
{
	struct area area;

	index_load(&space->index, cursor, &area);
	if (area.anon)
		return 0;
	area.anon = shared_link(space, cursor, &area);
	if (!area.anon)
		area.anon = area_new_anon(space);
	if (!area.anon)
		return -SEAM_EALLOC;
	return area_store(space, cursor, &area);
}

bool fault_write_is_anon(uint64_t flags)
{
	return (flags & (SEAM_VM_WRITE | SEAM_VM_SHARED)) == SEAM_VM_WRITE;
}

uint64_t fault_backed_end(const struct seam_space *space, const struct area *area)
{
	uint64_t pages = object_pages(area_attr(space, area)->file);

	if (pages <= area->pgoff)
		return area->start;
	pages -= area->pgoff;
	if (pages >= pages_of(space, area->end - area->start))
		return area->end;
	return area->start + (pages << space->page_shift);
}

/* One area, as 6.18 mm/gup.c populate_vma_page_range does it. */
static int populate_area(struct seam_space *space, struct cursor *cursor, const struct area *area,
			 uint64_t end)
{
	uint64_t flags = area_flags(space, area);

	if (flags & (SEAM_VM_IO | SEAM_VM_PFNMAP))
		return 0;
	if (!(flags & SEAM_VM_RWX) &&
	    (!(flags & SEAM_VM_LOCKONFAULT) || rule(space, SEAM_RULE_onfault_access)))
		return -SEAM_EFAULT;
	if (flags & SEAM_VM_LOCKONFAULT)
		return 0;
	if (fault_backed_end(space, area) < (area->end < end ? area->end : end))
		return -SEAM_EFAULT;
	return fault_write_is_anon(flags) ? fault_anon(space, cursor) : 0;
}

static int populate(struct seam_space *space, uint64_t start, uint64_t end, bool go_on)
{
	struct cursor cursor;

	for (bool more = start < end && index_seek(&space->index, start, &cursor); more;
	     more = index_next(&space->index, &cursor)) {
		struct area area;
		int err;

		index_load(&space->index, &cursor, &area);
		if (area.start >= end)
			break;
		err = populate_area(space, &cursor, &area, end);
		if (err && !(go_on && err == -SEAM_EFAULT))
			return err;
	}
	return 0;
}

int fault_populate(struct seam_space *space, uint64_t start, uint64_t end)
{
	return populate(space, start, end, false);
}

int fault_populate_all(struct seam_space *space, uint64_t start, uint64_t end)
{
	return populate(space, start, end, true);
}
