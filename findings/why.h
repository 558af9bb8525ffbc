/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings/why.h - one pair of neighbours, bit by bit: what keeps it apart, how it came about as
 * far as its state tells, and which call would join it, tried out in libseam before it is named.
 */
#ifndef FINDINGS_WHY_H
#define FINDINGS_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "findings/findings.h"

#define WHY_TEXT_SIZE 512

struct why {
	size_t left; /* index of the left area; the right one is the next */
	uint32_t causes;
	char detail[WHY_TEXT_SIZE]; /* "prot rw- | ---; flags dd left only" */
	char happened
		[WHY_TEXT_SIZE]; /* "touched apart before ..."; "" when the state does not tell */
	char join_by[WHY_TEXT_SIZE]; /* calls, one behind the other; "" when none can */
	char no_join[WHY_TEXT_SIZE]; /* then: why none can, or why that cannot be told */
	bool certain; /* false: what the source hides may keep them apart all the same */
};

/* @left must touch the next area. */
void why_pair(const struct findings *findings, size_t left, struct why *ret_why);

/*
 * The pair at an address: the border itself, or else the border at the end of the area that holds
 * it, or at its start when it has no right neighbour. -ENOENT: no touching pair there.
 */
int why_find(const struct findings *findings, uint64_t addr, size_t *ret_left);

#endif
