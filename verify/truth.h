/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/truth.h - what decides joins and no file shows: anon_vma and chain, offsets of anonymous
 * memory, memory policies, userfaultfds, open files, as the kernel itself holds them.
 *
 * A process of its own reads them by BPF (probe/iter.h) for those that make the calls: they may
 * have no rights, and must not allocate.
 */
#ifndef VERIFY_TRUTH_H
#define VERIFY_TRUTH_H

#include "trace/range.h"
#include "verify/compare.h"

#define TRUTH_AREAS 8192

struct truth_areas;

struct truth {
	pid_t reader;
	int ask, told;		   /* pipes to the reader and from it */
	struct truth_areas *areas; /* shared with it */
	char why_not[160];	   /* it cannot be had; "" when it can */
};

/* Starts the reader, before the first process that makes calls. Look at why_not. */
void truth_begin(struct truth *truth);
void truth_end(struct truth *truth);
/*
 * Compares the calling process, whose map is known to be as @space has it but for this, outside the
 * @nr ranges of @kept. Identities are told by the order in which they first come.
 * 0 equal, or too many areas; 1 and *ret_difference; -errno.
 */
int truth_compare(struct truth *truth, const struct seam_space *space, const struct range *kept,
		  unsigned int nr, struct difference *ret_difference);

#endif
