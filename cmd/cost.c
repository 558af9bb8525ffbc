/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam cost: what a mapping costs on this machine.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "face/cost.h"
#include "ui/table.h"

#define DEFAULT_LIMIT 65530

struct options {
	const char *output;
	bool json, no_header, no_save;
};

static const struct cmd_option known_options[] = {
	{ .name = "no-save",
	  OPTION_FLAG(struct options, no_save),
	  .help = "do not keep it for seam show" },
	OPTION_JSON(struct options, json),
	OPTION_NO_HEADER(struct options, no_header),
	OPTION_REPORT_OUTPUT(struct options, output),
	{ 0 },
};

static int parse_options(struct options *options, int argc, char **argv)
{
	char **operands;
	int status;

	memset(options, 0, sizeof(*options));
	status = options_parse(&cmd_cost, argc, argv, options, &operands);
	return status ? status : operands_none(&cmd_cost, operands);
}

/* The folders above the last name; those that are there stay as they are. */
static int make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

/* Beside the old one first: a reader sees one or the other, whole. */
static int write_file(const struct cost *cost, char *path)
{
	char fresh[PATH_MAX + 16];
	FILE *out;
	int r = make_folders(path);

	if (r)
		return r;
	snprintf(fresh, sizeof(fresh), "%s.%d", path, (int)getpid());
	out = fopen(fresh, "wxe");
	if (!out)
		return -errno;
	cost_json(cost, path, out);
	r = ferror(out) ? -EIO : 0;
	if (fclose(out) && !r)
		r = -errno;
	if (!r && rename(fresh, path))
		r = -errno;
	if (r)
		unlink(fresh);
	return r;
}

/* Where it is kept; NULL after saying why it is not, unless that was asked for. */
static const char *save(const struct options *options, const struct cost *cost, char *path)
{
	int r;

	if (options->no_save)
		return NULL;
	if (!cost_cache_path(path, PATH_MAX)) {
		cmd_fail(EXIT_DONE, "not kept for seam show: neither XDG_CACHE_HOME nor HOME is a "
				    "folder");
		return NULL;
	}
	r = write_file(cost, path);
	if (!r)
		return path;
	cmd_fail(EXIT_DONE, "not kept for seam show: %s: %s", path, strerror(-r));
	return NULL;
}

static void figure_cell(struct table *table, int64_t value, const char *unit)
{
	char text[SHORT_TEXT];

	if (value == COST_UNKNOWN)
		table_cell(table, "-");
	else
		table_cell(table, "%s %s", count_text(text, (uint64_t)value), unit);
}

/* What a map at the usual limit makes of it. */
static void print_answer(const struct cost *cost, FILE *out)
{
	char areas[SHORT_TEXT], text[SHORT_TEXT];
	int64_t fork = cost->op_ns[COST_fork][COST_TOUCHED];
	int64_t ended = cost->op_ns[COST_exit][COST_TOUCHED];

	fprintf(out, "%s, Linux %s: %s mappings of touched memory make a fork ", cost->host,
		cost->release, count_text(areas, DEFAULT_LIMIT));
	fprintf(out, "%s longer", time_text(text, (uint64_t)(fork * DEFAULT_LIMIT)));
	fprintf(out, " and an exit %s.\n", time_text(text, (uint64_t)(ended * DEFAULT_LIMIT)));
}

static int print_per_area(const struct cost *cost, bool header, FILE *out)
{
	static const struct column columns[] = {
		{ "A MAPPING COSTS", ALIGN_LEFT },
		{ "UNTOUCHED", ALIGN_RIGHT },
		{ "TOUCHED", ALIGN_RIGHT },
	};
	struct table *table = table_new(columns, 3);

	for (int op = 0; op < COST_NR_OPS; op++) {
		table_cell(table, "%s", cost_op_texts[op]);
		for (int kind = 0; kind < COST_NR_KINDS; kind++)
			figure_cell(table, cost->op_ns[op][kind], "ns");
	}
	table_cell(table, "kernel memory");
	for (int kind = 0; kind < COST_NR_KINDS; kind++)
		figure_cell(table, cost->kernel_bytes[kind], "B ");
	return table ? table_print(table, out, header) : -ENOMEM;
}

static int print_controls(const struct cost *cost, bool header, FILE *out)
{
	char many[SHORT_TEXT], title[SHORT_TEXT + 16];
	const struct column columns[] = {
		{ "A CALL COSTS", ALIGN_LEFT },
		{ "WITH FEW", ALIGN_RIGHT },
		{ title, ALIGN_RIGHT },
	};
	static const char *const texts[COST_NR_CONTROLS] = { "mmap", "page fault" };
	struct table *table = table_new(columns, 3);

	snprintf(title, sizeof(title), "WITH %s", count_text(many, cost->areas));
	for (int control = 0; control < COST_NR_CONTROLS; control++) {
		table_cell(table, "%s", texts[control]);
		figure_cell(table, cost->control_ns[control][0], "ns");
		figure_cell(table, cost->control_ns[control][1], "ns");
	}
	return table ? table_print(table, out, header) : -ENOMEM;
}

static int print_screen(const struct options *options, const struct cost *cost, const char *file,
			FILE *out)
{
	int r;

	print_answer(cost, out);
	fputc('\n', out);
	r = print_per_area(cost, !options->no_header, out);
	if (!r) {
		fputc('\n', out);
		r = print_controls(cost, !options->no_header, out);
	}
	if (r)
		return cmd_fail(EXIT_FAILED, "out of memory");
	fprintf(out,
		"\nCPU time above that of the same pages in one mapping; %" PRIu64 " rounds.\n",
		cost->rounds);
	if (cost->bpf_why[0])
		fprintf(out, "Reading by BPF was not measured: %s.\n", cost->bpf_why);
	if (cost->bytes_why[0])
		fprintf(out, "Kernel memory was not measured: %s.\n", cost->bytes_why);
	if (file)
		fprintf(out, "Kept in %s, by which seam show tells what a fork pays.\n", file);
	return EXIT_DONE;
}

static int measure(const struct options *options, FILE *out)
{
	/* any small program does; this one is at hand in an empty chroot too */
	static char self[] = "/proc/self/exe", version[] = "--version";
	static char *const argv[] = { self, version, NULL };
	char path[PATH_MAX];
	const char *file;
	struct cost cost;
	bool watched = isatty(STDERR_FILENO);
	int r;

	if (watched)
		fputs("measuring for some seconds...\r", stderr);
	/* children would write again what stands in buffers */
	fflush(NULL);
	r = cost_measure(argv, &cost);
	if (watched) {
		fputs("\033[K", stderr);
		fflush(stderr);
	}
	if (r)
		return cmd_fail(EXIT_FAILED, "mappings cannot be measured: %s", strerror(-r));
	file = save(options, &cost, path);
	if (options->json) {
		cost_json(&cost, file, out);
		return EXIT_DONE;
	}
	return print_screen(options, &cost, file, out);
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
	status = measure(&options, out);
	return cmd_close_output(out, options.output, status);
}

const struct cmd cmd_cost = {
	.name = "cost",
	.synopsis = "[options]",
	.summary = "what a mapping costs here: fork, exit, exec, reading, memory",
	.about = "Takes some two seconds.",
	.options = known_options,
	.run = run,
};
