/* SPDX-License-Identifier: BSD-2-Clause */
/* seam kernels: the known policies and where they differ; the running kernel's own vector. */
#include <inttypes.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/policy.h"
#include "face/kernels.h"
#include "ui/table.h"

#define VECTOR_SIZE 16

struct options {
	bool json, probe, diff, no_header;
	const char *output;
	const char *left, *right; /* with diff */
};

static const struct cmd_option known_options[] = {
	{ .name = "probe",
	  OPTION_FLAG(struct options, probe),
	  .help = "the rules of the running kernel, each found by a few calls" },
	{ .name = "diff",
	  OPTION_FLAG(struct options, diff),
	  .value = "A B",
	  .help = "the rules in which two differ (also linux-host, what-ifs)" },
	OPTION_JSON(struct options, json),
	OPTION_NO_HEADER(struct options, no_header),
	OPTION_REPORT_OUTPUT(struct options, output),
	{ 0 },
};

static int parse_options(struct options *options, int argc, char **argv)
{
	char **operands;
	int status;

	*options = (struct options) { 0 };
	status = options_parse(&cmd_kernels, argc, argv, options, &operands);
	if (status)
		return status;
	if (options->diff && options->probe)
		return cmd_usage(&cmd_kernels, "--probe or --diff, not both");
	if (!options->diff)
		return operands_none(&cmd_kernels, operands);
	if (!operands[0] || !operands[1] || operands[2])
		return cmd_usage(&cmd_kernels, "--diff: two kernels expected");
	options->left = operands[0];
	options->right = operands[1];
	return 0;
}

static char *vector_text(char *buf, const struct seam_policy *policy)
{
	snprintf(buf, VECTOR_SIZE, "%08" PRIx32, seam_policy_vector(policy));
	return buf;
}

/* "close=2, -sticky": what changed against the policy before. */
static const char *changes_text(char *buf, size_t size, const struct seam_policy *before,
				const struct seam_policy *policy)
{
	size_t len = 0;

	buf[0] = 0;
	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++) {
		unsigned int value = policy->rule[rule];

		if (value == (before ? before->rule[rule] : 0) || len >= size)
			continue;
		if (len)
			len += (size_t)snprintf(buf + len, size - len, ", ");
		if (len >= size)
			continue;
		if (value > 1)
			len += (size_t)snprintf(buf + len, size - len, "%s=%u",
						seam_rule_name(rule), value);
		else
			len += (size_t)snprintf(buf + len, size - len, "%s%s", value ? "" : "-",
						seam_rule_name(rule));
	}
	return len ? buf : "the same";
}

static int print_all(const struct options *options, FILE *out)
{
	static const struct column columns[] = { { "KERNEL", ALIGN_LEFT },
						 { "VECTOR", ALIGN_LEFT },
						 { "CHECKED", ALIGN_LEFT },
						 { "AGAINST THE ONE BEFORE", ALIGN_LEFT,
						   NARROW_WRAPS } };
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	const struct seam_policy *policy, *before = NULL;
	char vector[VECTOR_SIZE], changes[1024];
	unsigned int nr = 0, nr_checked = 0;

	for (unsigned int i = 0; (policy = seam_policy_at(i)); i++) {
		nr++;
		nr_checked += policy->checked;
		table_cell(table, "%s", policy->name);
		table_cell(table, "%s", vector_text(vector, policy));
		table_cell(table, "%s", policy->checked ? "yes" : "no");
		table_cell(table, "%s", changes_text(changes, sizeof(changes), before, policy));
		before = policy;
	}
	fprintf(out,
		"%u policies, %u of them held against their kernel's own code or running; "
		"%u rules\n\n",
		nr, nr_checked, SEAM_NR_RULES);
	return table_print(table, out, !options->no_header);
}

/* Whether a living kernel has the rule: some are those of the old ones alone. */
static bool is_living(unsigned int rule)
{
	const struct seam_policy *policy;

	for (unsigned int i = 0; (policy = seam_policy_at(i)); i++)
		if (!policy->old && policy->rule[rule] && strncmp(policy->name, "plain", 5))
			return true;
	return false;
}

