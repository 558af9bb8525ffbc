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

	if (!index_seek(&space->index, addr, ret_cursor))
		return -SEAM_EFAULT;
	index_load(&space->index, ret_cursor, ret_area);
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
static bool allowed(uint64_t flags, int write)
{
	return flags & (write ? SEAM_VM_WRITE : SEAM_VM_RWX);
}

/*
 * Reading brings in the zero page, which is nobody's. A huge zero page makes the memory anonymous
 * all the same (mm/huge_memory.c do_huge_pmd_anonymous_page), and so do huge pages of hugetlb.
 */
static bool becomes_anon(const struct seam_space *space, const struct area *area, uint64_t from,
			 uint64_t to, int write)
{
	const struct attr *attr = area_attr(space, area);
	uint64_t huge = UINT64_C(1) << space->arch->huge_shift;
	uint64_t first = from & ~(huge - 1);

	if (write || attr->flags & SEAM_VM_HUGETLB)
		return !(attr->flags & SEAM_VM_SHARED);
	if (attr->file || !(attr->flags & SEAM_VM_HUGEPAGE) || !(space->flags & SEAM_SPACE_THP))
		return false;
	if (first < area->start)
		first += huge;
	return first < to && area->end - first >= huge;
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
		uint64_t to;

		*ret_done = at;
		err = find_area(space, at, &cursor, &area);
		if (err)
			return err;
		if (!allowed(area_flags(space, &area), write))
			return -SEAM_EFAULT;
		if (fault_backed_end(space, &area) <= at)
			return -SEAM_EFAULT;
		to = area.end < end ? area.end : end;
		/* each page's fault looks for its area */
		steps_find_pages(space, at, pages_of(space, page_up(space, to) - at));
		if (becomes_anon(space, &area, at, to, write)) {
			err = fault_anon(space, &cursor);
			if (err)
				return err;
		}
		at = fault_backed_end(space, &area);
	}
	*ret_done = at < end ? at : page_up(space, end);
	return 0;
}
