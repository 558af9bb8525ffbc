/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows a tree by the events of PTRACE_SEIZE. Every thread is attached, since any may fork; none
 * stops at a call. A space ends with the last of its users: at that one's PTRACE_EVENT_EXIT its
 * memory is still there and nobody can change it any more. What exec replaces is gone at its event,
 * so that its last count is from the look before.
 */
#include "probe/stat_tree.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/rights.h"

#define NR_CHAINS 1024
/* A child whose parent was killed before its event could be told is taken after this time. */
#define ORPHAN_NS UINT64_C(200000000)

static const unsigned long trace_options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
					   PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
					   PTRACE_O_TRACEEXIT;

struct task {
	pid_t tid, tgid;
	size_t space;	     /* STAT_NO_SPACE: not told yet, or left already */
	uint64_t waiting_ns; /* stopped since then, until the parent's event tells its space */
	struct task *next;   /* of the chain */
	struct task *prev_user, *next_user;
};

struct follower {
	struct stat_tree *tree;
	pid_t launched;
	struct task *chains[NR_CHAINS];
	unsigned int nr_waiting;
};

static struct task **chain_link(struct follower *follower, pid_t tid)
{
	struct task **link = &follower->chains[(unsigned int)tid % NR_CHAINS];

	while (*link && (*link)->tid != tid)
		link = &(*link)->next;
	return link;
}

/* The task, made when it is new. NULL: no memory; it then runs uncounted. */
static struct task *get_task(struct follower *follower, pid_t tid)
{
	struct task **link = chain_link(follower, tid), *task = *link;

	if (task)
		return task;
	task = calloc(1, sizeof(*task));
	if (!task) {
		follower->tree->out_of_memory = true;
		return NULL;
	}
	task->tid = task->tgid = tid;
	task->space = STAT_NO_SPACE;
	*link = task;
	return task;
}

static void join_space(struct follower *follower, struct task *task, size_t index)
{
	struct stat_space *space;

	task->space = index;
	if (index == STAT_NO_SPACE)
		return;
	space = &follower->tree->spaces[index];
	task->prev_user = NULL;
	task->next_user = space->users;
	if (task->next_user)
		task->next_user->prev_user = task;
	space->users = task;
}

static void leave_space(struct follower *follower, struct task *task)
{
	if (task->space == STAT_NO_SPACE)
		return;
	if (task->next_user)
		task->next_user->prev_user = task->prev_user;
	if (task->prev_user)
		task->prev_user->next_user = task->next_user;
	else
		follower->tree->spaces[task->space].users = task->next_user;
	task->space = STAT_NO_SPACE;
}

static void drop_task(struct follower *follower, struct task **link)
{
	struct task *task = *link;

	leave_space(follower, task);
	if (task->waiting_ns)
		follower->nr_waiting--;
	*link = task->next;
	free(task);
}

static bool is_only_user(const struct task *task)
{
	return task->space != STAT_NO_SPACE && !task->prev_user && !task->next_user;
}

static void look_all(struct follower *follower)
{
	struct stat_tree *tree = follower->tree;

	for (size_t i = 0; i < tree->nr_spaces; i++) {
		const struct task *user = tree->spaces[i].users;

		if (user)
			stat_tree_look(tree, i, user->tgid, user->tid);
	}
	limits_look_host(&tree->limits, follower->launched);
	tree->looks++;
}

static void resume(pid_t tid, int sig)
{
	/* ESRCH: killed in the meantime; its end will be told */
	ptrace(PTRACE_CONT, tid, NULL, (unsigned long)sig);
}

/* A stopped task whose space is known: counts what it starts with, if that is its own. */
static void begin_task(struct follower *follower, struct task *task)
{
	if (task->waiting_ns) {
		task->waiting_ns = 0;
		follower->nr_waiting--;
	}
	if (is_only_user(task))
		stat_tree_look(follower->tree, task->space, task->tgid, task->tid);
	resume(task->tid, 0);
}

static bool is_thread_of(pid_t tid, pid_t tgid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)tgid, (int)tid);
	return !access(path, F_OK);
}

/* Whether the two use one mm; where the kernel does not compare, as the event has it by custom. */
static bool share_memory(pid_t a, pid_t b, int event)
{
	long order = syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);

	return order < 0 ? event == PTRACE_EVENT_VFORK : order == 0;
}

static void place_child(struct follower *follower, struct task *child, pid_t parent_tid, int event)
{
	const struct task *parent = *chain_link(follower, parent_tid);
	bool thread = event == PTRACE_EVENT_CLONE && parent && parent->tgid != child->tid &&
		      is_thread_of(child->tid, parent->tgid);

	if (thread)
		child->tgid = parent->tgid;
	if (parent && (thread || share_memory(parent_tid, child->tid, event)))
		join_space(follower, child, parent->space);
	else
		join_space(follower, child, stat_tree_add(follower->tree, child->tid));
}

static void handle_birth(struct follower *follower, pid_t parent, int event)
{
	struct task *child;
	unsigned long tid;

	if (ptrace(PTRACE_GETEVENTMSG, parent, NULL, &tid))
		return;
	child = get_task(follower, (pid_t)tid);
	if (!child)
		return;
	place_child(follower, child, parent, event);
	if (child->waiting_ns)
		begin_task(follower, child);
}

/* The first stop of a task, before or after the event of its parent. */
static void handle_first_stop(struct follower *follower, pid_t tid)
{
	bool known = *chain_link(follower, tid);
	struct task *task = get_task(follower, tid);

	if (!task) {
		resume(tid, 0);
	} else if (known) {
		if (!task->waiting_ns)
			begin_task(follower, task);
	} else {
		task->waiting_ns = clock_ns();
		follower->nr_waiting++;
	}
}

