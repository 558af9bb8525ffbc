/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/range.h - addresses [start, end). */
#ifndef TRACE_RANGE_H
#define TRACE_RANGE_H

#include <stdint.h>

struct range {
	uint64_t start, end;
};

#endif
