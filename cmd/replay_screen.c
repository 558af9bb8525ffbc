/* SPDX-License-Identifier: BSD-2-Clause */
/* The answer, a table of the kernels, and what it says about the argument of 2001. */
#include "cmd/replay_screen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/sentences.h"
#include "face/replay.h"
#include "trace/scan.h"
#include "ui/plain.h"
#include "ui/table.h"

#define MAX_PROCESSES_SHOWN 10

static const char *kernel_label(const struct replay_result *result)
{
	const char *name = result->kernel->policy.name;

	return strncmp(name, "linux-", 6) ? name : name + 6;
}

/* "a", "a and b", "a, b and c" of the kernels that end with as many areas. */
static void print_kernels_with(const struct replay_report *report, uint64_t areas, FILE *out)
{
	unsigned int left = 0;
	bool first = true;

	for (unsigned int i = 0; i < report->nr_results; i++)
		left += report->results[i].areas_end == areas;
	for (unsigned int i = 0; i < report->nr_results; i++) {
		if (report->results[i].areas_end != areas)
			continue;
		left--;
		fprintf(out, "%s%s",
			first  ? ""
			: left ? ", "
			       : " and ",
			kernel_label(&report->results[i]));
		first = false;
	}
}

/* The most areas that are fewer than @below. */
static bool next_fewer(const struct replay_report *report, uint64_t below, uint64_t *ret_areas)
{
	bool found = false;

	for (unsigned int i = 0; i < report->nr_results; i++) {
		uint64_t areas = report->results[i].areas_end;

		if (areas < below && (!found || areas > *ret_areas)) {
			*ret_areas = areas;
			found = true;
		}
	}
	return found;
}

/* What the text says of itself: "It quotes real 3.434 s (2.4.2), 3.167 s (2.2.13)." */
static void print_timings(const struct replay_report *report, FILE *out)
{
	for (size_t i = 0; i < report->nr_timings; i++) {
		const struct mail_timing *timing = &report->timings[i];

		fprintf(out, "%s%.3f s", i ? ", " : " It quotes real ",
			(double)timing->real_ns / 1e9);
		if (timing->title_len)
			fprintf(out, " (%.*s)", (int)timing->title_len, timing->title);
	}
	if (report->nr_timings)
		fputc('.', out);
}

/* "2,250 areas on 2.4.2, 12 on 2.2.13 and 2.4.3" */
static void print_areas(const struct replay_report *report, FILE *out)
{
	uint64_t areas = 0, below = UINT64_MAX;
	char count[COUNTED_TEXT];

	while (next_fewer(report, below, &areas)) {
		if (below == UINT64_MAX)
			fprintf(out, "%s on ", counted(count, areas, "area", "areas"));
		else
			fprintf(out, ", %s on ", count_text(count, areas));
		print_kernels_with(report, areas, out);
		below = areas;
	}
}

void replay_say_calls(const struct replay_report *report, FILE *out)
{
	uint64_t reused = report->facts.reused_addresses;
	char count[SHORT_TEXT];

	fputs(count_text(count, report->facts.calls), out);
	if (reused == 1)
		fputs(" (one address twice)", out);
	else if (reused)
		fprintf(out, " (%s addresses twice)", count_text(count, reused));
	fputs(": ", out);
	print_areas(report, out);
}

static void print_answer(const struct replay_report *report, const struct replay_screen *screen,
			 FILE *out)
{
	print_plain(last_name(screen->file), out);
	fputs(": ", out);
	if (!strcmp(report->facts.format, "mail")) {
		fputs("as calls: ", out);
		replay_say_calls(report, out);
	} else {
		print_areas(report, out);
	}
	fputc('.', out);
	print_timings(report, out);
	fputc('\n', out);
}

/* The columns. */
static void cell_kernel(struct table *table, const struct replay_result *result)
{
	table_cell(table, "%s", result->kernel->policy.name);
}

static void cell_areas(struct table *table, const struct replay_result *result)
{
	table_count(table, result->areas_end);
}

