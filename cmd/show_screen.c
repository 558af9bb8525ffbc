/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/show_screen.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/sentences.h"
#include "cmd/target.h"
#include "findings/causes.h"
#include "findings/remedies/remedies.h"
#include "ui/plain.h"
#include "ui/table.h"

/* A screen has 24 lines, also with remedies and all notes. */
#define SHOWN_REMEDIES 3

static size_t shown_causes(const struct findings *findings)
{
	return findings->nr_remedies ? 4 : 5;
}

static size_t shown_groups(const struct findings *findings)
{
	return findings->nr_remedies ? 3 : 5;
}

/* To be kept from mapping for so long is worth a word. */
#define HELD_UP_NS UINT64_C(10000000)

/* A fork that pays so much for mappings is worth a word. */
#define FORK_FELT_NS UINT64_C(2000000)

/* From here on the count is told with its limit, and from there on it is the matter. */
#define LIMIT_FELT PRESSURE_FELT
#define LIMIT_REACHED 0.9

static void say_count(const struct show *show, FILE *out)
{
	const struct snapshot *snapshot = &show->snapshot;
	char areas[COUNTED_TEXT], limit[SHORT_TEXT];

	counted(areas, snapshot->nr_areas, "mapping", "mappings");
	if (snapshot->counted)
		fprintf(out, "%s given of %s counted", areas, count_text(limit, snapshot->counted));
	else if (show_pressure(show) >= LIMIT_FELT)
		fprintf(out, "%s of %s mappings (vm.max_map_count)",
			count_text(areas, snapshot->nr_areas), count_text(limit, show->area_limit));
	else
		fputs(areas, out);
}

static void say_growth(const struct show *show, const struct show_extra *extra, FILE *out)
{
	double left = (double)show_headroom(show);

	if (!extra->growth_known || extra->per_minute <= 0 || !show->area_limit)
		return;
	fputs(", limit in about ", out);
	say_minutes(left > 0 ? left / extra->per_minute : 0, out);
}

/* The nearest limit: always where nothing else is to be said, else when it is felt. */
static void say_nearest(const struct show *show, FILE *out)
{
	const struct limit *limit = show->limits.list;
	char used[SHORT_TEXT], max[SHORT_TEXT];
	char *(*text)(char *buf, uint64_t value);

	if (!show->limits.nr ||
	    (show->findings.nr_remedies && (double)limit->used < LIMIT_FELT * (double)limit->max))
		return;
	text = limit->bytes ? size_text : count_text;
	fprintf(out, "; nearest limit: %s %s of %s", limit->name, text(used, limit->used),
		text(max, limit->max));
}

/* Nothing but the rule, or nothing but untried calls: then this is what there is to say. */
static bool say_one_cause(const struct show *show, FILE *out)
{
	const struct findings *findings = &show->findings;
	char pairs[COUNTED_TEXT];
	uint32_t causes;

	if (findings->nr_causes != 1)
		return false;
	causes = findings->causes[0].causes;
	if (causes & ~(SEAM_CAUSE(rule) | SEAM_CAUSE(untried) | SEAM_CAUSE(unseen)))
		return false;
	fprintf(out, "; %s, ",
		counted(pairs, findings->touching_pairs, "pair touches", "pairs touch"));
	if (causes == SEAM_CAUSE(rule))
		fprintf(out, "%s never joins them", findings->policy.name);
	else if (causes == SEAM_CAUSE(untried))
		fprintf(out, "%s joins such; no call has tried since", findings->policy.name);
	else
		fprintf(out, "equal as far as %s shows", source_words(&show->snapshot));
	return true;
}

/* What makes most of the pairs cannot be told from this source. */
static bool say_unseen(const struct show *show, FILE *out)
{
	uint64_t unseen = findings_pairs_with(&show->findings, SEAM_CAUSE(unseen));
	char pairs[SHORT_TEXT];

	if (unseen < GROUP_AREAS || unseen * 2 < show->findings.touching_pairs)
		return false;
	fprintf(out, "; %s pairs touch that are equal as far as %s shows",
		count_text(pairs, unseen), source_words(&show->snapshot));
	return true;
}

static void say_remedy(const struct show *show, const struct remedy_row *row, FILE *out)
{
	const struct group_row *group = findings_group(&show->findings, row->group);
	char areas[SHORT_TEXT], after[SHORT_TEXT];

	fprintf(out, "%s %s are %s; %s %s%s", show_pressure(show) >= LIMIT_REACHED ? ";" : ",",
		count_text(areas, group->areas), group_text(group->what),
		remedy_phrase(row->remedy->name), count_text(after, row->areas_after),
		row->exact ? "" : " or more");
}

