/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program cannot have while it is recorded, or hides: said once, and kept in the recording. */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>

#include "probe/limits.h"
#include "probe/procfs.h"
#include "probe/rec.h"
#include "probe/rights.h"

#define ROOM_OF_MREMAP 6 /* so many areas must be free at most for a call to begin */

static void note(struct rec *rec, const struct rec_task *task, const char *before,
		 const char *behind, bool *said)
{
	char program[256], text[400];
	struct event event = { .kind = EVENT_NOTE, .text = text };

	rights_program(task->tid, program, sizeof(program));
	snprintf(text, sizeof(text), "%s%s %s", before, program, behind);
	rec_write(rec, task, &event);
	if (!*said)
		rec->options->say(text);
	*said = true;
}

void rec_say_lost_rights(struct rec *rec, const struct rec_task *task)
{
	if (rights_lost(task->tid, !rec->all_calls))
		note(rec, task, "privilege lost: ", "runs without its setuid or file rights",
		     &rec->privilege_said);
}

/* ptrace(TRACEME), or (ATTACH or SEIZE, tid): others outside may be traced. */
static bool is_of_the_tree(struct rec *rec, const struct rec_call *call)
{
	return !call->arg[0] || rec_find_task(rec, (pid_t)call->arg[1]);
}

static void say_listens(struct rec *rec, const struct rec_task *task)
{
	note(rec, task, "",
	     rec->all_calls
		     ? "has calls of its own answered by a supervisor (seccomp user notification): "
		       "what that changes for it shows at the next checkpoint"
		     : "has calls of its own answered by a supervisor (seccomp user notification): "
		       "these are not seen, and what they and it change shows at the next "
		       "checkpoint",
	     &rec->listener_said);
}

void rec_say_of_call(struct rec *rec, const struct rec_task *task, const struct rec_call *call)
{
	if (call->kind == REC_LISTENS) {
		say_listens(rec, task);
		return;
	}
	if (call->kind == REC_TRACES && !is_of_the_tree(rec, call))
		return;
	if (call->kind == REC_TRACES)
		note(rec, task, "",
		     "traces others (ptrace), which is refused: a process has one tracer, and here "
		     "that is seam",
		     &rec->tracing_said);
	else if (!rec->all_calls)
		note(rec, task, "",
		     "asks for strict seccomp, which the recorder's filter rules out; "
		     "--survive goes without",
		     &rec->strict_said);
}

static bool has_own_filter(const struct rec_task *task)
{
	char text[4096];
	uint64_t mode = 0;

	if (procfs_read(text, sizeof(text), "/proc/%d/status", (int)task->tid) > 0)
		procfs_field(text, "Seccomp", &mode);
	return mode == SECCOMP_MODE_FILTER;
}

/* The host has promised too much, and the process's areas are not too many. */
static bool is_promised_too_much(const struct rec_task *task, const struct rec_call *call,
				 int64_t result)
{
	uint64_t bytes, areas;

	/* cleared: refused by the file itself, when the range was free already */
	if (call->kind != REC_CALL || call->flags & EVENT_CLEARED)
		return false;
	bytes = limits_refused_bytes(call->call, call->arg, result);
	if (!bytes || (!limits_commit_short(bytes) && !limits_beyond_memory(bytes)))
		return false;
	return !procfs_count_areas(task->tid, &areas) &&
	       areas + ROOM_OF_MREMAP < limits_max_areas();
}

/* With the recorder's own filter, only calls stop that the program's one lets pass. */
void rec_mark_refused(struct rec *rec, const struct rec_task *task, struct rec_call *call,
		      int64_t result)
{
	if (is_promised_too_much(task, call, result))
		call->flags |= EVENT_REFUSED;
	if (!rec->all_calls || call->kind != REC_CALL || (result != -EPERM && result != -ENOSYS) ||
	    !has_own_filter(task))
		return;
	call->flags |= EVENT_REFUSED;
	if (!rec->filter_said)
		note(rec, task, "",
		     "has a seccomp filter of its own: calls that fail with EPERM or ENOSYS are "
		     "taken as refused by it",
		     &rec->filter_said);
}
