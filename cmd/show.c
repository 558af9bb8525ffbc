/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam show: one screen about the map of a process or of a saved text.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/as_calls.h"
#include "cmd/cmd.h"
#include "cmd/fail_on.h"
#include "cmd/policy.h"
#include "cmd/show_screen.h"
#include "cmd/target.h"
#include "face/show.h"
#include "ui/table.h"

#define MAX_CONDITIONS 16
#define LABEL_SIZE 256

struct options {
	struct target target;
	const char *kernel, *output;
	struct option_list fields;
	bool json, no_header;
	uint64_t watch_s, looks; /* looks 0: until the process ends */
	struct fail_on conditions[MAX_CONDITIONS];
	unsigned int nr_conditions;
};

static int add_condition(void *to, char *text)
{
	struct options *options = to;

	if (options->nr_conditions == MAX_CONDITIONS)
		return -E2BIG;
	if (fail_on_parse(text, &options->conditions[options->nr_conditions]))
		return -EINVAL;
	options->nr_conditions++;
	return 0;
}

/* The fields of -F. */
enum field {
	FIELD_PID,
	FIELD_COMM,
	FIELD_AREAS,
	FIELD_LIMIT,
	FIELD_HEADROOM,
	FIELD_PAIRS,
	FIELD_HOLES,
	FIELD_SOURCE,
	FIELD_KERNEL,
	NR_FIELDS
};

static const char *const field_names[NR_FIELDS] = {
	[FIELD_PID] = "pid",	 [FIELD_COMM] = "comm",		[FIELD_AREAS] = "areas",
	[FIELD_LIMIT] = "limit", [FIELD_HEADROOM] = "headroom", [FIELD_PAIRS] = "touching_pairs",
	[FIELD_HOLES] = "holes", [FIELD_SOURCE] = "source",	[FIELD_KERNEL] = "kernel",
};

static const struct cmd_option known_options[] = {
	OPTION_KERNEL(struct options, kernel,
		      "by the rules of that kernel (linux-host; for a file the newest)"),
	{ .name = "causes",
	  OPTION_FLAG(struct options, target.live.all),
	  .help = "read all of a stranger's process, though it holds it up" },
	{ .name = "watch",
	  OPTION_NUMBER(struct options, watch_s, 1, 86400, "seconds"),
	  .value = "N",
	  .help = "a line every N seconds until the process ends; so with --json" },
	{ .name = "looks",
	  OPTION_NUMBER(struct options, looks, 1, UINT64_MAX, "lines"),
	  .value = "M",
	  .help = "with --watch: end after M lines" },
	{ .name = "fail-on",
	  OPTION_PARSED(add_condition),
	  .value = "C",
	  .expected = "a field (areas, headroom, touching_pairs, holes, cause.NAME, group.NAME), "
		      "one of > >= < <= = and a number",
	  .help = "exit 1 when C holds: 'areas>50000', 'headroom<20%', 'cause.fork>0', "
		  "'group.fiber-stack>100'; may be repeated" },
	OPTION_SKIP_BAD(struct options, target.skip_bad),
	OPTION_JSON(struct options, json),
	OPTION_FIELDS(struct options, fields, field_names, "one row of fields"),
	OPTION_NO_HEADER(struct options, no_header),
	OPTION_REPORT_OUTPUT(struct options, output),
	{ 0 },
};

static int parse_options(struct options *options, int argc, char **argv)
{
	char **operands;
	int status;

	memset(options, 0, sizeof(*options));
	status = options_parse(&cmd_show, argc, argv, options, &operands);
	if (!status)
		status = target_parse(&cmd_show, operands[0], &options->target);
	if (status)
		return status;
	if (operands[1])
		return cmd_usage(&cmd_show, "'%s': one PID or file at a time", operands[1]);
	options->target.live.drop_rights = !options->watch_s;
	if (options->watch_s && options->target.file)
		return cmd_usage(&cmd_show, "--watch wants a PID: a file does not change");
	if (options->looks && !options->watch_s)
		return cmd_usage(&cmd_show, "--looks is for --watch");
	if (options->fields.nr && (options->json || options->watch_s))
		return cmd_usage(&cmd_show, "--fields, --json or --watch, one of them");
	return EXIT_DONE;
}

