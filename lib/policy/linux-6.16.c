/* SPDX-License-Identifier: BSD-2-Clause */
/* Faulted memory joins unfaulted memory. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_16 = {
	.name = "linux-6.16",
	.source = "sources, and probes of Linux 6.16.12",
	.calls = &calls_linux,
	.checked = 0,
	.rule = {
		RULES_6_12,
		RULE(anon_vma, 3),
		RULE(dontunmap_account, 1),
		RULE(shrink_charge, 1),
		RULE(advices, 6),
	},
};
