/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/op/grow.h - a stack that grows downward. */
#ifndef LIB_OP_GROW_H
#define LIB_OP_GROW_H

#include "lib/area.h"

/*
 * The growing area under the cursor reaches down to the page of @addr, which lies below it.
 *  -SEAM_EPERM   below the lowest address allowed
 *  -SEAM_ENOMEM  too near to what lies below, or a limit
 * Source: 6.18 mm/vma.c expand_downwards, acct_stack_growth.
 */
int grow_stack(struct seam_space *space, struct cursor *cursor, uint64_t addr);

#endif
