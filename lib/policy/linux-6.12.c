/* SPDX-License-Identifier: BSD-2-Clause */
/* Left first again; MAP_FIXED looks at its limits before it clears. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_12 = {
	.name = "linux-6.12",
	.source = "sources, and probes of Linux 6.12.118",
	.calls = &calls_linux,
	.checked = 0,
	.rule = {
		RULES_6_12,
		RULE(dontunmap_apart, 2),
	},
};
