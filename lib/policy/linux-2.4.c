/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linux 2.4: joining was taken out before 2.4.0, came back for new anonymous memory above its like
 * in 2.4.3, and for both sides and mprotect, with the rb tree, in 2.4.10.
 */
#include "lib/policy/policy.h"

#define RULES_2_4                                                                                  \
	RULE(offset, 1), RULE(file, 1), RULE(mremap_args, 1), RULE(madvise_args, 1),               \
		RULE(munmap_empty, 1), RULE(heap_exec, 1), RULE(lock_capable, 1),                  \
		RULE(data_start, 1)

const struct seam_policy policy_linux_2_4_2 = {
	.name = "linux-2.4.2",
	.source = "2.4.2's own memory-map code",
	.calls = CALLS(old),
	.checked = 1,
	.old = 1,
	.rule = {
		RULES_2_4,
		RULE(brk_join, 2),
		RULE(area_tree, 1),
		RULE(anon_types, 1),
		RULE(grows_file, 1),
	},
};

const struct seam_policy policy_linux_2_4_3 = {
	.name = "linux-2.4.3",
	.source = "2.4.3's own memory-map code",
	.calls = CALLS(old),
	.checked = 1,
	.old = 1,
	.rule = {
		RULES_2_4,
		RULE(mmap_join, 2),
		RULE(brk_join, 2),
		RULE(area_tree, 1),
		RULE(anon_types, 2),
		RULE(grows_file, 1),
	},
};

const struct seam_policy policy_linux_2_4_10 = {
	.name = "linux-2.4.10",
	.source = "2.4.10's own memory-map code",
	.calls = CALLS(old),
	.checked = 1,
	.old = 1,
	.rule = {
		RULES_2_4,
		RULE(mmap_join, 3),
		RULE(brk_join, 3),
		RULE(mprotect_join, 3),
		RULE(mremap_join, 3),
		RULE(area_tree, 2),
		RULE(old_search, 1),
		RULE(mmap_args, 1),
		RULE(brk_unbound, 1),
		RULE(anon_types, 2),
	},
};
