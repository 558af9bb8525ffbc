/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/dump_line.h - lines of the maps that tools print of a process: Valgrind's list of segments
 * (-d -d, or when it runs out of them) and the process map of a sanitizer that gives up.
 */
#ifndef TRACE_DUMP_LINE_H
#define TRACE_DUMP_LINE_H

#include <stdbool.h>

#include "trace/maps_line.h"
#include "trace/source.h"

static inline bool holds_dump(enum source_kind kind)
{
	return kind == SOURCE_ASAN || kind == SOURCE_VALGRIND;
}

/* One segment, its end made half open; false: not a line of such a list, or nothing is mapped. */
bool dump_line_parse(enum source_kind kind, const char *at, const char *end,
		     struct maps_line *ret_line);

#endif
