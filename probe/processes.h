/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/processes.h - all processes with the number of their areas: by BPF where it works, else by
 * counting lines of maps.
 */
#ifndef PROBE_PROCESSES_H
#define PROBE_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
	pid_t pid;
	uid_t uid;
	char comm[32];
	uint64_t areas;
	bool closed; /* its maps may not be read: areas is 0 */
};

struct processes {
	struct process *list; /* by pid */
	size_t nr;
	size_t nr_closed;
	const char *source; /* "bpf" or "maps" */
};

/* Kernel threads and processes that have exited are left out. -errno of /proc, -ENOMEM. */
int processes_read(struct processes *ret_processes);
void processes_free(struct processes *processes);

#endif
