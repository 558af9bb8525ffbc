/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam stat: real, user and sys of a program as time prints them, and the areas of each process of
 * its tree.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "face/stat.h"
#include "ui/plain.h"
#include "ui/table.h"

#define NS_PER_MS UINT64_C(1000000)
#define MAX_RUNS 100000
#define SHOWN_PROCESSES 20
/* A limit other than that of areas is worth a word from this share on. */
#define NEAR_PERCENT 50

struct options {
	uint64_t runs; /* how often */
	bool json, sample;
	const char *output;
	char **program;
};

static const struct cmd_option known_options[] = {
	{ .name = "repeat",
	  .letter = 'r',
	  OPTION_NUMBER(struct options, runs, 1, MAX_RUNS, "runs"),
	  .value = "N",
	  .help = "run it N times; medians, and the least and the most" },
	{ .name = "sample",
	  OPTION_FLAG(struct options, sample),
	  .help = "attach nothing: a setuid program keeps its rights, but children that live "
		  "shorter than a look (1 to 10 ms) may be missed" },
	OPTION_JSON(struct options, json),
	OPTION_OUTPUT(struct options, output, "the report goes to FILE, not to stderr"),
	{ 0 },
};

static int parse_options(struct options *options, int argc, char **argv)
{
	int status;

	*options = (struct options) { .runs = 1 };
	status = options_parse(&cmd_stat, argc, argv, options, &options->program);
	return status ? status : operands_program(&cmd_stat, options->program);
}

static void print_nearest_limit(const struct stat_tree *tree, FILE *out)
{
	const struct limit *limit = tree->limits.list;
	char used[SHORT_TEXT], max[SHORT_TEXT];
	char *(*text)(char *buf, uint64_t value);

	if (!tree->limits.nr || !strcmp(limit->name, "vm.max_map_count") ||
	    limit->used < limit->max / 100 * NEAR_PERCENT)
		return;
	text = limit->bytes ? size_text : count_text;
	fprintf(out, "; nearest limit: %s %s of %s", limit->name, text(used, limit->used),
		text(max, limit->max));
}

static void print_verdict(const struct stat_tree *tree, FILE *out)
{
	const struct stat_space *largest = stat_largest(tree);
	char areas[SHORT_TEXT], limit[SHORT_TEXT];
	uint64_t max = limits_max_areas();

	if (!largest) {
		fputs("no process could be counted", out);
	} else {
		print_plain(largest->comm, out);
		fprintf(out, " %d: %s", (int)largest->pid, count_text(areas, largest->areas_peak));
		if (max)
			fprintf(out, " of %s", count_text(limit, max));
		fputs(" mappings at its peak (vm.max_map_count)", out);
	}
	print_nearest_limit(tree, out);
	fputs("\n\n", out);
}

static void print_time(FILE *out, const char *name, uint64_t ns)
{
	uint64_t ms = (ns + NS_PER_MS / 2) / NS_PER_MS;

	fprintf(out, "%s\t%" PRIu64 "m%" PRIu64 ".%03" PRIu64 "s\n", name, ms / 60000,
		ms / 1000 % 60, ms % 1000);
}

/* Indexes of the processes that are shown: the largest, in order of creation. */
static size_t smallest_shown(const struct stat_tree *tree, const size_t *shown, size_t nr)
{
	size_t smallest = 0;

	for (size_t i = 1; i < nr; i++)
		if (tree->spaces[shown[i]].areas_peak < tree->spaces[shown[smallest]].areas_peak)
			smallest = i;
	return smallest;
}

static size_t choose_shown(const struct stat_tree *tree, size_t *shown)
{
	size_t nr = 0;

	for (size_t i = 0; i < tree->nr_spaces; i++) {
		if (nr == SHOWN_PROCESSES) {
			size_t out = smallest_shown(tree, shown, nr);

			if (tree->spaces[shown[out]].areas_peak >= tree->spaces[i].areas_peak)
				continue;
			nr--;
			memmove(&shown[out], &shown[out + 1], (nr - out) * sizeof(*shown));
		}
		shown[nr++] = i;
	}
	return nr;
}

/* What the count at the end is worth. */
static const char *end_word(const struct stat_space *space)
{
	return space->running ? " (runs on)" : space->end_exact ? "" : " (last look)";
}

static int print_processes(const struct stat_tree *tree, FILE *out)
{
	static const struct column columns[] = { { "PID", ALIGN_RIGHT },
						 { "PEAK", ALIGN_RIGHT },
						 { "END", ALIGN_RIGHT },
						 { "COMMAND", ALIGN_LEFT, NARROW_CUT } };
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	char peak[SHORT_TEXT], end[SHORT_TEXT];
	size_t shown[SHOWN_PROCESSES], nr = choose_shown(tree, shown);
	int err;

	for (size_t i = 0; i < nr; i++) {
		const struct stat_space *space = &tree->spaces[shown[i]];

		table_cell(table, "%d", (int)space->pid);
		table_cell(table, "%s", space->seen ? count_text(peak, space->areas_peak) : "?");
		if (space->seen)
			table_cell(table, "%s%s", count_text(end, space->areas_end),
				   end_word(space));
		else
			table_cell(table, "?");
		table_cell(table, "%s", space->comm);
	}
	err = table_print(table, out, true);
	if (nr < tree->nr_spaces)
		fprintf(out, "and %s more with fewer (--json has all)\n",
			count_text(peak, tree->nr_spaces - nr));
	return err;
}

