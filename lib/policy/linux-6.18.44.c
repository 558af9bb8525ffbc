/* SPDX-License-Identifier: BSD-2-Clause */
/* The sticky guard flag of 6.19 in a stable release. */
#include "lib/policy/policy.h"

const struct seam_policy policy_linux_6_18_44 = {
	.name = "linux-6.18.44",
	.source = "Linux 6.18.44 running",
	.calls = &calls_linux,
	.checked = 1,
	.rule = {
		RULE(area_tree, 4),
		RULE(anon_vma, 3),
		RULE(account, 2),
		RULE(offset, 2),
		RULE(file, 1),
		RULE(numa, 1),
		RULE(uffd, 1),
		RULE(name, 1),
		RULE(close, 2),
		RULE(special, 1),
		RULE(sticky, 1),
		RULE(grow_join, 1),
		RULE(dontunmap_locked, 1),
		RULE(brk_own, 1),
		RULE(stack_nh, 1),
		RULE(thp_align, 3),
		RULE(stack_shadow, 1),
		RULE(droppable, 1),
		RULE(above4g, 1),
		RULE(ksm, 2),
		RULE(dontunmap, 2),
		RULE(mremap_checks, 2),
		RULE(mremap_room, 1),
		RULE(shrink_charge, 1),
		RULE(mremap_many, 1),
		RULE(advices, 6),
		RULE(mseal, 1),
	},
};
