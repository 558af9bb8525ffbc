/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/rights.h - a program with more rights than its caller (setuid, setgid, file capabilities)
 * runs without them under an unprivileged tracer.
 */
#ifndef PROBE_RIGHTS_H
#define PROBE_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Whether the program that @pid has just executed lost its rights by our doing. One that would have
 * lost them anyway (nosuid, no_new_privs) did not; @own_no_new_privs: no_new_privs is ours.
 */
bool rights_lost(pid_t pid, bool own_no_new_privs);
/* What a thread may do with memory that others may not: SEAM_MAY_*. 0 when it is gone. */
uint32_t rights_to_memory(pid_t tid);
/* The path of the program; "" when it cannot be read. */
void rights_program(pid_t pid, char *ret_path, size_t size);

#endif
