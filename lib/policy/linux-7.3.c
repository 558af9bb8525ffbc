/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private memory of files has numbers as anonymous memory too; what a userfaultfd watches joins nothing
 * where it is moved to, and its write protection stays.
 */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_7_3 = {
	.name = "linux-7.3",
	.source = "sources, and Linux 7.3.4 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_7_2_13,
		RULE(moved_files, 1),
		RULE(uffd_copy_apart, 1),
		RULE(shrink_charge, 0),
		RULE(uffd_wp_stays, 1),
	},
};
