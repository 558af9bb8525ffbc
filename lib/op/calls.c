/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of Linux 5.10 and later, and of plain. */
#include "lib/calls.h"

const struct seam_calls calls_linux = {
	.mmap = 0,
};
