/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/core.h - the areas of a dead process from its ELF core file, of 32 or 64 bits and either
 * byte order: load segments for ranges and protection, the note NT_FILE for files and offsets.
 * Memory itself is not looked at, so a core that was cut short behind its notes does as well.
 */
#ifndef TRACE_CORE_H
#define TRACE_CORE_H

#include "trace/snapshot.h"
#include "trace/trace.h"

/* -EINVAL with *ret_error, -ENOMEM. @skip_bad: leaves out segments that cannot be. */
int core_read(const struct source *source, bool skip_bad, struct snapshot *ret_snapshot,
	      struct trace_error *ret_error);

#endif
