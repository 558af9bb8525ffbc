/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam replay: the same program under other kernels, or as it happened.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/number.h"
#include "cmd/replay_screen.h"
#include "cmd/trace_kernel.h"
#include "face/replay.h"
#include "face/replay_ops.h"
#include "probe/spec.h"
#include "replay/replay.h"
#include "ui/progress.h"

#define MAX_KERNELS 32
#define DEFAULT_FILE "seam.data"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_OPS };

struct options {
	const char *file, *output;
	const char *specs[MAX_KERNELS]; /* of --kernel, each wholly */
	unsigned int nr_specs;
	const char *rules[MAX_KERNELS]; /* files of --rules */
	unsigned int nr_rules;
	enum format format;
	struct replay_options replay;
	struct replay_screen screen;
};

enum {
	OPTION_FORMAT = 256,
	OPTION_LAYOUT,
	OPTION_LIMIT,
	OPTION_MAPS,
	OPTION_NO_HEADER,
	OPTION_PLACE,
	OPTION_REMEDY,
	OPTION_RULES,
	OPTION_SKIP_BAD,
	OPTION_TOUCH,
};

/* Looks a word up; -1 when it is none of them. */
static int word_number(const char *word, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(word, words[i]))
			return i;
	return -1;
}

static int parse_format(struct options *options, const char *text)
{
	static const char *const formats[] = { "text", "json", "ops", NULL };
	int format = word_number(text, formats);

	if (format < 0)
		return cmd_usage(&cmd_replay, "--format %s: text, json or ops expected", text);
	options->format = (enum format)format;
	return EXIT_DONE;
}

static int parse_layout(struct options *options, const char *text)
{
	static const char *const layouts[] = { "i386", "x86-64", NULL };
	int layout = word_number(text, layouts);

	if (layout < 0)
		return cmd_usage(&cmd_replay, "--layout %s: i386 or x86-64 expected", text);
	options->replay.layout = (enum replay_layout)(LAYOUT_I386 + layout);
	options->replay.trace.layout_i386 = options->replay.layout == LAYOUT_I386;
	return EXIT_DONE;
}

static int parse_touch(struct options *options, const char *text)
{
	static const char *const touches[] = { "recorded", "eager", "never", NULL };
	int touch = word_number(text, touches);

	if (touch < 0)
		return cmd_usage(&cmd_replay, "--touch %s: recorded, eager or never expected",
				 text);
	options->replay.touch = (enum replay_touch)(TOUCH_RECORDED + touch);
	return EXIT_DONE;
}

static int parse_limit(struct options *options, const char *text)
{
	if (!number_parse(text, 10, 1, UINT64_MAX, &options->replay.max_areas))
		return cmd_usage(&cmd_replay, "--limit %s: a number of areas from 1 expected",
				 text);
	return EXIT_DONE;
}

/* A word that begins a kernel; others are rules of the kernel before. */
static bool begins_kernel(const char *word, size_t len)
{
	return !strncmp(word, "linux-", 6) || (len == 5 && !strncmp(word, "plain", 5)) ||
	       (len == 8 && !strncmp(word, "recorded", 8));
}

/* "A,B,-rule,C": a list of kernels, each with the rules behind it. */
static int split_kernels(struct options *options, char *list)
{
	char *word = list;

	while (word) {
		size_t len = strcspn(word, ",");

		if (begins_kernel(word, len)) {
			if (options->nr_specs == MAX_KERNELS)
				return cmd_usage(&cmd_replay, "--kernel: more than %d",
						 MAX_KERNELS);
			options->specs[options->nr_specs++] = word;
			if (word > list)
				word[-1] = 0;
		} else if (word == list) {
			return cmd_usage(&cmd_replay, "--kernel %s: no such kernel", list);
		}
		word = word[len] ? word + len + 1 : NULL;
	}
	return EXIT_DONE;
}

