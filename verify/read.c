/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"
#include "trace/scan.h"

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

static int read_one(struct source *source, struct script *ret_script, struct trace_error *ret_error)
{
	static struct reading reading;
	struct trace *trace;
	struct event event;
	int r;

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

/* One script of the text [at, end), whose first line is number @line + 1 of the file. */
static int add_script(struct scripts *scripts, const char *name, const char *at, const char *end,
		      uint64_t line, struct trace_error *ret_error)
{
	static struct script script;
	struct source source;
	struct op *ops;
	int err;

	source_from_buffer(name, at, (size_t)(end - at), &source);
	err = read_one(&source, &script, ret_error);
	if (err) {
		ret_error->line += ret_error->line ? line : 0;
		return err;
	}
	if (grow(&scripts->list, scripts->nr, &scripts->room, sizeof(*scripts->list)))
		return -ENOMEM;
	ops = malloc(script.nr * sizeof(*ops) + 1);
	if (!ops)
		return -ENOMEM;
	memcpy(ops, script.op, script.nr * sizeof(*ops));
	scripts->list[scripts->nr++] = (struct named_script) { name, ops, script.nr };
	return 0;
}

static const char *next_line(const char *at)
{
	const char *end = strchr(at, '\n');

	return end ? end + 1 : at + strlen(at);
}

static bool begins_script(const char *line)
{
	return begins_with(line, "== ");
}

/* The name behind "== ", made a string of its own. */
static const char *take_name(char *line)
{
	line[strcspn(line, "\r\n")] = 0;
	return line + 3;
}

int scripts_read(struct source *source, struct scripts *ret_scripts, struct trace_error *ret_error)
{
	struct scripts *scripts = ret_scripts;
	const char *at, *body, *name = "";
	uint64_t line = 0, first = 0;
	bool several = false;
	size_t byte;
	int err = 0;

	*ret_error = (struct trace_error) { 0 };
	/* text that ends before its file does would be a part of the scripts */
	if (source_find_zero(source->data, source->size, &line, &byte))
		return trace_fail(ret_error, line, ZERO_BYTE, byte);
	*scripts = (struct scripts) { .names = strndup(source->data, source->size) };
	if (!scripts->names)
		return -ENOMEM;
	for (at = body = scripts->names; *at && !err; line++) {
		const char *next = next_line(at);

		if (begins_script(at)) {
			if (several)
				err = add_script(scripts, name, body, at, first, ret_error);
			several = true;
			name = take_name(scripts->names + (at - scripts->names));
			body = next;
			first = line + 1;
		}
		at = next;
	}
	if (!err)
		err = add_script(scripts, name, several ? body : scripts->names, at, first,
				 ret_error);
	if (err)
		scripts_free(scripts);
	return err;
}

void scripts_free(struct scripts *scripts)
{
	for (uint32_t i = 0; i < scripts->nr; i++)
		free((void *)scripts->list[i].ops);
	free(scripts->list);
	free(scripts->names);
	*scripts = (struct scripts) { 0 };
}
