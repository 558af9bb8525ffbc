/* SPDX-License-Identifier: BSD-2-Clause */
/* Births, execs and ends of the tasks that are recorded, and whose memory each uses. */
#include <errno.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/procfs.h"
#include "probe/rec.h"

/* A child whose parent was killed before its event could be told is taken after this time, */
#define ORPHAN_NS UINT64_C(200000000)
/* or this one where another thread of the parent lives on. */
#define MUTE_PARENT_NS UINT64_C(10000000000)

static unsigned long event_message(pid_t tid)
{
	unsigned long message = 0;

	ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message);
	return message;
}

/* ---- births ---- */

static bool is_thread_of(pid_t tid, pid_t pid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return !access(path, F_OK);
}

/* Whether the child of this event uses its parent's memory: a copying call stops at its entry. */
static bool shares_memory(const struct rec *rec, const struct rec_task *parent, int event)
{
	if (rec->all_calls && !parent->seen_call) /* attached in the middle of the call */
		return event != PTRACE_EVENT_FORK;
	return !(parent->in_call && parent->pending.kind == REC_FORK);
}

/* A task whose parent never told of it: it died too early. */
static void adopt_orphan(struct rec *rec, struct rec_task *task)
{
	struct rec_process *process = rec_add_process(rec, task->tid);
	struct rec_space *space = process ? rec_add_space(rec) : NULL;

	rec_set_process(task, process);
	if (space) {
		rec_set_space(task, space);
		rec_write_space(rec, task, BORN_UNKNOWN, NULL);
	}
}

static void place_child(struct rec *rec, struct rec_task *child, struct rec_task *parent, int event)
{
	struct rec_space *space;

	rec->result->threads++;
	if (event == PTRACE_EVENT_CLONE && is_thread_of(child->tid, parent->process->pid))
		rec_set_process(child, parent->process);
	else
		rec_set_process(child, rec_add_process(rec, child->tid));
	if (!parent->space)
		return;
	if (shares_memory(rec, parent, event)) {
		rec_set_space(child, parent->space);
		return;
	}
	space = rec_add_space(rec);
	if (!space)
		return;
	rec_set_space(child, space);
	rec_write_space(rec, child, BORN_FORK, parent);
}

static void stop_waiting(struct rec *rec, struct rec_task *task)
{
	if (!task->waiting_ns)
		return;
	task->waiting_ns = 0;
	rec->nr_waiting--;
}

/* The status of @tid out of what has been told already. */
static bool take_told(struct rec *rec, pid_t tid, int *ret_status)
{
	for (unsigned int i = rec->batch_at; i < rec->nr_batch; i++)
		if (rec->batch[i].tid == tid) {
			*ret_status = rec->batch[i].status;
			rec->batch[i].tid = 0;
			return true;
		}
	return false;
}

/* The first status of a child; 0 when there is none. */
static int wait_for_child(struct rec *rec, pid_t tid)
{
	int status = 0;
	pid_t got;

	if (take_told(rec, tid, &status))
		return status;
	do
		got = waitpid(tid, &status, __WALL);
	while (got < 0 && errno == EINTR);
	return got == tid ? status : 0;
}

void rec_on_birth(struct rec *rec, struct rec_task *parent, int event)
{
	pid_t tid = (pid_t)event_message(parent->tid);
	struct rec_task *child = tid ? rec_add_task(rec, tid) : NULL;

	if (!child || child->process)
		return;
	if (!child->started) {
		if (!WIFSTOPPED(wait_for_child(rec, tid))) { /* killed before it ran */
			rec_drop_task(rec, child);
			return;
		}
		child->started = true;
	}
	stop_waiting(rec, child);
	rec_show_untraced(parent, tid);
	if (parent->bears_unreported)
		rec_on_unreported(rec, child);
	place_child(rec, child, parent, event);
	rec_resume(rec, child, 0);
}

/* A number behind "KEY:" in /proc/TID/status; 0 when the task is gone. */
static pid_t status_number(pid_t tid, const char *key)
{
	char text[4096];
	uint64_t value = 0;

	if (procfs_read(text, sizeof(text), "/proc/%d/status", (int)tid) > 0)
		procfs_field(text, key, &value);
	return (pid_t)value;
}

