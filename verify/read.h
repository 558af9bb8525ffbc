/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/read.h - an operation script as something to play. */
#ifndef VERIFY_READ_H
#define VERIFY_READ_H

#include "trace/source.h"
#include "trace/trace.h"
#include "verify/script.h"

/*
 * Reads a whole script.
 *  -EINVAL  not an operation script, or a line that cannot be read; *ret_error tells
 *  -E2BIG   over SCRIPT_MAX operations
 *  -ENOMEM
 */
int script_read(struct source *source, struct script *ret_script, struct trace_error *ret_error);

#endif
