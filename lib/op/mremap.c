/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moving and resizing memory (6.18 mm/mremap.c).
 *
 * Up to 6.16 a call that names its target cleared it before the source was looked at closely; up to
 * 5.15 the source was not looked for at all where nothing had to grow or move. The rule
 * mremap_checks tells these apart.
 */
#include "lib/compiler.h"
#include "lib/op/fault.h"
#include "lib/op/join_new.h"
#include "lib/op/limits.h"
#include "lib/op/op.h"
#include "lib/op/placement.h"
#include "lib/op/remap.h"
#include "lib/op/unmap.h"
#include "lib/scratch.h"
#include "lib/steps/steps.h"

#define CHECKS_SOURCE 1 /* there must be a source (5.16-) */
#define CHECKS_START 2	/* before that, where the target starts, and room for it (6.15-) */
#define CHECKS_ALL 3	/* everything is checked before anything is done (6.17-) */

#define NO_GROWTH (SEAM_VM_DONTEXPAND | SEAM_VM_PFNMAP)

static bool names_target(const struct remap *remap)
{
	return remap->flags & (SEAM_MREMAP_FIXED | SEAM_MREMAP_DONTUNMAP);
}

static uint64_t growth(const struct remap *remap)
{
	return remap->new_len > remap->old_len ? remap->new_len - remap->old_len : 0;
}

static bool shrinks(const struct remap *remap)
{
	return remap->new_len < remap->old_len;
}

static bool overlaps(const struct remap *remap)
{
	return remap->addr + remap->old_len > remap->new_addr &&
	       remap->new_addr + remap->new_len > remap->addr;
}

static uint32_t known_flags(const struct seam_space *space)
{
	uint32_t known = SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED;

	return rule(space, SEAM_RULE_dontunmap) ? known | SEAM_MREMAP_DONTUNMAP : known;
}

/*
 * Locked memory of which no page is to be locked any more becomes an area of its own first, by
 * kernels that keep it apart from its copy.
 */
static bool is_cut_out_first(const struct seam_space *space, const struct remap *remap)
{
	return rule(space, SEAM_RULE_dontunmap_apart) && remap->flags & SEAM_MREMAP_DONTUNMAP &&
	       area_flags(space, &remap->source) & SEAM_VM_LOCKED;
}

/*
 * A copy and what is cut around it may take several areas; rather than fail half way the call
 * does not begin. From 7.1 on the worst case is counted exactly, for every call.
 */
static bool has_room_early(const struct seam_space *space, const struct remap *remap)
{
	uint64_t count = index_count(&space->index), limit = space->limit[SEAM_LIMIT_AREAS];

	switch (rule(space, SEAM_RULE_mremap_room)) {
	case 0:
		return true;
	case 1:
		return !names_target(remap) || count + 5 < limit;
	case 2:
		return count + 4 <= limit;
	default:
		return count + 4 + !!(remap->flags & SEAM_MREMAP_DONTUNMAP) <= limit;
	}
}

static bool has_room_to_move(const struct seam_space *space, const struct remap *remap)
{
	uint64_t count = index_count(&space->index), limit = space->limit[SEAM_LIMIT_AREAS];

	switch (rule(space, SEAM_RULE_mremap_room)) {
	case 0:
	case 1:
		return count + 3 < limit;
	case 2:
		return count + 2 <= limit;
	default:
		return count + 2 + is_cut_out_first(space, remap) <= limit;
	}
}

/* What can be said of the arguments alone. */
static int check_arguments(const struct seam_space *space, const struct seam_mremap *args)
{
	uint32_t flags = args->flags;
	bool same = rule(space, SEAM_RULE_mremap_checks) >= CHECKS_ALL
			    ? page_up(space, args->old_len) == page_up(space, args->new_len)
			    : args->old_len == args->new_len;

	if (flags & ~known_flags(space))
		return -SEAM_EINVAL;
	if (flags & (SEAM_MREMAP_FIXED | SEAM_MREMAP_DONTUNMAP) && !(flags & SEAM_MREMAP_MAYMOVE))
		return -SEAM_EINVAL;
	if (flags & SEAM_MREMAP_DONTUNMAP && !same)
		return -SEAM_EINVAL;
	if (args->old_addr & (page_size(space) - 1) || !page_up(space, args->new_len))
		return -SEAM_EINVAL;
	if (rule(space, SEAM_RULE_mremap_checks) >= CHECKS_ALL &&
	    page_up(space, args->new_len) > space->user_end)
		return -SEAM_EINVAL;
	return 0;
}

