/* SPDX-License-Identifier: BSD-2-Clause */
/* Huge page alignment of anonymous memory; unfaulted memory lets go of its accounting. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_8 = {
	.name = "linux-6.8",
	.source = "sources",
	.calls = CALLS(linux),
	.checked = 0,
	.rule = {
		RULES_6_1,
		RULE(account, 2),
		RULE(close, 2),
		RULE(stack_nh, 1),
		RULE(memfd_seals, 3),
		RULE(uffd_cut_apart, 0),
		RULE(thp_align, 2),
		RULE(above4g, 1),
		RULE(ksm, 1),
	},
};
