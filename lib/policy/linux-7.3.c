/* SPDX-License-Identifier: BSD-2-Clause */
/* Write protection by userfaultfd stays. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_7_3 = {
	.name = "linux-7.3",
	.source = "sources, and Linux 7.3.4 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_17,
		RULE(sticky, 1),
		RULE(dontunmap_apart, 2),
		RULE(mremap_room, 2),
		RULE(uffd_wp_stays, 1),
	},
};
