/* SPDX-License-Identifier: BSD-2-Clause */
/* Joins equal neighbours whose offsets continue, and knows no Linux lore. */
#include "lib/policy/policy.h"

const struct seam_policy policy_plain = {
	.name = "plain",
	.source = "no kernel: equal neighbours join",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULE(offset, 1),
		RULE(file, 1),
		RULE(numa, 1),
		RULE(uffd, 1),
		RULE(name, 1),
		RULE(advices, 6),
		RULE(mseal, 1),
	},
};