/* numa_maps: their number and their policies are all that is told. */
static bool say_no_ends(const struct show *show, FILE *out)
{
	const struct snapshot *snapshot = &show->snapshot;
	size_t changes = 0;
	char text[COUNTED_TEXT];

	if (snapshot->sees & SEES_RANGE)
		return false;
	for (size_t i = 1; i < snapshot->nr_areas; i++)
		changes += snapshot->areas[i].area.numa != snapshot->areas[i - 1].area.numa;
	fprintf(out, "; from one to the next the policy changes %s; %s tells no ends",
		counted(text, changes, "time", "times"), source_words(snapshot));
	return true;
}

/* Most of the map touches nothing: no reason between neighbours makes the count. */
static void say_holes(const struct show *show, FILE *out)
{
	const struct findings *findings = &show->findings;

	if (findings->holes > findings->touching_pairs && findings->holes >= GROUP_AREAS)
		fputs("; holes, not seams, make the count", out);
}

static void say_group(const struct group_row *group, FILE *out)
{
	char areas[SHORT_TEXT];

	fprintf(out, "; %s are %s", count_text(areas, group->areas), group_text(group->what));
}

void show_verdict(const struct show *show, const struct show_extra *extra, FILE *out)
{
	const struct findings *findings = &show->findings;
	double pressure = show_pressure(show);

	say_count(show, out);
	say_growth(show, extra, out);
	if (pressure >= LIMIT_REACHED)
		fputs("; this is the area limit, not memory", out);
	if (say_no_ends(show, out))
		;
	else if (say_one_cause(show, out))
		;
	else if (findings->nr_remedies)
		say_remedy(show, &findings->remedies[0], out);
	else if (pressure >= LIMIT_FELT && findings->nr_groups)
		say_group(&findings->groups[0], out);
	else if (say_unseen(show, out))
		;
	else if (show->file)
		fputs(", nothing worth mending", out);
	else
		fputs(", healthy", out);
	say_holes(show, out);
	if (pressure < LIMIT_FELT)
		say_nearest(show, out);
	if (extra->as_calls)
		fprintf(out, ". As calls: %s", extra->as_calls);
	fputs(".\n", out);
}

static int print_causes(const struct show *show, bool header, FILE *out)
{
	static const struct column columns[] = {
		{ "AT", ALIGN_LEFT },
		{ "PAIRS", ALIGN_RIGHT },
		{ "WHY", ALIGN_LEFT, NARROW_WRAPS },
	};
	const struct findings *findings = &show->findings;
	struct table *table = table_new(columns, 3);
	char pairs[SHORT_TEXT], why[SENTENCE_SIZE];
	uint64_t rest = 0;

	for (size_t i = 0; i < findings->nr_causes; i++) {
		const struct cause_row *row = &findings->causes[i];

		if (i >= shown_causes(findings)) {
			rest += row->pairs;
			continue;
		}
		table_cell(table, "%" PRIx64, show->snapshot.areas[row->example].area.end);
		table_cell(table, "%s", count_text(pairs, row->pairs));
		table_cell(table, "%s", cause_sentence(why, findings, row->causes, row->flags));
	}
	if (rest) {
		table_cell(table, "%s", "");
		table_cell(table, "%s", count_text(pairs, rest));
		table_cell(table, "for %zu other sets of reasons (seam why)",
			   findings->nr_causes - shown_causes(findings));
	}
	return table_print(table, out, header);
}

static int print_groups(const struct show *show, bool header, FILE *out)
{
	static const struct column columns[] = {
		{ "START", ALIGN_LEFT },
		{ "SIZE", ALIGN_RIGHT },
		{ "MAPPINGS", ALIGN_RIGHT },
		{ "SHARE", ALIGN_RIGHT },
		{ "WHAT", ALIGN_LEFT, NARROW_WRAPS },
	};
	const struct findings *findings = &show->findings;
	struct table *table = table_new(columns, 5);
	char size[SHORT_TEXT], areas[SHORT_TEXT], what[SENTENCE_SIZE];

	for (size_t i = 0; i < findings->nr_groups && i < shown_groups(findings); i++) {
		const struct group_row *row = &findings->groups[i];

		table_cell(table, "%" PRIx64, show->snapshot.areas[row->example].area.start);
		table_cell(table, "%s", size_text(size, row->bytes));
		table_cell(table, "%s", count_text(areas, row->areas));
		table_cell(table, "%" PRIu64 "%%", 100 * row->areas / show->snapshot.nr_areas);
		table_cell(table, "%s", group_sentence(what, &show->snapshot, row));
	}
	return table_print(table, out, header);
}

