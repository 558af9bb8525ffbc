/* SPDX-License-Identifier: BSD-2-Clause */
/* The JSON of kind "report". */
#include <string.h>

#include "face/json.h"
#include "face/report.h"
#include "findings/causes.h"

static const char *const kind_names[] = {
#define KIND_NAME(name) "by_" #name,
	ACTIVITY_KINDS(KIND_NAME)
#undef KIND_NAME
};

static void write_trace(struct json *json, const struct activity *a)
{
	const struct replay_report *report = &a->replay;

	json_open(json, "trace", '{');
	json_uint(json, "calls", report->facts.calls);
	json_uint(json, "processes", report->nr_processes);
	json_bool(json, "complete", report->facts.complete);
	json_open(json, "incomplete_because", '[');
	for (unsigned int i = 0; i < report->facts.nr_reasons; i++)
		json_string(json, NULL, report->facts.incomplete_because[i]);
	json_close(json, ']');
	json_uint(json, "checkpoints", report->checkpoints);
	json_uint(json, "differences", report->differences);
	json_uint(json, "undetermined", report->undetermined);
	json_string(json, "format", report->facts.format);
	json_bool(json, "stacks", a->has_stacks);
	json_close(json, '}');
}

static void write_series(struct json *json, const struct series *series)
{
	json_open(json, "over_time", '[');
	for (uint32_t i = 0; i < series->nr; i++) {
		json_open(json, NULL, '{');
		json_uint(json, "call", series->points[i].call);
		json_uint(json, "time_ns", series->points[i].time_ns);
		json_uint(json, "areas", series->points[i].areas);
		json_uint(json, "areas_least", series->points[i].least);
		json_uint(json, "areas_most", series->points[i].most);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_growth(struct json *json, const struct growth *growth)
{
	json_string(json, "growth", growth_name(growth->kind));
	if (growth->has_rate)
		json_double(json, "growth_per_minute", growth->per_minute);
	else
		json_null(json, "growth_per_minute");
	if (growth->reaches_limit)
		json_double(json, "minutes_to_limit", growth->minutes_to_limit);
	else
		json_null(json, "minutes_to_limit");
}

static void write_processes(struct json *json, const struct activity *a)
{
	const struct replay_result *result = &a->replay.results[0];

	json_open(json, "processes", '[');
	for (uint32_t i = 0; i < result->nr_mms; i++) {
		json_open(json, NULL, '{');
		json_uint(json, "pid", a->replay.processes[i].pid);
		json_string(json, "comm", a->replay.processes[i].comm);
		json_uint(json, "areas_end", result->mms[i].areas_end);
		json_uint(json, "areas_peak", result->mms[i].areas_peak);
		if (i < a->nr_spaces) {
			json_uint(json, "limit", a->spaces[i].limit);
			json_int(json, "headroom_least",
				 (int64_t)(a->spaces[i].limit - result->mms[i].areas_peak));
			write_growth(json, &a->spaces[i].growth);
			write_series(json, &a->spaces[i].series);
		}
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_table(struct json *json, enum activity_kind kind,
			const struct activity_table *table, unsigned int top)
{
	json_open(json, kind_names[kind], '[');
	for (uint32_t i = 0; i < table->nr && i < top; i++) {
		const struct activity_row *row = &table->rows[i];

		json_open(json, NULL, '{');
		json_string(json, "name", row->name);
		json_uint(json, "calls", row->counts.calls);
		json_uint(json, "failed_calls", row->counts.failed);
		json_uint(json, "areas_made", row->counts.made);
		json_uint(json, "areas_removed", row->counts.removed);
		json_uint(json, "splits", row->counts.splits);
		json_uint(json, "joins", row->counts.joins);
		json_uint(json, "joins_refused", row->counts.refused);
		if (kind == ACTIVITY_BY_file)
			json_uint(json, "areas_end", row->areas_end);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_failures(struct json *json, const struct activity *a)
{
	json_open(json, "failing_calls", '[');
	for (uint32_t i = 0; i < a->nr_failures; i++) {
		const struct activity_failure *failure = &a->failures[i];

		json_open(json, NULL, '{');
		json_string(json, "name", trace_call_name(failure->call));
		json_string(json, "error",
			    failure->result < 0 ? strerrorname_np((int)-failure->result) : NULL);
		json_uint(json, "calls", failure->calls);
		json_uint(json, "first_call", failure->first_call);
		json_uint(json, "first_line", failure->first_line);
		json_uint(json, "first_pid", failure->first_pid);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_causes(struct json *json, const struct activity *a)
{
	char text[CAUSES_TEXT_SIZE];

	json_open(json, "causes", '[');
	for (uint32_t i = 0; i < a->nr_causes; i++) {
		json_open(json, NULL, '{');
		json_string(json, "cause", causes_text(text, a->causes[i].causes));
		json_uint(json, "pairs", a->causes[i].pairs);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void report_json(const struct activity *a, unsigned int top, FILE *out)
{
	struct json json;

	json_report(&json, out, "report");
	json_policy(&json, &a->policy);
	write_trace(&json, a);
	write_processes(&json, a);
	for (unsigned int kind = 0; kind < ACTIVITY_NR_KINDS; kind++)
		write_table(&json, (enum activity_kind)kind, &a->tables[kind], top);
	write_causes(&json, a);
	write_failures(&json, a);
	json_close(&json, '}');
	json_end(&json);
}
