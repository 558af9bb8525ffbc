/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/old/old.h - what the calls of Linux 2.2.13 to 2.6.24 share.
 *
 * A place in the map is a spot here, or a cursor; after an edit made elsewhere it is looked up again.
 * Functions that change areas give 0 or -SEAM_EALLOC, after which the whole call is taken back, or
 * the errno that their comment names.
 */
#ifndef LIB_OLD_H
#define LIB_OLD_H

#include "lib/area.h"
#include "lib/join.h"
#include "lib/steps/steps.h"

/* Values of the rules that have more than two; seam/policy.h says what each means. */
enum { SEARCH_HINT, SEARCH_BASE, SEARCH_CACHE, SEARCH_DOWN, SEARCH_HOLE };
enum { MMAP_2_2, MMAP_2_4_10, MMAP_2_6_0, MMAP_2_6_24 };
enum { MPROTECT_2_2, MPROTECT_2_6_0, MPROTECT_2_6_6, MPROTECT_2_6_24 };
enum { MREMAP_2_2, MREMAP_2_4, MREMAP_2_6_0, MREMAP_2_6_6 };
enum { MADVISE_2_4 = 1, MADVISE_2_6_0, MADVISE_2_6_12, MADVISE_2_6_24 };
enum { TYPES_PRIVATE, TYPES_ANY, TYPES_BOTH };
enum { PGOFF_GIVEN, PGOFF_KEPT, PGOFF_ADDRESS };

/* Bits that today's kernel uses otherwise. */
#define OLD_VM_DENYWRITE UINT64_C(0x800)
#define OLD_VM_EXECUTABLE UINT64_C(0x1000)
#define OLD_VM_CAN_NONLINEAR UINT64_C(0x8000000)
#define OLD_VM_MAY (SEAM_VM_MAYREAD | SEAM_VM_MAYWRITE | SEAM_VM_MAYEXEC)

/* An area and where it stands. */
struct spot {
	struct cursor cursor;
	struct area area;
};

/* The areas that touch a range; its neighbours in free space, or those of the area it is part of. */
struct neighbours {
	struct spot below, above;
	bool has_below, has_above; /* there is one, and it touches */
};

/* An mremap as it goes: lengths in whole pages. */
struct old_remap {
	uint64_t addr, old_len, new_len, new_addr;
	bool may_move, fixed;
	bool target_taken; /* clearing the target was refused, and nobody looked */
};

/* PAGE_ALIGN: may wrap to 0. */
static inline uint64_t round_up(const struct seam_space *space, uint64_t len)
{
	return word(space, page_up(space, len));
}

static inline uint64_t file_of(const struct seam_space *space, const struct area *area)
{
	return area_attr(space, area)->file;
}

/* The area under the spot's cursor; false, and an empty one, when that is past the end. */
static inline bool spot_load(const struct seam_space *space, struct spot *spot)
{
	if (!index_on_area(&space->index, &spot->cursor)) {
		spot->area = (struct area) { 0 };
		return false;
	}
	index_load(&space->index, &spot->cursor, &spot->area);
	return true;
}

/*
 * The first area that ends behind @addr; false, an empty area, and the cursor past the end, when there
 * is none.
 */
static inline bool spot_find(const struct seam_space *space, uint64_t addr, struct spot *ret_spot)
{
	if (area_seek(space, addr, &ret_spot->cursor, &ret_spot->area))
		return true;
	ret_spot->area = (struct area) { 0 };
	return false;
}

/* The same for find_vma: counts the kernel's steps. */
static inline bool spot_look_up(struct seam_space *space, uint64_t addr, struct spot *ret_spot)
{
	bool found = spot_find(space, addr, ret_spot);

	steps_find(space, addr, &ret_spot->cursor);
	return found;
}

/* The neighbour above or below; false when there is none. */
static inline bool spot_above(const struct seam_space *space, const struct spot *spot,
			      struct spot *ret_spot)
{
	struct cursor cursor = spot->cursor;

	if (!area_next(space, &cursor, &ret_spot->area))
		return false;
	ret_spot->cursor = cursor;
	return true;
}

static inline bool spot_below(const struct seam_space *space, const struct spot *spot,
			      struct spot *ret_spot)
{
	struct cursor cursor = spot->cursor;

	if (!index_prev(&space->index, &cursor))
		return false;
	ret_spot->cursor = cursor;
	index_load(&space->index, &cursor, &ret_spot->area);
	return true;
}

