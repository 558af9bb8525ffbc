/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/policy/policy.h - the vectors: one file a generation, listed in table.c. */
#ifndef LIB_POLICY_H
#define LIB_POLICY_H

#include <seam/policy.h>

#include "lib/calls.h"

/* One rule of a vector: RULE(anon_vma, 3) */
#define RULE(name, value) [SEAM_RULE_##name] = value

extern const struct seam_policy policy_plain;

#endif
