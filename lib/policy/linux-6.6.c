/* SPDX-License-Identifier: BSD-2-Clause */
/* A close operation forbids only being removed. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_6 = {
	.name = "linux-6.6",
	.source = "sources",
	.calls = CALLS(linux),
	.checked = 0,
	.rule = {
		RULES_6_1,
		RULE(close, 2),
		RULE(remove_writable, 1),
		RULE(memfd_seals, 1),
		RULE(uffd_cut_apart, 0),
		RULE(above4g, 1),
		RULE(ksm, 1),
	},
};
