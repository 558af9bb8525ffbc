/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/op/limits.h"
#include "lib/op/op.h"
#include "lib/op/unmap.h"
#include "lib/steps/steps.h"

static bool sealed(const struct seam_space *space, const struct area *area)
{
	return area_flags(space, area) & SEAM_VM_SEALED;
}

/* One cut (6.18 mm/vma.c __split_vma): drivers may refuse, huge pages stay whole. */
static int cut(struct seam_space *space, struct cursor *cursor, const struct area *area,
	       uint64_t at)
{
	const struct attr *attr = area_attr(space, area);

	if (attr->traits & SEAM_TRAIT_NO_SPLIT)
		return -SEAM_EINVAL;
	if (attr->flags & SEAM_VM_HUGETLB && at & ((UINT64_C(1) << space->arch->huge_shift) - 1))
		return -SEAM_EINVAL;
	return area_split(space, cursor, at);
}

/* The area that the range begins inside of; the cursor then on the part within. */
static int cut_first(struct seam_space *space, struct cursor *cursor, struct area *area,
		     uint64_t start, uint64_t end)
{
	int err;

	if (end < area->end && limit_areas_reached(space))
		return -SEAM_ENOMEM;
	if (sealed(space, area))
		return -SEAM_EPERM;
	err = cut(space, cursor, area, start);
	if (err)
		return err;
	index_next(&space->index, cursor);
	index_load(&space->index, cursor, area);
	return 0;
}

int unmap_prepare(struct seam_space *space, uint64_t start, uint64_t end,
		  struct unmapped *ret_unmapped)
{
	struct unmapped unmapped = { 0 };
	struct cursor cursor;
	bool more = index_seek(&space->index, start, &cursor);
	int err;

	steps_find(space, start);
	for (; more; more = index_next(&space->index, &cursor)) {
		struct area area;

		index_load(&space->index, &cursor, &area);
		if (area.start >= end)
			break;
		if (area.start < start) {
			err = cut_first(space, &cursor, &area, start, end);
			if (err)
				return err;
		}
		if (sealed(space, &area))
			return -SEAM_EPERM;
		if (area.end > end) {
			err = cut(space, &cursor, &area, end);
			if (err)
				return err;
			area.end = end;
		}
		unmapped.pages += pages_of(space, area.end - area.start);
		unmapped.charged += commit_of(space, &area);
	}
	*ret_unmapped = unmapped;
	return 0;
}

int unmap_commit(struct seam_space *space, uint64_t start, uint64_t end)
{
	struct cursor cursor;
	struct area area;
	int err;

	steps_forget_last(space);
	/* removing moves the cursor on; past the end it is sought again */
	while (index_seek(&space->index, start, &cursor)) {
		index_load(&space->index, &cursor, &area);
		if (area.start >= end)
			break;
		commit_release(space, commit_of(space, &area));
		err = area_remove(space, &cursor);
		if (err)
			return err;
	}
	return 0;
}

int unmap_range(struct seam_space *space, uint64_t start, uint64_t end)
{
	struct unmapped unmapped;
	int err = unmap_prepare(space, start, end, &unmapped);

	if (err || !unmapped.pages)
		return err;
	return unmap_commit(space, start, end);
}

int linux_munmap(struct seam_space *space, uint64_t addr, uint64_t len)
{
	uint64_t size = page_up(space, len);

	if (addr & (page_size(space) - 1) || addr > space->user_end || len > space->user_end - addr)
		return -SEAM_EINVAL;
	if (!size)
		return -SEAM_EINVAL;
	return unmap_range(space, addr, addr + size);
}
