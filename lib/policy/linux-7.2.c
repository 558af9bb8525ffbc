/* SPDX-License-Identifier: BSD-2-Clause */
/* What DONTUNMAP leaves untouched is numbered anew. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_7_2 = {
	.name = "linux-7.2",
	.source = "sources, and Linux 7.2.6 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_7_2,
	},
};