static int check_target_start(const struct seam_space *space, const struct remap *remap)
{
	return remap->new_addr & (page_size(space) - 1) ? -SEAM_EINVAL : 0;
}

static int check_target(const struct seam_space *space, const struct remap *remap)
{
	if (check_target_start(space, remap))
		return -SEAM_EINVAL;
	if (remap->new_len > space->user_end || remap->new_addr > space->user_end - remap->new_len)
		return -SEAM_EINVAL;
	return overlaps(remap) ? -SEAM_EINVAL : 0;
}

static int find_source(const struct seam_space *space, struct remap *remap)
{
	bool found = area_seek(space, remap->addr, &remap->cursor, &remap->source);

	steps_find(space, remap->addr, &remap->cursor);
	if (!found)
		return -SEAM_EFAULT;
	return remap->source.start <= remap->addr ? 0 : -SEAM_EFAULT;
}

/* Huge pages stay whole, and do not grow. */
static bool align_huge(const struct seam_space *space, struct remap *remap)
{
	remap->old_len = huge_up(space, remap->old_len);
	remap->new_len = huge_up(space, remap->new_len);
	return is_huge_aligned(space, remap->addr | remap->new_addr) && !growth(remap);
}

/* The source as such: there, not sealed, of whole huge pages. */
static int check_source(const struct seam_space *space, struct remap *remap)
{
	int err = find_source(space, remap);
	uint64_t flags;

	if (err)
		return err;
	flags = area_flags(space, &remap->source);
	if (flags & SEAM_VM_SEALED)
		return -SEAM_EPERM;
	if (WITH_KERNELS && flags & SEAM_VM_HUGETLB && !align_huge(space, remap))
		return -SEAM_EINVAL;
	return 0;
}

static bool may_stay_mapped(const struct seam_space *space, const struct remap *remap)
{
	const struct attr *attr = area_attr(space, &remap->source);

	if (rule(space, SEAM_RULE_dontunmap) == 1)
		return !attr->file && !(attr->flags & SEAM_VM_SHARED);
	return !(attr->flags & NO_GROWTH);
}

static int check_growth(const struct seam_space *space, const struct remap *remap)
{
	uint64_t flags = area_flags(space, &remap->source);
	uint64_t pages = pages_of(space, growth(remap));
	uint64_t pgoff = area_offset_at(space, &remap->source, remap->addr);

	if (pgoff + pages_of(space, remap->new_len) < pgoff)
		return -SEAM_EINVAL;
	if (flags & NO_GROWTH)
		return -SEAM_EFAULT;
	if (!limit_lock_fits(space, flags, pages))
		return -SEAM_EAGAIN;
	return limit_may_expand(space, flags, pages) ? 0 : -SEAM_ENOMEM;
}

/* For a call that makes new memory: it grows or moves (6.18 check_prep_vma, before: vma_to_resize). */
static int check_change(const struct seam_space *space, const struct remap *remap)
{
	uint64_t flags = area_flags(space, &remap->source);
	uint64_t kept = shrinks(remap) ? remap->new_len : remap->old_len;

	if (!remap->old_len && !(flags & (SEAM_VM_SHARED | SEAM_VM_MAYSHARE)))
		return -SEAM_EINVAL;
	if (remap->flags & SEAM_MREMAP_DONTUNMAP && !may_stay_mapped(space, remap))
		return -SEAM_EINVAL;
	/* later kernels said so first of all: check_source() */
	if (rule(space, SEAM_RULE_mremap_checks) < CHECKS_SOURCE && flags & SEAM_VM_HUGETLB)
		return -SEAM_EINVAL;
	if (kept > remap->source.end - remap->addr)
		return -SEAM_EFAULT;
	return growth(remap) ? check_growth(space, remap) : 0;
}

