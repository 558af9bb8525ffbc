/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam top: all processes by the number of their mappings.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/policy.h"
#include "cmd/top_screen.h"
#include "face/top.h"
#include "ui/terminal.h"

#define DEFAULT_DELAY_MS 3000

struct options {
	bool once, json, no_header;
	unsigned int delay_ms;
	struct top_view view;
	const char *output, *kernel;
};

static int parse_order(void *to, char *text)
{
	struct options *options = to;

	for (enum top_order order = 0; order < TOP_NR_ORDERS; order++) {
		if (!strcmp(top_order_name(order), text)) {
			options->view.order = order;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_delay(void *to, char *text)
{
	struct options *options = to;
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.1) || seconds > 86400)
		return -EINVAL;
	options->delay_ms = (unsigned int)(seconds * 1000);
	return 0;
}

static const struct cmd_option known_options[] = {
	{ .name = "once", OPTION_FLAG(struct options, once), .help = "one look, then end" },
	{ .name = "delay",
	  .letter = 'd',
	  OPTION_PARSED(parse_delay),
	  .value = "S",
	  .expected = "seconds from 0.1 to 86400",
	  .help = "seconds between looks (3)" },
	{ .name = "sort",
	  .letter = 's',
	  OPTION_PARSED(parse_order),
	  .value = "KEY",
	  .expected = "areas, growth, pid or comm",
	  .help = "sort by areas, growth, pid or comm" },
	{ .name = "rows",
	  .letter = 'n',
	  OPTION_NUMBER(struct options, view.rows, 1, UINT64_MAX, "rows"),
	  .value = "N",
	  .help = "show N processes" },
	OPTION_JSON(struct options, json),
	OPTION_KERNEL(struct options, kernel, "by the rules of that kernel (linux-host)"),
	OPTION_NO_HEADER(struct options, no_header),
	OPTION_REPORT_OUTPUT(struct options, output),
	{ 0 },
};

static int parse_options(struct options *options, int argc, char **argv)
{
	char **operands;
	int status;

	*options = (struct options) { .delay_ms = DEFAULT_DELAY_MS };
	status = options_parse(&cmd_top, argc, argv, options, &operands);
	options->view.header = !options->no_header;
	return status ? status : operands_none(&cmd_top, operands);
}

static int look_once(struct options *options, struct top *top, const struct seam_policy *policy,
		     FILE *out)
{
	size_t nr = options->view.rows ? options->view.rows : SIZE_MAX;
	int status;

	if (!options->json)
		return top_report(top, &options->view, policy, out);
	status = top_look_at(top, &options->view, policy, nr);
	if (!status)
		top_json(top, nr, !options->once, out);
	return status;
}

/* A line a look for programs; else screens one below the other, or one that stays. */
static int look_again(struct options *options, const struct seam_policy *policy, FILE *out)
{
	struct top_view *view = &options->view;
	struct top top = { 0 };
	int status;

	if (!options->json && terminal_is(out)) {
		status = top_watch(&top, view, policy, options->delay_ms, out);
		top_free(&top);
		return status;
	}
	for (bool first = true;; first = false) {
		if (!first && !options->json)
			fputc('\n', out);
		status = look_once(options, &top, policy, out);
		fflush(out);
		if (status || ferror(out) || poll(NULL, 0, (int)options->delay_ms))
			break;
	}
	top_free(&top);
	return status;
}

static int run(int argc, char **argv)
{
	struct options options;
	struct seam_policy policy;
	int status = parse_options(&options, argc, argv);
	FILE *out;

	if (!status)
		status = cmd_policy(&cmd_top, options.kernel, false, &policy);
	if (status)
		return status;
	out = cmd_open_output(options.output, stdout);
	if (!out)
		return EXIT_FAILED;
	if (options.once) {
		struct top top = { 0 };

		status = look_once(&options, &top, &policy, out);
		top_free(&top);
	} else {
		status = look_again(&options, &policy, out);
	}
	return cmd_close_output(out, options.output, status);
}

const struct cmd cmd_top = {
	.name = "top",
	.synopsis = "[options]",
	.summary = "all processes: mappings, share of the limit, growth, most of it",
	.options = known_options,
	.notes = "Keys: M mappings, G growth, N pid, C command, I the other way round, "
		 "arrows and pages other processes, space now, h help, q end.\n"
		 "With --json a line a look.",
	.run = run,
};
