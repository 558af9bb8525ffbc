/* SPDX-License-Identifier: BSD-2-Clause */
/* Left first again; MAP_FIXED looks at its limits before it clears. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_12 = {
	.name = "linux-6.12",
	.source = "sources, and Linux 6.12.43 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_12,
	},
};
