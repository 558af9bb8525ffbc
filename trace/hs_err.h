/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/hs_err.h - a JVM's error log quotes /proc/self/maps under "Dynamic libraries:". */
#ifndef TRACE_HS_ERR_H
#define TRACE_HS_ERR_H

#include "trace/source.h"

/* The quoted lines as a source of their own, *ret_lines of the log before them. False: none. */
bool hs_err_section(const struct source *log, struct source *ret_section, uint64_t *ret_lines);

#endif