static int print_probe(const struct rules_probe *probe, const struct seam_policy *policy,
		       bool header, FILE *out)
{
	static const struct column columns[] = { { "RULE", ALIGN_LEFT },
						 { "VALUE", ALIGN_RIGHT },
						 { "TOLD BY", ALIGN_LEFT },
						 { "WHAT", ALIGN_LEFT, NARROW_WRAPS } };
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	char vector[VECTOR_SIZE];
	int err;

	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++) {
		if (!is_living(rule))
			continue;
		table_cell(table, "%s", seam_rule_name(rule));
		table_cell(table, "%u", policy->rule[rule]);
		table_cell(table, "%s", probe->found[rule] < 0 ? probe->nearest->name : "calls");
		table_cell(table, "%s", seam_rule_text(rule));
	}
	fprintf(out, "%s: %s %s (vector %s)\n\n", probe->release,
		probe->nr_differ ? "nearest to" : "as", probe->nearest->name,
		vector_text(vector, policy));
	err = table_print(table, out, header);
	for (unsigned int i = 0; i < probe->nr_notes; i++)
		fprintf(out, "note: %s\n", probe->notes[i]);
	return err;
}

static int report_probe(const struct options *options, FILE *out)
{
	struct seam_policy policy;
	struct rules_probe probe;
	int err = rules_probe(&probe);

	if (err)
		return cmd_fail(EXIT_FAILED, "probing the running kernel: %s", strerror(-err));
	rules_policy(&probe, &policy);
	if (options->json)
		kernels_probe_json(&probe, &policy, out);
	else if (print_probe(&probe, &policy, !options->no_header, out))
		return cmd_fail(EXIT_FAILED, "out of memory");
	return EXIT_DONE;
}

static int print_diff(const struct seam_policy *left, const struct seam_policy *right, bool header,
		      FILE *out)
{
	const struct column columns[] = { { "RULE", ALIGN_LEFT },
					  { left->name, ALIGN_RIGHT },
					  { right->name, ALIGN_RIGHT },
					  { "WHAT", ALIGN_LEFT, NARROW_WRAPS } };
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	unsigned int nr = 0;

	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++) {
		if (left->rule[rule] == right->rule[rule])
			continue;
		nr++;
		table_cell(table, "%s", seam_rule_name(rule));
		table_cell(table, "%u", left->rule[rule]);
		table_cell(table, "%u", right->rule[rule]);
		table_cell(table, "%s", seam_rule_text(rule));
	}
	fprintf(out, "%s and %s differ in %u of %u rules%s\n%s", left->name, right->name, nr,
		SEAM_NR_RULES, left->old != right->old ? ", and in how they carry calls out" : "",
		nr ? "\n" : "");
	return table_print(table, out, header && nr);
}

static int report_diff(const struct options *options, FILE *out)
{
	struct seam_policy left, right;
	int err = cmd_policy_of_option(&cmd_kernels, "--diff", options->left, &left);

	if (!err)
		err = cmd_policy_of_option(&cmd_kernels, "--diff", options->right, &right);
	if (err)
		return err;
	if (options->json)
		kernels_diff_json(&left, &right, out);
	else if (print_diff(&left, &right, !options->no_header, out))
		return cmd_fail(EXIT_FAILED, "out of memory");
	return EXIT_DONE;
}

static int report_all(const struct options *options, FILE *out)
{
	if (options->json)
		kernels_json(out);
	else if (print_all(options, out))
		return cmd_fail(EXIT_FAILED, "out of memory");
	return EXIT_DONE;
}

static int run_kernels(int argc, char **argv)
{
	struct options options;
	int status = parse_options(&options, argc, argv);
	FILE *out;

	if (status)
		return status;
	out = cmd_open_output(options.output, stdout);
	if (!out)
		return EXIT_FAILED;
	if (options.probe)
		status = report_probe(&options, out);
	else if (options.diff)
		status = report_diff(&options, out);
	else
		status = report_all(&options, out);
	return cmd_close_output(out, options.output, status);
}

const struct cmd cmd_kernels = {
	.name = "kernels",
	.synopsis = "[--probe | --diff A B] [--json] [-o FILE]",
	.summary = "the known policies and where they differ",
	.about = "Without options: every policy, and what changed against the one "
		 "before.",
	.options = known_options,
	.run = run_kernels,
};
