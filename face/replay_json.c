/* SPDX-License-Identifier: BSD-2-Clause */
/* The JSON of kind "replay". */
#include <string.h>

#include "face/json.h"
#include "face/replay.h"

static const char *const touch_names[] = {
	[TOUCH_DEFAULT] = "default",
	[TOUCH_RECORDED] = "recorded",
	[TOUCH_EAGER] = "eager",
	[TOUCH_NEVER] = "never",
};

static void write_area(struct json *json, const char *key, bool there, const struct seam_area *area)
{
	char perms[5];

	if (!there) {
		json_null(json, key);
		return;
	}
	area_perms(area, perms);
	json_open(json, key, '{');
	json_addr(json, "start", area->start);
	json_addr(json, "end", area->end);
	json_string(json, "perms", perms);
	json_addr(json, "flags", area->flags);
	json_close(json, '}');
}

static void write_difference(struct json *json, const struct replay_difference *difference)
{
	json_open(json, NULL, '{');
	json_uint(json, "call", difference->call_number);
	json_string(json, "name",
		    difference->call_number ? trace_call_name(difference->call) : NULL);
	json_uint(json, "pid", difference->pid);
	json_uint(json, "line", difference->line);
	if (difference->errno_differs) {
		json_int(json, "expected", difference->expected);
		json_int(json, "found", difference->found);
	} else {
		write_area(json, "expected", difference->has_model, &difference->model);
		write_area(json, "found", difference->has_truth, &difference->truth);
	}
	json_close(json, '}');
}