static void print_pid(struct table *table, const struct show *show)
{
	if (show->file)
		table_cell(table, "-");
	else
		table_cell(table, "%d", show->snapshot.pid);
}

static void print_comm(struct table *table, const struct show *show)
{
	table_cell(table, "%s", show->file ? show->file : show->snapshot.comm);
}

static void print_areas(struct table *table, const struct show *show)
{
	table_cell(table, "%zu", show->snapshot.nr_areas);
}

static void print_limit(struct table *table, const struct show *show)
{
	if (show->area_limit)
		table_cell(table, "%" PRIu64, show->area_limit);
	else
		table_cell(table, "-");
}

static void print_headroom(struct table *table, const struct show *show)
{
	if (show->area_limit)
		table_cell(table, "%" PRId64, show_headroom(show));
	else
		table_cell(table, "-");
}

static void print_pairs(struct table *table, const struct show *show)
{
	table_cell(table, "%" PRIu64, show->findings.touching_pairs);
}

static void print_holes_field(struct table *table, const struct show *show)
{
	table_cell(table, "%" PRIu64, show->findings.holes);
}

static void print_source(struct table *table, const struct show *show)
{
	table_cell(table, "%s", show->snapshot.source);
}

static void print_kernel(struct table *table, const struct show *show)
{
	table_cell(table, "%s", show->findings.policy.name);
}

static void (*const field_cells[NR_FIELDS])(struct table *table, const struct show *show) = {
	[FIELD_PID] = print_pid,	   [FIELD_COMM] = print_comm,
	[FIELD_AREAS] = print_areas,	   [FIELD_LIMIT] = print_limit,
	[FIELD_HEADROOM] = print_headroom, [FIELD_PAIRS] = print_pairs,
	[FIELD_HOLES] = print_holes_field, [FIELD_SOURCE] = print_source,
	[FIELD_KERNEL] = print_kernel,
};

/* One row, for scripts. */
static int print_fields(const struct options *options, const struct show *show, FILE *out)
{
	const struct option_list *fields = &options->fields;
	struct column columns[MAX_LISTED];
	struct table *table;

	for (unsigned int i = 0; i < fields->nr; i++)
		columns[i] = (struct column) { field_names[fields->place[i]], ALIGN_LEFT };
	table = table_new(columns, fields->nr);
	for (unsigned int i = 0; table && i < fields->nr; i++)
		field_cells[fields->place[i]](table, show);
	if (!table || table_print(table, out, !options->no_header))
		return cmd_fail(EXIT_FAILED, "out of memory");
	return EXIT_DONE;
}

/* EXIT_FAILED when a condition holds, after saying which. */
static int check_conditions(const struct options *options, const struct show *show)
{
	int status = EXIT_DONE;

	for (unsigned int i = 0; i < options->nr_conditions; i++) {
		const struct fail_on *condition = &options->conditions[i];
		double value;
		int r = fail_on_check(condition, show, &value);

		if (r < 0)
			status = cmd_fail(EXIT_FAILED,
					  "--fail-on '%s': the limit of a file's process is not "
					  "known",
					  condition->text);
		else if (r)
			status = cmd_fail(EXIT_FAILED, "--fail-on '%s': it is %.10g%s",
					  condition->text, value, condition->percent ? "%" : "");
	}
	return status;
}

static int make(const struct options *options, struct show *ret_show)
{
	struct snapshot snapshot;
	struct seam_policy policy;
	int status = cmd_policy(&cmd_show, options->kernel, options->target.file, &policy);

	if (status)
		return status;
	status = target_read(&options->target, &snapshot);
	if (status)
		return status;
	if (show_make(&snapshot, options->target.file, &policy, ret_show))
		return cmd_fail(EXIT_FAILED, "out of memory");
	return EXIT_DONE;
}

