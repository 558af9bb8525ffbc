/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/range.h - addresses [start, end). */
#ifndef VERIFY_RANGE_H
#define VERIFY_RANGE_H

#include <stdint.h>

struct range {
	uint64_t start, end;
};

#endif
