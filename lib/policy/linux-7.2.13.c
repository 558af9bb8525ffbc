/* SPDX-License-Identifier: BSD-2-Clause */
/* What DONTUNMAP copies keeps apart from its source. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_7_2_13 = {
	.name = "linux-7.2.13",
	.source = "sources, and Linux 7.2.13 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_7_2_13,
	},
};
