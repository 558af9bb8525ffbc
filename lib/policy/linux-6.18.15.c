/* SPDX-License-Identifier: BSD-2-Clause */
/* What mremap moves keeps its anon_vma beside untouched memory. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_18_15 = {
	.name = "linux-6.18.15",
	.source = "sources, and Linux 6.18.15 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_17,
	},
};
