/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/compiler.h"
#include "lib/op/limits.h"
#include "lib/op/op.h"
#include "lib/op/unmap.h"
#include "lib/scratch.h"
#include "lib/steps/steps.h"

static bool sealed(const struct seam_space *space, const struct area *area)
{
	return area_flags(space, area) & SEAM_VM_SEALED;
}

bool may_cut(const struct seam_space *space, const struct area *area, uint64_t at)
{
	const struct attr *attr = area_attr(space, area);

	return !(attr->traits & SEAM_TRAIT_NO_SPLIT) &&
	       (!(attr->flags & SEAM_VM_HUGETLB) || is_huge_aligned(space, at));
}

static int check_head(const struct seam_space *space, const struct unmap *unmap,
		      const struct area *area)
{
	if (unmap->end < area->end && limit_areas_reached(space))
		return -SEAM_ENOMEM;
	if (sealed(space, area))
		return -SEAM_EPERM;
	return may_cut(space, area, unmap->start) ? 0 : -SEAM_EINVAL;
}

/* Adds one area to what is known of the range. */
static int check_area(const struct seam_space *space, struct unmap *unmap, const struct area *area)
{
	bool head = unmap->start > area->start;
	bool tail = area->end > unmap->end;
	uint64_t from = head ? unmap->start : area->start;
	uint64_t pages;
	int err = head ? check_head(space, unmap, area) : 0;

	if (err)
		return err;
	unmap->cuts_head |= head;
	if (sealed(space, area))
		return -SEAM_EPERM;
	if (tail && !may_cut(space, area, unmap->end))
		return -SEAM_EINVAL;
	unmap->cuts_tail |= tail;
	unmap->whole += !head && !tail;
	pages = pages_of(space, (tail ? unmap->end : area->end) - from);
	unmap->pages += pages;
	if (area_flags(space, area) & SEAM_VM_ACCOUNT)
		unmap->charged += pages;
	return 0;
}

/* What is known of the range up to the first area that cannot be taken out. */
static noinline_for_stack int look_through(struct seam_space *space, struct unmap *unmap)
{
	struct cursor cursor;
	struct area area;
	int err = 0;

	steps_find(space, unmap->start);
	unmap->found = index_seek(&space->index, unmap->start, &unmap->at);
	cursor = unmap->at;
	for (bool more = unmap->found; more && !err; more = index_next(&space->index, &cursor)) {
		index_load(&space->index, &cursor, &area);
		if (area.start >= unmap->end)
			break;
		err = check_area(space, unmap, &area);
	}
	return err;
}

int unmap_check(struct seam_space *space, uint64_t start, uint64_t end, struct unmap *ret_unmap)
{
	int err;

	*ret_unmap = (struct unmap) { .start = start, .end = end };
	err = look_through(space, ret_unmap);
	if (!err)
		return 0;
	ret_unmap->cuts_tail = false;
	return unmap_leave_cuts(space, ret_unmap) ? -SEAM_EALLOC : err;
}

int unmap_leave_cuts(struct seam_space *space, struct unmap *unmap)
{
	struct cursor cursor = unmap->at;
	int err = 0;

	if (unmap->cuts_head)
		err = area_split(space, &cursor, unmap->start);
	if (!err && unmap->cuts_tail) {
		index_seek(&space->index, unmap->end, &cursor);
		err = area_split(space, &cursor, unmap->end);
	}
	return err;
}

/*
 * The area that reaches into the range from below:
 *	[area start	)	 -> [area)
 *	[area start	end   )  -> [area)	    [upper)
 * The cursor goes on to what lies behind the range's start then.
 */
static int take_head(struct seam_space *space, const struct unmap *unmap, struct cursor *cursor)
{
	struct area *area = &scratch_of(space)->cut;
	uint64_t end;
	int err;

	index_load(&space->index, cursor, area);
	end = area->end;
	area->end = unmap->start;
	err = area_store(space, cursor, area);
	if (err)
		return err;
	space->mm.stats.splits++;
	index_step(&space->index, cursor);
	if (end <= unmap->end)
		return 0;
	area->pgoff = area_offset_at(space, area, unmap->end);
	area->start = unmap->end;
	area->end = end;
	space->mm.stats.splits++;
	return area_insert_at(space, cursor, area);
}

/* [start [area	end    ) ->	     [area) */
static int take_tail(struct seam_space *space, const struct unmap *unmap, struct cursor *cursor)
{
	struct area *area = &scratch_of(space)->cut;

	index_load(&space->index, cursor, area);
	area->pgoff = area_offset_at(space, area, unmap->end);
	area->start = unmap->end;
	space->mm.stats.splits++;
	return area_store(space, cursor, area);
}

int unmap_carry_out(struct seam_space *space, struct unmap *unmap)
{
	uint64_t count = index_count(&space->index);
	bool tail = unmap->cuts_tail;
	int err = 0;

	steps_forget_last(space);
	commit_release(space, unmap->charged);
	if (unmap->cuts_head) {
		err = take_head(space, unmap, &unmap->at);
		tail = tail && index_count(&space->index) == count;
	}
	for (uint64_t nr = unmap->whole; nr && !err; nr--)
		err = area_remove(space, &unmap->at);
	if (!err && tail)
		err = take_tail(space, unmap, &unmap->at);
	unmap->found = index_on_area(&space->index, &unmap->at);
	return err;
}

int unmap_range(struct seam_space *space, uint64_t start, uint64_t end)
{
	struct unmap *unmap = &scratch_of(space)->unmap;
	int err = unmap_check(space, start, end, unmap);

	if (err || !unmap->pages)
		return err;
	return unmap_carry_out(space, unmap);
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
