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
#include "face/json.h"
#include "face/show.h"
#include "probe/stat_tree.h"
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

static const struct stat_space *largest_space(const struct stat_tree *tree)
{
	const struct stat_space *largest = NULL;

	for (size_t i = 0; i < tree->nr_spaces; i++)
		if (tree->spaces[i].seen &&
		    (!largest || tree->spaces[i].areas_peak > largest->areas_peak))
			largest = &tree->spaces[i];
	return largest;
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
	const struct stat_space *largest = largest_space(tree);
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

/* What a person should know about how it was seen, one sentence each. */
static void each_note(const struct stat_tree *tree, bool sample,
		      void (*say)(void *to, const char *text), void *to)
{
	size_t nr_unread = 0, nr_running = 0;
	char text[512], count[COUNTED_TEXT];

	for (size_t i = 0; i < tree->nr_spaces; i++) {
		nr_unread += !tree->spaces[i].seen;
		nr_running += tree->spaces[i].running;
	}
	if (tree->trace_errno) {
		snprintf(
			text, sizeof(text),
			"tracing was refused (%s), so the tree was only sampled (as --sample does)",
			strerror(tree->trace_errno));
		say(to, text);
	}
	if (sample || tree->trace_errno)
		say(to, "sampled: processes that lived shorter than a look may be missing, and no "
			"count is that of the very end");
	if (tree->launched_only)
		say(to, "this kernel does not tell children (CONFIG_PROC_CHILDREN): only the first "
			"process was followed");
	if (tree->nr_lost_rights) {
		snprintf(text, sizeof(text),
			 "%s ran without the rights of its file, first %s: a traced program gets "
			 "them only when seam has CAP_SYS_PTRACE; --sample keeps them",
			 counted(count, tree->nr_lost_rights, "setuid or privileged program",
				 "setuid or privileged programs"),
			 tree->lost_rights_path);
		say(to, text);
	}
	if (nr_unread) {
		snprintf(text, sizeof(text),
			 "%s could not be counted: ended too soon, or not ours to read "
			 "(CAP_SYS_PTRACE)",
			 counted(count, nr_unread, "process", "processes"));
		say(to, text);
	}
	if (nr_running) {
		snprintf(text, sizeof(text), "%s still ran when the program had ended",
			 counted(count, nr_running, "process", "processes"));
		say(to, text);
	}
	if (tree->out_of_memory)
		say(to, "seam had no memory left: processes are missing");
}

static void say_to_stream(void *to, const char *text)
{
	fprintf(to, "note: %s\n", text);
}

static void say_to_json(void *to, const char *text)
{
	json_string(to, NULL, text);
}

static int by_value(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* One run in numbers; the tree is kept of the last only. */
struct run {
	uint64_t real_ns, user_ns, sys_ns;
	int status;
};

struct spread {
	uint64_t min, median, max;
};

/* Over @nr runs, of the field at @offset of struct run. @scratch has room for @nr values. */
static struct spread spread_of(const struct run *runs, size_t nr, size_t offset, uint64_t *scratch)
{
	for (size_t i = 0; i < nr; i++)
		memcpy(&scratch[i], (const char *)&runs[i] + offset, sizeof(scratch[i]));
	qsort(scratch, nr, sizeof(*scratch), by_value);
	return (struct spread) { .min = scratch[0],
				 .median = nr % 2 ? scratch[nr / 2]
						  : (scratch[nr / 2 - 1] + scratch[nr / 2]) / 2,
				 .max = scratch[nr - 1] };
}

struct report {
	const struct stat_tree *tree;
	const struct run *runs;
	size_t nr_runs;
	struct spread real, user, sys;
	int status;
	bool sampled;
};

static void print_spread(FILE *out, const char *name, struct spread spread, size_t nr_runs)
{
	print_time(out, name, spread.median);
	if (nr_runs == 1)
		return;
	fprintf(out, "\tmedian of %zu runs, ", nr_runs);
	fprintf(out, "%.3f to %.3f s\n", (double)spread.min / 1e9, (double)spread.max / 1e9);
}

static int print_report(const struct report *report, FILE *out)
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
	each_note(report->tree, report->sampled, say_to_stream, out);
	return err;
}

static void json_processes(struct json *json, const struct stat_tree *tree)
{
	json_open(json, "processes", '[');
	for (size_t i = 0; i < tree->nr_spaces; i++) {
		const struct stat_space *space = &tree->spaces[i];

		json_open(json, NULL, '{');
		json_int(json, "pid", space->pid);
		json_string(json, "comm", space->comm);
		if (space->seen) {
			json_uint(json, "areas_peak", space->areas_peak);
			json_uint(json, "areas_end", space->areas_end);
		} else {
			json_null(json, "areas_peak");
			json_null(json, "areas_end");
		}
		json_bool(json, "areas_end_exact", space->end_exact);
		json_bool(json, "running", space->running);
		json_null(json, "calls");
		json_null(json, "failed_calls");
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void json_runs(struct json *json, const struct report *report)
{
	json_open(json, "runs", '[');
	for (size_t i = 0; i < report->nr_runs; i++) {
		json_open(json, NULL, '{');
		json_uint(json, "real_ns", report->runs[i].real_ns);
		json_uint(json, "user_ns", report->runs[i].user_ns);
		json_uint(json, "sys_ns", report->runs[i].sys_ns);
		json_int(json, "status", report->runs[i].status);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void print_json(const struct report *report, FILE *out)
{
	struct json json;

	json_report(&json, out, "stat");
	json_uint(&json, "real_ns", report->real.median);
	json_uint(&json, "user_ns", report->user.median);
	json_uint(&json, "sys_ns", report->sys.median);
	json_int(&json, "status", report->status);
	json_processes(&json, report->tree);
	json_bool(&json, "peak_sampled", true);
	json_uint(&json, "looks", report->tree->looks);
	json_limits(&json, &report->tree->limits);
	json_runs(&json, report);
	json_open(&json, "notes", '[');
	each_note(report->tree, report->sampled, say_to_json, &json);
	json_close(&json, ']');
	json_close(&json, '}');
	json_end(&json);
}

/* Runs the program as often as asked, at most until a signal ends it. 0, or a status of seam's. */
static int run_all(const struct options *options, struct report *report, struct run *runs,
		   struct stat_tree *tree)
{
	for (size_t i = 0; i < options->runs; i++) {
		int err;

		stat_tree_free(tree);
		err = stat_tree_run(tree, options->program, options->sample);
		if (err)
			return cmd_fail(EXIT_SEAM_FAILED, "%s: could not be started: %s",
					options->program[0], strerror(-err));
		if (tree->exec_errno) {
			cmd_fail(0, "%s: %s", options->program[0], strerror(tree->exec_errno));
			return tree->status;
		}
		runs[i] = (struct run) { tree->real_ns, tree->user_ns, tree->sys_ns, tree->status };
		report->nr_runs++;
		if (!report->status)
			report->status = tree->status;
		if (tree->status > 128)
			break;
	}
	return 0;
}

static void summarise(struct report *report, uint64_t *scratch)
{
	report->real =
		spread_of(report->runs, report->nr_runs, offsetof(struct run, real_ns), scratch);
	report->user =
		spread_of(report->runs, report->nr_runs, offsetof(struct run, user_ns), scratch);
	report->sys =
		spread_of(report->runs, report->nr_runs, offsetof(struct run, sys_ns), scratch);
}

static int run_stat(int argc, char **argv)
{
	struct options options;
	struct stat_tree tree = { 0 };
	struct report report = { .tree = &tree };
	int status = parse_options(&options, argc, argv), err = 0;
	struct run *runs;
	uint64_t *scratch;
	FILE *out;

	if (status)
		return status;
	out = cmd_open_output(options.output, stderr);
	if (!out)
		return EXIT_SEAM_FAILED;
	runs = calloc(options.runs, sizeof(*runs));
	scratch = calloc(options.runs, sizeof(*scratch));
	if (!runs || !scratch) {
		status = cmd_fail(EXIT_SEAM_FAILED, "-r %" PRIu64 ": %s", options.runs,
				  strerror(ENOMEM));
		goto out;
	}
	report.runs = runs;
	report.sampled = options.sample;
	status = run_all(&options, &report, runs, &tree);
	if (status)
		goto out;
	status = report.status;
	summarise(&report, scratch);
	if (options.json)
		print_json(&report, out);
	else
		err = print_report(&report, out);
	if (err)
		status = cmd_fail(EXIT_SEAM_FAILED, "the report: %s", strerror(-err));
out:
	if (cmd_close_output(out, options.output, EXIT_DONE) && !status)
		status = EXIT_SEAM_FAILED;
	stat_tree_free(&tree);
	free(scratch);
	free(runs);
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
