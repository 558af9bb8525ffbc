/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/findings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings/causes.h"
#include "findings/groups.h"
#include "findings/remedies/remedies.h"
#include "trace/vmflags.h"

static struct cause_row *find_row(struct findings *findings, uint32_t causes)
{
	struct cause_row *rows;
	size_t nr = findings->nr_causes;

	for (size_t i = 0; i < nr; i++)
		if (findings->causes[i].causes == causes)
			return &findings->causes[i];
	rows = realloc(findings->causes, (nr + 1) * sizeof(*rows));
	if (!rows)
		return NULL;
	findings->causes = rows;
	findings->nr_causes++;
	memset(&rows[nr], 0, sizeof(rows[nr]));
	rows[nr].causes = causes;
	return &rows[nr];
}

static int count_pair(struct findings *findings, size_t left)
{
	const struct snapshot_area *area = &findings->snapshot->areas[left];
	uint32_t causes = causes_of_pair(findings->snapshot, &findings->policy, left);
	struct cause_row *row = find_row(findings, causes);

	if (!row)
		return -ENOMEM;
	findings->pair[left] = causes;
	findings->touching_pairs++;
	if (!row->pairs++)
		row->example = left;
	row->flags |= seam_explain_flags(&findings->policy, &area[0].area, &area[1].area);
	return 0;
}

static int count_pairs(struct findings *findings)
{
	const struct snapshot *snapshot = findings->snapshot;

	for (size_t i = 0; i < snapshot->nr_areas; i++) {
		int r;

		findings->pair[i] = NO_PAIR;
		/* without their ends nobody knows which of them touch */
		if (i + 1 == snapshot->nr_areas || !(snapshot->sees & SEES_RANGE))
			continue;
		if (snapshot->areas[i].area.end != snapshot->areas[i + 1].area.start) {
			findings->holes++;
			continue;
		}
		r = count_pair(findings, i);
		if (r)
			return r;
	}
	return 0;
}

static void count_guards(struct findings *findings)
{
	for (size_t i = 0; i < findings->snapshot->nr_areas; i++) {
		uint64_t pages = findings->snapshot->areas[i].guard_pages;

		findings->guard_pages += pages;
		findings->guarded_areas += pages != 0;
	}
}

/* What the bare name of a cause does not tell: which flags. */
static void tell_detail(struct cause_row *row)
{
	char letters[VMFLAGS_TEXT_SIZE];

	if (row->causes & SEAM_CAUSE(flags))
		snprintf(row->detail, sizeof(row->detail), "%s",
			 vmflags_text(letters, causes_flags(row->causes, row->flags)));
}

static int more_pairs(const void *left, const void *right)
{
	const struct cause_row *l = left, *r = right;

	if (l->pairs != r->pairs)
		return l->pairs < r->pairs ? 1 : -1;
	return l->causes < r->causes ? -1 : l->causes > r->causes;
}

int findings_make(const struct snapshot *snapshot, const struct seam_policy *policy,
		  double pressure, struct findings *ret_findings)
{
	size_t nr = snapshot->nr_areas ? snapshot->nr_areas : 1;
	struct findings findings = {
		.snapshot = snapshot,
		.policy = *policy,
		.pressure = pressure,
	};
	int r = -ENOMEM;

	findings.pair = malloc(nr * sizeof(*findings.pair));
	findings.group_of = calloc(nr, sizeof(*findings.group_of));
	if (findings.pair && findings.group_of)
		r = count_pairs(&findings);
	count_guards(&findings);
	for (size_t i = 0; !r && i < findings.nr_causes; i++)
		tell_detail(&findings.causes[i]);
	if (!r && findings.nr_causes)
		qsort(findings.causes, findings.nr_causes, sizeof(*findings.causes), more_pairs);
	/* shapes are told by protection */
	if (!r && snapshot->sees & SEES_RANGE && !(snapshot->sees & HIDES_PROT))
		r = groups_find(&findings);
	if (!r)
		r = remedies_find(&findings);
	if (r) {
		findings_free(&findings);
		return r;
	}
	*ret_findings = findings;
	return 0;
}

void findings_free(struct findings *findings)
{
	free(findings->pair);
	free(findings->group_of);
	free(findings->causes);
	free(findings->remedies);
	memset(findings, 0, sizeof(*findings));
}

uint64_t findings_pairs_with(const struct findings *findings, uint32_t cause)
{
	uint64_t pairs = 0;

	for (size_t i = 0; i < findings->nr_causes; i++)
		if (findings->causes[i].causes & cause)
			pairs += findings->causes[i].pairs;
	return pairs;
}

const struct group_row *findings_group(const struct findings *findings, enum group what)
{
	for (size_t i = 0; i < findings->nr_groups; i++)
		if (findings->groups[i].what == what)
			return &findings->groups[i];
	return NULL;
}

/* The table is in order of age. */
const struct seam_policy *findings_newest_policy(void)
{
	const struct seam_policy *newest = seam_policy_at(0), *policy;

	for (unsigned int i = 0; (policy = seam_policy_at(i)); i++)
		if (!policy->old && !strncmp(policy->name, "linux-", 6))
			newest = policy;
	return newest;
}
