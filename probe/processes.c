/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/processes.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "probe/iter.h"
#include "probe/mm_text.h"
#include "probe/procfs.h"

static uid_t uid_of(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) ? (uid_t)-1 : st.st_uid;
}

static void read_comm(struct process *process)
{
	if (procfs_read_comm(process->comm, sizeof(process->comm), process->pid) <= 0)
		process->comm[0] = '\0';
}

/* Kernel threads have no command line and no memory; asking them all for maps would take longer. */
static bool count(struct process *process)
{
	int r = procfs_count_areas(process->pid, &process->areas);
	pid_t tid;

	if (!r && !process->areas) {
		tid = mm_thread(process->pid);
		if (tid <= 0 || tid == process->pid)
			return false;
		r = procfs_count_areas(tid, &process->areas);
	}
	process->closed = r == -EACCES || r == -EPERM;
	return process->closed || (!r && process->areas);
}

static struct process *add(struct processes *processes, size_t *room)
{
	if (processes->nr == *room) {
		size_t wanted = *room ? *room * 2 : 256;
		struct process *list = realloc(processes->list, wanted * sizeof(*list));

		if (!list)
			return NULL;
		processes->list = list;
		*room = wanted;
	}
	memset(&processes->list[processes->nr], 0, sizeof(processes->list[0]));
	return &processes->list[processes->nr++];
}

static int read_counts(struct processes *processes)
{
	char why[ITER_WHY_SIZE];
	struct iter_count *counts;
	size_t nr, room = 0;

	if (iter_counts(&counts, &nr, why))
		return -EOPNOTSUPP;
	for (size_t i = 0; i < nr; i++) {
		struct process *process;

		if (!counts[i].areas)
			continue;
		process = add(processes, &room);
		if (!process) {
			free(counts);
			return -ENOMEM;
		}
		process->pid = counts[i].pid;
		process->uid = uid_of(process->pid);
		process->areas = counts[i].areas;
		snprintf(process->comm, sizeof(process->comm), "%.16s", counts[i].comm);
	}
	free(counts);
	processes->source = "bpf";
	return 0;
}

static int read_maps(struct processes *processes)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t room = 0;
	int r = 0;

	if (!proc)
		return -errno;
	while (!r && (entry = readdir(proc))) {
		struct process *process;
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0)
			continue;
		process = add(processes, &room);
		if (!process) {
			r = -ENOMEM;
			break;
		}
		process->pid = pid;
		if (!count(process)) {
			processes->nr--;
			continue;
		}
		process->uid = uid_of(pid);
		read_comm(process);
		processes->nr_closed += process->closed;
	}
	closedir(proc);
	processes->source = "maps";
	return r;
}

static int by_pid(const void *left, const void *right)
{
	const struct process *l = left, *r = right;

	return l->pid < r->pid ? -1 : l->pid > r->pid;
}

int processes_read(struct processes *ret_processes)
{
	struct processes processes = { 0 };
	int r = read_counts(&processes);

	if (r == -EOPNOTSUPP)
		r = read_maps(&processes);
	if (r) {
		processes_free(&processes);
		return r;
	}
	if (processes.nr)
		qsort(processes.list, processes.nr, sizeof(*processes.list), by_pid);
	*ret_processes = processes;
	return 0;
}

void processes_free(struct processes *processes)
{
	free(processes->list);
	memset(processes, 0, sizeof(*processes));
}
