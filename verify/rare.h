/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/rare.h - the arguments of calls that few programs make: one function and one row each. */
#ifndef VERIFY_RARE_H
#define VERIFY_RARE_H

#include "verify/generate.h"

struct span;

/*
 * Completes @op, whose first two arguments are the address and length of @span. Calls without more
 * than these have no row.
 */
void make_rare(struct generator *gen, const struct world *world, const struct span *span,
	       struct op *op);

#endif
