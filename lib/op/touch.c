/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/op/fault.h"
#include "lib/op/grow.h"
#include "lib/op/op.h"
#include "lib/steps/steps.h"

/* The area that holds @addr, grown there if it is a stack above (6.18 lock_mm_and_find_vma). */
static int find_area(struct seam_space *space, uint64_t addr, struct cursor *ret_cursor,
		     struct area *ret_area)
{
	int err;

	if (!area_seek(space, addr, ret_cursor, ret_area))
		return -SEAM_EFAULT;
	if (ret_area->start <= addr)
		return 0;
	if (!(area_flags(space, ret_area) & SEAM_VM_GROWSDOWN))
		return -SEAM_EFAULT;
	err = grow_stack(space, ret_cursor, addr);
	if (err)
		return err == -SEAM_EALLOC ? err : -SEAM_EFAULT;
	index_load(&space->index, ret_cursor, ret_area);
	return 0;
}

/* arch/x86/mm/fault.c access_error */
static bool allowed(const struct seam_space *space, uint64_t flags, int write)
{
	if (has_exec_only_key(space, flags))
		return false;
	return flags & (write ? SEAM_VM_WRITE : SEAM_VM_RWX);
}

int linux_touch(struct seam_space *space, uint64_t addr, uint64_t len, int write,
		uint64_t *ret_done)
{
	uint64_t at = page_down(space, addr), end = addr + len;
	struct cursor cursor;
	struct area area;
	int err;

	if (end < addr)
		end = UINT64_MAX;
	while (at < end) {
		uint64_t to, backed;
		bool becomes_anon;

		*ret_done = at;
		err = find_area(space, at, &cursor, &area);
		if (err)
			return err;
		if (!allowed(space, area_flags(space, &area), write))
			return -SEAM_EFAULT;
		backed = fault_backed_end(space, &area);
		if (backed <= at)
			return -SEAM_EFAULT;
		to = area.end < end ? area.end : end;
		/* each page's fault looks for its area */
		steps_find_pages(space, at, pages_of(space, page_up(space, to) - at), &cursor);
		becomes_anon = write ? !(area_flags(space, &area) & SEAM_VM_SHARED)
				     : fault_read_is_anon(space, &area, at, to);
		if (becomes_anon && !area.anon) {
			err = fault_anon(space, &cursor);
			if (err)
				return err;
		}
		at = backed;
	}
	*ret_done = at < end ? at : page_up(space, end);
	return 0;
}
