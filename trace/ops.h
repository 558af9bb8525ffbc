/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/ops.h - operation scripts (docs/ops.md). */
#ifndef TRACE_OPS_H
#define TRACE_OPS_H

#include <stdbool.h>

/* Does this line look like one of a script: an operation by name and words that fit? */
bool ops_line_looks(const char *at, const char *end);

#endif
