/* SPDX-License-Identifier: BSD-2-Clause */
/* probe/policies.h - memory policies by numa_maps, which no other text shows. */
#ifndef PROBE_POLICIES_H
#define PROBE_POLICIES_H

#include <sys/types.h>

#include "trace/snapshot.h"

/*
 * Fills numa (equal texts, equal numbers; 0 for "default") in a snapshot just read from @pid, and
 * sets SEES_NUMA. Leaves it as it was when numa_maps cannot be read. Reading it walks the page
 * tables, as smaps does.
 */
void policies_read(pid_t pid, struct snapshot *snapshot);

/* The same from a text: for tests. @text is changed. */
void policies_from_text(char *text, struct snapshot *snapshot);

#endif
