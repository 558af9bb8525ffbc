/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd/options.h - the options of the verbs: each verb lists its own in one table, from which they
 * are read, checked, and told by "seam help VERB". All verbs refuse in the same words:
 *
 *	--watch 'x': a number of seconds from 1 to 86400 expected
 *	--watch: a number of seconds from 1 to 86400 expected		(nothing behind it)
 *	no option --moon
 */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cmd;

enum option_kind {
	OPTION_IS_FLAG,	  /* bool: no value, sets it */
	OPTION_IS_NUMBER, /* uint64_t: decimal or 0x hex, from .min to .max */
	OPTION_IS_TEXT,	  /* const char *: anything but nothing */
	OPTION_IS_WORD,	  /* an enum: the place of the value in .words */
	OPTION_IS_LIST,	  /* struct option_list: the places of "A,B,..." in .words */
	OPTION_IS_ONLY,	  /* bool: the one word that is known, .words[0], sets it */
	OPTION_IS_PARSED, /* as .parse reads it */
};

#define MAX_LISTED 16
/* Words of a list that were asked for, in order; none when the option was not given. */
struct option_list {
	unsigned int nr;
	unsigned char place[MAX_LISTED];
};

struct cmd_option {
	const char *name; /* without its dashes; a table ends with NULL */
	char letter;	  /* the short form, or 0 */
	enum option_kind kind;
	size_t offset; /* of its member in the verb's struct */
	uint64_t min, max;
	const char *unit; /* of a number: "seconds"; NULL: of nothing */
	const char *const *words;
	unsigned int nr_words;
	/*
	 * Reads @text into the verb's struct. 0, -EINVAL (.expected is told), -E2BIG (too often),
	 * or an exit status after a message of its own.
	 */
	int (*parse)(void *options, char *text);
	const char *value; /* how help calls the value: "FILE" */
	const char *
		expected; /* what messages call it: "the name of a file"; NULL: as the kind has it */
	const char *help;
};

/* The member that an option sets; does not compile where it has another type. */
#define OPTION_MEMBER(type, member, of)                                                            \
	.offset = _Generic(((type *)NULL)->member, of : offsetof(type, member))

#define OPTION_FLAG(type, member) .kind = OPTION_IS_FLAG, OPTION_MEMBER(type, member, bool)
#define OPTION_TEXT(type, member) .kind = OPTION_IS_TEXT, OPTION_MEMBER(type, member, const char *)
#define OPTION_FILE(type, member)                                                                  \
	OPTION_TEXT(type, member), .value = "FILE", .expected = "the name of a file"
/* @of_unit: NULL, or what is counted. */
#define OPTION_NUMBER(type, member, from, to, of_unit)                                             \
	.kind = OPTION_IS_NUMBER, OPTION_MEMBER(type, member, uint64_t), .min = (from),            \
	.max = (to), .unit = (of_unit)
/* @list has the words at the numbers of their values; what is NULL there is no value. */
#define OPTION_WORD(type, member, list)                                                            \
	.kind = OPTION_IS_WORD, OPTION_MEMBER(type, member, unsigned int), .words = (list),        \
	.nr_words = sizeof(list) / sizeof((list)[0])
#define OPTION_ONLY(type, member, word)                                                            \
	.kind = OPTION_IS_ONLY, OPTION_MEMBER(type, member, bool), .value = (word),                \
	.words = (const char *const[]) { word }, .nr_words = 1
#define OPTION_PARSED(function) .kind = OPTION_IS_PARSED, .parse = (function)

/* What most verbs have. */
/* Help tells the names in @list behind @text. */
#define OPTION_FIELDS(type, member, list, text)                                                    \
	{                                                                                          \
		.name = "fields", .letter = 'F', .kind = OPTION_IS_LIST,                           \
		OPTION_MEMBER(type, member, struct option_list), .words = (list),                  \
		.nr_words = sizeof(list) / sizeof((list)[0]), .value = "A,B,...", .help = (text)   \
	}
#define OPTION_JSON(type, member)                                                                  \
	{                                                                                          \
		.name = "json", OPTION_FLAG(type, member),                                         \
		.help = "the report as JSON, for programs"                                         \
	}
#define OPTION_KERNEL(type, member, text)                                                          \
	{                                                                                          \
		.name = "kernel", OPTION_TEXT(type, member), .value = "K",                         \
		.expected = "the name of a kernel (seam kernels lists them)", .help = (text)       \
	}
#define OPTION_NO_HEADER(type, member)                                                             \
	{                                                                                          \
		.name = "no-header", OPTION_FLAG(type, member),                                    \
		.help = "tables without the titles of their columns"                               \
	}
#define OPTION_OUTPUT(type, member, text)                                                          \
	{                                                                                          \
		.name = "output", .letter = 'o', OPTION_FILE(type, member), .help = (text)         \
	}
/* A process that runs already; it is asked about, since it is held up, unless OPTION_YES. */
#define OPTION_PID(type, member, text)                                                             \
	{                                                                                          \
		.name = "pid", .letter = 'p', OPTION_NUMBER(type, member, 1, INT32_MAX, NULL),     \
		.value = "PID", .expected = "a process id", .help = (text)                         \
	}
#define OPTION_REPORT_OUTPUT(type, member)                                                         \
	OPTION_OUTPUT(type, member, "the report goes there; - is standard output")
#define OPTION_SKIP_BAD(type, member)                                                              \
	{                                                                                          \
		.name = "skip-bad", OPTION_FLAG(type, member),                                     \
		.help = "leave out lines that cannot be read"                                      \
	}
#define OPTION_YES(type, member)                                                                   \
	{                                                                                          \
		.name = "yes", .letter = 'y', OPTION_FLAG(type, member), .help = "-p: do not ask"  \
	}

/*
 * Sets in @options, the verb's struct with its defaults, what @argv asks for. *ret_operands: the
 * words that are no options, up to NULL. 0, or EXIT_USAGE after a message.
 */
int options_parse(const struct cmd *cmd, int argc, char **argv, void *options,
		  char ***ret_operands);
/* 0, or EXIT_USAGE after a message when there are @operands. */
int operands_none(const struct cmd *cmd, char **operands);
/* The one file that may be named, else @fallback. 0, or EXIT_USAGE after a message. */
int operands_file(const struct cmd *cmd, char **operands, const char *fallback,
		  const char **ret_file);

/* 0, or EXIT_USAGE after a message when no program is named. */
int operands_program(const struct cmd *cmd, char **operands);

/*
 * Sentences of help, wrapped, from @column on, where the first line is already; each line of @text
 * begins a new one.
 */
void options_print_text(const char *text, int column, FILE *out);
/* The options and what they are for, for "seam help VERB". */
void options_print(const struct cmd_option *options, FILE *out);

#endif
