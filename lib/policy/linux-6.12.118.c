/* SPDX-License-Identifier: BSD-2-Clause */
/* What a userfaultfd watches keeps apart from everything where it is moved to. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_12_118 = {
	.name = "linux-6.12.118",
	.source = "sources, and Linux 6.12.118 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_12_117,
		RULE(uffd_copy_apart, 1),
	},
};
