/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What DONTUNMAP copies keeps apart from its source, and what a userfaultfd watches from everything
 * where it is moved to.
 */
#include "lib/policy/living.h"

const struct seam_policy policy_linux_6_12_118 = {
	.name = "linux-6.12.118",
	.source = "sources, and Linux 6.12.118 running",
	.calls = CALLS(linux),
	.checked = 0, /* known to differ: docs/proof/kernels.txt */
	.rule = {
		RULES_6_12,
		RULE(dontunmap_anew, 1),
		RULE(dontunmap_apart, 2),
		RULE(uffd_copy_apart, 1),
		RULE(memfd_seals, 4),
		RULE(memfd_secret, 2),
	},
};
