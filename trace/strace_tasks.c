/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose space is it? Threads, processes and spaces of an strace log, as far as its clone, exec and
 * exit lines tell, and what to make of those that it does not introduce.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"
#include "trace/scan.h"
#include "trace/strace.h"

#define CLONE_VM 0x100
#define CLONE_FILES 0x400
#define CLONE_THREAD 0x10000
/* Bounds on what a log made for the purpose could cost. */
#define FEW_COPIES 1000000
#define MAX_SEARCHES 200000000

static uint32_t slot_of(const struct strace *s, uint32_t tid)
{
	uint32_t mask = s->room_threads - 1;
	uint32_t i = tid * UINT32_C(2654435761) & mask;

	while (s->threads[i].in_use && s->threads[i].tid != tid)
		i = (i + 1) & mask;
	return i;
}

static struct strace_thread *find_thread(const struct strace *s, uint32_t tid)
{
	struct strace_thread *thread;

	if (!s->room_threads)
		return NULL;
	thread = &s->threads[slot_of(s, tid)];
	return thread->in_use ? thread : NULL;
}

static int grow_threads(struct strace *s)
{
	struct strace_thread *old = s->threads;
	uint32_t room = s->room_threads, more = room ? room * 2 : 64;
	struct strace_thread *threads = calloc(more, sizeof(*threads));

	if (!threads)
		return -ENOMEM;
	s->threads = threads;
	s->room_threads = more;
	for (uint32_t i = 0; i < room; i++)
		if (old[i].in_use)
			threads[slot_of(s, old[i].tid)] = old[i];
	free(old);
	return 0;
}

static int add_thread(struct strace *s, uint32_t tid, uint32_t process)
{
	if (s->nr_threads >= s->room_threads / 2 && grow_threads(s))
		return -ENOMEM;
	s->threads[slot_of(s, tid)] =
		(struct strace_thread) { .tid = tid, .process = process, .in_use = true };
	s->nr_threads++;
	s->tids ^= tid;
	s->processes[process].nr_threads++;
	return 0;
}

/* Takes a thread out of the table and closes the gap (linear probing). */
static void remove_thread(struct strace *s, uint32_t tid)
{
	uint32_t mask = s->room_threads - 1;
	uint32_t gap = slot_of(s, tid), i = gap;

	s->processes[s->threads[gap].process].nr_threads--;
	s->nr_threads--;
	s->tids ^= tid;
	s->threads[gap].in_use = false;
	for (;;) {
		uint32_t home;

		i = (i + 1) & mask;
		if (!s->threads[i].in_use)
			return;
		home = s->threads[i].tid * UINT32_C(2654435761) & mask;
		if (((i - home) & mask) < ((i - gap) & mask))
			continue;
		s->threads[gap] = s->threads[i];
		s->threads[i].in_use = false;
		gap = i;
	}
}

static int add_process(struct strace *s, uint32_t pid, struct strace_files *files,
		       uint32_t *ret_process)
{
	if (!files)
		return -ENOMEM;
	if (grow(&s->processes, s->nr_processes, &s->room_processes, sizeof(*s->processes))) {
		strace_files_put(files);
		return -ENOMEM;
	}
	*ret_process = s->nr_processes;
	s->processes[s->nr_processes++] =
		(struct strace_process) { .pid = pid, .space = NO_SPACE, .files = files };
	return 0;
}

/* The event of a space, at the line and time of @when. */
static struct event space_event(enum event_kind kind, const struct strace_process *process,
				uint32_t space, const struct event *when)
{
	return (struct event) {
		.kind = (uint8_t)kind,
		.space = space,
		.pid = process->pid,
		.tid = when->tid,
		.line = when->line,
		.time_ns = when->time_ns,
	};
}

/*
 * A child knows what its parent does. Where forks would copy more than the log is long, it starts
 * without: then only addresses handed out twice are seen later.
 */
static int copy_knowledge(struct strace *s, const struct strace_space *from,
			  struct strace_space *to)
{
	to->brk = from->brk;
	to->upward = from->upward;
	s->copies += from->mapped.nr + from->freed.nr;
	if (s->copies > FEW_COPIES + s->text.size / 16)
		return 0;
	if (range_set_copy(&from->mapped, &to->mapped))
		return -ENOMEM;
	if (range_set_copy(&from->freed, &to->freed)) {
		range_set_free(&to->mapped);
		return -ENOMEM;
	}
	return 0;
}

