/* SPDX-License-Identifier: BSD-2-Clause */
/* As 6.17. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_18 = {
	.name = "linux-6.18",
	.source = "sources, and Linux 6.18.5 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_17,
		RULE(anon_lost, 1),
	},
};
