/* SPDX-License-Identifier: BSD-2-Clause */
#include "face/why.h"

#include "face/json.h"
#include "trace/vmflags.h"

static void write_area(struct json *json, const char *key, const struct snapshot_area *area)
{
	char letters[VMFLAGS_TEXT_SIZE];

	json_open(json, key, '{');
	json_addr(json, "start", area->area.start);
	json_addr(json, "end", area->area.end);
	json_string(json, "name", area->name);
	json_string(json, "flags", vmflags_text(letters, area->area.flags));
	json_close(json, '}');
}

static void write_pair(struct json *json, const struct findings *findings, size_t left)
{
	const struct snapshot_area *area = &findings->snapshot->areas[left];
	struct why why;

	why_pair(findings, left, &why);
	json_open(json, NULL, '{');
	write_area(json, "left", area);
	write_area(json, "right", area + 1);
	json_open(json, "causes", '[');
	for (unsigned int bit = 0; bit < SEAM_NR_CAUSES; bit++)
		if (why.causes & 1u << bit)
			json_string(json, NULL, seam_cause_name(bit));
	json_close(json, ']');
	json_string(json, "detail", why.detail);
	json_string(json, "happened", why.happened[0] ? why.happened : NULL);
	json_string(json, "join_by", why.join_by[0] ? why.join_by : NULL);
	json_bool(json, "join_certain", why.join_by[0] && why.certain);
	json_string(json, "no_join", why.no_join[0] ? why.no_join : NULL);
	json_close(json, '}');
}

void why_json(const struct show *show, const size_t *lefts, size_t nr, FILE *out)
{
	const struct findings *findings = &show->findings;
	const struct snapshot *snapshot = &show->snapshot;
	struct json json;

	json_report(&json, out, "why");
	if (show->file)
		json_null(&json, "pid");
	else
		json_int(&json, "pid", snapshot->pid);
	json_string(&json, "comm", snapshot->comm[0] ? snapshot->comm : NULL);
	json_string(&json, "source", snapshot->source);
	json_policy(&json, &findings->policy);
	json_uint(&json, "bad_lines", snapshot->bad_lines);
	json_open(&json, "pairs", '[');
	for (size_t i = 0; lefts && i < nr; i++)
		write_pair(&json, findings, lefts[i]);
	for (size_t i = 0; !lefts && i < snapshot->nr_areas; i++)
		if (findings->pair[i] != NO_PAIR)
			write_pair(&json, findings, i);
	json_close(&json, ']');
	json_close(&json, '}');
	json_end(&json);
}
