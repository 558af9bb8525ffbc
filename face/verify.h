/* SPDX-License-Identifier: BSD-2-Clause */
/* face/verify.h - the faces of "seam verify" for machines, both of kind "verify". */
#ifndef FACE_VERIFY_H
#define FACE_VERIFY_H

#include <stdio.h>

#include "verify/beside.h"
#include "verify/run.h"

/* What both tell: under which rules the model was held against which kernel. */
struct verify_context {
	const struct seam_policy *policy;
	const char *release;
	uint64_t seed;	 /* of random calls */
	uint64_t ns;	 /* that they took */
	bool has_status; /* beside a program that seam started */
	int status;	 /* seam's own; beside a program the program's */
};

/* Random calls, or those of scripts. */
void verify_json(const struct verify_context *context, const struct run *run, FILE *out);

/* The calls of a program. */
void beside_json(const struct verify_context *context, const struct beside *beside,
		 const struct record_result *recorded, FILE *out);
/*
 * "mprotect(0x7f..., 4096, PROT_READ) = 0", or what else it was after which map and model differed.
 * To be freed; NULL: no memory.
 */
char *beside_call_text(const struct beside *beside, const struct beside_mismatch *mismatch);

#endif