/* @has_space: threads that are ending have left theirs already, and are passed over. */
static struct rec_task *task_of_process(struct rec *rec, pid_t pid, bool has_space)
{
	for (unsigned int i = 0; i < REC_CHAINS; i++)
		for (struct rec_task *task = rec->chains[i]; task; task = task->next)
			if (task->process && task->process->pid == pid &&
			    (task->space || !has_space))
				return task;
	return NULL;
}

bool rec_place_thread(struct rec *rec, struct rec_task *task)
{
	pid_t pid = status_number(task->tid, "Tgid");
	struct rec_task *sibling = pid && pid != task->tid ? task_of_process(rec, pid, true) : NULL;

	if (!sibling)
		return false;
	rec->result->threads++;
	rec_set_process(task, sibling->process);
	rec_set_space(task, sibling->space);
	return true;
}

/* A child's parent that may still have an event to tell of it. */
static bool has_parent(struct rec *rec, const struct rec_task *child, uint64_t now_ns)
{
	return now_ns - child->waiting_ns < MUTE_PARENT_NS &&
	       task_of_process(rec, status_number(child->tid, "PPid"), false);
}

void rec_take_orphans(struct rec *rec, uint64_t now_ns)
{
	for (unsigned int i = 0; i < REC_CHAINS && rec->nr_waiting; i++)
		for (struct rec_task *task = rec->chains[i]; task; task = task->next) {
			if (task->process || !task->waiting_ns ||
			    now_ns - task->waiting_ns < ORPHAN_NS || has_parent(rec, task, now_ns))
				continue;
			stop_waiting(rec, task);
			adopt_orphan(rec, task);
			rec_resume(rec, task, 0);
		}
}

/* ---- exec, exit ---- */

/* exec ends all other threads without a word, and its caller gets the leader's number. */
static struct rec_task *merge_threads(struct rec *rec, pid_t pid, pid_t caller)
{
	struct rec_task *task = rec_find_task(rec, caller);
	struct rec_process *process = task ? task->process : NULL;
	int status;

	for (unsigned int i = 0; process && process->nr_users > 1 && i < REC_CHAINS; i++) {
		struct rec_task *other = rec->chains[i], *next;

		for (; other; other = next) {
			next = other->next;
			if (other == task || other->process != process)
				continue;
			take_told(rec, other->tid, &status);
			rec_leave_space(rec, other, REC_END_EXEC, 0);
			rec_drop_task(rec, other);
		}
	}
	if (task && caller != pid)
		rec_rename_task(rec, task, pid);
	return task;
}

void rec_on_exec(struct rec *rec, pid_t pid)
{
	struct rec_task *task = merge_threads(rec, pid, (pid_t)event_message(pid));
	struct rec_space *space;

	if (!task) {
		ptrace(PTRACE_CONT, pid, NULL, NULL);
		return;
	}
	task->in_exec = false;
	rec_leave_space(rec, task, REC_END_EXEC, 0);
	space = rec_add_space(rec);
	if (space) {
		rec_set_space(task, space);
		rec_write_space(rec, task, BORN_EXEC, NULL);
		rec_say_lost_rights(rec, task);
	}
	rec_resume(rec, task, 0);
}

void rec_on_exit(struct rec *rec, struct rec_task *task)
{
	int status = (int)event_message(task->tid);

	if (task->space) {
		rec_call_died(rec, task);
		if (task->space->nr_users == 1)
			rec_write_truth(rec, task);
		/* before its pipes close: who reads to their end may want a lock that our copy keeps */
		rec_leave_space(rec, task, REC_END_EXIT, launch_status(status));
	}
	rec_resume(rec, task, 0);
}

void rec_on_death(struct rec *rec, pid_t tid, int status)
{
	struct rec_task *task = rec_find_task(rec, tid);

	if (tid == rec->launch.pid)
		rec->result->status = launch_status(status);
	if (!task)
		return;
	stop_waiting(rec, task);
	/*
	 * Its stop at its end was not seen: it was killed as it stood at its entry, and what was to let
	 * it in has let it go from its end.
	 */
	task->pending.not_made = true;
	rec_leave_space(rec, task, REC_END_EXIT, launch_status(status));
	rec_drop_task(rec, task);
}
