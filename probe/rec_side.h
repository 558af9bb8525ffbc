/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/rec_side.h - the mappings that the kernel reports by itself (perf's MMAP2 records), with no
 * rights: also those that no system call of the tree asked for, growing stacks and what drivers map.
 */
#ifndef PROBE_REC_SIDE_H
#define PROBE_REC_SIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct side_map {
	pid_t tid;
	uint64_t start, end;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
};

struct side;

/*
 * Of @pid, which has not made children yet, and of all that come from it once it is open. Opening
 * takes some ten milliseconds where nobody else has such a counter, since the kernel waits until all
 * its processors know of it; so a thread does that, and only of a program that lives for longer.
 * NULL: no memory, or no thread.
 */
struct side *side_begin(pid_t pid);
/* False: not yet, or not here (kernel.perf_event_paranoid above 2, a container's rules). */
bool side_is_open(const struct side *side);
/* Opens it now, and waits until it is open, or known not to open. */
void side_wait(struct side *side);
/* Also of thread @tid, which was there before it was open, and of all that come from it now. */
void side_add(struct side *side, pid_t tid);
void side_close(struct side *side);

/* A report that has come, each processor's in order. False: none. Nobody is told of what did not fit. */
bool side_next(struct side *side, struct side_map *ret_map);

#endif
