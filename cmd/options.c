/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/number.h"

#define MAX_OPTIONS 32
#define EXPECTED_SIZE 256
/* What getopt_long returns for the first of the table; letters are below. */
#define FIRST_LONG 256

/* "text, json or ops"; a list: "some of kernel, areas and peak" */
static void list_words(const struct cmd_option *option, char text[EXPECTED_SIZE])
{
	bool several = option->kind == OPTION_IS_LIST;
	unsigned int last = option->nr_words - 1;
	const char *between = several ? "some of " : "";
	size_t len = 0;

	for (unsigned int i = 0; i < option->nr_words && len < EXPECTED_SIZE; i++) {
		if (len)
			between = i < last ? ", " : several ? " and " : " or ";

		if (option->words[i])
			len += (size_t)snprintf(text + len, EXPECTED_SIZE - len, "%s%s", between,
						option->words[i]);
	}
}

static const char *expected_text(const struct cmd_option *option, char text[EXPECTED_SIZE])
{
	int len;

	if (option->expected)
		return option->expected;
	if (option->kind == OPTION_IS_NUMBER) {
		len = snprintf(text, EXPECTED_SIZE, "a number%s%s from %" PRIu64,
			       option->unit ? " of " : "", option->unit ? option->unit : "",
			       option->min);
		if (option->max != UINT64_MAX)
			snprintf(text + len, EXPECTED_SIZE - (size_t)len, " to %" PRIu64,
				 option->max);
		return text;
	}
	list_words(option, text);
	return text;
}

/* @value: NULL when there is none. */
static int refuse(const struct cmd *cmd, const struct cmd_option *option, const char *value)
{
	char expected[EXPECTED_SIZE];

	if (!value)
		return cmd_usage(cmd, "--%s: %s expected", option->name,
				 expected_text(option, expected));
	return cmd_usage(cmd, "--%s '%s': %s expected", option->name, value,
			 expected_text(option, expected));
}

static int read_number(const struct cmd_option *option, const char *text, uint64_t *ret_value)
{
	int base = !strncmp(text, "0x", 2) ? 16 : 10;

	return number_parse(text, base, option->min, option->max, ret_value) ? 0 : -EINVAL;
}

static int find_word(const struct cmd_option *option, const char *text, size_t len,
		     unsigned int *ret_place)
{
	for (unsigned int i = 0; i < option->nr_words; i++) {
		const char *word = option->words[i];

		if (word && strlen(word) == len && !memcmp(word, text, len)) {
			*ret_place = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int read_word(const struct cmd_option *option, const char *text, unsigned int *ret_place)
{
	return find_word(option, text, strlen(text), ret_place);
}

static int read_list(const struct cmd_option *option, const char *text,
		     struct option_list *ret_list)
{
	struct option_list list = { 0 };

	while (text) {
		size_t len = strcspn(text, ",");
		unsigned int place;

		if (find_word(option, text, len, &place))
			return -EINVAL;
		if (list.nr == MAX_LISTED)
			return -E2BIG;
		list.place[list.nr++] = (unsigned char)place;
		text = text[len] ? text + len + 1 : NULL;
	}
	*ret_list = list;
	return 0;
}

/* 0, -errno, or an exit status after a message. @text: NULL for a flag. */
static int set_option(const struct cmd_option *option, char *text, void *options)
{
	void *member = (char *)options + option->offset;
	unsigned int only;

	switch (option->kind) {
	case OPTION_IS_FLAG:
		*(bool *)member = true;
		return 0;
	case OPTION_IS_NUMBER:
		return read_number(option, text, member);
	case OPTION_IS_TEXT:
		*(const char **)member = text;
		return *text ? 0 : -EINVAL;
	case OPTION_IS_WORD:
		return read_word(option, text, member);
	case OPTION_IS_LIST:
		return read_list(option, text, member);
	case OPTION_IS_ONLY:
		*(bool *)member = true;
		return read_word(option, text, &only);
	case OPTION_IS_PARSED:
		return option->parse(options, text);
	}
	return -EINVAL;
}

/* The table as getopt_long wants it; letters with ':' behind those that have a value. */
static unsigned int make_longs(const struct cmd *cmd, struct option *longs, char *letters)
{
	unsigned int nr;

	if (cmd->options_first)
		*letters++ = '+';
	*letters++ = ':';
	for (nr = 0; cmd->options[nr].name && nr < MAX_OPTIONS; nr++) {
		const struct cmd_option *option = &cmd->options[nr];
		bool has_value = option->kind != OPTION_IS_FLAG;

		longs[nr] =
			(struct option) { .name = option->name,
					  .has_arg = has_value ? required_argument : no_argument,
					  .val = FIRST_LONG + (int)nr };
		if (!option->letter)
			continue;
		*letters++ = option->letter;
		if (has_value)
			*letters++ = ':';
	}
	longs[nr] = (struct option) { 0 };
	*letters = '\0';
	return nr;
}

/* The option that getopt_long means by @value, or NULL. */
static const struct cmd_option *find_option(const struct cmd *cmd, int value)
{
	if (value >= FIRST_LONG)
		return &cmd->options[value - FIRST_LONG];
	for (const struct cmd_option *option = cmd->options; value && option->name; option++)
		if (option->letter == value)
			return option;
	return NULL;
}

static int refuse_unknown(const struct cmd *cmd, const char *word)
{
	const struct cmd_option *option = find_option(cmd, optopt);

	if (option)
		return cmd_usage(cmd, "--%s takes no value", option->name);
	if (optopt)
		return cmd_usage(cmd, "no option -%c", optopt);
	return cmd_usage(cmd, "no option %s", word);
}

int options_parse(const struct cmd *cmd, int argc, char **argv, void *options, char ***ret_operands)
{
	struct option longs[MAX_OPTIONS + 1];
	char letters[2 + 2 * MAX_OPTIONS + 1];
	int value, err;

	make_longs(cmd, longs, letters);
	opterr = 0;
	optind = 0; /* of glibc: starts anew */
	while ((value = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		const struct cmd_option *option = find_option(cmd, value);

		if (value == ':')
			return refuse(cmd, find_option(cmd, optopt), NULL);
		if (!option)
			return refuse_unknown(cmd, argv[optind - 1]);
		err = set_option(option, optarg, options);
		if (err == -E2BIG)
			return cmd_usage(cmd, "--%s '%s': given too often", option->name, optarg);
		if (err < 0)
			return refuse(cmd, option, optarg);
		if (err)
			return err;
	}
	*ret_operands = argv + optind;
	return 0;
}

int operands_none(const struct cmd *cmd, char **operands)
{
	return *operands ? cmd_usage(cmd, "'%s': no argument is expected", *operands) : 0;
}

int operands_file(const struct cmd *cmd, char **operands, const char *fallback,
		  const char **ret_file)
{
	if (!*operands) {
		*ret_file = fallback;
		return 0;
	}
	if (!**operands)
		return cmd_usage(cmd, "'': the name of a file expected");
	if (operands[1])
		return cmd_usage(cmd, "'%s': one file at a time", operands[1]);
	*ret_file = *operands;
	return 0;
}

int operands_program(const struct cmd *cmd, char **operands)
{
	if (!*operands)
		return cmd_usage(cmd, "no program to run");
	return **operands ? 0 : cmd_usage(cmd, "'': the name of a program expected");
}
