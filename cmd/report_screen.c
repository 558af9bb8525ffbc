/* SPDX-License-Identifier: BSD-2-Clause */
/* The largest process and what became of its areas; then who made them. */
#include "cmd/report_screen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/sentences.h"
#include "trace/scan.h"
#include "ui/plain.h"
#include "ui/table.h"

#define CURVE_WIDTH 48
#define MAX_CAUSES 6

static void print_growth(const struct growth *growth, FILE *out)
{
	char text[SHORT_TEXT];

	fprintf(out, "they %s", growth_text(growth->kind));
	if (growth->kind == GROWTH_growing && growth->brief)
		fputs(", in too short a time to tell whether they would go on", out);
	else if (growth->kind == GROWTH_growing && growth->has_rate) {
		if (growth->per_minute >= 10)
			fprintf(out, ", by %s a minute",
				count_text(text, (uint64_t)growth->per_minute));
		else
			fprintf(out, ", by %.1f a minute", growth->per_minute);
	}
	if (growth->reaches_limit) {
		fputs(", the limit in about ", out);
		say_minutes(growth->minutes_to_limit, out);
	}
}

/* "seam.data: java 4711 held 211 of 65,530 mappings at its peak, 198 at its end; they ..." */
static void print_answer(const struct activity *a, const struct report_screen *screen,
			 uint32_t largest, FILE *out)
{
	const struct replay_process *process = &a->replay.processes[largest];
	const struct replay_mm *mm = &a->replay.results[0].mms[largest];
	const struct activity_space *space = &a->spaces[largest];
	char peak[SHORT_TEXT], limit[SHORT_TEXT], end[SHORT_TEXT];

	print_plain(last_name(screen->file), out);
	fputs(": ", out);
	print_plain(*process->comm ? process->comm : "the process", out);
	if (process->pid)
		fprintf(out, " %" PRIu32, process->pid);
	if (a->nr_spaces > 1)
		fprintf(out, ", the largest of %s processes,", count_text(peak, a->nr_spaces));
	fprintf(out, " held %s of %s mappings at its peak, %s at its end; ",
		count_text(peak, mm->areas_peak), count_text(limit, space->limit),
		count_text(end, mm->areas_end));
	print_growth(&space->growth, out);
	fputs(".\n", out);
}

/* The count over its calls, as a curve of one line. */
static void print_curve(const struct series *series, FILE *out)
{
	static const char *const heights[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const levels[] = { "1", "2", "3", "4", "5", "6", "7", "8" };
	char calls[COUNTED_TEXT], time[SHORT_TEXT], least_text[SHORT_TEXT], most_text[SHORT_TEXT];
	uint64_t least = UINT64_MAX, most = 0;
	uint32_t width = series->nr < CURVE_WIDTH ? series->nr : CURVE_WIDTH;

	if (series->nr < 2)
		return;
	for (uint32_t i = 0; i < series->nr; i++) {
		least = series->points[i].least < least ? series->points[i].least : least;
		most = series->points[i].most > most ? series->points[i].most : most;
	}
	fprintf(out, "over its %s",
		counted(calls, (series->nr - 1) * series->stride + series->in_last, "call",
			"calls"));
	if (series->points[series->nr - 1].time_ns)
		fprintf(out, " in %s",
			time_text(time, series->points[series->nr - 1].time_ns -
						series->points[0].time_ns));
	fputs("  ", out);
	for (uint32_t i = 0; i < width; i++) {
		uint64_t areas = series->points[(uint64_t)(i + 1) * series->nr / width - 1].areas;
		uint64_t height = most > least ? (areas - least) * 7 / (most - least) : 0;

		fputs(beyond_ascii(heights[height], levels[height]), out);
	}
	fprintf(out, "  %s to %s\n", count_text(least_text, least), count_text(most_text, most));
}

static int print_table(const struct activity *a, enum activity_kind kind,
		       const struct report_screen *screen, FILE *out)
{
	static const char *const titles[] = { "CALL", "THREAD", "FILE", "CALL SITE" };
	const struct activity_table *rows = &a->tables[kind];
	struct column columns[] = {
		{ "CALLS", ALIGN_RIGHT },
		{ "MADE", ALIGN_RIGHT },
		{ "REMOVED", ALIGN_RIGHT },
		{ "SPLITS", ALIGN_RIGHT },
		{ "JOINS", ALIGN_RIGHT },
		{ "REFUSED", ALIGN_RIGHT },
		{ "FAILED", ALIGN_RIGHT },
		{ "AT END", ALIGN_RIGHT },
		{ titles[kind], ALIGN_LEFT, NARROW_CUT },
	};
	bool at_end = kind == ACTIVITY_BY_file;
	struct table *table;
	char count[SHORT_TEXT];

	if (!at_end)
		columns[7] = columns[8];
	fputc('\n', out);
	table = table_new(columns, at_end ? 9 : 8);
	for (uint32_t i = 0; i < rows->nr && i < screen->top; i++) {
		const struct activity_counts *counts = &rows->rows[i].counts;

		table_count(table, counts->calls);
		table_count(table, counts->made);
		table_count(table, counts->removed);
		table_count(table, counts->splits);
		table_count(table, counts->joins);
		table_count(table, counts->refused);
		table_count(table, counts->failed);
		if (at_end)
			table_count(table, rows->rows[i].areas_end);
		table_cell(table, "%s", rows->rows[i].name);
	}
	if (table_print(table, out, !screen->no_header))
		return -ENOMEM;
	if (rows->nr > screen->top)
		fprintf(out, "and %s more\n", count_text(count, rows->nr - screen->top));
	return 0;
}

#define WHY_SIZE 400

/* "different protection; page offsets do not continue" */
static char *why_text(char buf[WHY_SIZE], uint32_t causes)
{
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned int bit = 0; bit < SEAM_NR_CAUSES; bit++)
		if (causes >> bit & 1 && len < WHY_SIZE)
			len += (size_t)snprintf(buf + len, WHY_SIZE - len, "%s%s", len ? "; " : "",
						seam_cause_text(bit));
	return buf;
}

