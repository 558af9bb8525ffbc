/* SPDX-License-Identifier: BSD-2-Clause */
/* MADV_DOFORK for ordinary memory only. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_7_0 = {
	.name = "linux-7.0",
	.source = "sources, and Linux 7.0.4 and 7.0.13 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_7_0,
	},
};