static int choose_address(const struct seam_space *space, struct remap *remap)
{
	const uint32_t searches = SEAM_TRAIT_SHMEM | SEAM_TRAIT_CLOSE;
	const struct attr *attr = area_attr(space, &remap->source);
	struct place place = {
		.addr = names_target(remap) ? remap->new_addr : 0,
		.len = remap->new_len,
		.pgoff = area_offset_at(space, &remap->source, remap->addr),
		.align = attr->flags & SEAM_VM_HUGETLB ? huge_size(space) : 0,
		.file = attr->file,
		.aligning_file = attr->traits & SEAM_TRAIT_THP_ALIGN,
		.plain_file = attr->file && !(attr->traits & searches),
		.given = remap->given,
		.at = remap->at,
	};
	struct place_found found;
	int err;

	if (remap->flags & SEAM_MREMAP_FIXED)
		return place_fixed(space, remap->new_addr, remap->new_len, place.align);
	err = place_find(space, &place, &found);
	if (!err)
		remap->new_addr = found.addr;
	return err;
}

static bool is_anonymous(const struct seam_space *space, const struct area *area)
{
	return !area_attr(space, area)->file;
}

/* Another distance from where memory of a file was touched. */
static noinline_for_stack int set_moved(struct seam_space *space, struct area *area, uint64_t pages)
{
	struct attr attr = *area_attr(space, area);

	if (attr.moved_pages == pages)
		return 0;
	attr.moved_pages = pages;
	area->attr = area_intern(space, &attr);
	return area->attr ? 0 : -SEAM_EALLOC;
}

/*
 * Memory that was never faulted is numbered anew, so that it fits where it comes to lie. Private
 * memory of files has numbers of its own as well (7.3 copy_vma, anon_pgoff).
 */
static int number_copy(struct seam_space *space, const struct remap *remap, struct area *copy)
{
	uint64_t moved = 0;

	copy->pgoff = area_offset_at(space, &remap->source, remap->addr);
	if (is_anonymous(space, copy)) {
		if (!copy->anon)
			copy->pgoff = pages_of(space, remap->new_addr);
		return 0;
	}
	if (!rule(space, SEAM_RULE_moved_files))
		return 0;
	if (copy->anon)
		moved = area_attr(space, copy)->moved_pages + pages_of(space, remap->addr) -
			pages_of(space, remap->new_addr);
	return set_moved(space, copy, moved);
}

static noinline_for_stack int copy(struct seam_space *space, const struct remap *remap,
				   struct cursor *ret_cursor)
{
	struct join_new *join = &scratch_of(space)->join;
	int err;

	join_new_init(join, &remap->source);
	err = number_copy(space, remap, &join->area);
	if (err)
		return err;
	join->area.start = remap->new_addr;
	join->area.end = remap->new_addr + remap->new_len;
	if (remap->flags & SEAM_MREMAP_DONTUNMAP && rule(space, SEAM_RULE_dontunmap_apart))
		join->apart_from = remap->source.start;
	join->alone_beside = rule(space, SEAM_RULE_dontunmap_apart) == 1;
	join->alone = rule(space, SEAM_RULE_uffd_copy_apart) && area_attr(space, &join->area)->uffd;
	join_new_decide(space, join);
	return join_new_commit(space, join, ret_cursor);
}

/* Without its remap event userfaultfd lets go of what moves (mremap_userfaultfd_prep). */
static noinline_for_stack int drop_uffd(struct seam_space *space, struct cursor *cursor)
{
	struct area area;
	struct attr attr;

	index_load(&space->index, cursor, &area);
	attr = *area_attr(space, &area);
	if (!attr_drop_uffd(&attr))
		return 0;
	area.attr = area_intern(space, &attr);
	return area.attr ? area_store(space, cursor, &area) : -SEAM_EALLOC;
}

/* [area [start end) ) -> [area)[area)[area), the cursor on the middle one; no limit is looked at. */
static int cut_out(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end)
{
	struct area area;
	int err = 0;

	index_load(&space->index, cursor, &area);
	if (area.start < start) {
		err = area_split(space, cursor, start);
		if (!err)
			index_next(&space->index, cursor);
	}
	return !err && end < area.end ? area_split(space, cursor, end) : err;
}

/*
 * No page of the source is locked any more. Up to 7.1 that was said of its whole area, even for a
 * part of it, and the kernel's count of locked pages did not follow; up to 6.15 the copy was not
 * counted either.
 */
static noinline_for_stack int unlock_source(struct seam_space *space, const struct remap *remap,
					    struct cursor *cursor)
{
	uint64_t uncounted = rule(space, SEAM_RULE_dontunmap_locked) ? 0 : remap->new_len;
	struct area area;
	uint64_t flags;

