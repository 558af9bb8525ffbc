/* SPDX-License-Identifier: BSD-2-Clause */
#include "face/kernels.h"

#include "face/json.h"

static void write_policy(struct json *json, const struct seam_policy *policy)
{
	json_policy(json, policy);
	json_string(json, "source", policy->source);
	json_bool(json, "checked", policy->checked);
	json_bool(json, "old", policy->old);
	json_open(json, "rules", '{');
	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++)
		json_uint(json, seam_rule_name(rule), policy->rule[rule]);
	json_close(json, '}');
}

void kernels_json(FILE *out)
{
	const struct seam_policy *policy;
	struct json json;

	json_report(&json, out, "kernels");
	json_open(&json, "rules", '{');
	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++)
		json_string(&json, seam_rule_name(rule), seam_rule_text(rule));
	json_close(&json, '}');
	json_open(&json, "kernels", '[');
	for (unsigned int i = 0; (policy = seam_policy_at(i)); i++) {
		json_open(&json, NULL, '{');
		write_policy(&json, policy);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
	json_end(&json);
}

void kernels_probe_json(const struct rules_probe *probe, const struct seam_policy *policy,
			FILE *out)
{
	struct json json;

	json_report(&json, out, "kernels");
	json_string(&json, "release", probe->release);
	json_string(&json, "nearest", probe->nearest->name);
	write_policy(&json, policy);
	json_open(&json, "not_told", '[');
	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++)
		if (probe->found[rule] < 0)
			json_string(&json, NULL, seam_rule_name(rule));
	json_close(&json, ']');
	json_open(&json, "notes", '[');
	for (unsigned int i = 0; i < probe->nr_notes; i++)
		json_string(&json, NULL, probe->notes[i]);
	json_close(&json, ']');
	json_close(&json, '}');
	json_end(&json);
}

static void write_difference(struct json *json, unsigned int rule, const struct seam_policy *left,
			     const struct seam_policy *right)
{
	json_open(json, NULL, '{');
	json_string(json, "rule", seam_rule_name(rule));
	json_uint(json, "left", left->rule[rule]);
	json_uint(json, "right", right->rule[rule]);
	json_string(json, "what", seam_rule_text(rule));
	json_close(json, '}');
}

void kernels_diff_json(const struct seam_policy *left, const struct seam_policy *right, FILE *out)
{
	struct json json;

	json_report(&json, out, "kernels");
	json_string(&json, "left", left->name);
	json_string(&json, "right", right->name);
	json_open(&json, "differences", '[');
	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++)
		if (left->rule[rule] != right->rule[rule])
			write_difference(&json, rule, left, right);
	json_close(&json, ']');
	json_close(&json, '}');
	json_end(&json);
}
