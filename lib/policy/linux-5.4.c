/* SPDX-License-Identifier: BSD-2-Clause */
/* mremap looks at the area limit first; MADV_COLD and its like. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_5_4 = {
	.name = "linux-5.4",
	.source = "sources",
	.calls = CALLS(linux),
	.checked = 0,
	.rule = {
		RULES_4_18,
		RULE(mremap_room, 1),
		RULE(advices, 1),
	},
};
