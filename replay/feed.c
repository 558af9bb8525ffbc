/* SPDX-License-Identifier: BSD-2-Clause */
/* Events lie in a ring of batches, which the reader fills. */
#include "replay/feed.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "replay/handoff.h"
#include "trace/thread.h"

#define BATCH_EVENTS 256
#define NR_BATCHES 64
/* Bytes of a recording that is worth a thread: some 50,000 calls. */
#define LONG_RECORDING (256u << 10)

struct batch {
	unsigned int nr;
	int after;	 /* what trace_next said behind the last */
	bool has_copies; /* areas and texts, which are freed with the batch */
	struct event events[BATCH_EVENTS];
	struct trace_file files[BATCH_EVENTS]; /* of those that name one */
};

struct feed {
	struct trace *trace;
	struct event event; /* where nothing is read ahead */

	struct batch *batches; /* NULL: nothing is */
	struct batch *batch;   /* that is being given out, up to @at */
	unsigned int at;
	pthread_t thread;
	struct handoff handoff;
};

bool feed_is_long(const struct source *source)
{
	cpu_set_t allowed;

	return source->kind == SOURCE_DATA && source->size >= LONG_RECORDING &&
	       !sched_getaffinity(0, sizeof(allowed), &allowed) && CPU_COUNT(&allowed) > 1;
}

static void empty(struct batch *batch)
{
	for (unsigned int i = 0; batch->has_copies && i < batch->nr; i++) {
		free((void *)(uintptr_t)batch->events[i].areas);
		free((void *)(uintptr_t)batch->events[i].text);
	}
	batch->has_copies = false;
	batch->nr = 0;
}

/* What an event points to is the trace's, which reads on. */
static int own(struct batch *batch, struct event *event)
{
	const struct seam_area *areas = event->areas;
	const char *text = event->text;

	if (!areas && !text)
		return 0;
	batch->has_copies = true;
	event->areas = NULL;
	event->text = NULL;
	if (event->nr_areas) {
		struct seam_area *copy = calloc(event->nr_areas, sizeof(*copy));

		if (!copy)
			return -ENOMEM;
		memcpy(copy, areas, event->nr_areas * sizeof(*copy));
		event->areas = copy;
	}
	if (text) {
		event->text = strdup(text);
		if (!event->text)
			return -ENOMEM;
	}
	return 0;
}

static void fill(const struct feed *feed, struct batch *batch)
{
	int r;

	do {
		struct event *event = &batch->events[batch->nr];
		const struct trace_file *file;

		r = trace_next(feed->trace, event);
		if (r <= 0)
			break;
		if (event->kind == EVENT_TRUTH)
			continue;
		batch->nr++;
		if (own(batch, event)) {
			r = -ENOMEM;
			break;
		}
		file = trace_file(feed->trace, event->file);
		batch->files[batch->nr - 1] = file ? *file : (struct trace_file) { 0 };
	} while (batch->nr < BATCH_EVENTS);
	batch->after = r;
}

static void *read_ahead(void *ctx)
{
	struct feed *feed = ctx;
	unsigned int slot;
	bool more = true;

	while (more && handoff_next_free(&feed->handoff, &slot)) {
		struct batch *batch = &feed->batches[slot];

		empty(batch);
		fill(feed, batch);
		more = batch->after > 0;
		handoff_filled(&feed->handoff);
	}
	return NULL;
}

/* The batch before is empty then. There is one more, or the one before would have been the last. */
static struct batch *next_filled(struct feed *feed)
{
	unsigned int slot;

	if (feed->batch)
		handoff_emptied(&feed->handoff);
	handoff_next_filled(&feed->handoff, &slot);
	return &feed->batches[slot];
}

int feed_open(struct trace *trace, const struct source *source, bool alone, struct feed **ret_feed)
{
	struct feed *feed = calloc(1, sizeof(*feed));

	if (!feed)
		return -ENOMEM;
	feed->trace = trace;
	*ret_feed = feed;
	if (!alone || !feed_is_long(source))
		return 0;
	feed->batches = calloc(NR_BATCHES, sizeof(*feed->batches));
	if (!feed->batches)
		return 0;
	handoff_init(&feed->handoff, NR_BATCHES, 1);
	if (thread_start(&feed->thread, THREAD_STACK_SMALL, read_ahead, feed)) {
		handoff_destroy(&feed->handoff);
		free(feed->batches);
		feed->batches = NULL;
	}
	return 0;
}

static int next_read_ahead(struct feed *feed, struct fed *ret_fed)
{
	struct batch *batch = feed->batch;

	while (!batch || feed->at == batch->nr) {
		if (batch && batch->after <= 0)
			return batch->after;
		batch = feed->batch = next_filled(feed);
		feed->at = 0;
	}
	ret_fed->event = &batch->events[feed->at];
	ret_fed->file = ret_fed->event->file ? &batch->files[feed->at] : NULL;
	feed->at++;
	return 1;
}

int feed_next(struct feed *feed, struct fed *ret_fed)
{
	struct event *event = &feed->event;
	int r;

	if (feed->batches)
		return next_read_ahead(feed, ret_fed);
	r = trace_next(feed->trace, event);
	if (r > 0) {
		ret_fed->event = event;
		ret_fed->file = trace_file(feed->trace, event->file);
	}
	return r;
}

void feed_close(struct feed *feed)
{
	if (!feed)
		return;
	if (feed->batches) {
		handoff_stop(&feed->handoff);
		pthread_join(feed->thread, NULL);
		for (unsigned int i = 0; i < NR_BATCHES; i++)
			empty(&feed->batches[i]);
		handoff_destroy(&feed->handoff);
		free(feed->batches);
	}
	free(feed);
}