static void cell_peak(struct table *table, const struct replay_result *result)
{
	table_count(table, result->areas_peak);
}

static void cell_tries(struct table *table, const struct replay_result *result)
{
	table_count(table, result->total.join_tries);
}

static void cell_joins(struct table *table, const struct replay_result *result)
{
	table_count(table, result->total.joins);
}

static void cell_splits(struct table *table, const struct replay_result *result)
{
	table_count(table, result->total.splits);
}

static void cell_failed(struct table *table, const struct replay_result *result)
{
	table_count(table, result->total.failed);
}

static void cell_anew(struct table *table, const struct replay_result *result)
{
	table_count(table, result->total.failed_anew);
}

static void cell_skipped(struct table *table, const struct replay_result *result)
{
	table_count(table, result->total.skipped);
}

static void cell_find(struct table *table, const struct replay_result *result)
{
	table_count(table, result->steps.find);
}

static void cell_placement(struct table *table, const struct replay_result *result)
{
	table_count(table, result->steps.placement);
}

static void cell_insert(struct table *table, const struct replay_result *result)
{
	table_count(table, result->steps.insert);
}

static void cell_bytes(struct table *table, const struct replay_result *result)
{
	char text[SHORT_TEXT];

	table_cell(table, "%s", size_text(text, result->kernel_bytes));
}

const char *const replay_fields[REPLAY_NR_FIELDS] = {
	"kernel",      "areas",	  "peak", "tries",     "joins",	 "splits", "failed",
	"failed_anew", "skipped", "find", "placement", "insert", "bytes",
};

/* In the same order. */
static const struct field {
	struct column column;
	void (*cell)(struct table *table, const struct replay_result *result);
	bool always; /* shown without -F even where it is 0 under every kernel */
} fields[REPLAY_NR_FIELDS] = {
	{ { "KERNEL", ALIGN_LEFT }, cell_kernel, true },
	{ { "AREAS", ALIGN_RIGHT }, cell_areas, true },
	{ { "PEAK", ALIGN_RIGHT }, cell_peak, true },
	{ { "TRIES", ALIGN_RIGHT }, cell_tries, true },
	{ { "JOINS", ALIGN_RIGHT }, cell_joins, true },
	{ { "SPLITS", ALIGN_RIGHT }, cell_splits, true },
	{ { "FAILED", ALIGN_RIGHT }, cell_failed, true },
	{ { "ANEW", ALIGN_RIGHT }, cell_anew, false },
	{ { "SKIPPED", ALIGN_RIGHT }, cell_skipped, false },
	{ { "FIND", ALIGN_RIGHT }, cell_find, true },
	{ { "PLACEMENT", ALIGN_RIGHT }, cell_placement, true },
	{ { "INSERT", ALIGN_RIGHT }, cell_insert, true },
	{ { "BYTES", ALIGN_RIGHT }, cell_bytes, true },
};

static bool any_anew(const struct replay_report *report)
{
	for (unsigned int i = 0; i < report->nr_results; i++)
		if (report->results[i].total.failed_anew || report->results[i].total.skipped)
			return true;
	return false;
}

/* The columns to show; the number. */
static unsigned int choose_fields(const struct replay_report *report,
				  const struct option_list *wanted, const struct field **ret_fields)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < wanted->nr; i++)
		ret_fields[nr++] = &fields[wanted->place[i]];
	for (unsigned int i = 0; !wanted->nr && i < REPLAY_NR_FIELDS; i++)
		if (fields[i].always || any_anew(report))
			ret_fields[nr++] = &fields[i];
	return nr;
}

static int print_table(const struct replay_report *report, const struct replay_screen *screen,
		       FILE *out)
{
	const struct field *chosen[MAX_LISTED];
	struct column columns[MAX_LISTED] = { 0 };
	unsigned int nr = choose_fields(report, &screen->fields, chosen);
	struct table *table;

	for (unsigned int i = 0; i < nr; i++)
		columns[i] = chosen[i]->column;
	table = table_new(columns, nr);
	for (unsigned int i = 0; i < report->nr_results; i++)
		for (unsigned int j = 0; j < nr; j++)
			chosen[j]->cell(table, &report->results[i]);
	return table_print(table, out, !screen->no_header);
}

