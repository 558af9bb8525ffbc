/* SPDX-License-Identifier: BSD-2-Clause */
#include <seam/granule.h>

#include <string.h>

#include "lib/area.h"
#include "lib/export.h"

static uint64_t granule_size(const struct seam_space *space)
{
	return UINT64_C(1) << space->host_page_shift;
}

static uint64_t granule_start(const struct seam_space *space, uint64_t addr)
{
	return addr & ~(granule_size(space) - 1);
}

/* What @area, which reaches into the granule, adds to it; @first: the area below it there, if any. */
static void add_area(const struct seam_space *space, struct seam_granule *granule,
		     const struct area *first, const struct area *area)
{
	const struct attr *attr = area_attr(space, area);
	uint64_t from = area->start > granule->start ? area->start : granule->start;
	uint64_t to = area->end - 1 < granule->end - 1 ? area->end : granule->end;
	uint32_t prot = attr->flags & SEAM_VM_RWX;

	granule->mapped += to - from;
	granule->areas++;
	granule->prot_any |= prot;
	if (!first) {
		granule->prot_all = prot;
		return;
	}
	if ((area_flags(space, first) & SEAM_VM_RWX) != prot)
		granule->differ |= SEAM_GRANULE_PROT;
	granule->prot_all &= prot;
	if (area_attr(space, first)->file != attr->file ||
	    (area_flags(space, first) ^ attr->flags) & SEAM_VM_SHARED)
		granule->differ |= SEAM_GRANULE_FILE;
	else if (attr->file && area_offset_at(space, first, area->start) != area->pgoff)
		granule->differ |= SEAM_GRANULE_PGOFF;
}

SEAM_EXPORT void seam_granule_at(const struct seam_space *space, uint64_t addr,
				 struct seam_granule *ret_granule)
{
	struct seam_granule granule = { .start = granule_start(space, addr) };
	struct area first, area;
	struct cursor cursor;

	granule.end = granule.start + granule_size(space);
	for_each_area(space, granule.start, &cursor, &area) {
		if (area.start > granule.end - 1)
			break;
		add_area(space, &granule, granule.areas ? &first : NULL, &area);
		if (granule.areas == 1)
			first = area;
	}
	if (granule.mapped && granule.mapped != granule_size(space))
		granule.differ |= SEAM_GRANULE_HOLE;
	*ret_granule = granule;
}

/* The first border of an area within a granule, not at its edge, at or above @at. */
static bool next_border(const struct seam_space *space, uint64_t at, uint64_t *ret_border)
{
	uint64_t mask = granule_size(space) - 1;
	struct cursor cursor;
	struct area area;

	for_each_area(space, at, &cursor, &area) {
		if (area.start >= at && area.start & mask) {
			*ret_border = area.start;
			return true;
		}
		if (area.end & mask) {
			*ret_border = area.end;
			return true;
		}
	}
	return false;
}

SEAM_EXPORT int seam_granule_next(const struct seam_space *space, uint64_t *at, uint64_t end,
				  uint32_t what, struct seam_granule *ret_granule)
{
	struct seam_granule granule;
	uint64_t next = *at, border;

	while (next < end && next_border(space, granule_start(space, next), &border) &&
	       granule_start(space, border) < end) {
		seam_granule_at(space, border, &granule);
		/* the last one of all addresses ends at 0 */
		next = granule.end ? granule.end : UINT64_MAX;
		if (granule.differ & what) {
			*ret_granule = granule;
			*at = next;
			return 1;
		}
	}
	return 0;
}
