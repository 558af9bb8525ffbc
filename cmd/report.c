/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam report: who makes the mappings of a recorded program, and what becomes of their number.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/number.h"
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
	struct trace_options trace;
	struct report_screen screen;
};

enum { OPTION_NO_HEADER = 256, OPTION_SKIP_BAD };

static int parse_top(struct options *options, const char *text)
{
	uint64_t value;

	if (!number_parse(text, 10, 1, 1000000, &value))
		return cmd_usage(&cmd_report, "--top %s: a number of rows from 1 expected", text);
	options->screen.top = (unsigned int)value;
	return EXIT_DONE;
}

static int parse_option(struct options *options, int option)
{
	switch (option) {
	case 'j':
		options->json = true;
		return EXIT_DONE;
	case 'k':
		options->kernel = optarg;
		return EXIT_DONE;
	case 'n':
		return parse_top(options, optarg);
	case 'o':
		options->output = optarg;
		return EXIT_DONE;
	case OPTION_NO_HEADER:
		options->screen.no_header = true;
		return EXIT_DONE;
	case OPTION_SKIP_BAD:
		options->trace.skip_bad = true;
		return EXIT_DONE;
	default:
		return -1;
	}
}

static int parse_options(struct options *options, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "kernel", required_argument, NULL, 'k' },
		{ "no-header", no_argument, NULL, OPTION_NO_HEADER },
		{ "output", required_argument, NULL, 'o' },
		{ "skip-bad", no_argument, NULL, OPTION_SKIP_BAD },
		{ "top", required_argument, NULL, 'n' },
		{ 0 },
	};
	int option, r;

	*options = (struct options) { .kernel = "recorded", .screen.top = DEFAULT_TOP };
	opterr = 0;
	optind = 0; /* of glibc: starts anew */
	while ((option = getopt_long(argc, argv, ":n:o:", longs, NULL)) != -1) {
		if (option == ':')
			return cmd_usage(&cmd_report, "%s wants a value", argv[optind - 1]);
		r = parse_option(options, option);
		if (r < 0)
			return cmd_usage(&cmd_report, "no option %s", argv[optind - 1]);
		if (r)
			return r;
	}
	if (argc - optind > 1)
		return cmd_usage(&cmd_report, "one trace at a time");
	options->file = optind < argc ? argv[optind] : DEFAULT_FILE;
	options->screen.file = options->file;
	return EXIT_DONE;
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
	if (cmd_close_output(out, options->output) && !r)
		r = EXIT_FAILED;
	return r;
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
		return cmd_fail(EXIT_FAILED, "%s: %s", options.file, strerror(-r));
	r = report(&options, &source);
	source_close(&source);
	return r;
}

const struct cmd cmd_report = {
	.name = "report",
	.synopsis = "[options] [FILE]",
	.summary = "who makes the mappings: by call, thread, file, call site; do they grow",
	.help = "FILE is a recording (seam.data, the default), a strace log or an operation "
		"script;\n"
		"'-' is standard input.\n\n"
		"      --kernel K         by the rules of this kernel; recorded (the default): "
		"the\n"
		"                         trace as it happened\n"
		"  -n, --top N            rows of each table: 10\n"
		"      --json             for machines\n"
		"      --no-header        no column titles\n"
		"      --skip-bad         leave out lines that cannot be read\n"
		"  -o, --output FILE      write there\n",
	.run = run,
};
