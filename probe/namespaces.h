/* SPDX-License-Identifier: BSD-2-Clause */
/* probe/namespaces.h - what seam itself can see of the host from where it runs. */
#ifndef PROBE_NAMESPACES_H
#define PROBE_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this is the PID or user namespace that the host booted with. */
bool namespaces_first_pid(void);
bool namespaces_first_user(void);
/* False for the number that stands for all users without one here (overflowuid). */
bool namespaces_know_user(uint64_t uid);
/* Whether the numbers that /proc shows are pids of ours. */
bool namespaces_proc_is_ours(void);
/* Whether /proc is mounted with hidepid, and so does not show everybody all processes. */
bool namespaces_proc_hides(void);

#endif
