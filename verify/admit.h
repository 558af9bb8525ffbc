/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/admit.h - which operations are made: such as the process survives, and of random ones those
 * that a test has time for and the model can answer.
 */
#ifndef VERIFY_ADMIT_H
#define VERIFY_ADMIT_H

#include "verify/generate.h"

/* Whether the process survives it: no memory of its own is named, seam's above all. */
bool admit_harmless(const struct world *world, const struct op *op, const uint64_t *args);
/* May this operation be made, as far as the model can answer it? */
bool admit(const struct generator *gen, const struct world *world, const struct op *op,
	   const uint64_t *args);
/* Whether it moves memory that has an anon_vma, under a kernel that may lose it there. */
bool admit_moves_touched(const struct world *world, const struct op *op, const uint64_t *args);
/* Tells what an operation gave: where its outcome leaves what the model does not keep. */
void admit_learn(struct generator *gen, const struct world *world, const struct op *op,
		 const uint64_t *args, int64_t result);

#endif
