/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/steps/steps.h - counting the steps of the modelled kernel in its own structures.
 *
 * A space made with SEAM_SPACE_COUNT_STEPS keeps, beside its index, the list or tree that the
 * policy's kernel kept (rule area_tree), in shape only, and the calls say where that kernel would
 * search it. The edits of lib/area.h keep the shape; a call only has to say:
 *	steps_find(space, addr, at)	find_vma, wherever the kernel calls it
 *	steps_find_pages(space, addr, n, at) the same for n pages of one area, one after the other
 *	steps_insert(space, addr, at)	finding where a new area goes (find_vma_prev up to 2.4.9,
 *					find_vma_prepare or find_vma_links, the walk of mas_store)
 *	steps_gap_search(...)		one search for free memory (unmapped_area; 3.8 -)
 *	steps_placement(space, n)	n positions examined by a walk for free memory (up to 3.7)
 *	steps_forget_last(space)	the kernel drops what it found last (each munmap up to 6.0)
 * @at is what index_seek finds for @addr: the walk itself is not made, but told from the depths of
 * the nodes where it ends. Each is a test of one pointer when steps are not counted. A maple tree
 * (6.1 -) is not kept: its steps are its levels, reckoned from the number of areas.
 */
#ifndef LIB_STEPS_H
#define LIB_STEPS_H

#include "lib/space.h"

/* -SEAM_EALLOC */
int steps_init(struct seam_space *space);
void steps_free(struct seam_space *space);
/* For a copy of a space. -SEAM_EALLOC. */
int steps_copy(struct seam_space *copy, const struct seam_space *from);

/* What the edits tell (only where space->steps). Room for @nr areas more; false: no memory. */
bool steps_reserve_room(struct seam_space *space, uint32_t nr);
void steps_area_inserted(struct seam_space *space, const struct area *area);
void steps_area_removed(struct seam_space *space, const struct area *area);
/* Put in, looked for, and taken out again, since it joins what is below it (2.2 do_mmap). */
void steps_area_passed(struct seam_space *space, const struct area *area);
void steps_area_stored(struct seam_space *space, const struct area *before,
		       const struct area *after);

/* What the functions below count, where the space keeps steps. */
void steps_count_find(const struct seam_space *space, uint64_t addr, const struct cursor *at);
void steps_count_find_pages(const struct seam_space *space, uint64_t addr, uint64_t nr,
			    const struct cursor *at);
void steps_count_insert(const struct seam_space *space, uint64_t addr, const struct cursor *at);
void steps_count_placement(const struct seam_space *space, uint64_t nr);
void steps_count_gap_search(const struct seam_space *space, uint64_t len, uint64_t lo, uint64_t hi,
			    bool top_down);
void steps_drop_cache(const struct seam_space *space);
void steps_settle_count(struct seam_space *space, bool taken_back);

/* Made sure of before areas are inserted: what tells of them cannot fail. */
static inline bool steps_reserve(struct seam_space *space, uint32_t nr)
{
	return !space->steps || steps_reserve_room(space, nr);
}

static inline void steps_find(const struct seam_space *space, uint64_t addr,
			      const struct cursor *at)
{
	if (space->steps)
		steps_count_find(space, addr, at);
}

static inline void steps_find_pages(const struct seam_space *space, uint64_t addr, uint64_t nr,
				    const struct cursor *at)
{
	if (space->steps)
		steps_count_find_pages(space, addr, nr, at);
}

static inline void steps_insert(const struct seam_space *space, uint64_t addr,
				const struct cursor *at)
{
	if (space->steps)
		steps_count_insert(space, addr, at);
}

static inline void steps_placement(const struct seam_space *space, uint64_t nr)
{
	if (space->steps)
		steps_count_placement(space, nr);
}

static inline void steps_gap_search(const struct seam_space *space, uint64_t len, uint64_t lo,
				    uint64_t hi, bool top_down)
{
	if (space->steps)
		steps_count_gap_search(space, len, lo, hi, top_down);
}

static inline void steps_forget_last(const struct seam_space *space)
{
	if (space->steps)
		steps_drop_cache(space);
}

/* At the end of a call: what was counted goes to the space's counters, or is forgotten. */
static inline void steps_settle(struct seam_space *space, bool taken_back)
{
	if (space->steps)
		steps_settle_count(space, taken_back);
}

#endif
