/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/limits.h - the limits that can stop a process from getting memory or children, and how
 * near each is. Limits that are not set are left out.
 */
#ifndef PROBE_LIMITS_H
#define PROBE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct limit {
	const char *name; /* "vm.max_map_count", "RLIMIT_AS", "pids.max", ... */
	uint64_t used, max;
	bool bytes; /* else things: areas, threads */
};

struct limits {
	struct limit list[16];
	unsigned int nr;
};

/*
 * What counts for one process: its areas (@areas, as counted by the caller) and its resource
 * limits. Of several looks and processes the nearest stays.
 */
void limits_look_process(struct limits *limits, pid_t pid, uint64_t areas);
/* What it shares: its control groups up to the root, threads, pids, the commit limit. */
void limits_look_host(struct limits *limits, pid_t pid);
/* The nearest first. */
void limits_sort(struct limits *limits);

/*
 * Whether, in overcommit mode 2, the host may have refused to promise so much more: its processes
 * share one limit, of which it keeps some back.
 */
bool limits_commit_short(uint64_t bytes);

/*
 * How much more memory a failed call (enum trace_call) had asked for, of what the host promises, in bytes;
 * 0: none, or it failed for another reason.
 */
uint64_t limits_refused_bytes(unsigned int call, const uint64_t *arg, int64_t result);

/* Whether, in mode 0, it is more than one call may ask for: more than all memory. */
bool limits_beyond_memory(uint64_t bytes);

/* vm.max_map_count at this moment; 0 when it cannot be read. */
uint64_t limits_max_areas(void);

#endif
