/* SPDX-License-Identifier: BSD-2-Clause */
/* The sticky guard flag of 6.19 in a stable release. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_18_44 = {
	.name = "linux-6.18.44",
	.source = "Linux 6.18.44 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_17,
		RULE(sticky, 1),
	},
};
