/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What DONTUNMAP left is told apart; seals are looked at before anything is cleared; memory of
 * memfd_secret is not locked.
 */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_12_117 = {
	.name = "linux-6.12.117",
	.source = "Linux 6.12.117 running",
	.calls = CALLS(linux),
	.checked = 1,
	.rule = {
		RULES_6_12_117,
	},
};