/* Kernels with the most and the fewest areas: what joining makes of this trace. */
static void find_extremes(const struct replay_report *report, const struct replay_result **ret_most,
			  const struct replay_result **ret_fewest)
{
	*ret_most = *ret_fewest = &report->results[0];
	for (unsigned int i = 1; i < report->nr_results; i++) {
		const struct replay_result *result = &report->results[i];

		if (result->areas_end > (*ret_most)->areas_end)
			*ret_most = result;
		if (result->areas_end < (*ret_fewest)->areas_end)
			*ret_fewest = result;
	}
}

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

/*
 * The argument of 2001, answered by this trace: "a merge that does not happen is a loss", "a level
 * more in the tree is not noticeable".
 */
static void print_argument(const struct replay_report *report, FILE *out)
{
	const struct replay_result *most, *fewest;
	char a[SHORT_TEXT], b[SHORT_TEXT], c[SHORT_TEXT];

	find_extremes(report, &most, &fewest);
	if (most->areas_end == fewest->areas_end || !fewest->total.join_tries)
		return;
	fprintf(out, "\nTries: %s compared %s neighbours and joined %s of them (%.1f %%).\n",
		kernel_label(fewest), count_text(a, fewest->total.join_tries),
		count_text(b, fewest->total.joins),
		100 * ratio(fewest->total.joins, fewest->total.join_tries));
	if (most->touched_pages && fewest->touched_pages)
		fprintf(out,
			"A fault: %.1f steps to its area where they are joined (%s), %.1f where "
			"they are not (%s).\n",
			ratio(fewest->touch_find_steps, fewest->touched_pages),
			kernel_label(fewest), ratio(most->touch_find_steps, most->touched_pages),
			kernel_label(most));
	else
		fputs("A fault: nothing in this trace is touched (--touch eager takes all "
		      "writable memory as touched).\n",
		      out);
	fprintf(out, "Placement: %s steps where they are joined (%s), %s where they are not (%s)",
		count_text(a, fewest->steps.placement), kernel_label(fewest),
		count_text(b, most->steps.placement), kernel_label(most));
	if (most->steps.placement > 2 * fewest->steps.placement && fewest->steps.placement)
		fprintf(out, ": %s times as many",
			count_text(c, most->steps.placement / fewest->steps.placement));
	fputs(".\n", out);
}

static void print_failure(const struct replay_result *result, FILE *out)
{
	const struct replay_failure *failure = &result->first_anew;
	const char *error;
	char count[SHORT_TEXT];

	if (!failure->any)
		return;
	error = failure->result < 0 ? strerrorname_np((int)-failure->result) : "refused";
	fprintf(out,
		"%s: the first call that fails anew is number %s, %s (line %" PRIu32 "): %s.\n",
		kernel_label(result), count_text(count, failure->number),
		trace_call_name(failure->call), failure->line, error ? error : "an error");
}

static void print_notes(const struct replay_report *report, FILE *out)
{
	const struct trace_facts *facts = &report->facts;
	char count[COUNTED_TEXT], times[COUNTED_TEXT], differences[COUNTED_TEXT];

	for (unsigned int i = 0; i < report->nr_results; i++)
		print_failure(&report->results[i], out);
	if (report->checkpoints)
		fprintf(out, "Held against the kernel's own map %s: %s, %s undetermined.\n",
			counted(times, report->checkpoints, "time", "times"),
			counted(differences, report->differences, "difference", "differences"),
			count_text(count, report->undetermined));
	if (!facts->complete) {
		fputs("Not complete: ", out);
		for (unsigned int i = 0; i < facts->nr_reasons; i++)
			fprintf(out, "%s%s", i ? "; " : "", facts->incomplete_because[i]);
		fputs(".\n", out);
	}
	say_left_out(facts->bad_lines, "line", "lines", out);
	if (report->not_modelled)
		fprintf(out, "Taken as recorded: %s whose effect on areas is not known here.\n",
			counted(count, report->not_modelled, "call", "calls"));
	if (report->changes)
		fprintf(out, "Taken from the kernel's own map: %s that no call tells.\n",
			counted(count, report->changes, "change", "changes"));
	if (report->touch == TOUCH_EAGER)
		fputs("Touched: all writable private memory (--touch eager); the trace does not "
		      "tell.\n",
		      out);
	else if (report->touch == TOUCH_NEVER)
		fputs("Touched: nothing (--touch never).\n", out);
	for (unsigned int i = 0; i < report->nr_notes; i++)
		fprintf(out, "Note: %s.\n", report->notes[i]);
}

