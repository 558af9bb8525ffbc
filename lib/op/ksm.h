/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/op/ksm.h - same-page merging (KSM). */
#ifndef LIB_OP_KSM_H
#define LIB_OP_KSM_H

#include "lib/space.h"

/* Memory with these flags can be merged with equal pages (6.18 mm/ksm.c ksm_compatible). */
bool ksm_takes(uint64_t flags);

/*
 * The flag that new memory gets in a process that asked for it (PR_SET_MEMORY_MERGE), or 0: before its
 * neighbours are looked at, or up to 6.16 when it has joined none.
 */
static inline uint64_t ksm_flag_before(const struct seam_space *space, uint64_t flags)
{
	bool asked = WITH_KERNELS && space->flags & SEAM_SPACE_MERGE_ANY && ksm_takes(flags);

	return asked && rule(space, SEAM_RULE_ksm) >= 2 ? SEAM_VM_MERGEABLE : 0;
}

static inline uint64_t ksm_flag_after(const struct seam_space *space, uint64_t flags)
{
	bool asked = WITH_KERNELS && space->flags & SEAM_SPACE_MERGE_ANY && ksm_takes(flags);

	return asked && rule(space, SEAM_RULE_ksm) == 1 ? SEAM_VM_MERGEABLE : 0;
}

#endif
