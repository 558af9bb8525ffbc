/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/compiler.h"
#include "lib/op/limits.h"
#include "lib/op/op.h"
#include "lib/op/unmap.h"
#include "lib/scratch.h"
#include "lib/steps/steps.h"

static bool sealed(const struct seam_space *space, const struct area *area)
{
	return WITH_KERNELS && area_flags(space, area) & SEAM_VM_SEALED;
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
	if (unmap->end < area->end && limit_areas_reached(space, 0))
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
	unmap->cuts_middle = head && tail;
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

	unmap->found = index_seek(&space->index, unmap->start, &unmap->at);
	steps_find(space, unmap->start, &unmap->at);
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

/* Takes out areas that go as a whole, until no more than @left of them are there. */
static int take_whole(struct seam_space *space, struct unmap *unmap, uint64_t left)
{
	int err = 0;

	if (unmap->whole <= left)
		return 0;
	if (unmap->cuts_head)
		index_step(&space->index, &unmap->at);
	for (; unmap->whole > left && !err; unmap->whole--)
		err = area_remove(space, &unmap->at);
	if (unmap->cuts_head)
		index_prev(&space->index, &unmap->at);
	return err;
}

/*
 * The areas that go, and those at the edges, of which the rest stays; both edges may be of one area:
 *	[head  (start	)  [whole)  [	end)  tail)  ->  [head)			[tail)
 */
static noinline_for_stack void plan_edges(const struct seam_space *space, const struct unmap *unmap,
					  struct exchange *ret_exchange)
{
	struct cursor at = unmap->at;
	struct area area, *edge;

	exchange_init(ret_exchange, (unsigned int)unmap->whole + unmap->cuts_head +
					    unmap->cuts_tail - unmap->cuts_middle);
	if (unmap->cuts_head) {
		index_load(&space->index, &at, &area);
		edge = exchange_add(ret_exchange, &area, 0);
		edge->end = unmap->start;
	}
	if (unmap->cuts_tail) {
		for (unsigned int i = 1; i < ret_exchange->nr_old; i++)
			index_next(&space->index, &at);
		index_load(&space->index, &at, &area);
		edge = exchange_add(ret_exchange, &area,
				    unmap->cuts_middle ? NEW_AREA : (int)ret_exchange->nr_old - 1);
		edge->pgoff = area_offset_at(space, &area, unmap->end);
		edge->start = unmap->end;
	}
}

int unmap_prepare(struct seam_space *space, struct unmap *unmap, struct exchange *ret_exchange)
{
	int err;

	steps_forget_last(space);
	commit_release(space, unmap->charged);
	err = take_whole(space, unmap, MOST_EXCHANGED - 2);
	if (err)
		return err;
	plan_edges(space, unmap, ret_exchange);
	space->mm.stats.splits += ret_exchange->nr;
	return 0;
}

int unmap_finish(struct seam_space *space, struct unmap *unmap, struct exchange *exchange)
{
	int err = area_exchange(space, &unmap->at, exchange);

	if (!err && unmap->cuts_head)
		index_step(&space->index, &unmap->at);
	unmap->found = index_on_area(&space->index, &unmap->at);
	return err;
}

int unmap_carry_out(struct seam_space *space, struct unmap *unmap)
{
	struct exchange *exchange = &scratch_of(space)->exchange;
	int err = unmap_prepare(space, unmap, exchange);

	return err ? err : unmap_finish(space, unmap, exchange);
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