static int begin_space(struct strace *s, struct strace_process *process, enum space_born born,
		       uint32_t parent, const struct event *when)
{
	struct strace_space space = { .nr_processes = 1 };
	struct event event = space_event(EVENT_SPACE, process, s->nr_spaces, when);

	if (grow(&s->spaces, s->nr_spaces, &s->room_spaces, sizeof(*s->spaces)))
		return -ENOMEM;
	event.born = (uint8_t)born;
	if (born == BORN_FORK) {
		event.arg[0] = parent;
		if (copy_knowledge(s, &s->spaces[parent], &space))
			return -ENOMEM;
	}
	process->space = s->nr_spaces;
	s->spaces[s->nr_spaces++] = space;
	return strace_emit(s, &event);
}

static int emit_comm(struct strace *s, const struct strace_process *process,
		     const struct event *when)
{
	struct event event = space_event(EVENT_COMM, process, process->space, when);
	bool new;
	uint32_t text;

	if (process->space == NO_SPACE || !process->comm[0])
		return 0;
	text = intern_number(&s->texts, process->comm, strlen(process->comm), UINT32_MAX, &new);
	if (!text)
		return -ENOMEM;
	event.text = intern_text(&s->texts, text);
	return strace_emit(s, &event);
}

int strace_space(struct strace *s, struct strace_process *process, const struct event *when,
		 uint32_t *ret_space)
{
	int r = 0;

	if (process->space == NO_SPACE) {
		r = begin_space(s, process, BORN_UNKNOWN, 0, when);
		if (!r)
			r = emit_comm(s, process, when);
	}
	*ret_space = process->space;
	return r;
}

static void free_space(struct strace_space *space)
{
	range_set_free(&space->mapped);
	range_set_free(&space->freed);
	space->ended = true;
}

/* A process leaves its space, which ends when it was the last one. */
static int leave_space(struct strace *s, struct strace_process *process, uint64_t status,
		       uint32_t flags, const struct event *when)
{
	uint32_t space = process->space;
	struct event event = space_event(EVENT_END, process, space, when);
	int r;

	if (space == NO_SPACE || s->spaces[space].ended)
		return 0;
	process->space = NO_SPACE;
	if (--s->spaces[space].nr_processes)
		return 0;
	r = strace_settle_space(s, space);
	if (r)
		return r;
	free_space(&s->spaces[space]);
	event.flags = flags;
	event.arg[0] = status;
	return strace_emit(s, &event);
}

/* A thread of @process, made by no clone of this log. */
static int join_process(struct strace *s, uint32_t tid, uint32_t process)
{
	trace_incomplete(s->trace, "clone not in log");
	if (tid < s->processes[process].pid)
		s->processes[process].pid = tid;
	return add_thread(s, tid, process);
}

/* A child that fork made: it starts with what @parent has. */
static int fork_process(struct strace *s, uint32_t parent, uint32_t child, uint64_t flags,
			const struct event *when)
{
	uint32_t process, space;
	struct strace_files *files = s->processes[parent].files;
	int r;

	if (flags & CLONE_FILES)
		files->users++;
	else
		files = strace_files_copy(files);
	r = add_process(s, child, files, &process);
	if (!r)
		r = strace_space(s, &s->processes[parent], when, &space);
	if (r)
		return r;
	memcpy(s->processes[process].comm, s->processes[parent].comm,
	       sizeof(s->processes[process].comm));
	s->processes[process].compat = s->processes[parent].compat;
	if (flags & CLONE_VM) {
		s->processes[process].space = space;
		s->spaces[space].nr_processes++;
	} else {
		r = begin_space(s, &s->processes[process], BORN_FORK, space, when);
		if (!r)
			r = emit_comm(s, &s->processes[process], when);
	}
	return r ? r : add_thread(s, child, process);
}

/* Strangers of one space form a set, a tree of holders: its root. */
static struct strace_pid *root_of(const struct strace *s, struct strace_pid *pid)
{
	while (pid->holder)
		pid = strace_pid_find(&s->survey, pid->holder - 1);
	return pid;
}

static int new_stranger(struct strace *s, uint32_t tid, uint32_t *ret_process)
{
	int r = add_process(s, tid, strace_files_new(), ret_process);

	if (r)
		return r;
	s->processes[*ret_process].stranger = true;
	return add_thread(s, tid, *ret_process);
}

