/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/data_intern.h - a number for each distinct run of bytes, counting from 1.
 */
#ifndef TRACE_DATA_INTERN_H
#define TRACE_DATA_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct data_intern_entry;

struct data_intern {
	struct data_intern_entry *entries; /* entries[number - 1] */
	uint32_t nr_entries, entries_room;
	uint32_t *slots; /* numbers by hash, 0 is free */
	uint32_t slot_mask;
};

/* The number of @bytes, a new one when they were not met before; 0: no memory or too many. */
uint32_t data_intern_number(struct data_intern *intern, const void *bytes, size_t size,
			    uint32_t max, bool *ret_new);
void data_intern_free(struct data_intern *intern);

#endif
