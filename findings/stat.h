/* SPDX-License-Identifier: BSD-2-Clause */
/* findings/stat.h - what the runs of a program under "seam stat" come to. */
#ifndef FINDINGS_STAT_H
#define FINDINGS_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/stat_tree.h"

#define STAT_NOTES 8
#define STAT_NOTE_SIZE 512

/* One run in numbers. */
struct stat_run {
	uint64_t real_ns, user_ns, sys_ns;
	int status;
};

/* Of one time over all runs. */
struct stat_spread {
	uint64_t min_ns, median_ns, max_ns;
};

struct stat_report {
	const struct stat_run *runs;
	size_t nr_runs; /* at least one */
	struct stat_spread real, user, sys;
	int status;		      /* of the first run that failed */
	const struct stat_tree *tree; /* of the last run */
	/* What a person should know about how it was seen, a sentence each. */
	char notes[STAT_NOTES][STAT_NOTE_SIZE];
	unsigned int nr_notes;
};

/* Of @nr runs, the last of which had @tree; both outlive the report. -ENOMEM. */
int stat_summarise(const struct stat_run *runs, size_t nr, const struct stat_tree *tree,
		   bool sampled, struct stat_report *ret_report);

/* The space that held most areas; NULL when none could be counted. */
const struct stat_space *stat_largest(const struct stat_tree *tree);

#endif
