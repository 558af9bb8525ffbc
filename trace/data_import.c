/* SPDX-License-Identifier: BSD-2-Clause */
/* seam.data behind the one reader interface of all traces. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/data.h"
#include "trace/grow.h"
#include "trace/importer.h"

#define MAX_COMM 16 /* TASK_COMM_LEN: the kernel's names are shorter */

/* A space between its EVENT_SPACE and its EVENT_END. */
struct life {
	bool lives;
	uint32_t pid; /* its last user's */
};

struct data_state {
	struct data_reader *reader;
	char *stack_text; /* of the last stack asked for */
	size_t stack_room;
	struct life *lives; /* by number of the space */
	uint32_t nr_lives, room_lives;
	uint32_t nr_ended; /* at the end of the trace: spaces looked at */
};

static int data_open(struct trace *trace)
{
	struct data_state *s = calloc(1, sizeof(*s));

	trace->state = s;
	if (!s)
		return -ENOMEM;
	return data_reader_open(trace->source->data, trace->source->size, &trace->facts, &s->reader,
				&trace->error);
}

static bool space_lives(const struct data_state *s, uint64_t space)
{
	return space < s->nr_lives && s->lives[space].lives;
}

static int begin_life(struct trace *trace, const struct event *event)
{
	struct data_state *s = trace->state;

	if (event->space != s->nr_lives)
		return trace_fail(&trace->error, 0,
				  "block %" PRIu32 ": space %" PRIu32 " where %" PRIu32 " was due",
				  event->line, event->space, s->nr_lives);
	if (event->born > BORN_FORK || (event->born == BORN_FORK && !space_lives(s, event->arg[0])))
		return trace_fail(&trace->error, 0,
				  "block %" PRIu32 ": space %" PRIu32
				  " of a parent that does not live",
				  event->line, event->space);
	if (grow(&s->lives, s->nr_lives, &s->room_lives, sizeof(*s->lives)))
		return -ENOMEM;
	s->lives[s->nr_lives++] = (struct life) { true, event->pid };
	return 1;
}

/* What every reader of events may rely on. */
static int check_event(struct trace *trace, const struct event *event)
{
	struct data_state *s = trace->state;

	if (event->kind == EVENT_SPACE)
		return begin_life(trace, event);
	if (!space_lives(s, event->space))
		return trace_fail(&trace->error, 0,
				  "block %" PRIu32 ": an event of space %" PRIu32
				  ", which does not live",
				  event->line, event->space);
	s->lives[event->space].pid = event->pid;
	if (event->kind == EVENT_END)
		s->lives[event->space].lives = false;
	if ((event->kind == EVENT_COMM && (!event->text || strlen(event->text) >= MAX_COMM)) ||
	    (event->kind == EVENT_CHANGE && event->arg[0] >= event->arg[1]))
		return trace_fail(&trace->error, 0, "block %" PRIu32 ": a damaged record",
				  event->line);
	return 1;
}

/* The recording ended before these spaces did. */
static int end_life(struct data_state *s, struct event *ret_event)
{
	while (s->nr_ended < s->nr_lives && !s->lives[s->nr_ended].lives)
		s->nr_ended++;
	if (s->nr_ended == s->nr_lives)
		return 0;
	*ret_event = (struct event) { .kind = EVENT_END,
				      .flags = EVENT_EXIT_AT_END,
				      .space = s->nr_ended,
				      .pid = s->lives[s->nr_ended].pid,
				      .tid = s->lives[s->nr_ended].pid };
	s->lives[s->nr_ended].lives = false;
	return 1;
}

static int data_next(struct trace *trace, struct event *ret_event)
{
	struct data_state *s = trace->state;
	int ret = data_reader_next(s->reader, ret_event, &trace->error);

	if (ret > 0)
		return check_event(trace, ret_event);
	return ret ? ret : end_life(s, ret_event);
}

static const struct trace_file *data_file(const struct trace *trace, uint32_t id)
{
	const struct data_state *s = trace->state;

	return data_reader_file(s->reader, id);
}

/*
 * As strace -k has it: "path(function+0x12) [0x3456]", with the offset in the file; "[0x7f12]" is an
 * address in no module. @calls: the frame's call is before this place, which may belong to the next
 * function already.
 */
static void print_frame(const struct trace *trace, const struct trace_frame *frame, bool calls,
			FILE *out)
{
	const struct data_state *s = trace->state;
	const struct trace_module *module = data_reader_module(s->reader, frame->module);
	const struct trace_options *options = &trace->options;
	const char *name = NULL;
	uint64_t into = 0;

	if (module && options->symbol)
		name = options->symbol(options->symbols, module, frame->offset - calls, &into);
	if (name)
		fprintf(out, "%s(%s+0x%" PRIx64 ") [0x%" PRIx64 "]\n", module->path, name,
			into + calls, frame->offset);
	else
		fprintf(out, "%s%s[0x%" PRIx64 "]\n", module ? module->path : "",
			module ? "() " : "", frame->offset);
}

static const char *data_stack(const struct trace *trace, uint32_t id)
{
	struct data_state *s = trace->state;
	const struct trace_stack *stack = data_reader_stack(s->reader, id);
	FILE *out;

	if (!stack)
		return NULL;
	free(s->stack_text);
	s->stack_text = NULL;
	out = open_memstream(&s->stack_text, &s->stack_room);
	if (!out)
		return NULL;
	for (uint32_t i = 0; i < stack->nr_frames; i++)
		print_frame(trace, &stack->frames[i], i > 0, out);
	return fclose(out) ? NULL : s->stack_text;
}

static void data_close(struct trace *trace)
{
	struct data_state *s = trace->state;

	if (!s)
		return;
	if (s->reader)
		data_reader_close(s->reader);
	free(s->lives);
	free(s->stack_text);
	free(s);
}

const struct importer importer_data = {
	.kind = SOURCE_DATA,
	.format = "seam.data",
	.open = data_open,
	.next = data_next,
	.file = data_file,
	.stack = data_stack,
	.close = data_close,
};
