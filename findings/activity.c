/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/activity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings/site.h"
#include "trace/grow.h"

/* Keys of files that are none. */
#define KEY_ANONYMOUS UINT64_C(0x100000001)
#define KEY_SHARED UINT64_C(0x100000002)
#define KEY_HEAP UINT64_C(0x100000003)
#define KEY_STACK UINT64_C(0x100000004)
#define KEY_NONE UINT64_C(0x100000005)

/* ---- tables ---- */

static uint32_t slot_of(const struct activity_table *table, uint64_t key)
{
	uint32_t mask = table->nr_slots - 1;
	uint32_t slot = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;

	while (table->slots[slot] && table->rows[table->slots[slot] - 1].key != key)
		slot = (slot + 1) & mask;
	return slot;
}

static int grow_slots(struct activity_table *table)
{
	uint32_t nr = table->nr_slots ? table->nr_slots * 2 : 64;
	uint32_t *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(table->slots);
	table->slots = slots;
	table->nr_slots = nr;
	for (uint32_t i = 0; i < table->nr; i++)
		table->slots[slot_of(table, table->rows[i].key)] = i + 1;
	return 0;
}

/* The row of a key, a new one when there is none; NULL: no memory. */
static struct activity_row *row_of(struct activity_table *table, uint64_t key)
{
	uint32_t slot;

	if (table->nr * 2 >= table->nr_slots && grow_slots(table))
		return NULL;
	slot = slot_of(table, key);
	if (!table->slots[slot]) {
		if (grow(&table->rows, table->nr, &table->room, sizeof(*table->rows)))
			return NULL;
		table->rows[table->nr++] = (struct activity_row) { .key = key };
		table->slots[slot] = table->nr;
	}
	return &table->rows[table->slots[slot] - 1];
}

static void add(struct activity_counts *to, const struct activity_counts *counts)
{
	to->calls += counts->calls;
	to->failed += counts->failed;
	to->made += counts->made;
	to->removed += counts->removed;
	to->splits += counts->splits;
	to->joins += counts->joins;
	to->refused += counts->refused;
}

static void add_to(struct activity *a, enum activity_kind kind, uint64_t key,
		   const struct activity_counts *counts)
{
	struct activity_row *row = row_of(&a->tables[kind], key);

	if (row)
		add(&row->counts, counts);
	else
		a->error = -ENOMEM;
}

/* ---- looking on ---- */

static struct activity_space *space_at(struct activity *a, uint32_t number)
{
	while (a->nr_spaces <= number) {
		if (grow(&a->spaces, a->nr_spaces, &a->room_spaces, sizeof(*a->spaces))) {
			a->error = -ENOMEM;
			return NULL;
		}
		memset(&a->spaces[a->nr_spaces++], 0, sizeof(*a->spaces));
	}
	return &a->spaces[number];
}

static void after_begin(void *ctx, unsigned int kernel, const struct event *event,
			const struct seam_space *space)
{
	struct activity *a = ctx;
	struct activity_space *s = space_at(a, event->space);

	if (!s)
		return;
	s->areas = seam_space_areas(space);
	s->limit = seam_space_limit(space, SEAM_LIMIT_AREAS);
	seam_space_get_stats(space, &s->seen);
}

static uint64_t key_of_area(const struct seam_space *space, const struct seam_area *area)
{
	uint64_t brk = seam_space_get_brk(space), start_brk = seam_space_get_start_brk(space);

	if (area->file > UINT32_MAX)
		return KEY_SHARED;
	if (area->file)
		return area->file;
	if (area->flags & SEAM_VM_GROWSDOWN)
		return KEY_STACK;
	if (brk > start_brk && area->start < brk && area->end > start_brk)
		return KEY_HEAP;
	return KEY_ANONYMOUS;
}

/* What memory a call is about; that of munmap is gone afterwards. */
static void before_call(void *ctx, unsigned int kernel, const struct event *event,
			const struct seam_space *space)
{
	struct activity *a = ctx;
	struct seam_area area;

	a->file_key = KEY_NONE;
	if (!space)
		return;
	switch (event->call) {
	case TRACE_CALL_mmap:
	case TRACE_CALL_kmmap:
		if (!(event->arg[3] & SEAM_MAP_ANONYMOUS))
			a->file_key = event->file ? event->file : KEY_NONE;
		else if ((event->arg[3] & SEAM_MAP_TYPE) == SEAM_MAP_PRIVATE)
			a->file_key = KEY_ANONYMOUS;
		else
			a->file_key = KEY_SHARED;
		break;
	case TRACE_CALL_brk:
		a->file_key = KEY_HEAP;
		break;
	case TRACE_CALL_mlockall:
	case TRACE_CALL_munlockall:
	case TRACE_CALL_prlimit:
	case TRACE_CALL_rlimit:
		break;
	default:
		if (seam_area_find(space, event->arg[0], &area) &&
		    area.start <= event->arg[0] + event->arg[1])
			a->file_key = key_of_area(space, &area);
	}
}

