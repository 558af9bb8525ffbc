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

/* A vector as it is read from a file. */
struct rules_file {
	struct seam_policy policy;
	bool based;			   /* no policy= may come any more */
	unsigned int given[SEAM_NR_RULES]; /* in which line; 0: not yet */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* "NAME = VALUE", with or without blanks, made "NAME=VALUE". False: it is none. */
static bool close_up(char *line)
{
	size_t name = strcspn(line, " \t="), value;
	char *at = line + name;

	at += strspn(at, " \t");
	if (!name || *at != '=')
		return false;
	at++;
	at += strspn(at, " \t");
	value = strlen(at);
	for (size_t i = 0; i < value; i++)
		if (is_blank(at[i]) || at[i] == '=' || at[i] == ',')
			return false;
	line[name] = '=';
	memmove(line + name + 1, at, value + 1);
	return value > 0;
}

static unsigned int rule_named(const char *line)
{
	size_t len = strcspn(line, "=");
	unsigned int rule = 0;

	while (rule < SEAM_NR_RULES &&
	       (strlen(seam_rule_name(rule)) != len || strncmp(seam_rule_name(rule), line, len)))
		rule++;
	return rule;
}

static int take_rule(struct rules_file *file, char *line, unsigned int number, char *ret_error)
{
	unsigned int rule = rule_named(line);
	int len = (int)strcspn(line, "=");
	char name[sizeof(file->policy.name)];
	bool good;

	if (rule == SEAM_NR_RULES)
		return fail(ret_error, "no rule is named '%.*s' (seam kernels lists them)",
			    len > 40 ? 40 : len, line);
	if (file->given[rule])
		return fail(ret_error, "'%s' has its value in line %u already",
			    seam_rule_name(rule), file->given[rule]);
	file->given[rule] = number;
	memcpy(name, file->policy.name, sizeof(name));
	file->policy.name[0] = 0;
	good = !seam_policy_change(&file->policy, line, NULL);
	memcpy(file->policy.name, name, sizeof(name));
	if (!good)
		return fail(ret_error, "'%.40s': expected a number that some kernel has as '%s'",
			    line + len + 1, seam_rule_name(rule));
	return 0;
}

static int take_line(struct rules_file *file, char *line, unsigned int number, char *ret_error)
{
	if (strncmp(line, "policy", 6) || (line[6] != '=' && !is_blank(line[6]))) {
		file->based = true;
		if (!close_up(line))
			return fail(ret_error, "'%.40s': RULE=VALUE expected", line);
		return take_rule(file, line, number, ret_error);
	}
	if (file->based)
		return fail(ret_error, "policy= belongs in front of all rules, once");
	file->based = true;
	line += strspn(line + 6, " \t") + 6;
	if (*line != '=')
		return fail(ret_error, "'policy %.40s': policy=NAME expected", line);
	line++;
	return policy_from_spec(line + strspn(line, " \t"), &file->policy, ret_error);
}

int policy_from_file(const char *path, struct seam_policy *ret_policy, char *ret_error)
{
	struct rules_file rules = { .policy = *seam_policy_find("plain") };
	FILE *file = fopen(path, "re");
	char line[512], why[POLICY_ERROR_SIZE], *text;
	unsigned int number = 0;
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
			err = take_line(&rules, text, number, why);
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
	snprintf(rules.policy.name, sizeof(rules.policy.name), "%.100s", path);
	*ret_policy = rules.policy;
	return 0;
}
