/* SPDX-License-Identifier: BSD-2-Clause */
/* Huge page alignment of anonymous memory; unfaulted memory lets go of its accounting. */
#include "lib/policy/policy.h"

const struct seam_policy policy_linux_6_8 = {
	.name = "linux-6.8",
	.source = "sources",
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
		RULE(fill_right, 1),
		RULE(grow_join, 1),
		RULE(dontunmap_locked, 1),
		RULE(clear_first, 1),
		RULE(brk_own, 1),
		RULE(stack_nh, 1),
		RULE(thp_align, 2),
		RULE(stack_shadow, 1),
		RULE(above4g, 1),
		RULE(ksm, 1),
		RULE(dontunmap, 2),
		RULE(mremap_checks, 1),
		RULE(mremap_room, 1),
		RULE(advices, 4),
		RULE(populate_holes, 1),
	},
};
