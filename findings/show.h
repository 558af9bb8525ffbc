/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings/show.h - all that "seam show" knows of one process or file, for its faces.
 */
#ifndef FINDINGS_SHOW_H
#define FINDINGS_SHOW_H

#include <stdint.h>

#include "findings/findings.h"
#include "probe/limits.h"
#include "trace/snapshot.h"

struct show {
	const char *file; /* as the user wrote it; NULL for a living process */
	struct snapshot snapshot;
	struct findings findings; /* of snapshot */
	struct limits limits;	  /* of a living process */
	uint64_t area_limit;	  /* vm.max_map_count; 0: not known, as for a file */
	/* What a fork pays for the areas, and would pay after the first remedy; 0: not measured. */
	uint64_t fork_ns, fork_needed_ns;
};

/* Takes the snapshot over. -ENOMEM; then the snapshot is freed. */
int show_make(struct snapshot *snapshot, const char *file, const struct seam_policy *policy,
	      struct show *ret_show);
void show_free(struct show *show);

/* What share of its limit the count is, 0 to 1 and more; 0 where no limit is known. */
double show_pressure(const struct show *show);
/* Areas that may still be made; -1 is possible (b.10: a count of limit + 1 can be reached). */
int64_t show_headroom(const struct show *show);

#endif
