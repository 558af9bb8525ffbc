/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/real.h - operations made for real, by the calling process. Nothing is allocated. */
#ifndef VERIFY_REAL_H
#define VERIFY_REAL_H

#include "verify/op.h"

#define FIRST_FD 3
#define NR_FDS 12

#define NR_UFFDS 3

/* The open files of scripts (docs/ops.md), by number from FIRST_FD; -1: cannot be had here. */
struct real_files {
	int fd[NR_FDS];
	int uffd[NR_UFFDS]; /* 0: not made yet; a process's own */
};

/* Catches the faults of touches. Once a process. */
void real_begin(void);
/* Allocates @nr protection keys with all access. The set of keys that memory may have then; 0: none. */
uint32_t real_alloc_keys(int nr);
/* In a child by fork: what belongs to the parent's memory is not its own. */
void real_forked(struct real_files *files);
/*
 * Makes the call. False: an operation that is none (exec, stack, kmmap), or that the runner makes
 * (fork, exit, limit).
 */
bool real_call(struct real_files *files, const struct op *op, const uint64_t *args,
	       struct outcome *ret_outcome);

#endif
