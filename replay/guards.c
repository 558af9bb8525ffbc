/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The remedy "guard-markers": small inaccessible pieces of private anonymous memory become guard
 * markers (MADV_GUARD_INSTALL, 6.13), which need no area of their own. Two ways of making a guard
 * are known:
 *
 *	[ rw                ]  ->  [none][ rw          ]	mprotect(NONE) of a piece
 *	[ none              ]  ->  [none][ rw          ]	mprotect(RW) of all but a piece
 *
 * In both the memory stays, or becomes, one area, with markers in it. Memory that is opened again
 * loses its markers.
 */
#include "replay/call.h"

#define LARGEST_GUARD (UINT64_C(64) << 10)

void guards_gone(struct call *call, uint64_t at, uint64_t len)
{
	if (!range_map_is_empty(&call->mm->guards))
		call_keep(call, range_map_clear(&call->mm->guards, at, at + len));
}

void guards_moved(struct call *call, uint64_t from, uint64_t len, uint64_t to)
{
	call_keep(call, range_map_move(&call->mm->guards, from, len, to));
}

static int install(struct call *call, uint64_t at, uint64_t len)
{
	int err =
		call_check(call, seam_space_madvise(call->space, at, len, SEAM_MADV_GUARD_INSTALL));

	if (!err)
		call_keep(call, range_map_set(&call->mm->guards, at, at + len, 0));
	return err;
}

/* Markers in memory that gets a protection of its own again. */
static void remove_markers(struct call *call, uint64_t at, uint64_t len)
{
	struct range_map *guards = &call->mm->guards;
	struct valued_range range;

	if (!range_map_find(guards, at, &range) || range.start >= at + len)
		return;
	call_check(call, seam_space_madvise(call->space, at, len, SEAM_MADV_GUARD_REMOVE));
	call_keep(call, range_map_clear(guards, at, at + len));
}

static bool is_open(const struct seam_area *area)
{
	return is_private_anonymous(area) && area->flags & SEAM_VM_WRITE &&
	       !(area->flags & (SEAM_VM_LOCKED | SEAM_VM_GROWSDOWN));
}

static bool is_closed(const struct seam_area *area)
{
	return is_private_anonymous(area) && !(area->flags & (SEAM_VM_RWX | SEAM_VM_LOCKED));
}

bool guards_protect(struct call *call, uint64_t at, uint64_t len, uint32_t prot, int *ret_err)
{
	struct seam_area area;
	uint64_t start, end;

	if (!whole_pages(call, at, len, &start, &end) || start != at ||
	    !seam_area_find(call->space, at, &area) || area.start > at || area.end < end)
		return false;
	if (prot == SEAM_PROT_NONE) {
		if (end - start > LARGEST_GUARD || !is_open(&area))
			return false;
		*ret_err = install(call, start, end - start);
		return !*ret_err;
	}
	remove_markers(call, start, end - start);
	if (!(prot & SEAM_PROT_WRITE) || !is_closed(&area) || area.end != end ||
	    start == area.start || start - area.start > LARGEST_GUARD ||
	    install(call, area.start, start - area.start))
		return false;
	*ret_err = seam_space_mprotect(call->space, area.start, area.end - area.start, prot, -1);
	return true;
}
