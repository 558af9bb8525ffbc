/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/kernel_anon.h - the anonymous memory of a model's areas held against what the kernel itself
 * has: a snapshot that sees anon_vmas (probe/iter.h). Areas that do not lie alike are left alone.
 */
#ifndef VERIFY_KERNEL_ANON_H
#define VERIFY_KERNEL_ANON_H

#include <stdbool.h>

#include "trace/snapshot.h"
#include "verify/reach.h"

/* The kernel's area with the range of @area; NULL: none. */
const struct seam_area *kernel_anon_find(const struct snapshot *snapshot,
					 const struct seam_area *area);

/*
 * Are the areas within @reach and beside it faulted just where the kernel's are, and do those share
 * anon_vmas that do so there?
 */
bool kernel_anon_agrees(const struct seam_space *space, const struct snapshot *snapshot,
			const struct reach *reach);

/*
 * Takes the kernel's over. *next_anon: numbers for identities that nobody else has. 0 or
 * -SEAM_EALLOC.
 */
int kernel_anon_take(struct seam_space *space, const struct snapshot *snapshot,
		     uint32_t *next_anon);

#endif
