/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings/cost.h - what was measured by "seam cost", kept in a file, and what a process pays by
 * it. The file is the JSON report.
 */
#ifndef FINDINGS_COST_H
#define FINDINGS_COST_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/cost.h"
#include "trace/snapshot.h"

/* $XDG_CACHE_HOME/seam/cost.json, else under ~/.cache. False when there is no home. */
bool cost_cache_path(char *buf, size_t size);
/*
 * What fork costs, as measured on this host under this very kernel: op_ns[COST_fork] alone is
 * filled. -ENOENT when there is no such measurement.
 */
int cost_cache_load(struct cost *ret_cost);

/* What fork pays for all areas of a snapshot, without their pages. */
uint64_t cost_of_fork_ns(const struct cost *cost, const struct snapshot *snapshot);

#endif