static void print_spread(FILE *out, const char *name, struct stat_spread spread, size_t nr_runs)
{
	print_time(out, name, spread.median_ns);
	if (nr_runs == 1)
		return;
	fprintf(out, "\tmedian of %zu runs, %.3f to %.3f s\n", nr_runs, (double)spread.min_ns / 1e9,
		(double)spread.max_ns / 1e9);
}

static int print_report(const struct stat_report *report, FILE *out)
{
	char looks[COUNTED_TEXT];
	int err;

	print_verdict(report->tree, out);
	print_spread(out, "real", report->real, report->nr_runs);
	print_spread(out, "user", report->user, report->nr_runs);
	print_spread(out, "sys", report->sys, report->nr_runs);
	fputc('\n', out);
	err = print_processes(report->tree, out);
	fprintf(out, "\nlooked %s: a peak is the highest seen%s\n",
		counted(looks, report->tree->looks, "time", "times"),
		report->nr_runs > 1 ? "; mappings are those of the last run" : "");
	for (unsigned int i = 0; i < report->nr_notes; i++) {
		fputs("note: ", out);
		print_plain(report->notes[i], out);
		fputc('\n', out);
	}
	return err;
}

/* Runs the program as often as asked, at most until a signal ends it. 0, or a status of seam's. */
static int run_all(const struct options *options, struct stat_run *runs, size_t *ret_nr,
		   struct stat_tree *tree)
{
	size_t nr = 0;

	do {
		int err;

		stat_tree_free(tree);
		err = stat_tree_run(tree, options->program, options->sample);
		if (err)
			return cmd_fail(EXIT_SEAM_FAILED, "%s: could not be started: %s",
					options->program[0], strerror(-err));
		if (tree->exec_errno)
			return cmd_fail(tree->status, "%s: %s", options->program[0],
					strerror(tree->exec_errno));
		runs[nr++] = (struct stat_run) { tree->real_ns, tree->user_ns, tree->sys_ns,
						 tree->status };
	} while (nr < options->runs && tree->status <= 128);
	*ret_nr = nr;
	return 0;
}

/* The status to end with. */
static int report_runs(const struct options *options, const struct stat_run *runs, size_t nr,
		       const struct stat_tree *tree, FILE *out)
{
	struct stat_report report;
	int err = stat_summarise(runs, nr, tree, options->sample, &report);

	if (!err && options->json)
		stat_json(&report, out);
	else if (!err)
		err = print_report(&report, out);
	return err ? cmd_fail(EXIT_SEAM_FAILED, "the report: %s", strerror(-err)) : report.status;
}

static int run_and_report(const struct options *options, FILE *out)
{
	struct stat_run *runs = calloc(options->runs, sizeof(*runs));
	struct stat_tree tree = { 0 };
	size_t nr = 0;
	int status;

	if (!runs)
		return cmd_fail(EXIT_SEAM_FAILED, "-r %" PRIu64 ": %s", options->runs,
				strerror(ENOMEM));
	status = run_all(options, runs, &nr, &tree);
	if (!status)
		status = report_runs(options, runs, nr, &tree, out);
	stat_tree_free(&tree);
	free(runs);
	return status;
}

static int run_stat(int argc, char **argv)
{
	struct options options;
	int status = parse_options(&options, argc, argv);
	FILE *out;

	if (status)
		return status;
	out = cmd_open_output(options.output, stderr);
	if (!out)
		return EXIT_SEAM_FAILED;
	status = run_and_report(&options, out);
	if (cmd_close_output(out, options.output, EXIT_DONE) && !status)
		status = EXIT_SEAM_FAILED;
	return status;
}

const struct cmd cmd_stat = {
	.name = "stat",
	.synopsis = "[-r N] [--sample] [--json] [-o FILE] [--] PROGRAM [ARGUMENT...]",
	.summary = "what time says of a program, and how many mappings its processes held",
	.options = known_options,
	.options_first = true,
	.notes = "The tree is followed by process events only, no call stops. The "
		 "mappings at exit are exact, those before exec from the look before, "
		 "a peak is the highest seen. A setuid program runs without its rights "
		 "under an unprivileged seam, which is then said.\n"
		 "The status is the program's own: 128 + N when signal N ended it, 126 "
		 "not executable, 127 not found, 125 when seam failed.",
	.run = run_stat,
};