static int print(const struct options *options, const struct show *show, FILE *out)
{
	struct show_extra extra = { 0 };
	char label[LABEL_SIZE], *as_calls = NULL;
	int r;

	if (options->fields.nr)
		return print_fields(options, show, out);
	if (options->json) {
		show_json(show, false, out);
		return EXIT_DONE;
	}
	target_label(&options->target, &show->snapshot, label, sizeof(label));
	if (show->file)
		as_calls = as_calls_text(show->file, &show->findings.policy);
	extra.as_calls = as_calls;
	r = show_screen(show, label, &extra, !options->no_header, out);
	free(as_calls);
	return r ? cmd_fail(EXIT_FAILED, "out of memory") : EXIT_DONE;
}

static int look_once(const struct options *options, FILE *out)
{
	struct show show;
	int status = make(options, &show);

	if (status)
		return status;
	status = print(options, &show, out);
	if (!status)
		status = check_conditions(options, &show);
	show_free(&show);
	return status;
}

/* Growth from the first look on: single minutes jump. */
struct watched {
	struct timespec first_time;
	size_t first_areas;
	unsigned long looks;
};

static double minutes_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9) /
	       60;
}

static struct show_extra watch_growth(struct watched *watched, const struct show *show)
{
	struct show_extra extra = { .growth_known = watched->looks };
	double minutes;

	if (!watched->looks++) {
		clock_gettime(CLOCK_MONOTONIC, &watched->first_time);
		watched->first_areas = show->snapshot.nr_areas;
		return extra;
	}
	minutes = minutes_since(&watched->first_time);
	extra.per_minute =
		((double)show->snapshot.nr_areas - (double)watched->first_areas) / minutes;
	return extra;
}

static void print_watched(const struct options *options, const struct show *show,
			  const struct show_extra *extra, FILE *out)
{
	time_t now = time(NULL);
	char stamp[32], label[LABEL_SIZE];
	struct tm tm;

	if (options->json) {
		show_json(show, true, out);
		return;
	}
	strftime(stamp, sizeof(stamp), "%H:%M:%S", localtime_r(&now, &tm));
	target_label(&options->target, &show->snapshot, label, sizeof(label));
	fprintf(out, "%s %s: ", stamp, label);
	if (extra->growth_known)
		fprintf(out, "%+.1f a minute; ", extra->per_minute);
	show_verdict(show, extra, out);
}

/* A line a look, until the process ends or a condition holds. */
static int watch(const struct options *options, FILE *out)
{
	struct watched watched = { 0 };
	int status;

	do {
		struct show_extra extra;
		struct show show;

		if (watched.looks)
			sleep((unsigned int)options->watch_s);
		status = make(options, &show);
		/* That it ends is what a watch waits for. */
		if (status)
			return watched.looks ? EXIT_DONE : status;
		extra = watch_growth(&watched, &show);
		print_watched(options, &show, &extra, out);
		fflush(out);
		status = check_conditions(options, &show);
		show_free(&show);
	} while (!status && watched.looks != options->looks);
	return status;
}

static int run(int argc, char **argv)
{
	struct options options;
	int status = parse_options(&options, argc, argv);
	FILE *out;

	if (status)
		return status;
	out = cmd_open_output(options.output, stdout);
	if (!out)
		return EXIT_FAILED;
	status = options.watch_s ? watch(&options, out) : look_once(&options, out);
	return cmd_close_output(out, options.output, status);
}

const struct cmd cmd_show = {
	.name = "show",
	.synopsis = "[options] PID|FILE|-",
	.summary = "one screen: how many mappings, why they are apart, what would mend it",
	.about = "FILE is the text of maps or smaps, also pasted or cut, a core file, "
		 "a JVM's log (hs_err), or a map that Valgrind or a sanitizer printed; "
		 "'-' is standard input.",
	.options = known_options,
	.run = run,
};
