/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/spec.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "probe/rules.h"

#define HOST "linux-host"

static int fail(char *ret_error, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(char *ret_error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ret_error, POLICY_ERROR_SIZE, format, args);
	va_end(args);
	return -EINVAL;
}

static int fail_word(char *ret_error, const char *what, const char *bad)
{
	return fail(ret_error, "no %s '%.*s' (seam kernels lists them)", what,
		    (int)strcspn(bad, ","), bad);
}

static int find_base(const char *name, struct seam_policy *ret_policy, char *ret_error)
{
	struct rules_probe probe;
	const char *bad;
	int err;

	if (strcmp(name, HOST)) {
		if (seam_policy_parse(name, ret_policy, &bad))
			return fail_word(ret_error, "policy", name);
		return 0;
	}
	err = rules_probe(&probe);
	if (err) {
		fail(ret_error, "probing the running kernel: %s", strerror(-err));
		return err;
	}
	rules_policy(&probe, ret_policy);
	return 0;
}

int policy_from_spec(const char *spec, struct seam_policy *ret_policy, char *ret_error)
{
	struct seam_policy policy;
	size_t len = strcspn(spec, ",");
	char name[sizeof(policy.name)];
	const char *bad;
	int err;

	if (len >= sizeof(name))
		return fail_word(ret_error, "policy", spec);
	memcpy(name, spec, len);
	name[len] = 0;
	err = find_base(name, &policy, ret_error);
	if (err)
		return err;
	if (spec[len] && seam_policy_change(&policy, spec + len + 1, &bad))
		return fail_word(ret_error, "rule or value", bad);
	*ret_policy = policy;
	return 0;
}

/* What is written on a line, without comment and blanks; NULL when nothing is. */
static char *content(char *line)
{
	size_t len;

	line[strcspn(line, "#\r\n")] = 0;
	line += strspn(line, " \t");
	for (len = strlen(line); len && (line[len - 1] == ' ' || line[len - 1] == '\t'); len--)
		line[len - 1] = 0;
	return *line ? line : NULL;
}

static int take_line(char *line, bool *based, struct seam_policy *policy, char *ret_error)
{
	char name[sizeof(policy->name)];
	int err = 0;

	if (!strncmp(line, "policy=", 7)) {
		if (*based)
			return fail(ret_error, "policy= belongs in front of all rules, once");
		err = policy_from_spec(line + 7, policy, ret_error);
	} else {
		if (!strchr(line, '=') || strchr(line, ','))
			return fail(ret_error, "'%.40s': RULE=VALUE expected", line);
		memcpy(name, policy->name, sizeof(name));
		policy->name[0] = 0;
		if (seam_policy_change(policy, line, NULL))
			err = fail(ret_error, "'%.40s': no such rule or value", line);
		memcpy(policy->name, name, sizeof(name));
	}
	*based = true;
	return err;
}

int policy_from_file(const char *path, struct seam_policy *ret_policy, char *ret_error)
{
	struct seam_policy policy = *seam_policy_find("plain");
	FILE *file = fopen(path, "re");
	char line[512], why[POLICY_ERROR_SIZE], *text;
	unsigned int number = 0;
	bool based = false;
	int err = 0;

	if (!file) {
		err = -errno;
		fail(ret_error, "%s: %s", path, strerror(-err));
		return err;
	}
	while (!err && fgets(line, sizeof(line), file)) {
		number++;
		if (!strchr(line, '\n') && !feof(file)) {
			err = fail(why, "a text of lines shorter than %zu bytes expected",
				   sizeof(line) - 1);
			break;
		}
		text = content(line);
		if (text)
			err = take_line(text, &based, &policy, why);
	}
	if (ferror(file)) {
		err = fail(why, "%s", strerror(errno));
		number++;
	}
	fclose(file);
	if (err) {
		fail(ret_error, "%s:%u: %s", path, number, why);
		return err;
	}
	snprintf(policy.name, sizeof(policy.name), "%.100s", path);
	*ret_policy = policy;
	return 0;
}
