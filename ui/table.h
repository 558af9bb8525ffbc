/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ui/table.h - aligned columns for people, a pager and colour only on a terminal.
 */
#ifndef UI_TABLE_H
#define UI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum column_align { ALIGN_LEFT, ALIGN_RIGHT };

struct column {
	const char *title;
	enum column_align align;
	bool wraps; /* the one column that gives way when the terminal is narrow */
};

struct table;
/* NULL: no memory. @columns must outlive the table. */
struct table *table_new(const struct column *columns, unsigned int nr_columns);
/* One cell, in order; a row is complete after nr_columns cells. Failures show in table_print. */
void table_cell(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* -ENOMEM when a cell was lost. Frees the table. */
int table_print(struct table *table, FILE *out, bool header);

/* "1,234,567" into @buf (at least 27 bytes); returns buf. */
char *count_text(char *buf, uint64_t value);
/* "64K", "1.5M", "3G" into @buf (at least 16 bytes). */
char *size_text(char *buf, uint64_t bytes);
/* "12.3 ms", "4.56 s" into @buf (at least 16 bytes). */
char *time_text(char *buf, uint64_t ns);
/* True when @out is a terminal and NO_COLOR is not set. */
bool color_wanted(FILE *out);

#endif
