/* SPDX-License-Identifier: BSD-2-Clause */
#include "face/record.h"

#include "face/json.h"

void record_json(const struct record_result *result, const char *file, uint64_t bytes, FILE *out)
{
	struct json json;

	json_report(&json, out, "record");
	json_string(&json, "file", file);
	json_uint(&json, "size_bytes", bytes);
	json_uint(&json, "calls", result->calls);
	json_uint(&json, "processes", result->processes);
	json_uint(&json, "spaces", result->spaces);
	json_uint(&json, "threads", result->threads);
	json_uint(&json, "areas_peak", result->areas_peak);
	json_uint(&json, "lost", 0);
	json_uint(&json, "ambiguous", result->ambiguous);
	json_bool(&json, "descriptions", !result->no_descriptions);
	json_uint(&json, "elapsed_ns", result->elapsed_ns);
	json_uint(&json, "cost_ns", result->cpu_ns);
	json_int(&json, "status", result->status);
	json_close(&json, '}');
	json_end(&json);
}
