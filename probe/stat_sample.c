/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows a tree without touching it: children are asked from /proc at each look. What lives
 * between two looks is not seen, and the last count of each space is from the look before its end.
 */
#include "probe/stat_tree.h"

#include <dirent.h>
#include <errno.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/procfs.h"

#define MANY_THREADS 64
#define MANY_THREADS_LOOKS 16

struct process {
	pid_t pid;
	unsigned long long started; /* field 22 of stat: tells a number used anew */
	unsigned long long stack;   /* field 28: another after each exec */
	size_t space;		    /* STAT_NO_SPACE: uses its parent's (vfork) */
	bool gone;
};

struct sampler {
	struct stat_tree *tree;
	struct process *processes; /* parents before their children */
	size_t nr, room;
};

/* What /proc/PID/stat says, behind the name that may hold anything; proc(5) numbers the fields. */
struct task_stat {
	char state;		    /* field 3 */
	unsigned long long threads; /* 20 */
	unsigned long long started; /* 22 */
	unsigned long long stack;   /* 28 */
};

/* The number in field @field, when *@at stands in field @from. */
static unsigned long long stat_field(const char **at, unsigned int from, unsigned int field)
{
	for (; from < field && *at; from++)
		*at = strchr(*at + 1, ' ');
	return *at ? strtoull(*at, NULL, 10) : 0;
}

static bool read_stat(pid_t tid, struct task_stat *ret_stat)
{
	char text[1024];
	const char *at;

	if (procfs_read(text, sizeof(text), "/proc/%d/stat", (int)tid) < 0)
		return false;
	at = strrchr(text, ')');
	if (!at || !at[1])
		return false;
	ret_stat->state = at[2];
	ret_stat->threads = stat_field(&at, 2, 20);
	ret_stat->started = stat_field(&at, 20, 22);
	ret_stat->stack = stat_field(&at, 22, 28);
	return true;
}

static bool has_memory(const struct task_stat *stat)
{
	return stat->state != 'Z' && stat->state != 'X';
}

static struct process *add_process(struct sampler *sampler, pid_t pid)
{
	if (sampler->nr == sampler->room) {
		size_t room = sampler->room ? sampler->room * 2 : 16;
		struct process *processes = realloc(sampler->processes, room * sizeof(*processes));

		if (!processes) {
			sampler->tree->out_of_memory = true;
			return NULL;
		}
		sampler->processes = processes;
		sampler->room = room;
	}
	sampler->processes[sampler->nr] = (struct process) { .pid = pid, .space = STAT_NO_SPACE };
	return &sampler->processes[sampler->nr++];
}

static bool known(const struct sampler *sampler, pid_t pid)
{
	for (size_t i = sampler->nr; i-- > 0;)
		if (sampler->processes[i].pid == pid && !sampler->processes[i].gone)
			return true;
	return false;
}

static void add_children(struct sampler *sampler, pid_t pid, pid_t tid)
{
	char text[16384], *at = text, *end;

	if (procfs_read(text, sizeof(text), "/proc/%d/task/%d/children", (int)pid, (int)tid) < 0)
		return;
	for (;;) {
		long child = strtol(at, &end, 10);

		/* the last number may be cut when there are thousands; the next look has it */
		if (end == at || *end != ' ')
			return;
		if (!known(sampler, (pid_t)child))
			add_process(sampler, (pid_t)child);
		at = end;
	}
}

