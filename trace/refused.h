/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/refused.h - what is wrong with an input in which no map is found. */
#ifndef TRACE_REFUSED_H
#define TRACE_REFUSED_H

#include "trace/source.h"
#include "trace/trace.h"

#define LIKE_MAPS "lines like 00400000-00452000 r-xp 00000000 08:02 173521 /bin/cat"

/* A text of no known kind: says what the line lacks that was not understood first. -EINVAL. */
int refused_text(const struct source *source, struct trace_error *ret_error);
/* A core file whose head is cut off, or something else of that format. -EINVAL. */
int refused_elf(const struct source *source, struct trace_error *ret_error);

#endif
