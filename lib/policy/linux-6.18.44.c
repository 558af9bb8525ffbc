/* SPDX-License-Identifier: BSD-2-Clause */
/* The sticky guard flag of 6.19, and what 7.0 put right, in a stable release. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_18_44 = {
	.name = "linux-6.18.44",
	.source = "Linux 6.18.44 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_17,
		RULE(droppable, 2),
		RULE(uffd_low, 0),
		RULE(mseal_end, 0),
		RULE(sticky, 1),
	},
};
