/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/steps/steps.h - counting the steps of the modelled kernel in its own structures.
 *
 * A space made with SEAM_SPACE_COUNT_STEPS keeps, beside its index, the list or tree that the
 * policy's kernel kept, in shape only, and the calls say where that kernel would search it. The
 * edits of lib/area.h keep the shape; a call only has to say:
 *	steps_find(space, addr)		find_vma, wherever the kernel calls it
 *	steps_insert(space, addr)	finding where a new area goes (find_vma_prev, find_vma_prepare,
 *					vma_link's search, mas_walk before a store)
 *	steps_placement(space, n)	n positions examined by the search for free memory
 *	steps_forget_last(space)	the kernel drops its cache of the area found last
 * Each is a test of one pointer when steps are not counted.
 */
#ifndef LIB_STEPS_H
#define LIB_STEPS_H

#include "lib/space.h"

/* -SEAM_EALLOC */
int steps_init(struct seam_space *space);
void steps_free(struct seam_space *space);

void steps_count_find(struct seam_space *space, uint64_t addr);
void steps_count_insert(struct seam_space *space, uint64_t addr);
void steps_drop_cache(struct seam_space *space);

static inline void steps_find(struct seam_space *space, uint64_t addr)
{
	if (space->steps)
		steps_count_find(space, addr);
}

static inline void steps_insert(struct seam_space *space, uint64_t addr)
{
	if (space->steps)
		steps_count_insert(space, addr);
}

static inline void steps_placement(struct seam_space *space, uint64_t nr)
{
	if (space->steps)
		space->mm.stats.steps.placement += nr;
}

static inline void steps_forget_last(struct seam_space *space)
{
	if (space->steps)
		steps_drop_cache(space);
}

#endif
