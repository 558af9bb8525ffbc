/* SPDX-License-Identifier: BSD-2-Clause */
/* mremap moves several areas; KSM marks before joining. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_17 = {
	.name = "linux-6.17",
	.source = "sources, and probes of Linux 6.17.13",
	.calls = &calls_linux,
	.checked = 0,
	.rule = {
		RULES_6_17,
		RULE(anon_lost, 1),
	},
};
