/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the input: no crash, and results that hold together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static void must(bool condition)
{
	if (!condition)
		abort();
}

/* Which spaces live, by number; they count up. */
struct spaces {
	uint8_t *living;
	uint32_t nr, room;
};

static void begin_space(struct spaces *spaces, const struct event *event)
{
	must(event->space == spaces->nr);
	if (event->born == BORN_FORK)
		must(event->arg[0] < spaces->nr && spaces->living[event->arg[0]]);
	if (spaces->nr == spaces->room) {
		spaces->room = spaces->room * 2 + 16;
		spaces->living = realloc(spaces->living, spaces->room);
		must(spaces->living);
	}
	spaces->living[spaces->nr++] = 1;
}

static void check_call(const struct trace *trace, const struct event *event, uint32_t nr_calls)
{
	must(event->call < TRACE_NR_CALLS);
	must(!event->file || trace_file(trace, event->file));
	must(!event->stack || trace_stack(trace, event->stack));
	for (int i = 0; i < 6; i++)
		must(event->ref[i] <= nr_calls);
}

static void check_event(const struct trace *trace, const struct event *event, struct spaces *spaces,
			uint32_t *nr_calls)
{
	if (event->kind == EVENT_SPACE) {
		begin_space(spaces, event);
		return;
	}
	must(event->space < spaces->nr && spaces->living[event->space]);
	switch (event->kind) {
	case EVENT_CALL:
		check_call(trace, event, (*nr_calls)++);
		break;
	case EVENT_CHANGE:
		must(event->arg[0] < event->arg[1]);
		break;
	case EVENT_COMM:
		must(event->text && strlen(event->text) < 16);
		break;
	case EVENT_END:
		spaces->living[event->space] = 0;
		break;
	}
}

static void read_trace(struct source *source, bool skip_bad)
{
	struct trace_options options = { .skip_bad = skip_bad };
	struct trace_error error;
	struct spaces spaces = { 0 };
	struct trace *trace;
	struct event event;
	uint32_t nr_calls = 0;
	int r = trace_open(source, &options, &trace, &error);

	if (r) {
		must(r == -EINVAL && error.text[0]);
		return;
	}
	while ((r = trace_next(trace, &event)) > 0)
		check_event(trace, &event, &spaces, &nr_calls);
	must(r == 0 || (r == -EINVAL && trace_last_error(trace)->text[0]));
	for (uint32_t i = 0; !r && i < spaces.nr; i++)
		must(!spaces.living[i]);
	trace_close(trace);
	free(spaces.living);
}

void fuzz_trace(struct source *source)
{
	read_trace(source, false);
	read_trace(source, true);
}

static void read_areas(const struct source *source, bool skip_bad)
{
	struct snapshot snapshot;
	struct trace_error error;
	int r = snapshot_from_source(source, skip_bad, &snapshot, &error);

	if (r) {
		must(r == -EINVAL && error.text[0]);
		return;
	}
	must(snapshot.nr_areas > 0);
	for (size_t i = 0; i < snapshot.nr_areas; i++) {
		const struct seam_area *area = &snapshot.areas[i].area;

		must(area->start < area->end && snapshot.areas[i].name);
		must(!i || area[0].start >= snapshot.areas[i - 1].area.end);
	}
	snapshot_free(&snapshot);
}

void fuzz_areas(const struct source *source)
{
	read_areas(source, false);
	read_areas(source, true);
}
