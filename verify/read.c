/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Operations as the script counts them: an exit is one, though its event is no call. */
struct reading {
	struct script *script;
	uint32_t number[SCRIPT_MAX]; /* of each call: its operation */
	uint32_t nr_calls;
};

static int add_op(struct reading *reading, const struct op *op)
{
	struct script *script = reading->script;

	if (script->nr == SCRIPT_MAX)
		return -E2BIG;
	script->op[script->nr++] = *op;
	return 0;
}

static int add_call(struct reading *reading, const struct event *event)
{
	struct op op = { .call = event->call, .space = (uint8_t)event->space };
	int err;

	memcpy(op.arg, event->arg, sizeof(op.arg));
	for (int i = 0; i < OP_ARGS; i++)
		if (event->ref[i])
			op.ref[i] = reading->number[event->ref[i] - 1];
	err = add_op(reading, &op);
	if (!err)
		reading->number[reading->nr_calls++] = reading->script->nr;
	return err;
}

static int add_event(struct reading *reading, const struct event *event)
{
	struct op end = { .call = OP_EXIT, .space = (uint8_t)event->space };

	if (event->kind == EVENT_CALL)
		return add_call(reading, event);
	if (event->kind == EVENT_END && !(event->flags & EVENT_EXIT_AT_END))
		return add_op(reading, &end);
	return 0;
}

int script_read(struct source *source, struct script *ret_script, struct trace_error *ret_error)
{
	static struct reading reading;
	struct trace *trace;
	struct event event;
	int r;

	*ret_error = (struct trace_error) { 0 };
	if (source->kind != SOURCE_OPS) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			 "%s: an operation script is expected here",
			 source_kind_name(source->kind));
		return -EINVAL;
	}
	r = trace_open(source, NULL, &trace, ret_error);
	if (r)
		return r;
	reading = (struct reading) { .script = ret_script };
	ret_script->nr = 0;
	while ((r = trace_next(trace, &event)) > 0) {
		r = add_event(&reading, &event);
		if (r)
			break;
	}
	if (r == -EINVAL)
		*ret_error = *trace_last_error(trace);
	trace_close(trace);
	return r;
}
