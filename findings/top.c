/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/top.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "findings/causes.h"
#include "findings/findings.h"
#include "probe/limits.h"
#include "probe/live.h"
#include "probe/namespaces.h"
#include "probe/processes.h"
#include "trace/clock.h"

static const char *const order_names[] = { "areas", "growth", "pid", "comm" };

const char *top_order_name(enum top_order order)
{
	return order < TOP_NR_ORDERS ? order_names[order] : NULL;
}

static int by_pid(const void *left, const void *right)
{
	const struct top_row *l = left, *r = right;

	return l->pid < r->pid ? -1 : l->pid > r->pid;
}

/* The row that this process had before; another program under its pid starts anew. */
static const struct top_row *earlier_row(const struct top *top, const struct process *process)
{
	const struct top_row key = { .pid = process->pid };
	const struct top_row *row =
		top->nr ? bsearch(&key, top->rows, top->nr, sizeof(*top->rows), by_pid) : NULL;

	return row && !strcmp(row->comm, process->comm) ? row : NULL;
}

static struct top_row make_row(const struct top *top, const struct process *process, uint64_t now)
{
	const struct top_row *earlier = earlier_row(top, process);
	struct top_row row = { .first_areas = process->areas, .first_ns = now };

	if (earlier)
		row = *earlier;
	row.pid = process->pid;
	row.uid = process->uid;
	row.areas = process->areas;
	row.closed = process->closed;
	memcpy(row.comm, process->comm, sizeof(row.comm));
	return row;
}

static bool hides_others(const struct top *top)
{
	for (size_t i = 0; i < top->nr; i++)
		if (top->rows[i].uid != geteuid())
			return false;
	return namespaces_proc_hides();
}

int top_look(struct top *top)
{
	struct processes processes;
	struct top_row *rows;
	size_t nr = 0;
	int r = processes_read(&processes);

	if (r)
		return r;
	rows = malloc((processes.nr + 1) * sizeof(*rows));
	if (!rows) {
		processes_free(&processes);
		return -ENOMEM;
	}
	top->now_ns = clock_ns();
	top_sort(top, TOP_BY_PID, false);
	for (size_t i = 0; i < processes.nr; i++)
		if (processes.list[i].pid != getpid())
			rows[nr++] = make_row(top, &processes.list[i], top->now_ns);
	free(top->rows);
	top->rows = rows;
	top->nr = nr;
	top->nr_closed = processes.nr_closed;
	top->source = processes.source;
	top->hides_others = hides_others(top);
	top->limit = limits_max_areas();
	processes_free(&processes);
	return 0;
}

bool top_growth(const struct top *top, const struct top_row *row, double *ret_per_minute)
{
	double minutes = (double)(top->now_ns - row->first_ns) / 60e9;

	if (row->closed || minutes <= 0)
		return false;
	*ret_per_minute = ((double)row->areas - (double)row->first_areas) / minutes;
	return true;
}

static int by_areas(const void *left, const void *right)
{
	const struct top_row *l = left, *r = right;

	if (l->areas != r->areas)
		return l->areas < r->areas ? 1 : -1;
	return by_pid(left, right);
}

/* All rows were first seen at one of the looks, so growth is compared by areas. */
static int by_growth(const void *left, const void *right)
{
	const struct top_row *l = left, *r = right;
	int64_t l_grown = (int64_t)(l->areas - l->first_areas);
	int64_t r_grown = (int64_t)(r->areas - r->first_areas);

	if (l_grown != r_grown)
		return l_grown < r_grown ? 1 : -1;
	return by_areas(left, right);
}

static int by_comm(const void *left, const void *right)
{
	const struct top_row *l = left, *r = right;
	int order = strcmp(l->comm, r->comm);

	return order ? order : by_areas(left, right);
}

void top_sort(struct top *top, enum top_order order, bool reverse)
{
	static int (*const compare[])(const void *left, const void *right) = { by_areas, by_growth,
									       by_pid, by_comm };

	if (top->nr)
		qsort(top->rows, top->nr, sizeof(*top->rows), compare[order]);
	for (size_t i = 0; reverse && i < top->nr / 2; i++) {
		struct top_row *other = &top->rows[top->nr - 1 - i], row = top->rows[i];

		top->rows[i] = *other;
		*other = row;
	}
}

/* The largest group, or else the commonest cause. */
static void tell_what(const struct findings *findings, char *what)
{
	char text[CAUSES_TEXT_SIZE];

	if (findings->nr_groups)
		snprintf(what, TOP_WHAT_SIZE, "%s", group_name(findings->groups[0].what));
	else if (findings->nr_causes)
		snprintf(what, TOP_WHAT_SIZE, "%.60s",
			 causes_text(text, findings->causes[0].causes));
}

static void explain_row(struct top_row *row, const struct seam_policy *policy)
{
	/* The cheapest text: groups are told by shape. */
	const struct live_options options = { .source = "maps", .no_guards = true };
	struct snapshot snapshot;
	struct findings findings;
	struct live_error error;

	row->told_areas = row->areas;
	row->what[0] = '\0';
	if (snapshot_live(row->pid, &options, &snapshot, &error))
		return;
	if (!findings_make(&snapshot, policy, 0, &findings)) {
		tell_what(&findings, row->what);
		findings_free(&findings);
	}
	snapshot_free(&snapshot);
}

/* Whether the count is another one by more than a 32nd. */
static bool has_changed(const struct top_row *row)
{
	uint64_t differ = row->areas > row->told_areas ? row->areas - row->told_areas
						       : row->told_areas - row->areas;

	return differ > row->told_areas / 32;
}

void top_explain(struct top *top, size_t first, size_t nr, const struct seam_policy *policy,
		 uint64_t max_areas)
{
	for (size_t i = first; i < top->nr && i - first < nr; i++) {
		struct top_row *row = &top->rows[i];

		if (row->closed || !has_changed(row))
			continue;
		if (i != first) {
			if (row->areas > max_areas)
				continue;
			max_areas -= row->areas;
		}
		explain_row(row, policy);
	}
}

void top_free(struct top *top)
{
	free(top->rows);
	memset(top, 0, sizeof(*top));
}
