/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/stat.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- times ---- */

static int by_value(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* Of the field at @offset of struct stat_run. @scratch has room for @nr values. */
static struct stat_spread spread_of(const struct stat_run *runs, size_t nr, size_t offset,
				    uint64_t *scratch)
{
	for (size_t i = 0; i < nr; i++)
		memcpy(&scratch[i], (const char *)&runs[i] + offset, sizeof(scratch[i]));
	qsort(scratch, nr, sizeof(*scratch), by_value);
	return (struct stat_spread) {
		.min_ns = scratch[0],
		.median_ns = nr % 2 ? scratch[nr / 2] : (scratch[nr / 2 - 1] + scratch[nr / 2]) / 2,
		.max_ns = scratch[nr - 1],
	};
}

static int first_failure(const struct stat_run *runs, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (runs[i].status)
			return runs[i].status;
	return 0;
}

/* ---- notes ---- */

static void note(struct stat_report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void note(struct stat_report *report, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(report->notes[report->nr_notes++], STAT_NOTE_SIZE, format, args);
	va_end(args);
}

static void note_following(struct stat_report *report, bool sampled)
{
	const struct stat_tree *tree = report->tree;

	if (tree->trace_errno)
		note(report,
		     "tracing was refused (%s), so the tree was only sampled (as --sample does)",
		     strerror(tree->trace_errno));
	if (sampled || tree->trace_errno)
		note(report, "sampled: processes that lived shorter than a look may be missing, "
			     "and no count is that of the very end");
	if (tree->launched_only)
		note(report, "this kernel does not tell children (CONFIG_PROC_CHILDREN): only the "
			     "first process was followed");
}

static void note_processes(struct stat_report *report)
{
	const struct stat_tree *tree = report->tree;
	size_t nr_unread = 0, nr_running = 0;

	for (size_t i = 0; i < tree->nr_spaces; i++) {
		nr_unread += !tree->spaces[i].seen;
		nr_running += tree->spaces[i].running;
	}
	if (nr_unread)
		note(report,
		     "%zu %s could not be counted: ended too soon, or not ours to read "
		     "(CAP_SYS_PTRACE)",
		     nr_unread, nr_unread == 1 ? "process" : "processes");
	if (nr_running)
		note(report, "%zu %s still ran when the program had ended", nr_running,
		     nr_running == 1 ? "process" : "processes");
}

static void note_all(struct stat_report *report, bool sampled)
{
	const struct stat_tree *tree = report->tree;

	note_following(report, sampled);
	if (tree->nr_lost_rights)
		note(report,
		     "%zu setuid or privileged %s ran without the rights of its file, first %s: a "
		     "traced program gets them only when seam has CAP_SYS_PTRACE; --sample keeps "
		     "them",
		     (size_t)tree->nr_lost_rights,
		     tree->nr_lost_rights == 1 ? "program" : "programs", tree->lost_rights_path);
	note_processes(report);
	if (tree->out_of_memory)
		note(report, "seam had no memory left: processes are missing");
}

int stat_summarise(const struct stat_run *runs, size_t nr, const struct stat_tree *tree,
		   bool sampled, struct stat_report *ret_report)
{
	uint64_t *scratch = calloc(nr, sizeof(*scratch));

	if (!scratch)
		return -ENOMEM;
	*ret_report = (struct stat_report) {
		.runs = runs,
		.nr_runs = nr,
		.real = spread_of(runs, nr, offsetof(struct stat_run, real_ns), scratch),
		.user = spread_of(runs, nr, offsetof(struct stat_run, user_ns), scratch),
		.sys = spread_of(runs, nr, offsetof(struct stat_run, sys_ns), scratch),
		.status = first_failure(runs, nr),
		.tree = tree,
	};
	free(scratch);
	note_all(ret_report, sampled);
	return 0;
}

const struct stat_space *stat_largest(const struct stat_tree *tree)
{
	const struct stat_space *largest = NULL;

	for (size_t i = 0; i < tree->nr_spaces; i++)
		if (tree->spaces[i].seen &&
		    (!largest || tree->spaces[i].areas_peak > largest->areas_peak))
			largest = &tree->spaces[i];
	return largest;
}
