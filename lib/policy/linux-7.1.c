/* SPDX-License-Identifier: BSD-2-Clause */
/* Every mremap asks for room beforehand. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_7_1 = {
	.name = "linux-7.1",
	.source = "sources, and Linux 7.1.3 and 7.1.13 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_7_1,
	},
};
