/* SPDX-License-Identifier: BSD-2-Clause */
/* The oldest with MAP_FIXED_NOREPLACE. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_4_18 = {
	.name = "linux-4.18",
	.source = "sources",
	.calls = CALLS(linux),
	.checked = 0,
	.rule = {
		RULES_4_18,
	},
};