/* A thread of the process that strace was attached to. */
static int join_attached(struct strace *s, uint32_t tid)
{
	struct strace_thread *leader = find_thread(s, s->survey.attached);
	uint32_t process;
	int r;

	if (leader)
		return add_thread(s, tid, leader->process);
	r = new_stranger(s, s->survey.attached, &process);
	return r ? r : add_thread(s, tid, process);
}

/* A process that comes from nowhere, or a thread of one that it shares its memory with. */
static int add_stranger(struct strace *s, uint32_t tid, struct strace_pid *pid)
{
	struct strace_pid *root = pid ? root_of(s, pid) : NULL;
	uint32_t process;
	int r;

	/* those that came later were announced one by one */
	if (s->survey.attached && tid != s->survey.attached && !(pid && pid->announced))
		return join_attached(s, tid);
	if (root && root->process) {
		process = root->process - 1;
		if (s->processes[process].stranger && s->processes[process].nr_threads)
			return join_process(s, tid, process);
	}
	r = new_stranger(s, tid, &process);
	if (!r && root)
		root->process = process + 1;
	return r;
}

/* The process that was told of the end of this one, and so had made it. */
static struct strace_thread *parent_of(struct strace *s, const struct strace_pid *pid)
{
	const struct strace_birth *signal;
	struct strace_thread *parent;

	if (!pid->signal || pid->fresh)
		return NULL;
	signal = &s->survey.signals[pid->signal - 1];
	parent = find_thread(s, signal->parent);
	return parent && s->processes[parent->process].space != NO_SPACE ? parent : NULL;
}

/* A tid that no clone line has introduced so far. */
static int introduce(struct strace *s, uint32_t tid, const struct event *when)
{
	struct strace_pid *pid = strace_pid_find(&s->survey, tid);
	struct strace_thread *parent;

	if (pid && pid->birth) {
		/* its first line stands before the clone that made it */
		const struct strace_birth *birth = &s->survey.births[pid->birth - 1];

		if (birth->parent != tid && find_thread(s, birth->parent))
			return strace_born(s, birth->parent, tid, birth->flags, when);
		pid->birth = birth->next;
	}
	parent = pid ? parent_of(s, pid) : NULL;
	if (parent) {
		trace_incomplete(s->trace, "clone not in log");
		return fork_process(s, parent->process, tid, 0, when);
	}
	return add_stranger(s, tid, pid);
}

int strace_thread(struct strace *s, uint32_t tid, const struct event *when,
		  struct strace_thread **ret_thread)
{
	struct strace_thread *thread = find_thread(s, tid);
	int r = 0;

	if (!thread) {
		r = introduce(s, tid, when);
		thread = find_thread(s, tid);
	}
	*ret_thread = thread;
	return r;
}

int strace_born(struct strace *s, uint32_t parent, uint32_t child, uint64_t flags,
		const struct event *when)
{
	struct strace_pid *pid = strace_pid_find(&s->survey, child);
	struct strace_thread *thread;
	int r;

	if (!s->survey.has_pids || child == parent)
		return 0;
	if (pid && pid->birth)
		pid->birth = s->survey.births[pid->birth - 1].next;
	else if (pid && find_thread(s, child))
		return 0; /* it was born when its first line was read */
	if (find_thread(s, child)) {
		/* the number is given again, and the end of the first one was not logged */
		r = strace_exit(s, child, 0, when);
		if (r)
			return r;
	}
	r = strace_thread(s, parent, when, &thread);
	if (r)
		return r;
	if (flags & CLONE_THREAD)
		return add_thread(s, child, thread->process);
	return fork_process(s, thread->process, child, flags, when);
}

/* All threads of @process but @survivor are gone. */
static void remove_others(struct strace *s, uint32_t process, uint32_t survivor)
{
	for (uint32_t i = 0; s->processes[process].nr_threads > 1 && i < s->room_threads; i++) {
		while (s->threads[i].in_use && s->threads[i].process == process &&
		       s->threads[i].tid != survivor)
			remove_thread(s, s->threads[i].tid);
	}
}

int strace_exec(struct strace *s, uint32_t tid, struct slice path, const struct event *when)
{
	struct strace_thread *thread;
	struct strace_process *process;
	const char *name;
	int r = strace_thread(s, tid, when, &thread);

	if (r)
		return r;
	process = &s->processes[thread->process];
	remove_others(s, thread->process, tid);
	r = leave_space(s, process, 0, 0, when);
	if (r)
		return r;
	process->stranger = false;
	strace_files_exec(process->files);
	name = find_last(path.at, path.end, '/');
	if (name)
		path.at = name + 1;
	r = begin_space(s, process, BORN_EXEC, 0, when);
	return r ? r : strace_set_comm(s, process, path.at, (size_t)(path.end - path.at), when);
}

