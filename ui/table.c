/* SPDX-License-Identifier: BSD-2-Clause */
#include "ui/table.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ui/plain.h"
#include "ui/terminal.h"

#define MAX_COLUMNS 16
#define BOLD "\033[1m"
#define PLAIN "\033[0m"

struct table {
	const struct column *columns;
	unsigned int nr_columns;
	char **cells;
	size_t nr_cells, room;
	size_t gap; /* blanks between columns */
	bool lost;
};

struct table *table_new(const struct column *columns, unsigned int nr_columns)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->columns = columns;
	table->nr_columns = nr_columns;
	table->gap = 2;
	return table;
}

void table_cell(struct table *table, const char *format, ...)
{
	char *text;
	va_list args;
	int len;

	if (!table || table->lost)
		return;
	if (table->nr_cells == table->room) {
		size_t room = table->room ? table->room * 2 : 64;
		char **cells = realloc(table->cells, room * sizeof(*cells));

		if (!cells) {
			table->lost = true;
			return;
		}
		table->cells = cells;
		table->room = room;
	}
	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		table->lost = true;
	else
		table->cells[table->nr_cells++] = plain_text(text);
}

void table_count(struct table *table, uint64_t value)
{
	char text[SHORT_TEXT];

	table_cell(table, "%s", count_text(text, value));
}

/* Characters, not bytes: a path may hold any. */
static size_t shown_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void print_cell(FILE *out, const char *text, size_t width, const struct column *column,
		       bool last)
{
	size_t shown = shown_width(text);
	size_t pad = shown < width ? width - shown : 0;

	if (column->align == ALIGN_RIGHT)
		fprintf(out, "%*s", (int)pad, "");
	while (*text && (width || !*text)) {
		unsigned char c = (unsigned char)*text;

		if ((c & 0xc0) != 0x80 && !width--)
			break;
		fputc(c, out);
		text++;
	}
	if (column->align == ALIGN_LEFT && !last)
		fprintf(out, "%*s", (int)pad, "");
}

/* How many bytes of @text fit into @width characters, up to the end of a word if there is one. */
static size_t line_length(const char *text, size_t width)
{
	size_t len = 0, word = 0;

	while (text[len] && (width || ((unsigned char)text[len] & 0xc0) == 0x80)) {
		width -= ((unsigned char)text[len] & 0xc0) != 0x80;
		if (text[len] == ' ')
			word = len;
		len++;
	}
	return text[len] && text[len] != ' ' && word ? word : len;
}

/* @indent: where the column begins. */
static void print_wrapped(FILE *out, const char *text, size_t width, const struct column *column,
			  size_t indent)
{
	for (;;) {
		size_t len = line_length(text, width);
		char *line = strndup(text, len);

		if (line)
			print_cell(out, line, width, column, true);
		free(line);
		text += len;
		text += strspn(text, " ");
		if (!*text)
			return;
		fprintf(out, "\n%*s", (int)indent, "");
	}
}

static size_t indent_of(const struct table *table, const size_t *widths, unsigned int column)
{
	size_t indent = 0;

	for (unsigned int c = 0; c < column; c++)
		indent += widths[c] + table->gap;
	return indent;
}

/* Narrows the columns that may be; where that is not enough, all stand closer to each other. */
static void fit(struct table *table, size_t *widths, size_t room)
{
	size_t total = table->gap * (table->nr_columns - 1);

	for (unsigned int c = 0; c < table->nr_columns; c++)
		total += widths[c];
	for (unsigned int c = 0; c < table->nr_columns && total > room; c++) {
		size_t cut = total - room;

		if (table->columns[c].narrow == NARROW_STAYS || widths[c] < 8)
			continue;
		if (cut > widths[c] - 8)
			cut = widths[c] - 8;
		widths[c] -= cut;
		total -= cut;
	}
	if (total > room)
		table->gap = 1;
}

static void end_cell(const struct table *table, bool last, FILE *out)
{
	if (last)
		fputc('\n', out);
	else
		fprintf(out, "%*s", (int)table->gap, "");
}

int table_print(struct table *table, FILE *out, bool header)
{
	return table_print_within(table, out, header, terminal_columns(out), terminal_colours(out));
}

static void print_titles(struct table *table, const size_t *widths, FILE *out, bool colours)
{
	if (colours)
		fputs(BOLD, out);
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		bool last = c + 1 == table->nr_columns;

		print_cell(out, table->columns[c].title, widths[c], &table->columns[c], last);
		if (last && colours)
			fputs(PLAIN, out);
		end_cell(table, last, out);
	}
}

int table_print_within(struct table *table, FILE *out, bool header, size_t columns, bool colours)
{
	size_t widths[MAX_COLUMNS] = { 0 };
	unsigned int nr_columns;
	int err;

	if (!table)
		return -ENOMEM;
	err = table->lost ? -ENOMEM : 0;
	nr_columns = table->nr_columns;
	assert(nr_columns && nr_columns <= MAX_COLUMNS);
	for (unsigned int c = 0; c < nr_columns && header; c++)
		widths[c] = shown_width(table->columns[c].title);
	for (size_t i = 0; i < table->nr_cells; i++) {
		size_t width = shown_width(table->cells[i]);

		if (width > widths[i % nr_columns])
			widths[i % nr_columns] = width;
	}
	fit(table, widths, columns);
	if (header)
		print_titles(table, widths, out, colours);
	for (size_t i = 0; i < table->nr_cells; i++) {
		unsigned int c = i % nr_columns;
		bool last = c + 1 == nr_columns;

		if (last && table->columns[c].narrow == NARROW_WRAPS)
			print_wrapped(out, table->cells[i], widths[c], &table->columns[c],
				      indent_of(table, widths, c));
		else
			print_cell(out, table->cells[i], widths[c], &table->columns[c], last);
		end_cell(table, last, out);
		free(table->cells[i]);
	}
	free(table->cells);
	free(table);
	return err;
}

char *count_text(char *buf, uint64_t value)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	char *to = buf;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = 0;
	return buf;
}

char *counted(char *buf, uint64_t value, const char *one, const char *many)
{
	char number[SHORT_TEXT];

	snprintf(buf, COUNTED_TEXT, "%s %s", count_text(number, value), value == 1 ? one : many);
	return buf;
}

char *size_text(char *buf, uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	unsigned int unit = 0;
	uint64_t whole = bytes;

	while (whole >= 1024 && unit < 6) {
		whole >>= 10;
		unit++;
	}
	if (unit && whole < 10 && bytes & ((UINT64_C(1) << 10 * unit) - 1))
		snprintf(buf, SHORT_TEXT, "%.1f%c",
			 (double)bytes / (double)(UINT64_C(1) << 10 * unit), units[unit]);
	else
		snprintf(buf, SHORT_TEXT, "%" PRIu64 "%c", whole, units[unit]);
	return buf;
}

char *time_text(char *buf, uint64_t ns)
{
	if (ns < 10000)
		snprintf(buf, SHORT_TEXT, "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		snprintf(buf, SHORT_TEXT, "%.1f %s", (double)ns / 1e3, beyond_ascii("µs", "us"));
	else if (ns < 1000000000)
		snprintf(buf, SHORT_TEXT, "%.1f ms", (double)ns / 1e6);
	else
		snprintf(buf, SHORT_TEXT, "%.1f s", (double)ns / 1e9);
	return buf;
}
