/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/target.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "cmd/number.h"
#include "cmd/sentences.h"
#include "trace/scan.h"
#include "trace/source.h"
#include "trace/trace.h"
#include "ui/plain.h"

int target_parse(const struct cmd *cmd, const char *argument, struct target *ret_target)
{
	uint64_t pid;

	if (!argument)
		return cmd_usage(cmd, "whose map? a PID, the name of a file or '-' expected");
	if (!*argument)
		return cmd_usage(cmd, "'': a PID, the name of a file or '-' expected");
	if (number_parse(argument, 10, 1, INT_MAX, &pid))
		ret_target->pid = (int)pid;
	else
		ret_target->file = argument;
	return EXIT_DONE;
}

static int read_live(const struct target *target, struct snapshot *ret_snapshot)
{
	struct live_error error;

	if (snapshot_live(target->pid, &target->live, ret_snapshot, &error))
		return cmd_fail(EXIT_FAILED, "process %d: %s", target->pid, error.text);
	return EXIT_DONE;
}

/* What other verbs are for. */
static const char *verb_for(enum source_kind kind)
{
	switch (kind) {
	case SOURCE_STRACE:
	case SOURCE_OPS:
	case SOURCE_DATA:
		return "a log of calls holds no map; seam replay makes one of it";
	default:
		return NULL;
	}
}

static int read_file(const struct target *target, struct snapshot *ret_snapshot)
{
	struct trace_error error = { 0 };
	enum source_kind kind;
	struct source source;
	const char *verb;
	int r = source_open(target->file, &source);

	if (r)
		return cmd_fail(EXIT_FAILED, "%s: %s", target->file, source_error(r));
	kind = source.kind;
	verb = verb_for(kind);
	r = verb ? -EINVAL : snapshot_from_source(&source, target->skip_bad, ret_snapshot, &error);
	source_close(&source);
	if (!r)
		return EXIT_DONE;
	if (r != -EINVAL)
		return cmd_fail(EXIT_FAILED, "%s: %s", target->file, strerror(-r));
	if (verb)
		return cmd_fail(EXIT_FAILED, "%s: %s: %s", target->file, source_kind_name(kind),
				verb);
	if (error.line)
		return cmd_fail(EXIT_FAILED, "%s:%" PRIu64 ": %s", target->file, error.line,
				error.text);
	return cmd_fail(EXIT_FAILED, "%s: %s", target->file, error.text);
}

int target_read(const struct target *target, struct snapshot *ret_snapshot)
{
	return target->file ? read_file(target, ret_snapshot) : read_live(target, ret_snapshot);
}

void target_label(const struct target *target, const struct snapshot *snapshot, char *buf,
		  size_t size)
{
	if (!target->file)
		snprintf(buf, size, "%s %d", snapshot->comm, target->pid);
	else
		snprintf(buf, size, "%s", last_name(target->file));
	plain_text(buf);
}

void target_print_bad(const struct snapshot *snapshot, FILE *out)
{
	if (!strcmp(snapshot->source, "core"))
		say_left_out(snapshot->bad_lines, "segment", "segments", out);
	else
		say_left_out(snapshot->bad_lines, "line", "lines", out);
}
