/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linux 2.6 up to 2.6.24: accounting takes part in the comparison and files join from 2.6.0, moved
 * memory joins like new memory from 2.6.6, anon_vma and the joining in all cases came with 2.6.7.
 */
#include "lib/policy/policy.h"

/* clang-format off */

/* No anon_vma; offsets of anonymous memory do not count. */
#define RULES_2_6_0		\
	RULE(account, 1),	\
	RULE(offset, 1),	\
	RULE(file, 1),		\
	RULE(close, 1),		\
	RULE(special, 2),	\
	RULE(area_tree, 2),	\
	RULE(mmap_join, 4),	\
	RULE(brk_join, 3),	\
	RULE(mprotect_join, 3),	\
	RULE(mremap_join, 3),	\
	RULE(anon_pgoff, 1),	\
	RULE(old_search, 2),	\
	RULE(cut_limit, 1),	\
	RULE(mmap_args, 2),	\
	RULE(mprotect_args, 1),	\
	RULE(mremap_args, 2),	\
	RULE(madvise_args, 2),	\
	RULE(munmap_empty, 1),	\
	RULE(anon_types, 2),	\
	RULE(map_locked, 1),	\
	RULE(heap_exec, 1),	\
	RULE(lock_capable, 1),	\
	RULE(lock_faults, 1),	\
	RULE(data_start, 1)

#define RULES_2_6_6		\
	RULES_2_6_0,		\
	RULE(mremap_join, 4),	\
	RULE(move_limit, 1),	\
	RULE(mprotect_args, 2),	\
	RULE(mremap_args, 3)

/* anon_vma; joining in all cases. */
#define RULES_2_6_7		\
	RULES_2_6_6,		\
	RULE(anon_vma, 1),	\
	RULE(numa, 1),		\
	RULE(offset, 2),	\
	RULE(mmap_join, 1),	\
	RULE(brk_join, 1),	\
	RULE(mprotect_join, 1),	\
	RULE(mremap_join, 1),	\
	RULE(anon_pgoff, 2)

/* Downward placement; a border moves with its anon_vma. */
#define RULES_2_6_12		\
	RULES_2_6_7,		\
	RULE(mlock_join, 1),	\
	RULE(border_anon, 1),	\
	RULE(old_search, 3),	\
	RULE(madvise_args, 3),	\
	RULE(heap_exec, 0),	\
	RULE(lock_capable, 0),	\
	RULE(future_only, 1)

/* clang-format on */

const struct seam_policy policy_linux_2_6_0 = {
	.name = "linux-2.6.0",
	.source = "2.6.0's own memory-map code",
	.calls = CALLS(old),
	.checked = 1,
	.old = 1,
	.rule = {
		RULES_2_6_0,
	},
};

const struct seam_policy policy_linux_2_6_6 = {
	.name = "linux-2.6.6",
	.source = "2.6.6's own memory-map code",
	.calls = CALLS(old),
	.checked = 1,
	.old = 1,
	.rule = {
		RULES_2_6_6,
	},
};

const struct seam_policy policy_linux_2_6_7 = {
	.name = "linux-2.6.7",
	.source = "2.6.7's own memory-map code",
	.calls = CALLS(old),
	.checked = 1,
	.old = 1,
	.rule = {
		RULES_2_6_7,
	},
};

const struct seam_policy policy_linux_2_6_12 = {
	.name = "linux-2.6.12",
	.source = "2.6.12-rc1's own memory-map code",
	.calls = CALLS(old),
	.checked = 1,
	.old = 1,
	.rule = {
		RULES_2_6_12,
	},
};

const struct seam_policy policy_linux_2_6_24 = {
	.name = "linux-2.6.24",
	.source = "2.6.24's own memory-map code",
	.calls = CALLS(old),
	.checked = 1,
	.old = 1,
	.rule = {
		RULES_2_6_12,
		RULE(special, 3),
		RULE(madvise_join, 1),
		RULE(read_anon, 1),
		RULE(old_search, 4),
		RULE(mmap_args, 3),
		RULE(mprotect_args, 3),
		RULE(madvise_args, 4),
		RULE(nonlinear, 1),
	},
};
