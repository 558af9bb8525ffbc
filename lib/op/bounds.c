/* SPDX-License-Identifier: BSD-2-Clause */
/* PR_SET_MM: where data and heap are said to be. */
#include "lib/op/limits.h"
#include "lib/op/op.h"

static uint64_t *bound_of(struct mm *mm, enum seam_bound bound)
{
	switch (bound) {
	case SEAM_BOUND_START_DATA:
		return &mm->start_data;
	case SEAM_BOUND_END_DATA:
		return &mm->end_data;
	case SEAM_BOUND_START_BRK:
		return &mm->start_brk;
	case SEAM_BOUND_BRK:
		return &mm->brk;
	default:
		return NULL;
	}
}

int linux_set_bound(struct seam_space *space, enum seam_bound bound, uint64_t addr)
{
	struct mm *mm = &space->mm;
	uint64_t *value = bound_of(mm, bound), before;

	if (!value || addr >= space->user_end || addr < space->min_addr)
		return -SEAM_EINVAL;
	before = *value;
	*value = addr;
	if (mm->start_data <= mm->end_data && mm->start_brk <= mm->brk &&
	    limit_data_holds(space, mm, mm->brk))
		return 0;
	*value = before;
	return -SEAM_EINVAL;
}
