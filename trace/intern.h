/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/intern.h - a number for each distinct run of bytes, counting from 1.
 */
#ifndef TRACE_INTERN_H
#define TRACE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern_entry;

struct intern {
	struct intern_entry *entries; /* entries[number - 1] */
	uint32_t nr_entries, entries_room;
	uint32_t *slots; /* numbers by hash, 0 is free */
	uint32_t slot_mask;
};

/* The number of @bytes, a new one when they were not met before; 0: no memory or too many. */
uint32_t intern_number(struct intern *intern, const void *bytes, size_t size, uint32_t max,
		       bool *ret_new);
/* The same without adding: 0 when they were not met. */
uint32_t intern_find(const struct intern *intern, const void *bytes, size_t size);
/* The bytes behind a number, with a 0 after them; they stay where they are. NULL: no such number. */
const char *intern_text(const struct intern *intern, uint32_t number);
void intern_free(struct intern *intern);

#endif