	index_load(&space->index, cursor, &area);
	flags = area_flags(space, &area);
	if (!(flags & SEAM_VM_LOCKED))
		return 0;
	if (!rule(space, SEAM_RULE_dontunmap_apart))
		space->mm.locked_lost_pages += pages_of(space, area.end - area.start - uncounted);
	return area_set_flags(space, cursor, flags & ~LOCK_BITS);
}

/*
 * Up to 5.14 a copy out of the middle of an accounted area took the area behind it for a rest of
 * the source, and marked it as accounted; not so where the copy had joined its source.
 */
static noinline_for_stack int mark_next(struct seam_space *space, const struct remap *remap,
					const struct cursor *source)
{
	struct cursor next = *source;
	struct area area;

	index_load(&space->index, source, &area);
	if (!rule(space, SEAM_RULE_dontunmap_marks) ||
	    !(area_flags(space, &area) & SEAM_VM_ACCOUNT) || area.start >= remap->addr ||
	    area.end <= remap->addr + remap->old_len || !index_next(&space->index, &next))
		return 0;
	index_load(&space->index, &next, &area);
	return area_set_flags(space, &next, area_flags(space, &area) | SEAM_VM_ACCOUNT);
}

/*
 * As if never faulted (6.18 dontunmap_complete); since 7.2 with the numbers that go with it. Before
 * 5.13 move_vma() left the anon_vma where it was.
 */
static int forget_faults(struct seam_space *space, struct area *area)
{
	if (rule(space, SEAM_RULE_dontunmap_keeps))
		return 0;
	area->anon = 0;
	if (rule(space, SEAM_RULE_dontunmap_anew) && is_anonymous(space, area))
		area->pgoff = pages_of(space, area->start);
	return set_moved(space, area, 0);
}

/* The source stays, without its pages. */
static noinline_for_stack int leave_source(struct seam_space *space, const struct remap *remap)
{
	struct area *area = &scratch_of(space)->left;
	struct cursor cursor;
	uint64_t flags;
	bool joined;
	int err;

	index_seek(&space->index, remap->addr, &cursor);
	err = unlock_source(space, remap, &cursor);
	if (err)
		return err;
	index_load(&space->index, &cursor, area);
	flags = area_flags(space, area);
	joined = area->start <= remap->new_addr && remap->new_addr < area->end;
	/* all of it was copied, to an area of its own */
	if (!joined && area->start == remap->addr && area->end == remap->addr + remap->old_len)
		err = forget_faults(space, area);
	if (!err)
		err = area_store(space, &cursor, area);
	if (!err && rule(space, SEAM_RULE_dontunmap_account) && flags & SEAM_VM_ACCOUNT)
		err = area_set_flags(space, &cursor, flags & ~SEAM_VM_ACCOUNT);
	return err || joined ? err : mark_next(space, remap, &cursor);
}

/* What the source was charged goes over to the copy. If it cannot be cut it stays, silently. */
static int remove_source(struct seam_space *space, const struct remap *remap)
{
	bool charged = area_flags(space, &remap->source) & SEAM_VM_ACCOUNT;
	int err;

	if (!remap->old_len)
		return 0;
	if (charged)
		space->mm.committed_pages += pages_of(space, remap->old_len);
	err = unmap_range(space, remap->addr, remap->addr + remap->old_len);
	return err == -SEAM_EALLOC ? err : 0;
}

static bool may_be_cut(const struct seam_space *space, const struct remap *remap)
{
	if (!(area_attr(space, &remap->source)->traits & SEAM_TRAIT_NO_SPLIT))
		return true;
	return remap->source.start == remap->addr &&
	       remap->source.end == remap->addr + remap->old_len;
}

static int charge(struct seam_space *space, const struct remap *remap)
{
	uint64_t bytes = growth(remap);

	if (!(area_flags(space, &remap->source) & SEAM_VM_ACCOUNT))
		return 0;
	if (remap->flags & SEAM_MREMAP_DONTUNMAP)
		bytes = remap->new_len;
	else if (rule(space, SEAM_RULE_shrink_charge))
		bytes += remap->given_up;
	return commit_charge(space, pages_of(space, bytes));
}

/* The source becomes an area of its own; it stays one when the call then fails. */
static noinline_for_stack int cut_out_source(struct seam_space *space, struct remap *remap)
{
	int err = cut_out(space, &remap->cursor, remap->addr, remap->addr + remap->old_len);

	if (!err)
		index_load(&space->index, &remap->cursor, &remap->source);
	return err;
}

