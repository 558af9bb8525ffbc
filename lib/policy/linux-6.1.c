/* SPDX-License-Identifier: BSD-2-Clause */
/* Maple tree: a mapping that fills a gap joins the right side first; names; mremap joins above. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_1 = {
	.name = "linux-6.1",
	.source = "sources, and Linux 6.1.170 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_1,
	},
};
