/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/model.h - the same operations in a space of libseam. */
#ifndef VERIFY_MODEL_H
#define VERIFY_MODEL_H

#include <seam/ops.h>

#include "verify/real.h"

#define MAX_SEGMENTS 1024
#define MAX_SEGMENT_LEN (UINT64_C(64) << 12) /* of random ones */

/* How the open files behave, by number from FIRST_FD; and SysV segments, by their file's number. */
struct model_files {
	struct seam_file file[NR_FDS];
	int refuses[NR_FDS]; /* the error that a file's own map operation always gives; 0: none */
	uint64_t segment_len[MAX_SEGMENTS];
	uint32_t nr_segments;
	uint32_t pkeys; /* that are allocated, a bit each */
};

/*
 * Makes the call in the model. @real: what the kernel gave; of it is taken what no rule tells: the
 * random choice of an address (MAP_32BIT), too few huge pages, a file system without MAP_SYNC. False: an operation that the runner makes.
 */
bool model_call(struct seam_space *space, struct model_files *files, const struct op *op,
		const uint64_t *args, const struct outcome *real, struct outcome *ret_outcome);

/*
 * Whether an area in the range shows more of a SysV segment than there is: mremap has made it
 * longer. The library knows the ends of its own objects only.
 */
bool model_beyond_segment(const struct seam_space *space, const struct model_files *files,
			  uint64_t start, uint64_t len);

#endif
