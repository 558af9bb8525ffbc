/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam report: who makes the mappings of a recorded program, and what becomes of their number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/report_screen.h"
#include "cmd/trace_kernel.h"
#include "face/report.h"
#include "sym/symbols.h"
#include "findings/activity.h"

#define DEFAULT_FILE "seam.data"
#define DEFAULT_TOP 10

struct options {
	const char *file, *output, *kernel;
	bool json;
	uint64_t top;
	struct trace_options trace;
	struct report_screen screen;
};

static const struct cmd_option known_options[] = {
	OPTION_KERNEL(struct options, kernel,
		      "by the rules of this kernel; recorded (the default): the trace as it "
		      "happened"),
	{ .name = "top",
	  .letter = 'n',
	  OPTION_NUMBER(struct options, top, 1, 1000000, "rows"),
	  .value = "N",
	  .help = "rows of each table: 10" },
	OPTION_JSON(struct options, json),
	OPTION_NO_HEADER(struct options, screen.no_header),
	OPTION_SKIP_BAD(struct options, trace.skip_bad),
	OPTION_REPORT_OUTPUT(struct options, output),
	{ 0 },
};

static int parse_options(struct options *options, int argc, char **argv)
{
	char **operands;
	int status;

	*options = (struct options) { .kernel = "recorded", .top = DEFAULT_TOP };
	status = options_parse(&cmd_report, argc, argv, options, &operands);
	if (!status)
		status = operands_file(&cmd_report, operands, DEFAULT_FILE, &options->file);
	options->screen.file = options->file;
	options->screen.top = (unsigned int)options->top;
	return status;
}

static int write_report(const struct options *options, const struct activity *activity)
{
	FILE *out = cmd_open_output(options->output, stdout);
	int r = EXIT_DONE;

	if (!out)
		return EXIT_FAILED;
	if (options->json)
		report_json(activity, options->screen.top, out);
	else if (report_screen(activity, &options->screen, out))
		r = cmd_fail(EXIT_FAILED, "%s: %s", options->file, strerror(ENOMEM));
	return cmd_close_output(out, options->output, r);
}

static int report(const struct options *options, struct source *source)
{
	struct replay_kernel kernel = { 0 };
	struct replay_options replay = {
		.kernels = &kernel,
		.nr_kernels = 1,
		.place_recorded = true, /* memory is named by the addresses that it had */
		.trace = options->trace,
	};
	struct activity activity;
	struct trace_error error;
	int r = cmd_trace_kernel(&cmd_report, options->kernel, source, &options->trace, &kernel);
	struct symbols *symbols;
	int err;

	if (r)
		return r;
	symbols = symbols_new();
	replay.trace.symbol = symbols ? symbols_name : NULL;
	replay.trace.symbols = symbols;
	err = activity_run(source, &replay, &activity, &error);
	r = err ? cmd_trace_error(source, err, &error) : write_report(options, &activity);
	activity_free(&activity);
	symbols_free(symbols);
	return r;
}

static int run(int argc, char **argv)
{
	struct options options;
	struct source source;
	int r = parse_options(&options, argc, argv);

	if (r)
		return r;
	r = source_open(options.file, &source);
	if (r)
		return cmd_fail(EXIT_FAILED, "%s: %s", options.file, source_error(r));
	r = report(&options, &source);
	source_close(&source);
	return r;
}

const struct cmd cmd_report = {
	.name = "report",
	.synopsis = "[options] [FILE]",
	.summary = "who makes the mappings: by call, thread, file, call site; growth",
	.about = "FILE is a recording (seam.data, the default), a strace log or an "
		 "operation script; '-' is standard input.",
	.options = known_options,
	.run = run,
};
