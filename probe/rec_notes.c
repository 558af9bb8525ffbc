/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program cannot have while it is recorded: said once, and kept in the recording. */
#include <stdio.h>

#include "probe/rec.h"
#include "probe/rights.h"

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

void rec_say_refused(struct rec *rec, const struct rec_task *task, const struct rec_call *call)
{
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
