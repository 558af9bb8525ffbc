/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/model.h - the same operations in a space of libseam. */
#ifndef VERIFY_MODEL_H
#define VERIFY_MODEL_H

#include <seam/ops.h>

#include "verify/real.h"

/* How the open files behave, by number from FIRST_FD. */
struct model_files {
	struct seam_file file[NR_FDS];
};

/*
 * Makes the call in the model. @real: what the kernel gave; only the kernel's random choice of an
 * address (MAP_32BIT) is taken from it. False: an operation that the runner makes.
 */
bool model_call(struct seam_space *space, const struct model_files *files, const struct op *op,
		const uint64_t *args, const struct outcome *real, struct outcome *ret_outcome);

#endif
