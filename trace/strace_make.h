/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/strace_make.h - the makers: what each call of an strace log that changes maps becomes as an
 * event, and what it says of the memory that was there.
 */
#ifndef TRACE_STRACE_MAKE_H
#define TRACE_STRACE_MAKE_H

#include "trace/scan.h"
#include "trace/strace.h"

/* A call on its way to become an event. */
struct making {
	struct strace *s;
	uint32_t process; /* index */
	const struct strace_call *call;
	struct event *event;
	struct strace_effect effect;
	bool nothing; /* it changes no map after all */
};

/* The first @nr arguments as numbers. 0 or -EINVAL. */
int making_numbers(struct making *m, unsigned int nr);
/* Whole pages around [addr, addr + len); empty when that does not fit. */
struct range making_pages(uint64_t addr, uint64_t len);

static inline struct strace_process *making_process(const struct making *m)
{
	return &m->s->processes[m->process];
}

static inline bool succeeded(const struct strace_call *call)
{
	return call->result == STRACE_RESULT_VALUE;
}

/* What stands between the quotes. */
static inline struct slice unquoted(struct slice slice)
{
	const char *close;

	scan_blanks(&slice.at, slice.end);
	if (!scan_char(&slice.at, slice.end, '"'))
		return slice;
	close = find_last(slice.at, slice.end, '"');
	return (struct slice) { slice.at, close ? close : slice.end };
}

/* Any call on a range, the first two arguments; any call of numbers alone. */
int make_range(struct making *m);
int make_numbers(struct making *m);
int make_mmap(struct making *m);
int make_mmap2(struct making *m);
int make_munmap(struct making *m);
int make_mremap(struct making *m);
int make_brk(struct making *m);
int make_mbind(struct making *m);
int make_set_mempolicy(struct making *m);
int make_prctl(struct making *m);
int make_ioctl(struct making *m);
int make_setrlimit(struct making *m);
int make_prlimit(struct making *m);
int make_personality(struct making *m);
int make_arch_prctl(struct making *m);
int make_map_shadow_stack(struct making *m);
int make_io_setup(struct making *m);

/* strace_shm.c */
int make_shmat(struct making *m);
int make_shmdt(struct making *m);
/* "shmget(IPC_PRIVATE, 4096, IPC_CREAT|0600) = 12" */
int strace_shmget(struct strace *s, const struct strace_call *call);

#endif