static void write_timings(struct json *json, const struct replay_report *report)
{
	char title[128];

	json_open(json, "timings", '[');
	for (size_t i = 0; i < report->nr_timings; i++) {
		const struct mail_timing *timing = &report->timings[i];

		json_open(json, NULL, '{');
		snprintf(title, sizeof(title), "%.*s", (int)timing->title_len,
			 timing->title ? timing->title : "");
		json_string(json, "title", timing->title_len ? title : NULL);
		json_uint(json, "real_ns", timing->real_ns);
		json_uint(json, "user_ns", timing->user_ns);
		json_uint(json, "sys_ns", timing->sys_ns);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_trace(struct json *json, const struct replay_report *report)
{
	const struct trace_facts *facts = &report->facts;

	json_open(json, "trace", '{');
	json_uint(json, "calls", facts->calls);
	json_uint(json, "processes", report->nr_processes);
	json_bool(json, "complete", facts->complete);
	json_open(json, "incomplete_because", '[');
	for (unsigned int i = 0; i < facts->nr_reasons; i++)
		json_string(json, NULL, facts->incomplete_because[i]);
	json_close(json, ']');
	json_uint(json, "checkpoints", report->checkpoints);
	json_uint(json, "differences", report->differences);
	json_uint(json, "undetermined", report->undetermined);
	json_uint(json, "resynced", report->resynced);
	json_string(json, "format", facts->format);
	json_uint(json, "bad_lines", facts->bad_lines);
	json_uint(json, "reused_addresses", facts->reused_addresses);
	json_uint(json, "not_modelled", report->not_modelled);
	json_uint(json, "changes", report->changes);
	json_uint(json, "bytes_missing", facts->bytes_missing);
	json_string(json, "layout", report->i386 ? "i386" : "x86-64");
	json_string(json, "touch", touch_names[report->touch]);
	json_string(json, "remedy", report->guard_markers ? "guard-markers" : NULL);
	if (report->nr_first) {
		json_open(json, "first_differences", '[');
		for (unsigned int i = 0; i < report->nr_first; i++)
			write_difference(json, &report->first[i]);
		json_close(json, ']');
	}
	if (report->nr_timings)
		write_timings(json, report);
	json_open(json, "notes", '[');
	for (unsigned int i = 0; i < report->nr_notes; i++)
		json_string(json, NULL, report->notes[i]);
	json_close(json, ']');
	json_close(json, '}');
}

static void write_maps(struct json *json, const struct replay_report *report,
		       const struct replay_mm *mm)
{
	char perms[5];

	json_open(json, "maps", '[');
	for (size_t i = 0; i < mm->nr_maps; i++) {
		const struct seam_area *area = &mm->maps[i];

		area_perms(area, perms);
		json_open(json, NULL, '{');
		json_addr(json, "start", area->start);
		json_addr(json, "end", area->end);
		json_string(json, "perms", perms);
		json_addr(json, "offset", area_shown_offset(area));
		json_string(json, "name", area_name(report, mm, i));
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_processes(struct json *json, const struct replay_report *report,
			    const struct replay_result *result, bool maps)
{
	json_open(json, "processes", '[');
	for (uint32_t i = 0; i < result->nr_mms; i++) {
		json_open(json, NULL, '{');
		json_uint(json, "pid", report->processes[i].pid);
		json_string(json, "comm", report->processes[i].comm);
		json_uint(json, "areas_end", result->mms[i].areas_end);
		json_uint(json, "areas_peak", result->mms[i].areas_peak);
		if (maps)
			write_maps(json, report, &result->mms[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_counts(struct json *json, const struct replay_counts *counts)
{
	json_uint(json, "join_tries", counts->join_tries);
	json_uint(json, "joins", counts->joins);
	json_uint(json, "joins_refused", counts->join_tries - counts->joins);
	json_uint(json, "splits", counts->splits);
	json_uint(json, "failed_calls", counts->failed);
	json_uint(json, "failed_anew", counts->failed_anew);
	json_uint(json, "skipped_calls", counts->skipped);
}

static void write_calls(struct json *json, const struct replay_result *result)
{
	json_open(json, "calls", '[');
	for (unsigned int i = 0; i < TRACE_NR_CALLS; i++) {
		if (!result->by_call[i].calls)
			continue;
		json_open(json, NULL, '{');
		json_string(json, "name", trace_call_name(i));
		json_uint(json, "calls", result->by_call[i].calls);
		write_counts(json, &result->by_call[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_failure(struct json *json, const char *key, const struct replay_failure *failure)
{
	if (!failure->any)
		return;
	json_open(json, key, '{');
	json_uint(json, "call", failure->number);
	json_string(json, "name", trace_call_name(failure->call));
	json_uint(json, "pid", failure->pid);
	json_uint(json, "line", failure->line);
	json_string(json, "error",
		    failure->result < 0 ? strerrorname_np((int)-failure->result) : NULL);
	json_close(json, '}');
}

static void write_result(struct json *json, const struct replay_report *report,
			 const struct replay_result *result, bool maps)
{
	json_open(json, NULL, '{');
	json_string(json, "kernel", result->kernel->policy.name);
	json_vector(json, "vector", result->vector);
	json_uint(json, "areas_end", result->areas_end);
	json_uint(json, "areas_peak", result->areas_peak);
	write_counts(json, &result->total);
	json_open(json, "steps", '{');
	json_uint(json, "find", result->steps.find);
	json_uint(json, "placement", result->steps.placement);
	json_uint(json, "insert", result->steps.insert);
	json_close(json, '}');
	json_uint(json, "kernel_bytes", result->kernel_bytes);
	json_uint(json, "touched_pages", result->touched_pages);
	json_uint(json, "touch_find_steps", result->touch_find_steps);
	json_bool(json, "recorded", result->kernel->recorded);
	json_bool(json, "checked", result->kernel->policy.checked);
	write_failure(json, "first_failed", &result->first_failed);
	write_failure(json, "first_failed_anew", &result->first_anew);
	write_calls(json, result);
	write_processes(json, report, result, maps);
	json_close(json, '}');
}

void replay_json(const struct replay_report *report, bool maps, FILE *out)
{
	struct json json;

	json_report(&json, out, "replay");
	write_trace(&json, report);
	json_open(&json, "kernels", '[');
	for (unsigned int i = 0; i < report->nr_results; i++)
		write_result(&json, report, &report->results[i], maps);
	json_close(&json, ']');
	json_close(&json, '}');
	json_end(&json);
}
