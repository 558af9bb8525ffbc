/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam replay: the same program under other kernels, or as it happened.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/replay_screen.h"
#include "cmd/trace_kernel.h"
#include "face/replay.h"
#include "face/replay_ops.h"
#include "probe/spec.h"
#include "replay/replay.h"
#include "ui/progress.h"

#define MAX_KERNELS 32
#define DEFAULT_FILE "seam.data"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_OPS, NR_FORMATS };

static const char *const formats[NR_FORMATS] = { "text", "json", "ops" };
static const char *const layouts[] = { [LAYOUT_I386] = "i386", [LAYOUT_X86_64] = "x86-64" };
static const char *const touches[] = {
	[TOUCH_RECORDED] = "recorded", [TOUCH_EAGER] = "eager", [TOUCH_NEVER] = "never"
};

struct options {
	const char *file, *output;
	const char *specs[MAX_KERNELS]; /* of --kernel, each wholly */
	unsigned int nr_specs;
	const char *rules[MAX_KERNELS]; /* files of --rules */
	unsigned int nr_rules;
	enum format format;
	bool json;
	struct replay_options replay;
	struct replay_screen screen;
};

/* A word that begins a kernel; others are rules of the kernel before. */
static bool begins_kernel(const char *word, size_t len)
{
	return !strncmp(word, "linux-", 6) || (len == 5 && !strncmp(word, "plain", 5)) ||
	       (len == 8 && !strncmp(word, "recorded", 8));
}

/* "A,B,-rule,C": a list of kernels, each with the rules behind it. */
static int split_kernels(void *to, char *list)
{
	struct options *options = to;
	char *word = list;

	while (word) {
		size_t len = strcspn(word, ",");

		if (begins_kernel(word, len)) {
			if (options->nr_specs == MAX_KERNELS)
				return -E2BIG;
			options->specs[options->nr_specs++] = word;
			if (word > list)
				word[-1] = 0;
		} else if (word == list) {
			return -EINVAL;
		}
		word = word[len] ? word + len + 1 : NULL;
	}
	return EXIT_DONE;
}

static int add_rules(void *to, char *file)
{
	struct options *options = to;

	if (!*file)
		return -EINVAL;
	if (options->nr_rules == MAX_KERNELS)
		return -E2BIG;
	options->rules[options->nr_rules++] = file;
	return 0;
}

static const struct cmd_option known_options[] = {
	{ .name = "kernel",
	  OPTION_PARSED(split_kernels),
	  .value = "A,B,...",
	  .expected = "names of kernels (seam kernels lists them)",
	  .help = "kernels to replay it under: linux-2.4.2, linux-6.18, linux-6.18,-anon_vma (a "
		  "rule off), linux-host, plain; recorded (the default): as it happened, held "
		  "against the kernel's own maps" },
	{ .name = "rules",
	  OPTION_PARSED(add_rules),
	  .value = "FILE",
	  .expected = "the name of a file",
	  .help = "and under the rules in this file, NAME=VALUE a line" },
	{ .name = "touch",
	  OPTION_WORD(struct options, replay.touch, touches),
	  .value = "HOW",
	  .help = "which memory counts as touched: recorded, eager (all writable private "
		  "anonymous memory), never" },
	{ .name = "place",
	  OPTION_ONLY(struct options, replay.place_recorded, "recorded"),
	  .help = "memory lies where it was recorded; else each kernel finds a place of its own" },
	{ .name = "limit",
	  OPTION_NUMBER(struct options, replay.max_areas, 1, UINT64_MAX, "areas"),
	  .value = "N",
	  .help = "vm.max_map_count" },
	{ .name = "remedy",
	  OPTION_ONLY(struct options, replay.guard_markers, "guard-markers"),
	  .help = "what if guard pages were markers" },
	{ .name = "layout",
	  OPTION_WORD(struct options, replay.layout, layouts),
	  .value = "WHOSE",
	  .help = "address space of a script: i386 or x86-64" },
	{ .name = "maps",
	  OPTION_FLAG(struct options, replay.keep_maps),
	  .help = "the maps of each process at its end" },
	{ .name = "format",
	  OPTION_WORD(struct options, format, formats),
	  .value = "FORMAT",
	  .help = "text, json, or ops: each operation's result and map" },
	{ .name = "json", OPTION_FLAG(struct options, json), .help = "as --format json" },
	OPTION_SKIP_BAD(struct options, replay.trace.skip_bad),
	OPTION_FIELDS(struct options, screen.fields, replay_fields, "these columns only"),
	OPTION_NO_HEADER(struct options, screen.no_header),
	OPTION_REPORT_OUTPUT(struct options, output),
	{ 0 },
};

static int parse_options(struct options *options, int argc, char **argv)
{
	char **operands;
	int status;

	memset(options, 0, sizeof(*options));
	status = options_parse(&cmd_replay, argc, argv, options, &operands);
	if (!status)
		status = operands_file(&cmd_replay, operands, DEFAULT_FILE, &options->file);
	if (status)
		return status;
	if (options->json && options->format == FORMAT_OPS)
		return cmd_usage(&cmd_replay, "one of --json and --format ops");
	if (options->json)
		options->format = FORMAT_JSON;
	if (options->screen.fields.nr && options->format != FORMAT_TEXT)
		return cmd_usage(&cmd_replay, "--fields is for text");
	options->screen.maps = options->replay.keep_maps;
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

	if (source->zero_byte)
		return cmd_fail(EXIT_FAILED, "%s:%" PRIu64 ": " ZERO_BYTE, options->file,
				source->line, source->zero_byte);
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
	if (!r && err)
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
	return cmd_close_output(out, options->output, r);
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
		return cmd_fail(EXIT_FAILED, "%s: %s", options.file, source_error(r));
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
	.about = "FILE is a recording (seam.data, the default), a strace log, an "
		 "operation script or a text with excerpts of them; '-' is standard "
		 "input.",
	.options = known_options,
	.run = run,
};
