/* SPDX-License-Identifier: BSD-2-Clause */
#include "face/stat.h"

#include "face/json.h"
#include "face/show.h"

static void write_space(struct json *json, const struct stat_space *space)
{
	json_open(json, NULL, '{');
	json_int(json, "pid", space->pid);
	json_string(json, "comm", space->comm);
	if (space->seen) {
		json_uint(json, "areas_peak", space->areas_peak);
		json_uint(json, "areas_end", space->areas_end);
	} else {
		json_null(json, "areas_peak");
		json_null(json, "areas_end");
	}
	json_bool(json, "areas_end_exact", space->end_exact);
	json_bool(json, "running", space->running);
	json_null(json, "calls");
	json_null(json, "failed_calls");
	json_close(json, '}');
}

static void write_run(struct json *json, const struct stat_run *run)
{
	json_open(json, NULL, '{');
	json_uint(json, "real_ns", run->real_ns);
	json_uint(json, "user_ns", run->user_ns);
	json_uint(json, "sys_ns", run->sys_ns);
	json_int(json, "status", run->status);
	json_close(json, '}');
}

void stat_json(const struct stat_report *report, FILE *out)
{
	const struct stat_tree *tree = report->tree;
	struct json json;

	json_report(&json, out, "stat");
	json_uint(&json, "real_ns", report->real.median_ns);
	json_uint(&json, "user_ns", report->user.median_ns);
	json_uint(&json, "sys_ns", report->sys.median_ns);
	json_int(&json, "status", report->status);
	json_open(&json, "processes", '[');
	for (size_t i = 0; i < tree->nr_spaces; i++)
		write_space(&json, &tree->spaces[i]);
	json_close(&json, ']');
	json_bool(&json, "peak_sampled", true);
	json_uint(&json, "looks", tree->looks);
	json_limits(&json, &tree->limits);
	json_open(&json, "runs", '[');
	for (size_t i = 0; i < report->nr_runs; i++)
		write_run(&json, &report->runs[i]);
	json_close(&json, ']');
	json_open(&json, "notes", '[');
	for (unsigned int i = 0; i < report->nr_notes; i++)
		json_string(&json, NULL, report->notes[i]);
	json_close(&json, ']');
	json_close(&json, '}');
	json_end(&json);
}
