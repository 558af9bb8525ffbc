/* SPDX-License-Identifier: BSD-2-Clause */
/* PR_SET_MEMORY_MERGE: same-page merging for a whole process (6.18 mm/ksm.c ksm_enable_merge_any). */
#include "lib/op/ksm.h"
#include "lib/op/op.h"

bool ksm_takes(uint64_t flags)
{
	return !(flags & (SEAM_VM_SHARED | SEAM_VM_MAYSHARE | SEAM_VM_SPECIAL | SEAM_VM_HUGETLB |
			  SEAM_VM_DROPPABLE));
}

/* Only flags change: nothing is joined. */
static int mark_all(struct seam_space *space, bool on)
{
	struct cursor cursor;
	struct area area;
	int err;

	for_each_area(space, 0, &cursor, &area) {
		uint64_t flags = area_flags(space, &area);

		if (on && ksm_takes(flags))
			flags |= SEAM_VM_MERGEABLE;
		else if (!on)
			flags &= ~SEAM_VM_MERGEABLE;
		if (flags == area_flags(space, &area))
			continue;
		err = area_set_flags(space, &cursor, flags);
		if (err)
			return err;
	}
	return 0;
}

int linux_memory_merge(struct seam_space *space, int on)
{
	bool is_on = space->flags & SEAM_SPACE_MERGE_ANY;

	if (!rule(space, SEAM_RULE_ksm))
		return -SEAM_EINVAL;
	return is_on == !!on ? 0 : mark_all(space, on);
}
