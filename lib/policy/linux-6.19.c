/* SPDX-License-Identifier: BSD-2-Clause */
/* The guard flag is sticky. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_19 = {
	.name = "linux-6.19",
	.source = "sources, and Linux 6.19.6 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_17,
		RULE(sticky, 1),
	},
};
