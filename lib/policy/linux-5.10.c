/* SPDX-License-Identifier: BSD-2-Clause */
/* DONTUNMAP for private anonymous memory. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_5_10 = {
	.name = "linux-5.10",
	.source = "sources, and Linux 5.10.218 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_5_10,
	},
};
