/* SPDX-License-Identifier: BSD-2-Clause */
/* face/kernels.h - the faces of "seam kernels" for machines, all of kind "kernels". */
#ifndef FACE_KERNELS_H
#define FACE_KERNELS_H

#include <stdio.h>

#include "probe/rules.h"

/* All policies that are known. */
void kernels_json(FILE *out);
/* The running kernel's own vector, @policy, and how it was found. */
void kernels_probe_json(const struct rules_probe *probe, const struct seam_policy *policy,
			FILE *out);
/* The rules in which two policies differ. */
void kernels_diff_json(const struct seam_policy *left, const struct seam_policy *right, FILE *out);

#endif
