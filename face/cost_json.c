/* SPDX-License-Identifier: BSD-2-Clause */
#include "face/cost.h"

#include "face/json.h"

static void write_figure(struct json *json, int64_t value, const char *what, const char *how,
			 const char *unit)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_%s_%s", what, how, unit);
	if (value == COST_UNKNOWN)
		json_null(json, key);
	else
		json_int(json, key, value);
}

static void write_missing(struct json *json, const char *what, const char *why)
{
	if (!why[0])
		return;
	json_open(json, NULL, '{');
	json_string(json, "what", what);
	json_string(json, "why", why);
	json_close(json, '}');
}

static void write_per_area(struct json *json, const struct cost *cost)
{
	json_open(json, "per_area", '{');
	for (int op = 0; op < COST_NR_OPS; op++)
		for (int kind = 0; kind < COST_NR_KINDS; kind++)
			write_figure(json, cost->op_ns[op][kind], cost_op_names[op],
				     cost_kind_names[kind], "ns");
	for (int kind = 0; kind < COST_NR_KINDS; kind++)
		write_figure(json, cost->kernel_bytes[kind], "kernel", cost_kind_names[kind],
			     "bytes");
	json_close(json, '}');
}

static void write_controls(struct json *json, const struct cost *cost)
{
	static const char *const how[] = { "few", "many" };

	json_open(json, "controls", '{');
	for (int control = 0; control < COST_NR_CONTROLS; control++)
		for (int many = 0; many < 2; many++)
			write_figure(json, cost->control_ns[control][many],
				     cost_control_names[control], how[many], "ns");
	json_close(json, '}');
}

void cost_json(const struct cost *cost, const char *file, FILE *out)
{
	struct json json;

	json_report(&json, out, "cost");
	json_string(&json, "host", cost->host);
	json_string(&json, "kernel_release", cost->release);
	json_uint(&json, "measured_at_s", cost->time_s);
	json_uint(&json, "areas", cost->areas);
	json_uint(&json, "rounds", cost->rounds);
	write_per_area(&json, cost);
	write_controls(&json, cost);
	json_open(&json, "not_measured", '[');
	write_missing(&json, "bpf", cost->bpf_why);
	write_missing(&json, "kernel_bytes", cost->bytes_why);
	json_close(&json, ']');
	json_string(&json, "file", file);
	json_close(&json, '}');
	json_end(&json);
}
