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

/* From /proc/PID/stat, behind the name that may hold anything. False when it has ended. */
static bool read_stat(pid_t pid, unsigned long long *ret_started, unsigned long long *ret_stack)
{
	char text[1024], *at;
	char state;

	if (procfs_read(text, sizeof(text), "/proc/%d/stat", (int)pid) < 0)
		return false;
	at = strrchr(text, ')');
	if (!at || !at[1])
		return false;
	state = at[2];
	for (unsigned int field = 2; field < 22 && at; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	*ret_started = strtoull(at, &at, 10);
	for (unsigned int field = 22; field < 28 && at; field++)
		at = strchr(at + 1, ' ');
	*ret_stack = at ? strtoull(at, NULL, 10) : 0;
	return state != 'Z' && state != 'X';
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

static void add_children(struct sampler *sampler, pid_t pid, const char *tid)
{
	char text[16384], *at = text, *end;

	if (procfs_read(text, sizeof(text), "/proc/%d/task/%s/children", (int)pid, tid) < 0)
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

/* Any thread may have children. */
static void find_children(struct sampler *sampler, pid_t pid)
{
	const struct dirent *entry;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			add_children(sampler, pid, entry->d_name);
	closedir(dir);
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

static void look_process(struct sampler *sampler, size_t i)
{
	struct process *process = &sampler->processes[i];
	unsigned long long started, stack;
	bool exec;

	if (!read_stat(process->pid, &started, &stack) ||
	    (process->started && process->started != started)) {
		process->gone = true;
		return;
	}
	exec = process->started && process->stack != stack;
	if (!process->started || exec || process->space == STAT_NO_SPACE)
		process->space = i && !exec && shares_with_parent(process->pid)
					 ? STAT_NO_SPACE
					 : stat_tree_add(sampler->tree, process->pid);
	process->started = started;
	process->stack = stack;
	stat_tree_look(sampler->tree, process->space, process->pid, process->pid);
	find_children(sampler, process->pid);
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
	uint64_t began_ns, now;
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
	stat_pace_start(&pace, began_ns);
	while (wait4(launch->pid, &wait_status, WNOHANG, &usage) == 0) {
		launch_sleep(launch, pace.next_ns);
		now = clock_ns();
		if (now < pace.next_ns || !launch_is_running(launch))
			continue;
		look_all(&sampler);
		stat_pace_looked(&pace, now);
	}
	stat_tree_ended(tree, began_ns, wait_status, &usage);
	look_all(&sampler);
	mark_running(&sampler);
	free(sampler.processes);
	return 0;
}
