/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is who: threads by tid, the process each belongs to, and the space (mm) that it uses.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/procfs.h"
#include "probe/rec.h"
#include "sym/unwind.h"

static struct rec_task **chain_link(struct rec *rec, pid_t tid)
{
	struct rec_task **link = &rec->chains[(unsigned int)tid % REC_CHAINS];

	while (*link && (*link)->tid != tid)
		link = &(*link)->next;
	return link;
}

struct rec_task *rec_find_task(struct rec *rec, pid_t tid)
{
	return *chain_link(rec, tid);
}

struct rec_task *rec_add_task(struct rec *rec, pid_t tid)
{
	struct rec_task **link = chain_link(rec, tid);

	if (*link)
		return *link;
	*link = calloc(1, sizeof(**link));
	if (!*link)
		return NULL;
	(*link)->tid = tid;
	rec->nr_tasks++;
	return *link;
}

void rec_put_process(struct rec_process *process)
{
	if (!process || --process->nr_users)
		return;
	if (process->pidfd >= 0)
		close(process->pidfd);
	free(process);
}

static void drop_link(struct rec *rec, struct rec_task **link)
{
	struct rec_task *task = *link;

	*link = task->next;
	rec_put_process(task->process);
	free(task->described);
	free(task);
	rec->nr_tasks--;
}

void rec_drop_task(struct rec *rec, struct rec_task *task)
{
	struct rec_task **link = chain_link(rec, task->tid);

	if (*link == task)
		drop_link(rec, link);
}

struct rec_process *rec_add_process(struct rec *rec, pid_t pid)
{
	struct rec_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->pid = pid;
	process->pidfd = -1;
	rec->result->processes++;
	return process;
}

void rec_set_process(struct rec_task *task, struct rec_process *process)
{
	if (process)
		process->nr_users++;
	rec_put_process(task->process);
	task->process = process;
}

struct rec_space *rec_add_space(struct rec *rec)
{
	struct rec_space *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->number = rec->nr_spaces++;
	space->pagemap_fd = space->maps_fd = -1;
	rec->result->spaces = rec->nr_spaces;
	return space;
}

void rec_set_space(struct rec_task *task, struct rec_space *space)
{
	task->space = space;
	space->nr_users++;
}

static void free_space(struct rec *rec, struct rec_space *space)
{
	rec_ranges_free(rec, &space->files);
	rec_ranges_free(rec, &space->touched);
	rec_ranges_free(rec, &space->unknown);
	rec_foresight_forget(rec, space);
	if (space->pagemap_fd >= 0)
		close(space->pagemap_fd);
	unwinder_free(space->unwinder);
	if (space->maps_fd >= 0)
		close(space->maps_fd);
	free(space);
}

void rec_leave_space(struct rec *rec, struct rec_task *task, enum rec_end how, int status)
{
	struct rec_space *space = task->space;
	struct event end = { .kind = EVENT_END };

	if (!space)
		return;
	rec_call_gone(rec, task);
	if (!--space->nr_users) {
		if (how == REC_END_EXIT)
			end.arg[0] = (uint64_t)status;
		else if (how == REC_END_TRACE)
			end.flags = EVENT_EXIT_AT_END;
		rec_write(rec, task, &end);
		free_space(rec, space);
	}
	task->space = NULL;
}

void rec_rename_task(struct rec *rec, struct rec_task *task, pid_t tid)
{
	struct rec_task **link = chain_link(rec, task->tid);

	*link = task->next;
	task->tid = tid;
	link = chain_link(rec, tid);
	task->next = *link;
	*link = task;
}

void rec_free_tasks(struct rec *rec)
{
	for (unsigned int i = 0; i < REC_CHAINS; i++)
		while (rec->chains[i]) {
			rec_leave_space(rec, rec->chains[i], REC_END_TRACE, 0);
			drop_link(rec, &rec->chains[i]);
		}
}
