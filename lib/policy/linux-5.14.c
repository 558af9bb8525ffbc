/* SPDX-License-Identifier: BSD-2-Clause */
/* DONTUNMAP for any memory. */
#include "lib/policy/policy.h"

const struct seam_policy policy_linux_5_14 = {
	.name = "linux-5.14",
	.source = "sources",
	.calls = &calls_linux,
	.checked = 0,
	.rule = {
		RULE(area_tree, 3),
		RULE(anon_vma, 2),
		RULE(account, 1),
		RULE(offset, 2),
		RULE(file, 1),
		RULE(numa, 1),
		RULE(uffd, 1),
		RULE(close, 1),
		RULE(special, 1),
		RULE(clear_first, 1),
		RULE(dontunmap_marks, 1),
		RULE(dontunmap, 2),
		RULE(mremap_room, 1),
		RULE(advices, 2),
		RULE(onfault_access, 1),
		RULE(populate_holes, 1),
	},
};