/* 6.18 move_vma */
static noinline_for_stack int move(struct seam_space *space, struct remap *remap)
{
	struct cursor cursor;
	int err = 0;

	if (!has_room_to_move(space, remap))
		return -SEAM_ENOMEM;
	if (!may_be_cut(space, remap))
		return -SEAM_EINVAL;
	if (is_cut_out_first(space, remap))
		err = cut_out_source(space, remap);
	if (!err)
		err = charge(space, remap);
	if (!err)
		err = copy(space, remap, &cursor);
	if (WITH_KERNELS && !err)
		err = drop_uffd(space, &cursor);
	if (err)
		return err;
	return rule(space, SEAM_RULE_dontunmap) && remap->flags & SEAM_MREMAP_DONTUNMAP
		       ? leave_source(space, remap)
		       : remove_source(space, remap);
}

/* The tail may lie over other areas, and over holes. */
static int shrink(struct seam_space *space, const struct remap *remap)
{
	return linux_munmap(space, remap->addr + remap->new_len, remap->old_len - remap->new_len);
}

/* A target that is named, or to be found for what stays mapped (6.18 mremap_to). */
static noinline_for_stack int move_to(struct seam_space *space, struct remap *remap)
{
	bool checked = rule(space, SEAM_RULE_mremap_checks) >= CHECKS_ALL;
	int err = checked ? check_change(space, remap) : 0;

	if (!err && remap->flags & SEAM_MREMAP_FIXED)
		err = linux_munmap(space, remap->new_addr, remap->new_len);
	if (!err && rule(space, SEAM_RULE_mremap_checks) >= CHECKS_START)
		err = find_source(space, remap);
	if (!err && shrinks(remap)) {
		err = shrink(space, remap);
		remap->given_up = remap->old_len - remap->new_len;
		remap->old_len = remap->new_len;
	}
	if (!err)
		err = find_source(space, remap);
	if (!err && !checked)
		err = check_change(space, remap);
	if (err)
		return err;
	if (remap->flags & SEAM_MREMAP_DONTUNMAP &&
	    !limit_may_expand(space, area_flags(space, &remap->source),
			      pages_of(space, remap->old_len)))
		return -SEAM_ENOMEM;
	err = choose_address(space, remap);
	return err ? err : move(space, remap);
}

/*
 * Not so what a userfaultfd watches, and files that choose their own addresses: of those known here,
 * SysV segments (6.18 vma_multi_allowed).
 */
static bool moves_among_others(const struct attr *attr)
{
	const uint32_t segment = SEAM_TRAIT_SHMEM | SEAM_TRAIT_CLOSE;

	return !attr->uffd && (attr->traits & segment) != segment;
}

/*
 *	[ A  ]   [B][C   ]	->	[ A' ]   [B'][C'  ]
 *
 * Each area on its own, the gaps between them kept; stops at the first that cannot be moved
 * (6.18 remap_move).
 */
static noinline_for_stack int move_several(struct seam_space *space, struct remap *remap)
{
	const uint64_t start = remap->addr, end = start + remap->old_len, target = remap->new_addr;
	struct area *area = &remap->source;
	uint64_t at = start;
	int err;

	if (!area_seek(space, start, &remap->cursor, area))
		return -SEAM_EFAULT;
	if (area->start > start)
		return -SEAM_EFAULT;
	do {
		remap->addr = area->start > start ? area->start : start;
		remap->old_len = (area->end < end ? area->end : end) - remap->addr;
		remap->new_len = remap->old_len;
		remap->new_addr = target + (remap->addr - start);
		if (!moves_among_others(area_attr(space, area)) && (at != start || area->end < end))
			return -SEAM_EFAULT;
		at = area->end;
		err = check_source(space, remap);
		if (!err)
			err = move_to(space, remap);
		if (err)
			return err;
	} while (at < end && area_seek(space, at, &remap->cursor, area) && area->start < end);
	remap->new_addr = target;
	return 0;
}

/* 5.10 moved the border alone; so does 6.1 for what its close operation keeps from every join (6.1.9-). */
static bool only_end_moves(const struct seam_space *space, const struct area *source)
{
	return !rule(space, SEAM_RULE_grow_join) ||
	       (rule(space, SEAM_RULE_close) == 1 &&
		area_attr(space, source)->traits & SEAM_TRAIT_CLOSE);
}

