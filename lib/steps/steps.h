/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/steps/steps.h - counting the steps of the modelled kernel in its own structures.
 *
 * A space made with SEAM_SPACE_COUNT_STEPS keeps, beside its index, the list or tree that the
 * policy's kernel kept, in shape only, and the calls say where that kernel would search it.
 */
#ifndef LIB_STEPS_H
#define LIB_STEPS_H

#include "lib/space.h"

/* -SEAM_EALLOC */
int steps_init(struct seam_space *space);
void steps_free(struct seam_space *space);

#endif
