/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/real.h - operations made for real, by the calling process. Nothing is allocated. */
#ifndef VERIFY_REAL_H
#define VERIFY_REAL_H

#include "verify/op.h"

#define FIRST_FD 3
#define NR_FDS 7

/* The open files of scripts (docs/ops.md), by number from FIRST_FD; -1: cannot be had here. */
struct real_files {
	int fd[NR_FDS];
};

/* Catches the faults of touches. Once a process. */
void real_begin(void);
/* The descriptor behind a script's file number; -1 when there is none. */
int real_fd(const struct real_files *files, uint64_t number);
/*
 * Makes the call. -ENOSYS in *ret_known false: an operation that no process can make (exec, stack,
 * kmmap, limit, fork: the runner's).
 */
bool real_call(const struct real_files *files, const struct op *op, const uint64_t *args,
	       struct outcome *ret_outcome);

#endif
