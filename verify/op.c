/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/op.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <seam/ops.h>

static const char *const rlimit_names[] = {
	[TRACE_RLIMIT_AS] = "as",
	[TRACE_RLIMIT_DATA] = "data",
	[TRACE_RLIMIT_STACK] = "stack",
	[TRACE_RLIMIT_MEMLOCK] = "memlock",
};

static bool has_file(unsigned int call)
{
	return call == TRACE_CALL_mmap || call == TRACE_CALL_kmmap;
}

struct text {
	char *buf;
	size_t len;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *text, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->buf + text->len, OP_TEXT_SIZE - text->len, format, args);
	va_end(args);
	if (n > 0)
		text->len += (size_t)n;
	if (text->len >= OP_TEXT_SIZE)
		text->len = OP_TEXT_SIZE - 1;
}

static void add_arg(struct text *text, const struct op *op, int i)
{
	uint64_t arg = op->arg[i];

	if (op->ref[i]) {
		add(text, " $%" PRIu32, op->ref[i]);
		if ((int64_t)arg < 0)
			add(text, "-%" PRIx64, -arg);
		else if (arg)
			add(text, "+%" PRIx64, arg);
	} else if (has_file(op->call) && i == 4 && arg == UINT64_MAX) {
		add(text, " -1");
	} else if (has_file(op->call) && i == 5) {
		add(text, " %" PRIx64, arg >> 12);
	} else if (op->call == TRACE_CALL_rlimit && i == 0 &&
		   arg < sizeof(rlimit_names) / sizeof(rlimit_names[0])) {
		add(text, " %s", rlimit_names[arg]);
	} else {
		add(text, " %" PRIx64, arg);
	}
}

char *op_text(char *buf, const struct op *op)
{
	struct text text = { buf, 0 };

	add(&text, "%s", op->call == OP_EXIT ? "exit" : trace_call_name(op->call));
	for (int i = 0; i < trace_call_args(op->call); i++)
		add_arg(&text, op, i);
	return buf;
}

char *op_text_resolved(char *buf, const struct op *op, const uint64_t *args)
{
	struct op resolved = *op;

	memset(resolved.ref, 0, sizeof(resolved.ref));
	memcpy(resolved.arg, args, sizeof(resolved.arg));
	return op_text(buf, &resolved);
}

bool op_faults_in(const struct op *op, const uint64_t *args)
{
	switch (op->call) {
	case TRACE_CALL_touch:
	case TRACE_CALL_rtouch:
	case TRACE_CALL_mlock:
	case TRACE_CALL_mlock2:
		return true;
	case TRACE_CALL_madvise:
		return args[2] == SEAM_MADV_POPULATE_READ || args[2] == SEAM_MADV_POPULATE_WRITE ||
		       args[2] == SEAM_MADV_COLLAPSE;
	default:
		return false;
	}
}

char *outcome_text(char *buf, const struct op *op, const struct outcome *outcome)
{
	struct text text = { buf, 0 };
	const char *name;

	if (trace_call_gives_address(op->call) && outcome->result >= 0) {
		add(&text, "0x%" PRIx64, (uint64_t)outcome->result);
	} else if (outcome->result >= 0) {
		add(&text, "%" PRId64, outcome->result);
	} else {
		name = strerrorname_np((int)-outcome->result);
		if (name)
			add(&text, "%s", name);
		else
			add(&text, "error %" PRId64, -outcome->result);
	}
	if (outcome->result < 0 && outcome->reached)
		add(&text, " at 0x%" PRIx64, outcome->reached);
	return buf;
}

bool op_resolve(const struct op *op, const int64_t *results, uint64_t *ret_args)
{
	for (int i = 0; i < OP_ARGS; i++) {
		ret_args[i] = op->arg[i];
		if (!op->ref[i])
			continue;
		if (results[op->ref[i] - 1] < 0)
			return false;
		ret_args[i] += (uint64_t)results[op->ref[i] - 1];
	}
	return true;
}
