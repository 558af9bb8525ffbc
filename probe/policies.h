/* SPDX-License-Identifier: BSD-2-Clause */
/* probe/policies.h - memory policies by numa_maps, which no other text shows. */
#ifndef PROBE_POLICIES_H
#define PROBE_POLICIES_H

#include "trace/snapshot.h"

/*
 * Fills numa (equal texts, equal numbers; 0 for "default") in a snapshot of the process that the
 * text of numa_maps is about, and sets SEES_NUMA. @text is changed.
 */
void policies_from_text(char *text, struct snapshot *snapshot);

#endif
