/* SPDX-License-Identifier: BSD-2-Clause */
/* What DONTUNMAP copies joins neither its source nor, beside it, anything. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_1_192 = {
	.name = "linux-6.1.192",
	.source = "sources, and Linux 6.1.192 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_1,
		RULE(uffd_low, 0),
		RULE(dontunmap_anew, 1),
		RULE(dontunmap_apart, 1),
	},
};
