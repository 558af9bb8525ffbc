/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/top_screen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "trace/clock.h"
#include "ui/plain.h"
#include "ui/table.h"
#include "ui/terminal.h"

/* So many areas are read for the last column in one refresh: some 10 ms. */
#define EXPLAINED_AREAS 20000
/* Lines of a screen that are no rows: the answer, a blank, titles, the last note and its blank. */
#define OTHER_LINES 5
#define PLAIN_ROWS 19

int top_look_at(struct top *top, const struct top_view *view, const struct seam_policy *policy,
		size_t nr)
{
	int r = top_look(top);

	if (r)
		return cmd_fail(EXIT_FAILED, "processes cannot be read: %s", strerror(-r));
	top_sort(top, view->order, view->reverse);
	top_explain(top, view->first, nr, policy, EXPLAINED_AREAS);
	return EXIT_DONE;
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
	if (!most) {
		fputs("no process can be counted", out);
	} else {
		print_plain(most->comm, out);
		fprintf(out, " %d: %s of %s mappings (vm.max_map_count)", (int)most->pid,
			count_text(areas, most->areas),
			top->limit ? count_text(limit, top->limit) : "?");
	}
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

static int print_top(const struct top *top, const struct top_view *view, size_t nr, size_t columns,
		     bool colours, FILE *out)
{
	static const struct column titles[] = {
		{ "PID", ALIGN_RIGHT },
		{ "UID", ALIGN_RIGHT },
		{ "MAPPINGS", ALIGN_RIGHT },
		{ "%LIMIT", ALIGN_RIGHT },
		{ "GROWTH/MIN", ALIGN_RIGHT },
		{ "COMMAND", ALIGN_LEFT },
		{ "MOST OF IT", ALIGN_LEFT, NARROW_CUT },
	};
	struct table *table = table_new(titles, sizeof(titles) / sizeof(titles[0]));

	print_answer(top, out);
	for (size_t i = view->first; table && i < top->nr && i - view->first < nr; i++)
		print_row(table, top, &top->rows[i]);
	if (!table || table_print_within(table, out, view->header, columns, colours))
		return cmd_fail(EXIT_FAILED, "out of memory");
	print_closed(top, out);
	return EXIT_DONE;
}

static size_t rows_shown(const struct top_view *view, FILE *out)
{
	size_t rows = terminal_rows(out);

	if (view->rows)
		return view->rows;
	return rows != SIZE_MAX && rows > OTHER_LINES + 1 ? rows - OTHER_LINES : PLAIN_ROWS;
}

int top_report(struct top *top, const struct top_view *view, const struct seam_policy *policy,
	       FILE *out)
{
	size_t nr = rows_shown(view, out);
	int status = top_look_at(top, view, policy, nr);

	return status ? status
		      : print_top(top, view, nr, terminal_columns(out), terminal_colours(out), out);
}

static const char help[] = "Keys of seam top, as in top and htop\n"
			   "\n"
			   "  M P      most mappings first\n"
			   "  G T      most growth first\n"
			   "  N        by process number\n"
			   "  C        by command\n"
			   "  I R      the other way round\n"
			   "  < >      the order before, the next one\n"
			   "  arrows, page up and down, home, end   other processes\n"
			   "  space    look now\n"
			   "  h ? F1   this page\n"
			   "  q F10    end\n"
			   "\n"
			   "Any key goes back.\n";

struct watch {
	struct top *top;
	struct top_view *view;
	const struct seam_policy *policy;
	struct terminal terminal;
	size_t nr; /* rows on the screen */
	bool helps;
};

static int draw(struct watch *watch)
{
	FILE *out = watch->terminal.out, *frame;
	char *text = NULL;
	size_t size;
	int status;

	if (watch->helps) {
		terminal_show(&watch->terminal, help);
		return EXIT_DONE;
	}
	frame = open_memstream(&text, &size);
	if (!frame)
		return cmd_fail(EXIT_FAILED, "out of memory");
	status = print_top(watch->top, watch->view, watch->nr, terminal_columns(out),
			   terminal_colours(out), frame);
	if (fclose(frame) && !status)
		status = cmd_fail(EXIT_FAILED, "out of memory");
	if (!status)
		terminal_show(&watch->terminal, text);
	free(text);
	return status;
}

static void order_by(struct watch *watch, enum top_order order)
{
	watch->view->order = order;
	watch->view->first = 0;
}

/* Up and down, not beyond the last screenful. */
static void scroll(struct watch *watch, ssize_t by)
{
	size_t last = watch->top->nr > watch->nr ? watch->top->nr - watch->nr : 0;
	size_t first = watch->view->first;

	if (by < 0)
		first = first > (size_t)-by ? first - (size_t)-by : 0;
	else
		first = first + (size_t)by;
	watch->view->first = first < last ? first : last;
}

static void obey_order_key(struct watch *watch, int key)
{
	enum top_order order = watch->view->order;

	switch (key) {
	case 'm':
	case 'M':
	case 'p':
	case 'P':
		return order_by(watch, TOP_BY_AREAS);
	case 'g':
	case 'G':
	case 't':
	case 'T':
		return order_by(watch, TOP_BY_GROWTH);
	case 'n':
	case 'N':
		return order_by(watch, TOP_BY_PID);
	case 'c':
	case 'C':
		return order_by(watch, TOP_BY_COMM);
	case '>':
		return order_by(watch, (order + 1) % TOP_NR_ORDERS);
	case '<':
		return order_by(watch, (order + TOP_NR_ORDERS - 1) % TOP_NR_ORDERS);
	case 'i':
	case 'I':
	case 'r':
	case 'R':
		watch->view->reverse = !watch->view->reverse;
	}
}

/* False: end. */
static bool obey_key(struct watch *watch, int key)
{
	bool helped = watch->helps;

	watch->helps = false;
	switch (key) {
	case 'q':
	case 'Q':
	case KEY_F10:
	case KEY_STOP:
		return false;
	case KEY_RESIZED:
		watch->helps = helped;
		break;
	case 'h':
	case 'H':
	case '?':
	case KEY_F1:
		watch->helps = !helped;
		break;
	case KEY_UP:
		scroll(watch, -1);
		break;
	case KEY_DOWN:
		scroll(watch, 1);
		break;
	case KEY_PAGE_UP:
		scroll(watch, -(ssize_t)watch->nr);
		break;
	case KEY_PAGE_DOWN:
		scroll(watch, (ssize_t)watch->nr);
		break;
	case KEY_HOME:
		watch->view->first = 0;
		break;
	case KEY_END:
		scroll(watch, (ssize_t)watch->top->nr);
		break;
	default:
		if (!helped)
			obey_order_key(watch, key);
	}
	return true;
}

/* Obeys keys until the next look is due: held keys do not make it look more often. False: end. */
static bool obey_keys(struct watch *watch, unsigned int delay_ms, int *ret_status)
{
	uint64_t due_ns = clock_ns() + (uint64_t)delay_ms * 1000000;

	for (;;) {
		uint64_t now_ns = clock_ns();
		int key = now_ns < due_ns
				  ? terminal_key(&watch->terminal,
						 (int)((due_ns - now_ns + 999999) / 1000000))
				  : KEY_NONE;

		if (key == KEY_NONE || key == ' ')
			return true;
		if (!obey_key(watch, key))
			return false;
		watch->nr = rows_shown(watch->view, watch->terminal.out);
		top_sort(watch->top, watch->view->order, watch->view->reverse);
		top_explain(watch->top, watch->view->first, watch->nr, watch->policy,
			    EXPLAINED_AREAS);
		*ret_status = draw(watch);
		if (*ret_status)
			return false;
	}
}

int top_watch(struct top *top, struct top_view *view, const struct seam_policy *policy,
	      unsigned int delay_ms, FILE *out)
{
	struct watch watch = { .top = top, .view = view, .policy = policy };
	int status;

	terminal_open(&watch.terminal, out);
	do {
		watch.nr = rows_shown(view, out);
		status = top_look_at(top, view, policy, watch.nr);
		scroll(&watch, 0);
		if (!status)
			status = draw(&watch);
	} while (!status && !ferror(out) && obey_keys(&watch, delay_ms, &status));
	terminal_close(&watch.terminal);
	return status;
}
