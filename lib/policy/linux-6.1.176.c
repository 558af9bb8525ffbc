/* SPDX-License-Identifier: BSD-2-Clause */
/* A userfaultfd may watch memory below mmap_min_addr. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_1_176 = {
	.name = "linux-6.1.176",
	.source = "sources, and Linux 6.1.176 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_1,
		RULE(uffd_low, 0),
	},
};
