/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of Linux 2.2.13 to 2.6.24. */
#include "lib/calls.h"

const struct seam_calls calls_old = {
	.mmap = 0,
};
