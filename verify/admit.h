/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/admit.h - which random operations are made: such as the process survives, a test has time
 * for, and the model can answer.
 */
#ifndef VERIFY_ADMIT_H
#define VERIFY_ADMIT_H

#include "verify/generate.h"

/* May this operation be made, as far as the model can answer it? */
bool admit(const struct generator *gen, const struct world *world, const struct op *op,
	   const uint64_t *args);
/* Tells what an operation gave: where its outcome leaves what the model does not keep. */
void admit_learn(struct generator *gen, const struct world *world, const struct op *op,
		 const uint64_t *args, int64_t result);

#endif
