/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/op/fault.h"

#include "lib/compiler.h"
#include "lib/join.h"
#include "lib/scratch.h"

/*
 * One area may take over the anon_vma of its touching neighbour: they may become one later, so
 * rwx does not count (6.18 mm/vma.c anon_vma_compatible). Names and uffd contexts are not looked at.
 */
static bool may_share(const struct seam_space *space, const struct area *left,
		      const struct area *right)
{
	const struct attr *l = area_attr(space, left), *r = area_attr(space, right);

	return left->end == right->start && l->numa == r->numa && l->file == r->file &&
	       l->moved_pages == r->moved_pages &&
	       !(join_flags(policy_of(space), l->flags, r->flags) & ~SEAM_VM_RWX) &&
	       area_offset_at(space, left, left->end) == right->pgoff;
}

static bool reusable(const struct seam_space *space, const struct area *neighbour)
{
	return neighbour->anon && anon_length(space->family, neighbour->anon) == 1;
}

/* The neighbour's link that the area may use; 0 none. */
static noinline_for_stack uint32_t shared_link(const struct seam_space *space,
					       const struct cursor *cursor, const struct area *area)
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
	struct area *area = &scratch_of(space)->faulted;

	index_load(&space->index, cursor, area);
	if (area->anon)
		return 0;
	area->anon = shared_link(space, cursor, area);
	if (!area->anon)
		area->anon = area_new_anon(space);
	if (!area->anon)
		return -SEAM_EALLOC;
	return area_store(space, cursor, area);
}

/* A write access makes memory with these flags anonymous: writable and private. */
static bool write_is_anon(uint64_t flags)
{
	return (flags & (SEAM_VM_WRITE | SEAM_VM_SHARED)) == SEAM_VM_WRITE;
}

/* Huge pages come where they are asked for, unasked, or not at all (thp_vma_allowable_order). */
static bool huge_pages_come(const struct seam_space *space, uint64_t flags)
{
	if (!(space->flags & SEAM_SPACE_THP) || space->flags & SEAM_SPACE_THP_NEVER ||
	    flags & SEAM_VM_NOHUGEPAGE)
		return false;
	return flags & SEAM_VM_HUGEPAGE || space->flags & SEAM_SPACE_THP_ALWAYS;
}

/*
 * Reading brings in the zero page, which is nobody's. A huge zero page makes the memory anonymous
 * all the same (mm/huge_memory.c do_huge_pmd_anonymous_page), and so do huge pages of hugetlb.
 */
bool fault_read_is_anon(const struct seam_space *space, const struct area *area, uint64_t from,
			uint64_t to)
{
	const struct attr *attr = area_attr(space, area);
	uint64_t first = huge_down(space, from);

	if (attr->flags & SEAM_VM_HUGETLB)
		return !(attr->flags & SEAM_VM_SHARED);
	if (attr->file || !huge_pages_come(space, attr->flags))
		return false;
	if (first < area->start)
		first += huge_size(space);
	return first < to && area->end - first >= huge_size(space);
}

uint64_t fault_backed_end(const struct seam_space *space, const struct area *area)
{
	uint64_t file = area_attr(space, area)->file, pages;

	if (!(file & SEAM_FILE_OWN))
		return area->end;
	pages = object_pages(file);
	if (pages <= area->pgoff)
		return area->start;
	pages -= area->pgoff;
	if (pages >= pages_of(space, area->end - area->start))
		return area->end;
	return area->start + (pages << space->page_shift);
}

/* One area, as 6.18 mm/gup.c populate_vma_page_range does it. */
static int populate_area(struct seam_space *space, struct cursor *cursor, const struct area *area,
			 uint64_t start, uint64_t end)
{
	uint64_t flags = area_flags(space, area);
	uint64_t from = area->start > start ? area->start : start;
	uint64_t to = area->end < end ? area->end : end;

	if (flags & (SEAM_VM_IO | SEAM_VM_PFNMAP))
		return 0;
	if (!(flags & SEAM_VM_RWX) &&
	    (!(flags & SEAM_VM_LOCKONFAULT) || rule(space, SEAM_RULE_onfault_access)))
		return -SEAM_EFAULT;
	if (flags & SEAM_VM_LOCKONFAULT)
		return 0;
	/* 6.18 mm/gup.c check_vma_flags */
	if (area_attr(space, area)->traits & SEAM_TRAIT_SECRET || has_exec_only_key(space, flags))
		return -SEAM_EFAULT;
	if (fault_backed_end(space, area) < to)
		return -SEAM_EFAULT;
	if (!write_is_anon(flags) && !fault_read_is_anon(space, area, from, to))
		return 0;
	return fault_anon(space, cursor);
}

static int populate(struct seam_space *space, uint64_t start, uint64_t end, bool go_on)
{
	struct area *area = &scratch_of(space)->populated;
	struct cursor *cursor = &scratch_of(space)->populated_at;
	int err;

	for_each_area(space, start, cursor, area) {
		if (start >= end || area->start >= end)
			break;
		err = populate_area(space, cursor, area, start, end);
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
