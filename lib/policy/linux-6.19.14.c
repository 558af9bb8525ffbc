/* SPDX-License-Identifier: BSD-2-Clause */
/* mseal goes on behind what it has joined. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_19_14 = {
	.name = "linux-6.19.14",
	.source = "sources, and Linux 6.19.14 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_17,
		RULE(sticky, 1),
		RULE(mseal_end, 0),
	},
};
