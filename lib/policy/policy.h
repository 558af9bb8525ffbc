/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/policy/policy.h - the vectors: one file a generation, listed in table.c. */
#ifndef LIB_POLICY_H
#define LIB_POLICY_H

#include <seam/policy.h>

#include "lib/calls.h"

/*
 * One rule of a vector: RULE(anon_vma, 3). A vector begins with the rules of one that it is like
 * (RULES_2_6_7), and those named behind override them, which is no slip here.
 */
#define RULE(name, value) [SEAM_RULE_##name] = value
#pragma GCC diagnostic ignored "-Woverride-init"

extern const struct seam_policy policy_plain;
extern const struct seam_policy policy_linux_2_2_13;
extern const struct seam_policy policy_linux_2_4_2;
extern const struct seam_policy policy_linux_2_4_3;
extern const struct seam_policy policy_linux_2_4_10;
extern const struct seam_policy policy_linux_2_6_0;
extern const struct seam_policy policy_linux_2_6_6;
extern const struct seam_policy policy_linux_2_6_7;
extern const struct seam_policy policy_linux_2_6_12;
extern const struct seam_policy policy_linux_2_6_24;
extern const struct seam_policy policy_linux_4_18;
extern const struct seam_policy policy_linux_5_4;
extern const struct seam_policy policy_linux_5_10;
extern const struct seam_policy policy_linux_5_14;
extern const struct seam_policy policy_linux_6_1;
extern const struct seam_policy policy_linux_6_6;
extern const struct seam_policy policy_linux_6_8;
extern const struct seam_policy policy_linux_6_12;
extern const struct seam_policy policy_linux_6_16;
extern const struct seam_policy policy_linux_6_17;
extern const struct seam_policy policy_linux_6_18;
extern const struct seam_policy policy_linux_6_18_44;
extern const struct seam_policy policy_linux_6_19;
extern const struct seam_policy policy_linux_7_0;
extern const struct seam_policy policy_linux_7_1;
extern const struct seam_policy policy_linux_7_2;
extern const struct seam_policy policy_linux_7_3;

#endif
