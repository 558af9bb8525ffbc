/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/live.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"
#include "trace/importer.h"

#define MAX_WAITING 4096

struct item {
	struct item *next;
	struct event event; /* areas and text lie behind it */
};

struct live {
	pthread_mutex_t lock;
	pthread_cond_t came, went;
	struct trace_host host;
	struct item *first, *last;
	unsigned int nr_waiting;
	bool ended, left;
	bool lost;		  /* for want of memory */
	struct trace_file *files; /* [number - 1] */
	uint32_t nr_files, room_files;
	struct item *reading;	/* the reader's */
	struct trace_file file; /* the reader's, the last asked for */
};

struct live *live_new(const struct trace_host *host)
{
	struct live *live = calloc(1, sizeof(*live));

	if (!live)
		return NULL;
	pthread_mutex_init(&live->lock, NULL);
	pthread_cond_init(&live->came, NULL);
	pthread_cond_init(&live->went, NULL);
	live->host = *host;
	return live;
}

void live_source(struct live *live, struct source *ret_source)
{
	*ret_source = (struct source) { .name = "the recording",
					.data = (const char *)live,
					.size = sizeof(*live),
					.kind = SOURCE_LIVE };
}

static struct item *copy_event(const struct event *event)
{
	size_t areas = event->nr_areas * sizeof(*event->areas);
	size_t text = event->text ? strlen(event->text) + 1 : 0;
	struct item *item = malloc(sizeof(*item) + areas + text);
	char *behind = (char *)(item + 1);

	if (!item)
		return NULL;
	item->next = NULL;
	item->event = *event;
	if (areas)
		item->event.areas = memcpy(behind, event->areas, areas);
	if (text)
		item->event.text = memcpy(behind + areas, event->text, text);
	return item;
}

void live_give(struct live *live, const struct event *event)
{
	struct item *item = copy_event(event);

	pthread_mutex_lock(&live->lock);
	while (live->nr_waiting >= MAX_WAITING && !live->left)
		pthread_cond_wait(&live->went, &live->lock);
	if (!item || live->left || live->lost) {
		live->lost |= !item;
		free(item);
	} else {
		if (live->last)
			live->last->next = item;
		else
			live->first = item;
		live->last = item;
		live->nr_waiting++;
	}
	pthread_cond_signal(&live->came);
	pthread_mutex_unlock(&live->lock);
}

void live_give_file(struct live *live, uint32_t number, const struct trace_file *file)
{
	pthread_mutex_lock(&live->lock);
	if (number == live->nr_files + 1 && !live->lost) {
		char *path = strdup(file->path);

		if (!path ||
		    grow(&live->files, live->nr_files, &live->room_files, sizeof(*live->files))) {
			free(path);
			live->lost = true;
		} else {
			live->files[live->nr_files] = *file;
			live->files[live->nr_files++].path = path;
		}
	}
	pthread_mutex_unlock(&live->lock);
}

void live_end(struct live *live)
{
	pthread_mutex_lock(&live->lock);
	live->ended = true;
	pthread_cond_signal(&live->came);
	pthread_mutex_unlock(&live->lock);
}

void live_leave(struct live *live)
{
	pthread_mutex_lock(&live->lock);
	live->left = true;
	pthread_cond_signal(&live->went);
	pthread_mutex_unlock(&live->lock);
}

void live_free(struct live *live)
{
	if (!live)
		return;
	while (live->first) {
		struct item *next = live->first->next;

		free(live->first);
		live->first = next;
	}
	for (uint32_t i = 0; i < live->nr_files; i++)
		free((char *)live->files[i].path);
	free(live->files);
	free(live->reading);
	pthread_mutex_destroy(&live->lock);
	pthread_cond_destroy(&live->came);
	pthread_cond_destroy(&live->went);
	free(live);
}

/* ---- as a trace ---- */

static struct live *live_of(const struct trace *trace)
{
	return (struct live *)(uintptr_t)trace->source->data;
}

static int live_open(struct trace *trace)
{
	trace->facts.host = live_of(trace)->host;
	return 0;
}

static int live_next(struct trace *trace, struct event *ret_event)
{
	struct live *live = live_of(trace);
	struct item *item;

	pthread_mutex_lock(&live->lock);
	while (!live->first && !live->ended && !live->lost)
		pthread_cond_wait(&live->came, &live->lock);
	item = live->first;
	if (item) {
		live->first = item->next;
		if (!live->first)
			live->last = NULL;
		live->nr_waiting--;
		pthread_cond_signal(&live->went);
	}
	pthread_mutex_unlock(&live->lock);
	free(live->reading);
	live->reading = item;
	if (!item)
		return live->lost ? -ENOMEM : 0;
	*ret_event = item->event;
	trace->facts.calls += ret_event->kind == EVENT_CALL && trace_call_counts(ret_event->call);
	return 1;
}

static const struct trace_file *live_file(const struct trace *trace, uint32_t number)
{
	struct live *live = live_of(trace);
	const struct trace_file *file = NULL;

	pthread_mutex_lock(&live->lock);
	if (number && number <= live->nr_files) {
		live->file = live->files[number - 1];
		file = &live->file;
	}
	pthread_mutex_unlock(&live->lock);
	return file;
}

static const char *live_stack(const struct trace *trace, uint32_t number)
{
	return NULL;
}

static void live_close(struct trace *trace)
{
}

const struct importer importer_live = {
	.kind = SOURCE_LIVE,
	.format = "seam.data",
	.open = live_open,
	.next = live_next,
	.file = live_file,
	.stack = live_stack,
	.close = live_close,
};
