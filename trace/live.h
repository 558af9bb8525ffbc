/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/live.h - events handed over by a recorder as they happen, and read in another thread like any
 * trace: live_source, then trace_open.
 */
#ifndef TRACE_LIVE_H
#define TRACE_LIVE_H

#include "trace/trace.h"

struct live;

/* NULL: no memory. */
struct live *live_new(const struct trace_host *host);

/* The source for trace_open, as often as wanted before the first event is read. */
void live_source(struct live *live, struct source *ret_source);

/*
 * The recorder's side. Copies; waits while the reader is far behind. What cannot be copied for want
 * of memory ends the trace.
 */
void live_give(struct live *live, const struct event *event);
void live_give_file(struct live *live, uint32_t number, const struct trace_file *file);
/* No more events will come. */
void live_end(struct live *live);

/* The reader's side: it reads no more, so that live_give need not wait for it. */
void live_leave(struct live *live);

/* After both have ended. */
void live_free(struct live *live);

#endif
