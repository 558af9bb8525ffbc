/* SPDX-License-Identifier: BSD-2-Clause */
/* Linux 2.2: a scan after each call joins every touching pair that is equal. */
#include "lib/policy/policy.h"

const struct seam_policy policy_linux_2_2_13 = {
	.name = "linux-2.2.13",
	.source = "2.2.13's own memory-map code",
	.calls = CALLS(old),
	.checked = 1,
	.old = 1,
	.rule = {
		RULE(area_tree, 1),
		RULE(offset, 1),
		RULE(file, 1),
		RULE(mmap_join, 5),
		RULE(brk_join, 5),
		RULE(mprotect_join, 5),
		RULE(mlock_join, 5),
		RULE(mremap_join, 5),
		RULE(byte_offsets, 1),
		RULE(grows_file, 1),
		RULE(heap_exec, 1),
		RULE(lock_capable, 1),
	},
};