/*
 *	[ source )[ growth )[ next )
 * The growth is a new range that must join its source, and may join what lies above.
 */
static int grow_in_place(struct seam_space *space, const struct remap *remap)
{
	struct join_new *join = &scratch_of(space)->join;
	struct cursor cursor;
	int err = charge(space, remap);

	if (err)
		return err;
	join_new_init(join, &remap->source);
	join->extends = true;
	join->area.start = remap->source.end;
	join->area.end = remap->source.end + growth(remap);
	join->area.pgoff = area_offset_at(space, &remap->source, remap->source.end);
	if (only_end_moves(space, &remap->source)) {
		join->area.start = remap->source.start;
		join->area.pgoff = remap->source.pgoff;
		cursor = remap->cursor;
		return area_store(space, &cursor, &join->area);
	}
	join_new_decide(space, join);
	if (!join->joins_left) {
		commit_release(space, commit_of(space, &join->area));
		return -SEAM_ENOMEM;
	}
	return join_new_commit(space, join, &cursor);
}

/* 6.18 vrm_can_expand_in_place: no gap below a stack is asked for */
static bool can_grow_in_place(const struct seam_space *space, const struct remap *remap)
{
	uint64_t end = remap->source.end + growth(remap);

	return remap->source.end - remap->addr == remap->old_len && end > remap->source.end &&
	       end <= space->user_end && place_is_free(space, remap->source.end, end);
}

static int grow(struct seam_space *space, struct remap *remap)
{
	int err;

	if (can_grow_in_place(space, remap))
		return grow_in_place(space, remap);
	if (!(remap->flags & SEAM_MREMAP_MAYMOVE))
		return -SEAM_ENOMEM;
	err = choose_address(space, remap);
	return err ? err : move(space, remap);
}

/* Locked memory brings in what it has gained, wherever it lies now. */
static int populate_growth(struct seam_space *space, const struct remap *remap)
{
	if (!WITH_KERNELS || !growth(remap) ||
	    !(area_flags(space, &remap->source) & SEAM_VM_LOCKED))
		return 0;
	return fault_populate_all(space, remap->new_addr + remap->old_len,
				  remap->new_addr + remap->new_len);
}

/* No target is named: the memory stays where it is if it can (6.18 mremap_at). */
static noinline_for_stack int resize(struct seam_space *space, struct remap *remap)
{
	int err;

	remap->new_addr = remap->addr;
	if (shrinks(remap))
		return shrink(space, remap);
	if (!growth(remap))
		return 0;
	err = find_source(space, remap);
	if (!err)
		err = check_change(space, remap);
	return err ? err : grow(space, remap);
}

/* What is looked at before anything is done, in this kernel's order. */
static int check_beforehand(const struct seam_space *space, struct remap *remap, bool several)
{
	unsigned int checks = rule(space, SEAM_RULE_mremap_checks);
	bool target = names_target(remap);
	int err = 0;

	if (checks == CHECKS_SOURCE)
		err = check_source(space, remap);
	if (!err && target)
		err = checks == CHECKS_START ? check_target_start(space, remap)
					     : check_target(space, remap);
	if (!err && !has_room_early(space, remap))
		err = -SEAM_ENOMEM;
	if (!err && checks >= CHECKS_START && !several)
		err = check_source(space, remap);
	if (!err && target && checks == CHECKS_START)
		err = check_target(space, remap);
	return err;
}

int linux_mremap(struct seam_space *space, const struct seam_mremap *args, uint64_t *ret_addr)
{
	struct remap *remap = &scratch_of(space)->remap;
	bool several;
	int err = check_arguments(space, args);

	if (err)
		return err;
	*remap = (struct remap) {
		.addr = args->old_addr,
		.old_len = page_up(space, args->old_len),
		.new_len = page_up(space, args->new_len),
		.new_addr = args->new_addr,
		.flags = args->flags,
		.given = args->place,
		.at = args->at,
	};
	several = rule(space, SEAM_RULE_mremap_many) && remap->flags & SEAM_MREMAP_FIXED &&
		  remap->old_len == remap->new_len;
	err = check_beforehand(space, remap, several);
	if (err)
		return err;
	if (several)
		err = move_several(space, remap);
	else
		err = names_target(remap) ? move_to(space, remap) : resize(space, remap);
	if (!err)
		err = populate_growth(space, remap);
	if (!err)
		*ret_addr = remap->new_addr;
	return err;
}
