/* SPDX-License-Identifier: BSD-2-Clause */
/* DONTUNMAP for any memory. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_5_14 = {
	.name = "linux-5.14",
	.source = "sources",
	.calls = CALLS(linux),
	.checked = 0,
	.rule = {
		RULES_4_18,
		RULE(dontunmap_marks, 1),
		RULE(dontunmap, 2),
		RULE(memfd_secret, 1),
		RULE(mremap_room, 1),
		RULE(advices, 2),
		RULE(populate_holes, 1),
	},
};