static void note_failure(struct activity *a, const struct event *event, int64_t result)
{
	struct activity_failure *failure;

	for (uint32_t i = 0; i < a->nr_failures; i++) {
		failure = &a->failures[i];
		if (failure->call == event->call &&
		    (failure->result == result || event->call == TRACE_CALL_brk)) {
			failure->calls++;
			return;
		}
	}
	if (grow(&a->failures, a->nr_failures, &a->room_failures, sizeof(*a->failures))) {
		a->error = -ENOMEM;
		return;
	}
	a->failures[a->nr_failures++] = (struct activity_failure) {
		.call = event->call,
		.result = result,
		.calls = 1,
		.first_call = trace_facts(a->replay.trace)->calls,
		.first_line = event->line,
		.first_pid = event->pid,
	};
}

static void count_change(struct activity_counts *counts, struct activity_space *s,
			 const struct seam_space *space)
{
	uint64_t areas = seam_space_areas(space);
	struct seam_stats now;

	seam_space_get_stats(space, &now);
	counts->splits = now.splits - s->seen.splits;
	counts->joins = now.joins - s->seen.joins;
	counts->refused = now.join_tries - s->seen.join_tries - counts->joins;
	counts->made = areas > s->areas ? areas - s->areas : 0;
	counts->removed = areas < s->areas ? s->areas - areas : 0;
	s->areas = areas;
	s->seen = now;
}

static bool after_call(void *ctx, unsigned int kernel, const struct event *event,
		       const struct replay_outcome *outcome, const struct seam_space *space)
{
	struct activity_counts counts = { .calls = 1 };
	struct activity *a = ctx;
	struct activity_space *s;

	/* limits that stand in the trace are no calls of the program */
	if (event->call > TRACE_CALL_kmmap)
		return true;
	s = space_at(a, event->space);
	if (!space || !s)
		return !a->error;
	if (replay_failed(event, outcome)) {
		counts.failed = 1;
		note_failure(a, event, outcome->result);
	}
	count_change(&counts, s, space);
	if (series_add(&s->series, event->time_ns + event->duration_ns,
		       trace_facts(a->replay.trace)->calls, s->areas))
		a->error = -ENOMEM;
	add_to(a, ACTIVITY_BY_call, event->call, &counts);
	add_to(a, ACTIVITY_BY_thread, (uint64_t)event->pid << 32 | event->tid, &counts);
	add_to(a, ACTIVITY_BY_file, a->file_key, &counts);
	if (event->stack) {
		a->has_stacks = true;
		add_to(a, ACTIVITY_BY_site, event->stack, &counts);
	}
	return !a->error;
}

static void add_cause(struct activity *a, uint32_t causes)
{
	for (uint32_t i = 0; i < a->nr_causes; i++) {
		if (a->causes[i].causes == causes) {
			a->causes[i].pairs++;
			return;
		}
	}
	if (grow(&a->causes, a->nr_causes, &a->room_causes, sizeof(*a->causes)))
		a->error = -ENOMEM;
	else
		a->causes[a->nr_causes++] =
			(struct activity_cause) { .causes = causes, .pairs = 1 };
}

static void before_end(void *ctx, unsigned int kernel, uint32_t number,
		       const struct seam_space *space)
{
	struct seam_area area, left = { 0 };
	struct activity *a = ctx;
	struct activity_row *row;
	uint64_t at = 0;

	while (seam_area_next(space, &at, &area)) {
		row = row_of(&a->tables[ACTIVITY_BY_file], key_of_area(space, &area));
		if (row)
			row->areas_end++;
		else
			a->error = -ENOMEM;
		if (left.end == area.start && left.end) {
			uint32_t causes = seam_explain_pair(
				&a->policy, seam_space_page_shift(space), &left, &area);

			add_cause(a, causes ? causes : SEAM_CAUSE(untried));
		}
		left = area;
	}
}

/* ---- names, order ---- */

static char *file_name(const struct activity *a, uint64_t key)
{
	const struct trace_file *file;

	switch (key) {
	case KEY_ANONYMOUS:
		return strdup("[anonymous]");
	case KEY_SHARED:
		return strdup("[shared anonymous]");
	case KEY_HEAP:
		return strdup("[heap]");
	case KEY_STACK:
		return strdup("[stack]");
	case KEY_NONE:
		return strdup("[none]");
	default:
		file = trace_file(a->replay.trace, (uint32_t)key);
		return strdup(file && *file->path ? file->path : "[a file]");
	}
}

static char *thread_name(const struct activity *a, uint64_t key)
{
	uint32_t pid = (uint32_t)(key >> 32), tid = (uint32_t)key;
	const char *comm = "";
	char *name;

	if (!tid)
		return strdup("[not told]");
	for (uint32_t i = 0; i < a->replay.nr_processes; i++)
		if (a->replay.processes[i].pid == pid)
			comm = a->replay.processes[i].comm;
	if (asprintf(&name, "%s%s%" PRIu32, comm, *comm ? " " : "", tid) < 0)
		return NULL;
	return name;
}

