/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay/feed.h - the events of a trace, one after the other. A long recording is read by a thread
 * of its own, ahead of who replays it.
 */
#ifndef REPLAY_FEED_H
#define REPLAY_FEED_H

#include "trace/trace.h"

struct feed;

/* Is it a recording so long that threads beside the one that replays it are worth it, and run? */
bool feed_is_long(const struct source *source);

/* What is read is valid until the next event. */
struct fed {
	const struct event *event;
	const struct trace_file *file; /* that the event names; NULL: none, or not known */
};

/*
 * @alone: nobody asks the trace anything while it is fed, nor wants EVENT_TRUTHs, which are left out
 * where it is read ahead. The trace stays the caller's, and what trace_facts says of its host holds
 * from the beginning. -ENOMEM
 */
int feed_open(struct trace *trace, const struct source *source, bool alone, struct feed **ret_feed);
/* 1 and *ret_fed, or what trace_next says at the end. */
int feed_next(struct feed *feed, struct fed *ret_fed);
/* Ends the reading, wherever it is. NULL is none. */
void feed_close(struct feed *feed);

#endif
