/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ui/table.h - aligned columns for people.
 */
#ifndef UI_TABLE_H
#define UI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum column_align { ALIGN_LEFT, ALIGN_RIGHT };

/* When the terminal is too narrow. Where that is not enough, a blank parts columns in place of two. */
enum column_narrow {
	NARROW_STAYS,
	NARROW_CUT,
	NARROW_WRAPS, /* to lines of its own; only the last column can */
};

struct column {
	const char *title;
	enum column_align align;
	enum column_narrow narrow; /* of all columns one gives way */
};

struct table;
/* NULL: no memory. @columns must outlive the table. */
struct table *table_new(const struct column *columns, unsigned int nr_columns);
/* One cell, in order; a row is complete after nr_columns cells. Failures show in table_print. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A cell with a count, "1,234". */
void table_count(struct table *table, uint64_t value);
/* -ENOMEM when a cell was lost. Frees the table. */
int table_print(struct table *table, FILE *out, bool header);
/* The same for a screen of @columns that is not behind @out itself; @colours: titles in bold. */
int table_print_within(struct table *table, FILE *out, bool header, size_t columns, bool colours);

/* Room for any of the texts below; each returns its buffer. */
#define SHORT_TEXT 32
/* "1,234,567" */
char *count_text(char *buf, uint64_t value);
/* "1 call", "1,234 calls": @one and @many are words of ours. */
#define COUNTED_TEXT 64
char *counted(char *buf, uint64_t value, const char *one, const char *many);
/* "64K", "1.5M", "3G"; "924B" */
char *size_text(char *buf, uint64_t bytes);
/* "12.3 µs", "4.5 ms", "12.0 s" */
char *time_text(char *buf, uint64_t ns);

#endif