static char *name_of(const struct activity *a, enum activity_kind kind, uint64_t key)
{
	switch (kind) {
	case ACTIVITY_BY_call:
		return strdup(trace_call_name((unsigned int)key));
	case ACTIVITY_BY_thread:
		return thread_name(a, key);
	case ACTIVITY_BY_file:
		return file_name(a, key);
	default:
		return site_name(trace_stack(a->replay.trace, (uint32_t)key));
	}
}

static int by_name(const void *left, const void *right)
{
	const struct activity_row *l = left, *r = right;

	return strcmp(l->name, r->name);
}

static int by_made(const void *left, const void *right)
{
	const struct activity_row *l = left, *r = right;

	if (l->counts.made != r->counts.made)
		return l->counts.made < r->counts.made ? 1 : -1;
	if (l->counts.calls != r->counts.calls)
		return l->counts.calls < r->counts.calls ? 1 : -1;
	return strcmp(l->name, r->name);
}

/* Rows of one name are one: a file opened twice, a function called from two places in it. */
static void put_together(struct activity_table *table)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < table->nr; i++) {
		struct activity_row *row = &table->rows[i];

		if (nr && !strcmp(table->rows[nr - 1].name, row->name)) {
			add(&table->rows[nr - 1].counts, &row->counts);
			table->rows[nr - 1].areas_end += row->areas_end;
			free(row->name);
		} else {
			table->rows[nr++] = *row;
		}
	}
	table->nr = nr;
}

static int finish_table(const struct activity *a, enum activity_kind kind,
			struct activity_table *table)
{
	if (!table->nr)
		return 0;
	for (uint32_t i = 0; i < table->nr; i++) {
		table->rows[i].name = name_of(a, kind, table->rows[i].key);
		if (!table->rows[i].name)
			return -ENOMEM;
	}
	qsort(table->rows, table->nr, sizeof(*table->rows), by_name);
	put_together(table);
	qsort(table->rows, table->nr, sizeof(*table->rows), by_made);
	return 0;
}

static int by_calls(const void *left, const void *right)
{
	const struct activity_failure *l = left, *r = right;

	if (l->calls != r->calls)
		return l->calls < r->calls ? 1 : -1;
	return l->first_call < r->first_call ? -1 : l->first_call > r->first_call;
}

static int by_pairs(const void *left, const void *right)
{
	const struct activity_cause *l = left, *r = right;

	if (l->pairs != r->pairs)
		return l->pairs < r->pairs ? 1 : -1;
	return l->causes < r->causes ? -1 : l->causes > r->causes;
}

static int finish(struct activity *a)
{
	int err = a->error;

	for (unsigned int kind = 0; !err && kind < ACTIVITY_NR_KINDS; kind++)
		err = finish_table(a, (enum activity_kind)kind, &a->tables[kind]);
	for (uint32_t i = 0; i < a->nr_spaces; i++)
		a->spaces[i].growth = growth_judge(&a->spaces[i].series, a->spaces[i].limit);
	if (a->nr_failures)
		qsort(a->failures, a->nr_failures, sizeof(*a->failures), by_calls);
	if (a->nr_causes)
		qsort(a->causes, a->nr_causes, sizeof(*a->causes), by_pairs);
	return err;
}

int activity_run(struct source *source, const struct replay_options *options, struct activity *a,
		 struct trace_error *ret_error)
{
	struct replay_watcher watcher = {
		.after_begin = after_begin,
		.before_call = before_call,
		.after_call = after_call,
		.before_end = before_end,
		.ctx = a,
	};
	struct replay_options watched = *options;
	int err;

	memset(a, 0, sizeof(*a));
	watched.watcher = &watcher;
	a->policy = options->kernels[0].policy;
	err = replay_run(source, &watched, &a->replay, ret_error);
	if (err == -ECANCELED)
		err = a->error;
	return err ? err : finish(a);
}

void activity_free(struct activity *a)
{
	for (unsigned int kind = 0; kind < ACTIVITY_NR_KINDS; kind++) {
		for (uint32_t i = 0; i < a->tables[kind].nr; i++)
			free(a->tables[kind].rows[i].name);
		free(a->tables[kind].rows);
		free(a->tables[kind].slots);
	}
	for (uint32_t i = 0; i < a->nr_spaces; i++)
		series_free(&a->spaces[i].series);
	free(a->spaces);
	free(a->failures);
	free(a->causes);
	replay_report_free(&a->replay);
}

uint32_t activity_largest(const struct activity *a)
{
	const struct replay_result *result = &a->replay.results[0];
	uint32_t largest = 0;

	for (uint32_t i = 1; i < result->nr_mms; i++)
		if (result->mms[i].areas_peak > result->mms[largest].areas_peak)
			largest = i;
	return largest;
}
