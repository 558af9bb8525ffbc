/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/fail_on.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "findings/causes.h"
#include "trace/scan.h"

#define CAUSE_PREFIX "cause."
#define GROUP_PREFIX "group."

static int group_by_name(const char *name)
{
	for (int group = GROUP_NONE + 1; group < NR_GROUPS; group++)
		if (!strcmp(group_name(group), name))
			return group;
	return -1;
}

/* The value of a field; false when there is no such field. */
static bool field_value(const char *field, const struct show *show, double *ret_value)
{
	const struct findings *findings = &show->findings;
	const char *cause = field + strlen(CAUSE_PREFIX);
	const char *group = field + strlen(GROUP_PREFIX);
	double value = 0;

	if (!strcmp(field, "areas")) {
		value = (double)show->snapshot.nr_areas;
	} else if (!strcmp(field, "headroom")) {
		value = (double)show_headroom(show);
	} else if (!strcmp(field, "touching_pairs")) {
		value = (double)findings->touching_pairs;
	} else if (!strcmp(field, "holes")) {
		value = (double)findings->holes;
	} else if (begins_with(field, CAUSE_PREFIX)) {
		int bit = cause_by_name(cause, strlen(cause));

		if (bit < 0)
			return false;
		value = (double)findings_pairs_with(findings, 1u << bit);
	} else if (begins_with(field, GROUP_PREFIX)) {
		int what = group_by_name(group);
		const struct group_row *row;

		if (what < 0)
			return false;
		row = findings_group(findings, (enum group)what);
		value = row ? (double)row->areas : 0;
	} else {
		return false;
	}
	*ret_value = value;
	return true;
}

int fail_on_parse(const char *text, struct fail_on *ret_condition)
{
	static const struct show nothing;
	struct fail_on condition = { .text = text };
	size_t len = strcspn(text, "<>= ");
	const char *at = text + len;
	double unused;
	char *end;

	if (!len || len >= sizeof(condition.field))
		return -EINVAL;
	memcpy(condition.field, text, len);
	at += strspn(at, " ");
	len = strspn(at, "<>=");
	if (!len || len >= sizeof(condition.compare))
		return -EINVAL;
	memcpy(condition.compare, at, len);
	at += len;
	condition.value = strtod(at, &end);
	if (end == at)
		return -EINVAL;
	condition.percent = *end == '%';
	if (end[condition.percent] || !field_value(condition.field, &nothing, &unused))
		return -EINVAL;
	for (size_t i = 0; i < 5; i++) {
		static const char *const known[] = { "<", "<=", ">", ">=", "=" };

		if (!strcmp(condition.compare, known[i])) {
			*ret_condition = condition;
			return 0;
		}
	}
	return -EINVAL;
}

int fail_on_check(const struct fail_on *condition, const struct show *show, double *ret_value)
{
	const char *compare = condition->compare;
	double value;

	if (!show->area_limit && (condition->percent || !strcmp(condition->field, "headroom")))
		return -EINVAL;
	if (!field_value(condition->field, show, &value))
		return -EINVAL;
	if (condition->percent)
		value = 100 * value / (double)show->area_limit;
	*ret_value = value;
	switch (compare[0]) {
	case '<':
		return value < condition->value || (compare[1] && value == condition->value);
	case '>':
		return value > condition->value || (compare[1] && value == condition->value);
	default:
		return value == condition->value;
	}
}