/* An area that lies in [start, end) or across one of its ends. */
bool old_range_taken(const struct seam_space *space, uint64_t start, uint64_t end);

/* merge.c: joining. ------------------------------------------------------------------------- */

/*
 * Puts @fresh into free space, joined with what touches by the style. @keep_pgoff: an area that grows
 * downward keeps the offsets of its old pages. @at: what index_seek finds for its start.
 */
int merge_fresh(struct seam_space *space, enum join_style style, bool keep_pgoff,
		const struct area *fresh, const struct cursor *at);

/* 2.2.13 mm/mmap.c merge_segments: what touches in [start, end), from the area before it. */
int merge_scan(struct seam_space *space, uint64_t start, uint64_t end);

/* The touching areas @lower and @upper become one that has the lower's attributes. */
int merge_pair(struct seam_space *space, struct spot *lower, const struct spot *upper);

/*
 * Other flags for [start, end), which lies in the area @spot: joined with what touches by the style,
 * else cut out. *ret_end: how far the area that holds it then reaches. -SEAM_ENOMEM at the area
 * limit; a first cut stays when the second is refused. A scan is the caller's (JOIN_SCAN).
 */
int merge_changed(struct seam_space *space, enum join_style style, const struct spot *spot,
		  uint64_t start, uint64_t end, uint64_t flags, uint64_t *ret_end);

/* Cuts @within at @at under the area limit's rule: -SEAM_ENOMEM */
int old_cut(struct seam_space *space, const struct spot *within, uint64_t at);

/* place.c: free memory. --------------------------------------------------------------------- */

/*
 * get_unmapped_area without MAP_FIXED; *ret_next: on the area above, or past the end. -SEAM_ENOMEM
 */
int place_search(struct seam_space *space, uint64_t hint, uint64_t len, uint64_t *ret_addr,
		 struct cursor *ret_next);
/* The memory of one area in [start, end) was given back (2.6.0 - 2.6.12). */
void place_freed(struct seam_space *space, uint64_t start, uint64_t end);
/* All that a call unmaps is gone; @above: on what is above the hole, or past the end (2.6.24). */
void place_hole(struct seam_space *space, const struct cursor *above);
/* A fork child searches from the base. */
void place_fork(struct seam_space *child);

/* munmap.c, mmap.c, fault.c: what one call does for another. ---------------------------------- */

/* do_munmap. -SEAM_EINVAL, -SEAM_ENOMEM */
int old_unmap(struct seam_space *space, uint64_t start, uint64_t len);

/* Room for @pages more in all and of locked memory. -SEAM_ENOMEM, -SEAM_EAGAIN */
int old_check_total(const struct seam_space *space, uint64_t len);
int old_check_locked(const struct seam_space *space, uint64_t len);

/* May this caller lock memory at all? */
bool old_may_lock(const struct seam_space *space);

/* vm_enough_memory: one charge at most the commit limit, where the mode looks at it. */
int old_check_memory(const struct seam_space *space, uint64_t len);

/* Attaches an anon_vma to the area @spot, and to *spot, if this kernel has them and it has none. */
int old_attach_anon(struct seam_space *space, struct spot *spot);
/* make_pages_present of locked memory. -SEAM_EFAULT where the rule lock_faults says so */
int old_fault_in(struct seam_space *space, uint64_t start);

/* The calls, one a file. ----------------------------------------------------------------------- */

int old_mmap(struct seam_space *space, const struct seam_mmap *args, uint64_t *ret_addr);
int old_munmap(struct seam_space *space, uint64_t addr, uint64_t len);
int old_mprotect(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t prot, int pkey);
int old_mremap(struct seam_space *space, const struct seam_mremap *args, uint64_t *ret_addr);
int old_madvise(struct seam_space *space, uint64_t addr, uint64_t len, int advice);
int old_mlock(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t flags);
int old_munlock(struct seam_space *space, uint64_t addr, uint64_t len);
int old_mlockall(struct seam_space *space, uint32_t flags);
int old_munlockall(struct seam_space *space);
int old_brk(struct seam_space *space, uint64_t addr, uint64_t *ret_brk);
int old_touch(struct seam_space *space, uint64_t addr, uint64_t len, int write, uint64_t *ret_done);
int old_stack(struct seam_space *space, uint64_t start, uint64_t len);
int old_fork(struct seam_space *parent, struct seam_space *child);

#endif
