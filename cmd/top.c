/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam top: all processes by the number of their mappings.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/policy.h"
#include "face/top.h"
#include "findings/top.h"
#include "ui/table.h"

#define DEFAULT_DELAY_MS 3000
/* So many areas are read for the last column in one refresh: some 10 ms. */
#define EXPLAINED_AREAS 20000
/* Lines of a screen that are no rows: the answer, a blank, titles, the last note and its blank. */
#define OTHER_LINES 5
#define PLAIN_ROWS 19

struct options {
	bool once, json, no_header;
	unsigned int delay_ms;
	uint64_t rows; /* 0: as many as fit */
	enum top_order order;
	const char *output, *kernel;
};

static int parse_order(void *to, char *text)
{
	struct options *options = to;

	for (enum top_order order = 0; order < TOP_NR_ORDERS; order++) {
		if (!strcmp(top_order_name(order), text)) {
			options->order = order;
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
	  OPTION_NUMBER(struct options, rows, 1, UINT64_MAX, "rows"),
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
	return status ? status : operands_none(&cmd_top, operands);
}

static void print_row(struct table *table, const struct top *top, const struct top_row *row)
{
	char areas[SHORT_TEXT];
	double growth;

	table_cell(table, "%d", (int)row->pid);
	table_cell(table, "%u", (unsigned int)row->uid);
	table_cell(table, "%s", row->closed ? "?" : count_text(areas, row->areas));
	if (row->closed || !top->limit)
		table_cell(table, "?");
	else
		table_cell(table, "%.1f", 100.0 * (double)row->areas / (double)top->limit);
	if (top_growth(top, row, &growth))
		table_cell(table, "%+.1f", growth);
	else
		table_cell(table, "-");
	table_cell(table, "%s", row->comm);
	table_cell(table, "%s", row->what);
}

/* The answer: the process that is nearest to the limit. */
static void print_answer(const struct top *top, FILE *out)
{
	const struct top_row *most = NULL;
	char areas[SHORT_TEXT], limit[SHORT_TEXT], processes[COUNTED_TEXT];

	for (size_t i = 0; i < top->nr; i++)
		if (!top->rows[i].closed && (!most || top->rows[i].areas > most->areas))
			most = &top->rows[i];
	if (!most)
		fputs("no process can be counted", out);
	else
		fprintf(out, "%s %d has the most: %s of %s mappings (vm.max_map_count)", most->comm,
			(int)most->pid, count_text(areas, most->areas),
			top->limit ? count_text(limit, top->limit) : "?");
	fprintf(out, "; %s\n\n", counted(processes, top->nr, "process", "processes"));
}

static void print_closed(const struct top *top, FILE *out)
{
	if (top->nr_closed)
		fprintf(out,
			"\n%zu of these %s others' and not yours to count: CAP_SYS_PTRACE (root) "
			"shows them\n",
			top->nr_closed, top->nr_closed == 1 ? "is" : "are");
	else if (top->hides_others)
		fputs("\n/proc is mounted with hidepid: it does not show you what others run\n",
		      out);
}

static int print_screen(const struct options *options, const struct top *top, size_t nr, FILE *out)
{
	static const struct column columns[] = {
		{ "PID", ALIGN_RIGHT, false },	      { "UID", ALIGN_RIGHT, false },
		{ "MAPPINGS", ALIGN_RIGHT, false },   { "%LIMIT", ALIGN_RIGHT, false },
		{ "GROWTH/MIN", ALIGN_RIGHT, false }, { "COMMAND", ALIGN_LEFT, false },
		{ "MOST OF IT", ALIGN_LEFT, true },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));

	print_answer(top, out);
	for (size_t i = 0; i < top->nr && i < nr; i++)
		print_row(table, top, &top->rows[i]);
	if (!table || table_print(table, out, !options->no_header))
		return cmd_fail(EXIT_FAILED, "out of memory");
	print_closed(top, out);
	return EXIT_DONE;
}

static size_t rows_shown(const struct options *options, FILE *out)
{
	struct winsize size;

	if (options->rows)
		return options->rows;
	if (options->json)
		return SIZE_MAX;
	if (isatty(fileno(out)) && !ioctl(fileno(out), TIOCGWINSZ, &size) &&
	    size.ws_row > OTHER_LINES + 1)
		return size.ws_row - OTHER_LINES;
	return PLAIN_ROWS;
}

static int look(struct top *top, const struct options *options, const struct seam_policy *policy,
		FILE *out)
{
	size_t nr = rows_shown(options, out);
	int r = top_look(top);

	if (r)
		return cmd_fail(EXIT_FAILED, "processes cannot be read: %s", strerror(-r));
	top_sort(top, options->order);
	top_explain(top, nr, policy, EXPLAINED_AREAS);
	if (options->json) {
		top_json(top, nr, !options->once, out);
		return EXIT_DONE;
	}
	return print_screen(options, top, nr, out);
}

/* The terminal without echo and line editing, so that single keys arrive. */
static bool set_keys(struct termios *ret_saved)
{
	struct termios keys;

	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, ret_saved))
		return false;
	keys = *ret_saved;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	return !tcsetattr(STDIN_FILENO, TCSANOW, &keys);
}

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = 1;
}

/* Keys as in top: M mappings, G growth, N pid, C command, space now, q end. False: end. */
static bool obey_key(struct options *options, char key)
{
	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case 'm':
	case 'M':
	case 'p':
	case 'P':
		options->order = TOP_BY_AREAS;
		break;
	case 'g':
	case 'G':
		options->order = TOP_BY_GROWTH;
		break;
	case 'n':
	case 'N':
		options->order = TOP_BY_PID;
		break;
	case 'c':
	case 'C':
		options->order = TOP_BY_COMM;
		break;
	default:
		break;
	}
	return true;
}

/* Until the delay is over or a key is pressed. False: end. */
static bool wait_for_key(struct options *options, bool keys)
{
	struct pollfd in = { .fd = keys ? STDIN_FILENO : -1, .events = POLLIN };
	char key;

	if (poll(&in, 1, (int)options->delay_ms) <= 0)
		return !stopped;
	if (read(STDIN_FILENO, &key, 1) != 1)
		return false;
	return obey_key(options, key) && !stopped;
}

static int refresh(struct options *options, const struct seam_policy *policy, FILE *out)
{
	const struct sigaction action = { .sa_handler = stop };
	bool screen = !options->json && isatty(fileno(out));
	struct termios saved;
	bool keys = screen && set_keys(&saved);
	struct top top = { 0 };
	int status;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	do {
		/* Home, and clear what is below. */
		if (screen)
			fputs("\033[H\033[J", out);
		status = look(&top, options, policy, out);
		fflush(out);
	} while (!status && !ferror(out) && wait_for_key(options, keys));
	if (keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &saved);
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

		status = look(&top, &options, &policy, out);
		top_free(&top);
	} else {
		status = refresh(&options, &policy, out);
	}
	if (cmd_close_output(out, options.output) && !status)
		status = EXIT_FAILED;
	return status;
}

const struct cmd cmd_top = {
	.name = "top",
	.synopsis = "[options]",
	.summary = "all processes: mappings, share of the limit, growth, what makes most of it",
	.options = known_options,
	.notes = "Keys: M mappings, G growth, N pid, C command, space now, q end. With --json a "
		 "line a\nlook.\n",
	.run = run,
};