static int compare_areas(const void *left, const void *right)
{
	const struct replay_mm *l = *(const struct replay_mm *const *)left;
	const struct replay_mm *r = *(const struct replay_mm *const *)right;

	if (l->areas_peak != r->areas_peak)
		return l->areas_peak < r->areas_peak ? 1 : -1;
	return l < r ? -1 : l > r;
}

/* The processes with the most areas, under each kernel. */
static int print_processes(const struct replay_report *report, const struct replay_screen *screen,
			   FILE *out)
{
	const struct replay_result *most, *fewest;
	const struct replay_mm **order;
	struct column columns[6] = {
		{ "PID", ALIGN_RIGHT },
		{ "COMM", ALIGN_LEFT, NARROW_CUT },
	};
	unsigned int nr = report->nr_results > 4 ? 4 : report->nr_results;
	struct table *table;

	find_extremes(report, &most, &fewest);
	order = calloc(most->nr_mms, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < most->nr_mms; i++)
		order[i] = &most->mms[i];
	qsort(order, most->nr_mms, sizeof(*order), compare_areas);
	for (unsigned int i = 0; i < nr; i++)
		columns[2 + i] = (struct column) { kernel_label(&report->results[i]), ALIGN_RIGHT };
	table = table_new(columns, 2 + nr);
	for (uint32_t i = 0; i < most->nr_mms && i < MAX_PROCESSES_SHOWN; i++) {
		uint32_t number = (uint32_t)(order[i] - most->mms);

		table_cell(table, "%" PRIu32, report->processes[number].pid);
		table_cell(table, "%s", report->processes[number].comm);
		for (unsigned int j = 0; j < nr; j++)
			table_count(table, report->results[j].mms[number].areas_peak);
	}
	fprintf(out, "\nAreas at the peak of each process%s:\n",
		most->nr_mms > MAX_PROCESSES_SHOWN ? ", the ten with the most" : "");
	free(order);
	return table_print(table, out, !screen->no_header);
}

static void print_maps(const struct replay_report *report, FILE *out)
{
	char areas[COUNTED_TEXT];

	for (unsigned int i = 0; i < report->nr_results; i++) {
		const struct replay_result *result = &report->results[i];

		for (uint32_t j = 0; j < result->nr_mms; j++) {
			const struct replay_mm *mm = &result->mms[j];

			fprintf(out, "\n# %s, pid %" PRIu32 " ", result->kernel->policy.name,
				report->processes[j].pid);
			print_plain(report->processes[j].comm, out);
			fprintf(out, ": %s\n", counted(areas, mm->nr_maps, "area", "areas"));
			for (size_t k = 0; k < mm->nr_maps; k++)
				print_maps_line(report, mm, k, out);
		}
	}
}

int replay_screen(const struct replay_report *report, const struct replay_screen *screen, FILE *out)
{
	int r;

	if (screen->fields.nr)
		return print_table(report, screen, out);
	print_answer(report, screen, out);
	r = print_table(report, screen, out);
	if (r)
		return r;
	print_argument(report, out);
	print_notes(report, out);
	if (report->nr_processes > 1)
		r = print_processes(report, screen, out);
	if (screen->maps)
		print_maps(report, out);
	return r;
}