static int parse_option(struct options *options, int option)
{
	switch (option) {
	case 'j':
		options->format = FORMAT_JSON;
		return EXIT_DONE;
	case 'k':
		return split_kernels(options, optarg);
	case 'o':
		options->output = optarg;
		return EXIT_DONE;
	case 'F':
		options->screen.fields = optarg;
		return EXIT_DONE;
	case OPTION_FORMAT:
		return parse_format(options, optarg);
	case OPTION_LAYOUT:
		return parse_layout(options, optarg);
	case OPTION_LIMIT:
		return parse_limit(options, optarg);
	case OPTION_MAPS:
		options->replay.keep_maps = options->screen.maps = true;
		return EXIT_DONE;
	case OPTION_NO_HEADER:
		options->screen.no_header = true;
		return EXIT_DONE;
	case OPTION_PLACE:
		if (strcmp(optarg, "recorded"))
			return cmd_usage(&cmd_replay, "--place %s: recorded expected", optarg);
		options->replay.place_recorded = true;
		return EXIT_DONE;
	case OPTION_REMEDY:
		if (strcmp(optarg, "guard-markers"))
			return cmd_usage(&cmd_replay, "--remedy %s: guard-markers expected",
					 optarg);
		options->replay.guard_markers = true;
		return EXIT_DONE;
	case OPTION_RULES:
		if (options->nr_rules == MAX_KERNELS)
			return cmd_usage(&cmd_replay, "--rules: more than %d", MAX_KERNELS);
		options->rules[options->nr_rules++] = optarg;
		return EXIT_DONE;
	case OPTION_SKIP_BAD:
		options->replay.trace.skip_bad = true;
		return EXIT_DONE;
	case OPTION_TOUCH:
		return parse_touch(options, optarg);
	default:
		return -1;
	}
}

static int parse_options(struct options *options, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "fields", required_argument, NULL, 'F' },
		{ "format", required_argument, NULL, OPTION_FORMAT },
		{ "json", no_argument, NULL, 'j' },
		{ "kernel", required_argument, NULL, 'k' },
		{ "layout", required_argument, NULL, OPTION_LAYOUT },
		{ "limit", required_argument, NULL, OPTION_LIMIT },
		{ "maps", no_argument, NULL, OPTION_MAPS },
		{ "no-header", no_argument, NULL, OPTION_NO_HEADER },
		{ "output", required_argument, NULL, 'o' },
		{ "place", required_argument, NULL, OPTION_PLACE },
		{ "remedy", required_argument, NULL, OPTION_REMEDY },
		{ "rules", required_argument, NULL, OPTION_RULES },
		{ "skip-bad", no_argument, NULL, OPTION_SKIP_BAD },
		{ "touch", required_argument, NULL, OPTION_TOUCH },
		{ 0 },
	};
	int option, r;

	memset(options, 0, sizeof(*options));
	opterr = 0;
	optind = 0; /* of glibc: starts anew */
	while ((option = getopt_long(argc, argv, ":o:F:", longs, NULL)) != -1) {
		if (option == ':')
			return cmd_usage(&cmd_replay, "%s wants a value", argv[optind - 1]);
		r = parse_option(options, option);
		if (r < 0)
			return cmd_usage(&cmd_replay, "no option %s", argv[optind - 1]);
		if (r)
			return r;
	}
	if (argc - optind > 1)
		return cmd_usage(&cmd_replay, "one trace at a time");
	options->file = optind < argc ? argv[optind] : DEFAULT_FILE;
	options->screen.file = options->file;
	return EXIT_DONE;
}

static int read_rules(const char *file, struct replay_kernel *kernel)
{
	char why[POLICY_ERROR_SIZE];

	kernel->recorded = false;
	if (policy_from_file(file, &kernel->policy, why))
		return cmd_fail(EXIT_FAILED, "%s", why);
	return EXIT_DONE;
}

static int read_kernels(struct options *options, struct source *source,
			struct replay_kernel *kernels)
{
	unsigned int nr = 0;
	int r = EXIT_DONE;

	if (!options->nr_specs && !options->nr_rules)
		options->specs[options->nr_specs++] = source->kind == SOURCE_OPS ? "linux-host"
										 : "recorded";
	for (unsigned int i = 0; !r && i < options->nr_specs; i++)
		r = cmd_trace_kernel(&cmd_replay, options->specs[i], source, &options->replay.trace,
				     &kernels[nr++]);
	for (unsigned int i = 0; !r && i < options->nr_rules; i++)
		r = read_rules(options->rules[i], &kernels[nr++]);
	options->replay.kernels = kernels;
	options->replay.nr_kernels = nr;
	return r;
}

