/* SPDX-License-Identifier: BSD-2-Clause */
/* Left first again; MAP_FIXED looks at its limits before it clears. */
#include "lib/policy/policy.h"

const struct seam_policy policy_linux_6_12 = {
	.name = "linux-6.12",
	.source = "sources, and probes of Linux 6.12.118",
	.calls = &calls_linux,
	.checked = 0,
	.rule = {
		RULE(area_tree, 4),
		RULE(anon_vma, 2),
		RULE(account, 2),
		RULE(offset, 2),
		RULE(file, 1),
		RULE(numa, 1),
		RULE(uffd, 1),
		RULE(name, 1),
		RULE(close, 2),
		RULE(special, 1),
		RULE(grow_join, 1),
		RULE(dontunmap_locked, 1),
		RULE(dontunmap_apart, 2),
		RULE(brk_own, 1),
		RULE(stack_nh, 1),
		RULE(thp_align, 3),
		RULE(stack_shadow, 1),
		RULE(droppable, 1),
		RULE(above4g, 1),
		RULE(ksm, 1),
		RULE(dontunmap, 2),
		RULE(mremap_checks, 1),
		RULE(mremap_room, 1),
		RULE(advices, 4),
		RULE(mseal, 1),
	},
};
