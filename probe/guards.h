/* SPDX-License-Identifier: BSD-2-Clause */
/* probe/guards.h - guard markers (MADV_GUARD_INSTALL, Linux 6.13): no text of /proc shows them. */
#ifndef PROBE_GUARDS_H
#define PROBE_GUARDS_H

#include <sys/types.h>

#include "trace/snapshot.h"

/*
 * Counts the guard pages of each area by PAGEMAP_SCAN and sets SEES_GUARDS. A kernel that cannot
 * tell (before 6.15) leaves the snapshot as it was. @tid: a thread that has the memory.
 *  -E2BIG  not done: so much is resident that it would be felt
 */
int guards_read(int pagemap, pid_t tid, struct snapshot *snapshot);

#endif