/* Each kernel in a pass of its own: their outputs follow each other. */
static int write_ops(struct options *options, struct source *source, FILE *out)
{
	struct replay_options one = options->replay;
	int r = EXIT_DONE;

	if (source->kind != SOURCE_OPS)
		return cmd_fail(EXIT_FAILED,
				"%s: this is %s; --format ops is for operation scripts",
				options->file, source_kind_name(source->kind));
	for (unsigned int i = 0; !r && i < options->replay.nr_kernels; i++) {
		struct replay_watcher watcher;
		struct replay_report report = { 0 };
		struct ops_writer writer = { .out = out, .report = &report };
		struct trace_error error;
		int err;

		one.kernels = &options->replay.kernels[i];
		one.nr_kernels = 1;
		one.watcher = &watcher;
		ops_begin(&writer, &one.kernels->policy, options->file, &watcher);
		err = replay_run(source, &one, &report, &error);
		if (err && err != -ECANCELED)
			r = cmd_trace_error(source, err, &error);
		replay_report_free(&report);
	}
	return r;
}

static void show_progress(void *ctx, uint64_t calls)
{
	progress_step(ctx, calls);
}

static int write_report(struct options *options, struct source *source, FILE *out)
{
	struct replay_report report;
	struct trace_error error;
	struct progress progress;
	int r = EXIT_DONE, err;

	progress_begin(&progress, "calls");
	options->replay.progress = show_progress;
	options->replay.progress_ctx = &progress;
	err = replay_run(source, &options->replay, &report, &error);
	progress_end(&progress);
	if (err)
		r = cmd_trace_error(source, err, &error);
	else if (options->format == FORMAT_JSON)
		replay_json(&report, options->replay.keep_maps, out);
	else
		err = replay_screen(&report, &options->screen, out);
	if (!r && err == -EINVAL)
		r = cmd_usage(&cmd_replay, "-F %s: no such field", options->screen.fields);
	else if (!r && err)
		r = cmd_fail(EXIT_FAILED, "%s: %s", options->file, strerror(-err));
	replay_report_free(&report);
	return r;
}

static int write_output(struct options *options, struct source *source)
{
	FILE *out = cmd_open_output(options->output, stdout);
	int r;

	if (!out)
		return EXIT_FAILED;
	r = options->format == FORMAT_OPS ? write_ops(options, source, out)
					  : write_report(options, source, out);
	if (cmd_close_output(out, options->output) && !r)
		r = EXIT_FAILED;
	return r;
}

static int run(int argc, char **argv)
{
	struct replay_kernel kernels[2 * MAX_KERNELS] = { 0 };
	struct options options;
	struct source source;
	int r = parse_options(&options, argc, argv);

	if (r)
		return r;
	r = source_open(options.file, &source);
	if (r)
		return cmd_fail(EXIT_FAILED, "%s: %s", options.file, strerror(-r));
	r = read_kernels(&options, &source, kernels);
	if (!r)
		r = write_output(&options, &source);
	source_close(&source);
	return r;
}

const struct cmd cmd_replay = {
	.name = "replay",
	.synopsis = "[options] [FILE]",
	.summary = "the same program under other kernels",
	.help = "FILE is a recording (seam.data, the default), a strace log, an operation script\n"
		"or a text with excerpts of them; '-' is standard input.\n\n"
		"      --kernel A,B,…     kernels to replay it under: linux-2.4.2, linux-6.18,\n"
		"                         linux-6.18,-anon_vma (a rule off), linux-host, plain;\n"
		"                         recorded (the default): as it happened, held\n"
		"                         against the kernel's own maps\n"
		"      --rules FILE       and under the rules in this file, NAME=VALUE a line\n"
		"      --touch HOW        which memory counts as touched: recorded, eager (all\n"
		"                         writable private anonymous memory), never\n"
		"      --place recorded   memory lies where it was recorded; else each kernel\n"
		"                         finds a place of its own\n"
		"      --limit N          vm.max_map_count\n"
		"      --remedy NAME      what if guard pages were markers: guard-markers\n"
		"      --layout WHOSE     address space of a script: i386 or x86-64\n"
		"      --maps             the maps of each process at its end\n"
		"      --format FORMAT    text, json, or ops: each operation's result and map\n"
		"      --json             as --format json\n"
		"      --skip-bad         leave out lines that cannot be read\n"
		"  -F, --fields A,B,…     these columns only: kernel, areas, peak, tries, joins,\n"
		"                         splits, failed, failed_anew, skipped, find, placement,\n"
		"                         insert, bytes\n"
		"      --no-header        no column titles\n"
		"  -o, --output FILE      write there\n",
	.run = run,
};
