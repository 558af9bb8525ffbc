/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of Linux 5.10 and later, and of plain. */
#include "lib/op/op.h"

const struct seam_calls calls_linux = {
	.brk = linux_brk,
	.fork = linux_fork,
	.madvise = linux_madvise,
	.mbind = linux_mbind,
	.memory_merge = linux_memory_merge,
	.mlock = linux_mlock,
	.mlockall = linux_mlockall,
	.mmap = linux_mmap,
	.mprotect = linux_mprotect,
	.mremap = linux_mremap,
	.mseal = linux_mseal,
	.munlock = linux_munlock,
	.munlockall = linux_munlockall,
	.munmap = linux_munmap,
	.remap_file_pages = linux_remap_file_pages,
	.set_bound = linux_set_bound,
	.set_name = linux_set_name,
	.set_tag = linux_set_tag,
	.stack = linux_stack,
	.touch = linux_touch,
	.uffd_register = linux_uffd_register,
	.uffd_unregister = linux_uffd_unregister,
};

const struct seam_calls calls_plain = {
	.fork = linux_fork,
	.mmap = linux_mmap,
	.mprotect = linux_mprotect,
	.mremap = linux_mremap,
	.munmap = linux_munmap,
	.set_tag = linux_set_tag,
};
