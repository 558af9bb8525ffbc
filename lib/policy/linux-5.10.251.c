/* SPDX-License-Identifier: BSD-2-Clause */
/* MADV_REMOVE for all memory that may be made writable. */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_5_10_251 = {
	.name = "linux-5.10.251",
	.source = "sources, and Linux 5.10.251 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_5_10,
		RULE(remove_writable, 0),
		RULE(memfd_seals, 2),
	},
};