/* Calls @visit for each thread until it returns true. */
static bool each_thread(pid_t pid, bool (*visit)(void *to, pid_t pid, pid_t tid), void *to)
{
	const struct dirent *entry;
	char path[32];
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while (!found && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			found = visit(to, pid, (pid_t)strtol(entry->d_name, NULL, 10));
	closedir(dir);
	return found;
}

static bool visit_children(void *to, pid_t pid, pid_t tid)
{
	add_children(to, pid, tid);
	return false;
}

static bool visit_living(void *to, pid_t pid, pid_t tid)
{
	struct task_stat stat;
	pid_t *ret_tid = to;

	if (!read_stat(tid, &stat) || !has_memory(&stat))
		return false;
	*ret_tid = tid;
	return true;
}

/* A thread with the memory of the process: its leader may have left by pthread_exit. 0: none. */
static pid_t living_thread(pid_t pid, const struct task_stat *leader)
{
	pid_t tid = 0;

	if (has_memory(leader))
		return pid;
	if (leader->threads > 1)
		each_thread(pid, visit_living, &tid);
	return tid;
}

static pid_t parent_of(pid_t pid)
{
	char text[4096];
	uint64_t parent = 0;

	if (procfs_read(text, sizeof(text), "/proc/%d/status", (int)pid) > 0)
		procfs_field(text, "PPid", &parent);
	return (pid_t)parent;
}

/* A child of vfork uses its parent's memory until it calls exec. */
static bool shares_with_parent(pid_t pid)
{
	return syscall(SYS_kcmp, pid, parent_of(pid), KCMP_VM, 0, 0) == 0;
}

/* Whether this look asks every thread for children: of a great many it would take too long. */
static bool asks_for_children(const struct sampler *sampler, const struct task_stat *stat)
{
	return stat->threads <= MANY_THREADS || sampler->tree->looks % MANY_THREADS_LOOKS == 0;
}

static void look_process(struct sampler *sampler, size_t i)
{
	struct process *process = &sampler->processes[i];
	struct task_stat stat, living;
	pid_t pid = process->pid, tid;
	bool exec;

	if (!read_stat(pid, &stat) || (process->started && process->started != stat.started) ||
	    !(tid = living_thread(pid, &stat)) || !read_stat(tid, &living)) {
		process->gone = true;
		return;
	}
	exec = process->started && process->stack != living.stack;
	if (!process->started || exec || process->space == STAT_NO_SPACE)
		process->space = i && !exec && shares_with_parent(pid)
					 ? STAT_NO_SPACE
					 : stat_tree_add(sampler->tree, pid);
	process->started = stat.started;
	process->stack = living.stack;
	stat_tree_look(sampler->tree, process->space, pid, tid);
	if (asks_for_children(sampler, &stat))
		each_thread(pid, visit_children, sampler);
}

/* Children found on the way come behind their parent and are looked at in the same round. */
static void look_all(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->nr; i++)
		if (!sampler->processes[i].gone)
			look_process(sampler, i);
	limits_look_host(&sampler->tree->limits, sampler->processes[0].pid);
	sampler->tree->looks++;
}

static void mark_running(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->nr; i++) {
		const struct process *process = &sampler->processes[i];

		if (!process->gone && process->space != STAT_NO_SPACE)
			sampler->tree->spaces[process->space].running = true;
	}
}

int stat_follow_sampled(struct stat_tree *tree, struct launch *launch)
{
	struct sampler sampler = { .tree = tree };
	struct stat_pace pace;
	struct rusage usage;
	uint64_t began_ns;
	int wait_status;
	char children[48];

	if (!add_process(&sampler, launch->pid)) {
		launch_cancel(launch);
		return -ENOMEM;
	}
	snprintf(children, sizeof(children), "/proc/%d/task/%d/children", (int)launch->pid,
		 (int)launch->pid);
	tree->launched_only = access(children, R_OK);
	began_ns = clock_ns();
	launch_open_gate(launch);
	stat_pace_start(&pace);
	while (wait4(launch->pid, &wait_status, WNOHANG, &usage) == 0) {
		launch_sleep(launch, pace.next_ns);
		if (clock_ns() < pace.next_ns || !launch_is_running(launch))
			continue;
		stat_pace_look(&pace);
		look_all(&sampler);
		stat_pace_looked(&pace);
	}
	stat_tree_ended(tree, began_ns, wait_status, &usage);
	look_all(&sampler);
	mark_running(&sampler);
	free(sampler.processes);
	return 0;
}
