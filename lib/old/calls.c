/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of Linux 2.2.13 to 2.6.24. Those that came later are missing: ENOSYS. */
#include "lib/old/old.h"

const struct seam_calls calls_old = {
	.mmap = old_mmap,
	.munmap = old_munmap,
	.mprotect = old_mprotect,
	.mremap = old_mremap,
	.madvise = old_madvise,
	.mlock = old_mlock,
	.munlock = old_munlock,
	.mlockall = old_mlockall,
	.munlockall = old_munlockall,
	.brk = old_brk,
	.touch = old_touch,
	.stack = old_stack,
	.fork = old_fork,
};
