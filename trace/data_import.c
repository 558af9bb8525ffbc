/* SPDX-License-Identifier: BSD-2-Clause */
/* seam.data behind the one reader interface of all traces. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/data.h"
#include "trace/importer.h"

struct data_state {
	struct data_reader *reader;
	char *stack_text; /* of the last stack asked for */
	size_t stack_room;
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

static int data_next(struct trace *trace, struct event *ret_event)
{
	struct data_state *s = trace->state;

	return data_reader_next(s->reader, ret_event, &trace->error);
}

static const struct trace_file *data_file(const struct trace *trace, uint32_t id)
{
	const struct data_state *s = trace->state;

	return data_reader_file(s->reader, id);
}

/* "path+0x12" or "0x12". */
static void print_frame(const struct data_state *s, const struct trace_frame *frame, FILE *out)
{
	const struct trace_module *module = data_reader_module(s->reader, frame->module);

	fprintf(out, "%s%s0x%" PRIx64 "\n", module ? module->path : "", module ? "+" : "",
		frame->offset);
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
		print_frame(s, &stack->frames[i], out);
	return fclose(out) ? NULL : s->stack_text;
}

static void data_close(struct trace *trace)
{
	struct data_state *s = trace->state;

	if (!s)
		return;
	if (s->reader)
		data_reader_close(s->reader);
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
