/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/op/grow.h"

#include "lib/op/fault.h"
#include "lib/op/limits.h"

/* Accessible memory of another kind must stay a gap away; guards and other stacks need not. */
static bool too_near(const struct seam_space *space, const struct cursor *cursor, uint64_t addr)
{
	struct cursor at = *cursor;
	struct area below;
	uint64_t flags;

	if (!index_prev(&space->index, &at))
		return false;
	index_load(&space->index, &at, &below);
	flags = area_flags(space, &below);
	return !(flags & SEAM_VM_GROWSDOWN) && flags & SEAM_VM_RWX &&
	       addr - below.end < space->stack_gap;
}

static int charge(struct seam_space *space, const struct area *area, uint64_t addr)
{
	uint64_t flags = area_flags(space, area);
	uint64_t pages = pages_of(space, area->start - addr);

	if (!limit_may_expand(space, flags, pages))
		return -SEAM_ENOMEM;
	if (area->end - addr > space->limit[SEAM_LIMIT_STACK])
		return -SEAM_ENOMEM;
	if (!limit_lock_fits(space, flags, pages))
		return -SEAM_ENOMEM;
	return commit_charge(space, pages);
}

int grow_stack(struct seam_space *space, struct cursor *cursor, uint64_t addr)
{
	struct area area;
	int err;

	addr = page_down(space, addr);
	if (addr < space->min_addr)
		return -SEAM_EPERM;
	if (too_near(space, cursor, addr))
		return -SEAM_ENOMEM;
	/* the anon_vma comes first, and stays when growing fails */
	err = fault_anon(space, cursor);
	if (err)
		return err;
	index_load(&space->index, cursor, &area);
	if (pages_of(space, area.start - addr) > area.pgoff)
		return -SEAM_ENOMEM;
	err = charge(space, &area, addr);
	if (err)
		return err;
	area.pgoff -= pages_of(space, area.start - addr);
	area.start = addr;
	return area_store(space, cursor, &area);
}
