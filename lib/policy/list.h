/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/policy/list.h - every policy once, and which of them a build has. */
#ifndef LIB_POLICY_LIST_H
#define LIB_POLICY_LIST_H

#include <stdbool.h>

#include <seam/policy.h>

#include "lib/built.h"

/*
 * Which policies go in, oldest first. A build may define fewer:
 *	-D'SEAM_POLICIES(X)=X(plain) X(linux_2_4_10) X(linux_6_18)'
 * With one alone, -DSEAM_ONE_POLICY=linux_6_18, its rules are constants of the code: what they rule
 * out is left out, and a changed copy of it makes no space (-SEAM_EINVAL).
 */
#ifdef SEAM_ONE_POLICY
#define SEAM_POLICIES(X) X(SEAM_ONE_POLICY)
#endif

#ifndef SEAM_POLICIES
#define SEAM_POLICIES(X)                                                                           \
	X(plain)                                                                                   \
	X(linux_2_2_13)                                                                            \
	X(linux_2_4_2)                                                                             \
	X(linux_2_4_3)                                                                             \
	X(linux_2_4_10)                                                                            \
	X(linux_2_6_0)                                                                             \
	X(linux_2_6_6)                                                                             \
	X(linux_2_6_7)                                                                             \
	X(linux_2_6_12)                                                                            \
	X(linux_2_6_24)                                                                            \
	X(linux_4_18)                                                                              \
	X(linux_5_4)                                                                               \
	X(linux_5_10)                                                                              \
	X(linux_5_10_251)                                                                          \
	X(linux_5_10_262)                                                                          \
	X(linux_5_14)                                                                              \
	X(linux_6_1)                                                                               \
	X(linux_6_1_176)                                                                           \
	X(linux_6_1_192)                                                                           \
	X(linux_6_6)                                                                               \
	X(linux_6_8)                                                                               \
	X(linux_6_12)                                                                              \
	X(linux_6_12_117)                                                                          \
	X(linux_6_12_118)                                                                          \
	X(linux_6_16)                                                                              \
	X(linux_6_17)                                                                              \
	X(linux_6_18)                                                                              \
	X(linux_6_18_15)                                                                           \
	X(linux_6_18_44)                                                                           \
	X(linux_6_19)                                                                              \
	X(linux_6_19_14)                                                                           \
	X(linux_7_0)                                                                               \
	X(linux_7_1)                                                                               \
	X(linux_7_2)                                                                               \
	X(linux_7_2_9)                                                                             \
	X(linux_7_2_13)                                                                            \
	X(linux_7_3)
#endif

#define POLICY_PASTE(name) policy_##name
#define POLICY_OBJECT(name) POLICY_PASTE(name)
#ifdef SEAM_SINGLE_FILE
#define POLICY_DECLARE(name) static const struct seam_policy POLICY_OBJECT(name);
#else
#define POLICY_DECLARE(name) extern const struct seam_policy POLICY_OBJECT(name);
#endif
SEAM_POLICIES(POLICY_DECLARE)

/* A build with one policy can make no space with other rules. */
bool policy_built_in(const struct seam_policy *policy);

#endif
