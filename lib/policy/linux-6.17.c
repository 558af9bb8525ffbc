/* SPDX-License-Identifier: BSD-2-Clause */
/* mremap moves several areas; KSM marks before joining. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_17 = {
	.name = "linux-6.17",
	.source = "sources, and Linux 6.17.8 and 6.17.13 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_17,
		RULE(anon_lost, 1),
	},
};
