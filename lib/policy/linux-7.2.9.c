/* SPDX-License-Identifier: BSD-2-Clause */
/* What DONTUNMAP copies is not counted as locked. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_7_2_9 = {
	.name = "linux-7.2.9",
	.source = "sources, and Linux 7.2.9 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_7_2,
		RULE(dontunmap_locked, 0),
	},
};
