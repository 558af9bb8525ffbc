/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/iter.h - kernel truth: the areas as the kernel holds them, read by a BPF iterator.
 *
 * Needs CAP_BPF and CAP_PERFMON, a kernel from 5.12 on with BTF, and a build with libbpf. Reading
 * takes about 0.2 µs an area and holds the target's memory lock for short whiles only. What an
 * older kernel does not have is missing from snapshot.sees.
 */
#ifndef PROBE_ITER_H
#define PROBE_ITER_H

#include <sys/types.h>

#include "trace/snapshot.h"

#define ITER_WHY_SIZE 160

/*
 * The areas of the task @tid (a thread that lives; its leader may have ended). In read_ns: the CPU time
 * of reading, without loading the program.
 *  -EPERM       a capability is missing
 *  -EOPNOTSUPP  no BTF, no such iterator, or built without libbpf
 *  -ESRCH       it has no memory (any more)
 *  -errno       else; *why (ITER_WHY_SIZE bytes) says in words what failed, in each case
 */
int iter_snapshot(pid_t tid, struct snapshot *ret_snapshot, char *why);

/*
 * For many readings: the program is loaded once. Errors as above; reading: -EOPNOTSUPP before 6.1,
 * where the kernel cannot be asked for one task.
 */
struct iter;
int iter_open(struct iter **ret_iter, char *why);
int iter_read(struct iter *iter, pid_t tid, struct snapshot *ret_snapshot, char *why);
void iter_close(struct iter *iter);

struct iter_count {
	pid_t pid;
	uint64_t areas, total_pages;
	char comm[16];
};

/* How many areas each process has, without reading any. Free *ret_counts with free(). Errors as above. */
int iter_counts(struct iter_count **ret_counts, size_t *ret_nr, char *why);

/*
 * Gives up every capability but the two that reading takes, for good. What else is to be read of
 * the target must be open by then.
 */
void iter_drop_privileges(void);

#endif
