/* SPDX-License-Identifier: BSD-2-Clause */
/* Faulted memory joins unfaulted memory. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_16 = {
	.name = "linux-6.16",
	.source = "sources, and Linux 6.16.3 and 6.16.12 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_16,
		RULE(anon_lost, 1),
		RULE(dontunmap_account, 1),
	},
};
