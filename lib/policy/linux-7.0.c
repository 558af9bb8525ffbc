/* SPDX-License-Identifier: BSD-2-Clause */
/* As 6.19. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_7_0 = {
	.name = "linux-7.0",
	.source = "sources, and Linux 7.0.4 and 7.0.13 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_17,
		RULE(sticky, 1),
	},
};