static void take_orphans(struct follower *follower)
{
	uint64_t now = clock_ns();

	for (unsigned int i = 0; i < NR_CHAINS && follower->nr_waiting; i++) {
		for (struct task *task = follower->chains[i]; task; task = task->next) {
			if (!task->waiting_ns || now - task->waiting_ns < ORPHAN_NS)
				continue;
			join_space(follower, task, stat_tree_add(follower->tree, task->tid));
			begin_task(follower, task);
		}
	}
}

static void note_lost_rights(struct follower *follower, pid_t pid)
{
	struct stat_tree *tree = follower->tree;

	if (rights_lost(pid, false) && !tree->nr_lost_rights++)
		rights_program(pid, tree->lost_rights_path, sizeof(tree->lost_rights_path));
}

/* All other threads are gone, and whichever called exec has the leader's number now. */
static void handle_exec(struct follower *follower, pid_t pid)
{
	struct task *task;

	for (unsigned int i = 0; i < NR_CHAINS; i++) {
		struct task **link = &follower->chains[i];

		while (*link) {
			if ((*link)->tgid == pid)
				drop_task(follower, link);
			else
				link = &(*link)->next;
		}
	}
	task = get_task(follower, pid);
	if (task) {
		join_space(follower, task, stat_tree_add(follower->tree, pid));
		stat_tree_look(follower->tree, task->space, pid, pid);
	}
	note_lost_rights(follower, pid);
	resume(pid, 0);
}

static void handle_exit(struct follower *follower, pid_t tid)
{
	struct task *task = *chain_link(follower, tid);

	if (task) {
		if (is_only_user(task) &&
		    stat_tree_look(follower->tree, task->space, task->tgid, tid))
			follower->tree->spaces[task->space].end_exact = true;
		leave_space(follower, task);
	}
	resume(tid, 0);
}

static void handle_stop(struct follower *follower, pid_t tid, int wait_status)
{
	int sig = WSTOPSIG(wait_status), event = wait_status >> 16;

	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		handle_birth(follower, tid, event);
		resume(tid, 0);
		break;
	case PTRACE_EVENT_EXEC:
		handle_exec(follower, tid);
		break;
	case PTRACE_EVENT_EXIT:
		handle_exit(follower, tid);
		break;
	case PTRACE_EVENT_STOP:
		if (is_stop_signal(sig)) /* stopped as it would be alone, until SIGCONT */
			ptrace(PTRACE_LISTEN, tid, NULL, NULL);
		else
			handle_first_stop(follower, tid);
		break;
	default:
		resume(tid, sig);
	}
}

/* All that has happened. True when the program itself has ended. */
static bool take_events(struct follower *follower, uint64_t began_ns)
{
	struct rusage usage;
	int wait_status;
	pid_t tid;

	while ((tid = wait4(-1, &wait_status, __WALL | WNOHANG, &usage)) > 0) {
		struct task **link;

		if (WIFSTOPPED(wait_status)) {
			handle_stop(follower, tid, wait_status);
			continue;
		}
		if (tid == follower->launched) {
			stat_tree_ended(follower->tree, began_ns, wait_status, &usage);
			return true;
		}
		link = chain_link(follower, tid);
		if (*link)
			drop_task(follower, link);
	}
	return false;
}

/*
 * What outlives the program is let go. A task in a long sleep that no stop interrupts (a parent
 * waiting in vfork) stays attached, at most until seam ends.
 */
static void detach_all(struct follower *follower)
{
	uint64_t until_ns = clock_ns() + UINT64_C(100000000);
	unsigned int nr_left = 0;
	int wait_status;
	pid_t tid;

	for (unsigned int i = 0; i < NR_CHAINS; i++)
		for (struct task *task = follower->chains[i]; task; task = task->next) {
			if (task->waiting_ns)
				ptrace(PTRACE_DETACH, task->tid, NULL, NULL);
			else if (!ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL))
				nr_left++;
		}
	while (nr_left && clock_ns() < until_ns) {
		tid = waitpid(-1, &wait_status, __WALL | WNOHANG);
		if (tid < 0)
			return;
		if (!tid) {
			usleep(100);
			continue;
		}
		nr_left--;
		if (WIFSTOPPED(wait_status))
			ptrace(PTRACE_DETACH, tid, NULL,
			       wait_status >> 16 ? 0UL : (unsigned long)WSTOPSIG(wait_status));
	}
}

static void free_tasks(struct follower *follower)
{
	for (size_t i = 0; i < follower->tree->nr_spaces; i++) {
		struct stat_space *space = &follower->tree->spaces[i];

		space->running = space->users;
		space->users = NULL;
	}
	for (unsigned int i = 0; i < NR_CHAINS; i++) {
		struct task *task = follower->chains[i], *next;

		for (; task; task = next) {
			next = task->next;
			free(task);
		}
	}
}

int stat_follow_traced(struct stat_tree *tree, struct launch *launch)
{
	struct follower follower = { .tree = tree, .launched = launch->pid };
	struct stat_pace pace;
	uint64_t began_ns;

	if (ptrace(PTRACE_SEIZE, launch->pid, NULL, trace_options))
		return -errno;
	began_ns = clock_ns();
	launch_open_gate(launch);
	stat_pace_start(&pace);
	while (!take_events(&follower, began_ns)) {
		launch_sleep(launch, pace.next_ns);
		if (clock_ns() < pace.next_ns)
			continue;
		stat_pace_look(&pace);
		if (follower.nr_waiting)
			take_orphans(&follower);
		look_all(&follower);
		stat_pace_looked(&pace);
	}
	/* one more count of what goes on */
	look_all(&follower);
	detach_all(&follower);
	free_tasks(&follower);
	return 0;
}