static int print_remedies(const struct show *show, bool header, FILE *out)
{
	static const struct column columns[] = {
		{ "LEFT", ALIGN_RIGHT },
		{ "REMEDY", ALIGN_LEFT, NARROW_WRAPS },
	};
	const struct findings *findings = &show->findings;
	struct table *table = table_new(columns, 2);
	char left[SHORT_TEXT];

	for (size_t i = 0; i < findings->nr_remedies && i < SHOWN_REMEDIES; i++) {
		const struct remedy_row *row = &findings->remedies[i];

		table_cell(table, "%s%s", count_text(left, row->areas_after),
			   row->exact ? "" : "+");
		table_cell(table, "%s%s%s%s", row->remedy->what, row->remedy->needs ? " (" : "",
			   row->remedy->needs ? row->remedy->needs : "",
			   row->remedy->needs ? ")" : "");
	}
	return table_print(table, out, header);
}

static bool any_inexact(const struct findings *findings)
{
	for (size_t i = 0; i < findings->nr_remedies && i < SHOWN_REMEDIES; i++)
		if (!findings->remedies[i].exact)
			return true;
	return false;
}

static void print_hidden(const struct show *show, FILE *out)
{
	const struct findings *findings = &show->findings;
	char text[SENTENCE_SIZE];
	uint32_t hidden = 0;

	/* Only what could matter to a pair that is there. */
	for (size_t i = 0; i < show->snapshot.nr_areas; i++)
		if (findings->pair[i] != NO_PAIR)
			hidden |= causes_hidden(&show->snapshot, &findings->policy, i);

	if (!hidden)
		return;
	fprintf(out, "\nHidden from %s: %s.\n", source_words(&show->snapshot),
		hidden_sentence(text, hidden));
	if (any_inexact(findings))
		fputs("Numbers with a + can be higher for that.\n", out);
}

/* They cost no mapping, and no text of /proc shows them. */
static void print_guards(const struct show *show, FILE *out)
{
	const struct findings *findings = &show->findings;
	char pages[COUNTED_TEXT], areas[COUNTED_TEXT];

	if (findings->guard_pages)
		fprintf(out, "\n%s in %s.\n",
			counted(pages, findings->guard_pages, "guard marker stands",
				"guard markers stand"),
			counted(areas, findings->guarded_areas, "mapping", "mappings"));
}

/* Only where it is felt; false where not. */
static bool print_fork(const struct show *show, FILE *out)
{
	char all[SHORT_TEXT], needed[SHORT_TEXT];

	if (show->fork_ns < FORK_FELT_NS)
		return false;
	fprintf(out, "\nA fork of this process pays about %s for its mappings",
		time_text(all, show->fork_ns));
	if (show->findings.nr_remedies)
		fprintf(out, ", %s of it needed", time_text(needed, show->fork_needed_ns));
	fputs(" (seam cost).\n", out);
	return true;
}

static void print_notes(const struct show *show, FILE *out)
{
	const struct snapshot *snapshot = &show->snapshot;
	char time[SHORT_TEXT];

	for (unsigned int i = 0; i < snapshot->nr_notes; i++)
		fprintf(out, "Note: %s.\n", snapshot->notes[i]);
	if (!strcmp(snapshot->source, "smaps") && snapshot->read_ns >= HELD_UP_NS)
		fprintf(out, "Note: reading its smaps took %s, in which it could not map.\n",
			time_text(time, snapshot->read_ns));
	target_print_bad(snapshot, out);
}

/* Right under what a fork costs, so that all stays on a screen. */
static void print_hint(const struct show *show, FILE *out)
{
	const char *blank = print_fork(show, out) ? "" : "\n";

	if (show->file) {
		fprintf(out, "%sBy the rules of %s. Pair by pair: seam why ", blank,
			show->findings.policy.name);
		print_plain(show->file, out);
		fputc('\n', out);
	} else if (show->findings.nr_remedies || show_pressure(show) >= LIMIT_FELT) {
		fprintf(out, "%sPair by pair: seam why %d\n", blank, show->snapshot.pid);
	}
}

int show_screen(const struct show *show, const char *label, const struct show_extra *extra,
		bool header, FILE *out)
{
	const struct findings *findings = &show->findings;
	int r = 0;

	fprintf(out, "%s: ", label);
	show_verdict(show, extra, out);
	if (findings->nr_causes) {
		fputc('\n', out);
		r = print_causes(show, header, out);
	}
	if (!r && findings->nr_groups) {
		fputc('\n', out);
		r = print_groups(show, header, out);
	}
	if (!r && findings->nr_remedies) {
		fputc('\n', out);
		r = print_remedies(show, header, out);
	}
	print_guards(show, out);
	print_hidden(show, out);
	print_notes(show, out);
	print_hint(show, out);
	return r;
}
