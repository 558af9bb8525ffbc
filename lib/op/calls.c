/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of Linux 5.10 and later, and of plain. */
#include "lib/calls.h"

#include "lib/op/op.h"

const struct seam_calls calls_linux = {
	.madvise = linux_madvise,
	.mbind = linux_mbind,
	.mlock = linux_mlock,
	.mlockall = linux_mlockall,
	.mprotect = linux_mprotect,
	.mseal = linux_mseal,
	.munlock = linux_munlock,
	.munlockall = linux_munlockall,
	.set_name = linux_set_name,
	.uffd_register = linux_uffd_register,
	.uffd_unregister = linux_uffd_unregister,
};
