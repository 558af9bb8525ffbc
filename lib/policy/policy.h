/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/policy/policy.h - the vectors: one file a generation, listed in table.c. */
#ifndef LIB_POLICY_H
#define LIB_POLICY_H

#include <seam/policy.h>

#include "lib/calls.h"
#include "lib/policy/list.h"

/* How its calls are carried out; a build with one policy knows without asking (calls_of). */
#ifdef SEAM_ONE_POLICY
#define CALLS(generation) NULL
#else
#define CALLS(generation) &calls_##generation
#endif

/*
 * One rule of a vector: RULE(anon_vma, 3). A vector begins with the rules of one that it is like
 * (RULES_2_6_7), and those named behind override them, which is no slip here.
 */
#define RULE(name, value) [SEAM_RULE_##name] = value
#pragma GCC diagnostic ignored "-Woverride-init"

#endif