/* As seam show has it, of all processes when they ended. */
static int print_causes(const struct activity *a, const struct report_screen *screen, FILE *out)
{
	static const struct column columns[] = {
		{ "PAIRS", ALIGN_RIGHT },
		{ "WHY APART AT THE END", ALIGN_LEFT, NARROW_WRAPS },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	char why[WHY_SIZE];
	uint64_t rest = 0;

	fputc('\n', out);
	for (uint32_t i = 0; i < a->nr_causes && i < MAX_CAUSES; i++) {
		table_count(table, a->causes[i].pairs);
		table_cell(table, "%s", why_text(why, a->causes[i].causes));
	}
	for (uint32_t i = MAX_CAUSES; i < a->nr_causes; i++)
		rest += a->causes[i].pairs;
	if (rest) {
		table_count(table, rest);
		table_cell(table, "for %u other sets of reasons", a->nr_causes - MAX_CAUSES);
	}
	return table_print(table, out, !screen->no_header);
}

static void print_failures(const struct activity *a, const struct report_screen *screen, FILE *out)
{
	char count[SHORT_TEXT], first[SHORT_TEXT];

	if (!a->nr_failures)
		return;
	fputs("\nCalls that failed:\n", out);
	for (uint32_t i = 0; i < a->nr_failures && i < screen->top; i++) {
		const struct activity_failure *failure = &a->failures[i];
		const char *error = failure->result < 0 ? strerrorname_np((int)-failure->result)
							: "refused";

		fprintf(out, "  %s %s %s, first call %s of process %" PRIu32 "\n",
			count_text(count, failure->calls), trace_call_name(failure->call),
			error ? error : "error", count_text(first, failure->first_call),
			failure->first_pid);
	}
}

static void print_gaps(const struct trace_facts *facts, FILE *out)
{
	if (facts->complete)
		return;
	fputs("Not complete: ", out);
	for (unsigned int i = 0; i < facts->nr_reasons; i++)
		fprintf(out, "%s%s", i ? "; " : "", facts->incomplete_because[i]);
	fputs(".\n", out);
}

static void print_notes(const struct activity *a, FILE *out)
{
	if (!a->has_stacks)
		fputs("\nThe trace has no call stacks: who called is not known (seam record "
		      "--stacks, strace -k).\n",
		      out);
	print_gaps(&a->replay.facts, out);
}

int report_screen(const struct activity *a, const struct report_screen *screen, FILE *out)
{
	uint32_t largest = activity_largest(a);
	int err = 0;

	if (largest >= a->nr_spaces) {
		print_plain(last_name(screen->file), out);
		fputs(": no process in it changes its mappings.\n", out);
		print_gaps(&a->replay.facts, out);
		return 0;
	}
	print_answer(a, screen, largest, out);
	print_curve(&a->spaces[largest].series, out);
	for (unsigned int kind = 0; !err && kind < ACTIVITY_NR_KINDS; kind++)
		if (a->tables[kind].nr)
			err = print_table(a, (enum activity_kind)kind, screen, out);
	if (!err && a->nr_causes)
		err = print_causes(a, screen, out);
	print_failures(a, screen, out);
	print_notes(a, out);
	return err;
}
