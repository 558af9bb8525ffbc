/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "cmd/options.h"

#define HEAD_SIZE 48
#define SCREEN_WIDTH 80
/* A longer head has its text below it. */
#define WIDEST_HEAD 24

/* "  -o, --output FILE"; without room for letters where no option has one. */
static int head_text(const struct cmd_option *option, bool letters, char head[HEAD_SIZE])
{
	char letter[] = "  -x, ";

	letter[3] = option->letter;
	return snprintf(head, HEAD_SIZE, "%s--%s%s%s",
			option->letter ? letter
			: letters      ? "      "
				       : "  ",
			option->name, option->value ? " " : "", option->value ? option->value : "");
}

static bool has_letters(const struct cmd_option *options)
{
	for (; options->name; options++)
		if (options->letter)
			return true;
	return false;
}

/* Where the texts begin. */
static int text_column(const struct cmd_option *options, bool letters)
{
	char head[HEAD_SIZE];
	int widest = 0;

	for (; options->name; options++) {
		int len = head_text(options, letters, head);

		if (len > widest && len <= WIDEST_HEAD)
			widest = len;
	}
	return widest + 2;
}

void options_print_text(const char *text, int column, FILE *out)
{
	int at = column;

	while (*text) {
		int len = (int)strcspn(text, " \n");

		if (at > column && at + 1 + len > SCREEN_WIDTH) {
			fprintf(out, "\n%*s", column, "");
			at = column;
		}
		at += fprintf(out, "%s%.*s", at > column ? " " : "", len, text);
		text += len;
		if (*text == '\n' && text[1]) {
			fprintf(out, "\n%*s", column, "");
			at = column;
		}
		text += *text != '\0';
	}
	fputc('\n', out);
}

/* The words of a list stand behind what they are for. */
static void print_help(const struct cmd_option *option, int column, FILE *out)
{
	char text[512];
	size_t len = (size_t)snprintf(text, sizeof(text), "%s", option->help);

	for (unsigned int i = 0; option->kind == OPTION_IS_LIST && i < option->nr_words; i++)
		if (len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s %s",
						i ? "," : ":", option->words[i]);
	options_print_text(text, column, out);
}

void options_print(const struct cmd_option *options, FILE *out)
{
	bool letters = has_letters(options);
	int column = text_column(options, letters);

	for (; options->name; options++) {
		char head[HEAD_SIZE];
		int len = head_text(options, letters, head);

		if (len > column - 2)
			fprintf(out, "%s\n%*s", head, column, "");
		else
			fprintf(out, "%-*s", column, head);
		print_help(options, column, out);
	}
}
