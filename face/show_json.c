/* SPDX-License-Identifier: BSD-2-Clause */
#include "face/show.h"

#include "face/json.h"
#include "findings/causes.h"
#include "findings/remedies/remedies.h"

void json_limits(struct json *json, const struct limits *limits)
{
	json_open(json, "limits", '[');
	for (unsigned int i = 0; i < limits->nr; i++) {
		json_open(json, NULL, '{');
		json_string(json, "name", limits->list[i].name);
		json_uint(json, "used", limits->list[i].used);
		json_uint(json, "max", limits->list[i].max);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_causes(struct json *json, const struct findings *findings)
{
	char text[CAUSES_TEXT_SIZE];

	json_open(json, "causes", '[');
	for (size_t i = 0; i < findings->nr_causes; i++) {
		const struct cause_row *row = &findings->causes[i];

		json_open(json, NULL, '{');
		json_string(json, "cause", causes_text(text, row->causes));
		json_uint(json, "pairs", row->pairs);
		json_string(json, "detail", row->detail);
		json_addr(json, "example", findings->snapshot->areas[row->example].area.end);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_not_visible(struct json *json, const struct findings *findings)
{
	uint32_t hidden = causes_not_visible(findings->snapshot, &findings->policy);

	json_open(json, "not_visible", '[');
	for (unsigned int bit = 0; bit < SEAM_NR_CAUSES; bit++)
		if (hidden & 1u << bit)
			json_string(json, NULL, seam_cause_name(bit));
	json_close(json, ']');
}

static void write_groups(struct json *json, const struct findings *findings)
{
	json_open(json, "groups", '[');
	for (size_t i = 0; i < findings->nr_groups; i++) {
		const struct group_row *row = &findings->groups[i];

		json_open(json, NULL, '{');
		json_string(json, "what", group_name(row->what));
		json_uint(json, "areas", row->areas);
		json_uint(json, "size_bytes", row->bytes);
		json_addr(json, "example", findings->snapshot->areas[row->example].area.start);
		if (row->units)
			json_uint(json, "units", row->units);
		if (row->unit_bytes)
			json_uint(json, "unit_size_bytes", row->unit_bytes);
		if (row->guard_bytes)
			json_uint(json, "guard_size_bytes", row->guard_bytes);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_remedies(struct json *json, const struct findings *findings)
{
	json_open(json, "remedies", '[');
	for (size_t i = 0; i < findings->nr_remedies; i++) {
		const struct remedy_row *row = &findings->remedies[i];

		json_open(json, NULL, '{');
		json_string(json, "remedy", row->remedy->name);
		json_uint(json, "areas_after", row->areas_after);
		json_string(json, "needs", row->remedy->needs);
		json_string(json, "source", row->remedy->source);
		json_string(json, "group", group_name(row->group));
		json_string(json, "what", row->remedy->what);
		json_bool(json, "confirmed", row->remedy->confirmed);
		json_bool(json, "exact", row->exact);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_notes(struct json *json, const struct snapshot *snapshot)
{
	json_open(json, "notes", '[');
	for (unsigned int i = 0; i < snapshot->nr_notes; i++)
		json_string(json, NULL, snapshot->notes[i]);
	json_close(json, ']');
}

void show_json(const struct show *show, bool compact, FILE *out)
{
	const struct snapshot *snapshot = &show->snapshot;
	const struct findings *findings = &show->findings;
	struct json json;

	if (compact)
		json_report_line(&json, out, "show");
	else
		json_report(&json, out, "show");
	if (show->file)
		json_null(&json, "pid");
	else
		json_int(&json, "pid", snapshot->pid);
	json_string(&json, "comm", snapshot->comm[0] ? snapshot->comm : NULL);
	if (show->file)
		json_string(&json, "file", show->file);
	json_string(&json, "source", snapshot->source);
	json_policy(&json, &findings->policy);
	json_uint(&json, "areas", snapshot->nr_areas);
	if (snapshot->counted)
		json_uint(&json, "counted", snapshot->counted);
	if (show->area_limit) {
		json_uint(&json, "limit", show->area_limit);
		json_int(&json, "headroom", show_headroom(show));
	} else {
		json_null(&json, "limit");
		json_null(&json, "headroom");
	}
	json_limits(&json, &show->limits);
	json_uint(&json, "touching_pairs", findings->touching_pairs);
	json_uint(&json, "holes", findings->holes);
	if (snapshot->sees & SEES_GUARDS)
		json_uint(&json, "guard_markers", findings->guard_pages);
	else
		json_null(&json, "guard_markers");
	write_causes(&json, findings);
	write_not_visible(&json, findings);
	write_groups(&json, findings);
	write_remedies(&json, findings);
	write_notes(&json, snapshot);
	json_uint(&json, "bad_lines", snapshot->bad_lines);
	json_uint(&json, "read_ns", snapshot->read_ns);
	if (show->fork_ns) {
		json_uint(&json, "fork_areas_ns", show->fork_ns);
		json_uint(&json, "fork_needed_ns", show->fork_needed_ns);
	}
	json_close(&json, '}');
	json_end(&json);
}
