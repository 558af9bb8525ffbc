/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording that is read ahead gives what it gives read event by event, and ends as it does. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/feed.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "trace/data.h"

#define NR_CALLS 100000
#define NR_FILES 500
#define TRUTH_EVERY 1000

struct recording {
	uint8_t *data;
	size_t size;
};

static void write_call(struct data_writer *writer, uint32_t file)
{
	struct event event = {
		.kind = EVENT_CALL, .call = TRACE_CALL_mmap, .pid = 1, .tid = 1, .file = file
	};

	for (int i = 0; i < 4; i++)
		event.arg[i] = random_below(UINT64_C(1) << 40);
	event.result = (int64_t)(random_below(UINT64_C(1) << 34) << 12);
	data_write(writer, &event);
}

static void write_areas(struct data_writer *writer, uint8_t kind, const char *text)
{
	struct seam_area areas[20] = { 0 };
	struct event event = { .kind = kind,
			       .born = BORN_EXEC,
			       .flags = EVENT_AREAS_KNOWN,
			       .pid = 1,
			       .tid = 1,
			       .sees = SEES_RANGE,
			       .areas = areas,
			       .nr_areas = 1 + random_below(20),
			       .text = text };

	if (kind == EVENT_CHANGE)
		event.arg[1] = UINT64_C(1) << 20;
	for (unsigned int i = 0; i < event.nr_areas; i++) {
		areas[i].start = (UINT64_C(2) * i + 1) << 12;
		areas[i].end = areas[i].start + 4096;
	}
	data_write(writer, &event);
}

/*
 * Calls of files, of which new ones come all the time, between what else a recording has. @ends_badly:
 * with a call of a space that has ended.
 */
static struct recording record(bool ends_badly)
{
	const struct event comm = { .kind = EVENT_COMM, .pid = 1, .tid = 1, .text = "other" };
	const struct event end = { .kind = EVENT_END, .pid = 1, .tid = 1 };
	int fd = memfd_create("seam.data", MFD_CLOEXEC);
	struct data_writer *writer;
	struct recording r;
	struct stat st;
	char path[32];

	if (data_writer_open(fd, &(struct trace_host) { .page_shift = 12 }, 100, &writer))
		abort();
	write_areas(writer, EVENT_SPACE, "first");
	for (unsigned int i = 0; i < NR_CALLS; i++) {
		struct trace_file file = { .ino = i % NR_FILES * (i / 1000), .path = path };

		snprintf(path, sizeof(path), "/file/%llu", (unsigned long long)file.ino);
		write_call(writer, i & 1 ? data_write_file(writer, &file) : 0);
		if (i % TRUTH_EVERY == 0)
			write_areas(writer, EVENT_TRUTH, NULL);
		if (i % 777 == 0)
			write_areas(writer, EVENT_CHANGE, NULL);
	}
	data_write(writer, &comm);
	data_write(writer, &end);
	if (ends_badly)
		write_call(writer, 0);
	if (data_writer_close(writer, NULL) || fstat(fd, &st))
		abort();
	r.size = (size_t)st.st_size;
	r.data = mmap(NULL, r.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	return r;
}

struct reading {
	struct source source;
	struct trace *trace;
	struct feed *feed;
};

static void open_reading(const struct recording *r, bool ahead, struct reading *ret)
{
	struct trace_error error;

	source_from_buffer("feed", r->data, r->size, &ret->source);
	if (trace_open(&ret->source, NULL, &ret->trace, &error) ||
	    feed_open(ret->trace, &ret->source, ahead, &ret->feed))
		abort();
}

static void close_reading(struct reading *reading)
{
	feed_close(reading->feed);
	trace_close(reading->trace);
}

/* The next that is no EVENT_TRUTH. */
static int next(struct reading *reading, struct fed *ret_fed)
{
	int r;

	do
		r = feed_next(reading->feed, ret_fed);
	while (r > 0 && ret_fed->event->kind == EVENT_TRUTH);
	return r;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_areas(const struct event *a, const struct event *b)
{
	if (a->nr_areas != b->nr_areas)
		return false;
	for (size_t i = 0; i < a->nr_areas; i++)
		if (a->areas[i].start != b->areas[i].start || a->areas[i].end != b->areas[i].end)
			return false;
	return true;
}

static bool same_file(const struct trace_file *a, const struct trace_file *b)
{
	return a && b ? a->ino == b->ino && a->traits == b->traits : a == b;
}

static bool same(const struct fed *a, const struct fed *b)
{
	const struct event *left = a->event, *right = b->event;

	return left->kind == right->kind && left->call == right->call &&
	       left->space == right->space && left->line == right->line &&
	       left->time_ns == right->time_ns && left->result == right->result &&
	       !memcmp(left->arg, right->arg, sizeof(left->arg)) &&
	       same_text(left->text, right->text) && same_areas(left, right) &&
	       same_file(a->file, b->file);
}

/* How many events both give, up to the first that differs; *ret_end: what both say behind them. */
static unsigned int compare(const struct recording *r, int *ret_end, struct trace_error *ret_error)
{
	struct reading one, ahead;
	struct fed a, b;
	unsigned int nr = 0;
	int ra, rb;

	open_reading(r, false, &one);
	open_reading(r, true, &ahead);
	while ((ra = next(&one, &a)) > 0 && (rb = feed_next(ahead.feed, &b)) > 0 && same(&a, &b))
		nr++;
	rb = ra > 0 ? 1 : feed_next(ahead.feed, &b);
	*ret_end = ra == rb ? ra : 2;
	feed_close(ahead.feed);
	ahead.feed = NULL;
	memset(ret_error, 0, sizeof(*ret_error));
	if (ra < 0 &&
	    !strcmp(trace_last_error(one.trace)->text, trace_last_error(ahead.trace)->text))
		*ret_error = *trace_last_error(ahead.trace);
	ok(trace_facts(one.trace)->calls == trace_facts(ahead.trace)->calls &&
		   trace_facts(one.trace)->complete == trace_facts(ahead.trace)->complete,
	   "facts are the same");
	close_reading(&one);
	close_reading(&ahead);
	return nr;
}

int main(void)
{
	struct recording r = record(false), cut = r, bad = record(true);
	struct trace_error error;
	struct reading reading;
	unsigned int nr;
	struct fed fed;
	int end;

	nr = compare(&r, &end, &error);
	ok(nr == NR_CALLS + (NR_CALLS + 776) / 777 + 3 && end == 0, "%u events are the same", nr);
	cut.size -= cut.size / 3;
	nr = compare(&cut, &end, &error);
	ok(nr > NR_CALLS / 2 && nr < NR_CALLS && end == 0, "of a recording that was cut, %u", nr);
	nr = compare(&bad, &end, &error);
	ok(nr == NR_CALLS + (NR_CALLS + 776) / 777 + 3 && end < 0 && error.text[0],
	   "so is what is wrong: %s", error.text);
	for (unsigned int i = 0; i < 40; i++) {
		open_reading(&r, true, &reading);
		for (unsigned int j = 0; j < i * 300; j++)
			feed_next(reading.feed, &fed);
		close_reading(&reading);
	}
	ok(true, "it may be ended anywhere");
	return tap_done();
}