int strace_exit(struct strace *s, uint32_t tid, uint64_t status, const struct event *when)
{
	struct strace_thread *thread = find_thread(s, tid);
	struct strace_process *process;
	int r;

	if (!thread)
		return 0;
	process = &s->processes[thread->process];
	remove_thread(s, tid);
	if (process->nr_threads)
		return 0;
	r = leave_space(s, process, status, 0, when);
	strace_files_put(process->files);
	process->files = NULL;
	return r;
}

int strace_set_comm(struct strace *s, struct strace_process *process, const char *name, size_t len,
		    const struct event *when)
{
	if (len >= sizeof(process->comm))
		len = sizeof(process->comm) - 1;
	if (!strncmp(process->comm, name, len) && !process->comm[len])
		return 0;
	memcpy(process->comm, name, len);
	process->comm[len] = '\0';
	return emit_comm(s, process, when);
}

/* A process that holds any of @named, other than @own; NULL: nobody. */
static struct strace_thread *find_holder(struct strace *s, uint32_t own, struct range named)
{
	for (uint32_t i = 0; i < s->room_threads; i++) {
		const struct strace_process *process;

		if (!s->threads[i].in_use)
			continue;
		process = &s->processes[s->threads[i].process];
		if (process->space != NO_SPACE && process->space != own &&
		    range_set_overlaps(&s->spaces[process->space].mapped, named.start, named.end))
			return &s->threads[i];
	}
	return NULL;
}

/* What @from holds, @to holds as well. */
static int add_ranges(struct range_set *to, const struct range_set *from)
{
	struct range range = { 0, 0 };

	while (range_set_find(from, range.end, UINT64_MAX, &range)) {
		int r = range_set_add(to, range.start, range.end);

		if (r)
			return r;
	}
	return 0;
}

/* From now on all that were in space @from are in @to. */
static int merge_spaces(struct strace *s, uint32_t from, uint32_t to)
{
	int r = add_ranges(&s->spaces[to].mapped, &s->spaces[from].mapped);

	if (r)
		return r;
	s->searches += s->nr_processes;
	for (uint32_t i = 0; i < s->nr_processes; i++)
		if (s->processes[i].space == from)
			s->processes[i].space = to;
	s->spaces[to].nr_processes += s->spaces[from].nr_processes;
	free_space(&s->spaces[from]);
	return 0;
}

int strace_recognise(struct strace *s, struct strace_process *process, struct range named)
{
	struct strace_space *space = &s->spaces[process->space];
	struct strace_pid *own, *other;
	struct strace_thread *holder;

	if (!process->stranger || named.start >= named.end ||
	    range_set_overlaps(&space->mapped, named.start, named.end) ||
	    range_set_overlaps(&space->freed, named.start, named.end))
		return 0;
	s->searches += s->room_threads;
	if (s->searches > MAX_SEARCHES)
		return 0;
	holder = find_holder(s, process->space, named);
	if (!holder)
		return 0;
	own = strace_pid_find(&s->survey, process->pid);
	other = strace_pid_find(&s->survey, s->processes[holder->process].pid);
	if (!own || !other)
		return 0;
	own = root_of(s, own);
	other = root_of(s, other);
	if (own != other)
		own->holder = other->tid + 1;
	return merge_spaces(s, process->space, s->processes[holder->process].space);
}

int strace_end_all(struct strace *s)
{
	struct event when = { .line = strace_source_line(s, s->line), .time_ns = s->last_time_ns };

	for (uint32_t i = 0; i < s->nr_processes; i++) {
		struct strace_process *process = &s->processes[i];
		int r = leave_space(s, process, process->status,
				    process->exiting ? 0 : EVENT_EXIT_AT_END, &when);

		if (r)
			return r;
	}
	return 0;
}

void strace_tasks_free(struct strace *s)
{
	for (uint32_t i = 0; i < s->nr_processes; i++)
		strace_files_put(s->processes[i].files);
	for (uint32_t i = 0; i < s->nr_spaces; i++)
		free_space(&s->spaces[i]);
	free(s->threads);
	free(s->processes);
	free(s->spaces);
}
