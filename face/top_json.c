/* SPDX-License-Identifier: BSD-2-Clause */
#include "face/top.h"

#include "face/json.h"

static void write_row(struct json *json, const struct top *top, const struct top_row *row)
{
	double growth;

	json_open(json, NULL, '{');
	json_int(json, "pid", row->pid);
	json_string(json, "comm", row->comm);
	json_uint(json, "uid", row->uid);
	if (row->closed) {
		json_null(json, "areas");
		json_null(json, "limit_percent");
	} else {
		json_uint(json, "areas", row->areas);
		if (top->limit)
			json_double(json, "limit_percent",
				    100.0 * (double)row->areas / (double)top->limit);
		else
			json_null(json, "limit_percent");
	}
	if (top_growth(top, row, &growth))
		json_double(json, "growth_per_minute", growth);
	else
		json_null(json, "growth_per_minute");
	json_string(json, "dominant", row->what[0] ? row->what : NULL);
	json_close(json, '}');
}

void top_json(const struct top *top, size_t nr, bool compact, FILE *out)
{
	struct json json;

	if (compact)
		json_report_line(&json, out, "top");
	else
		json_report(&json, out, "top");
	json_string(&json, "source", top->source);
	if (top->limit)
		json_uint(&json, "limit", top->limit);
	else
		json_null(&json, "limit");
	json_uint(&json, "not_readable", top->nr_closed);
	json_open(&json, "processes", '[');
	for (size_t i = 0; i < top->nr && i < nr; i++)
		write_row(&json, top, &top->rows[i]);
	json_close(&json, ']');
	json_close(&json, '}');
	json_end(&json);
}
