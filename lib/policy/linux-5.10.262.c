/* SPDX-License-Identifier: BSD-2-Clause */
/* A userfaultfd may watch memory below mmap_min_addr. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_5_10_262 = {
	.name = "linux-5.10.262",
	.source = "sources, and Linux 5.10.262 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_5_10,
		RULE(remove_writable, 0),
		RULE(uffd_low, 0),
		RULE(memfd_seals, 2),
	},
};
