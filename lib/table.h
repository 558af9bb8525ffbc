/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/table.h - growing arrays that readers may look at beside the writer.
 *
 * An array that grows is another one afterwards; where there are readers the one before stays until
 * the table ends (they are half as long each, so that is no more again than there is). The size
 * stands before the entries, so that pointer and size are one even for the child of a fork.
 */
#ifndef LIB_TABLE_H
#define LIB_TABLE_H

#include <stdbool.h>

#include "lib/memory.h"
#include "lib/shared.h"

struct table {
	struct table *older;
	size_t bytes;			   /* of the entries */
	_Alignas(uint64_t) char entries[]; /* what the pointers of the callers point to */
};

static inline struct table *table_of(const void *entries)
{
	return (struct table *)((char *)entries - offsetof(struct table, entries));
}

/* 0 for NULL. */
static inline size_t table_bytes(const void *entries)
{
	return entries ? table_of(entries)->bytes : 0;
}

/* Zeroed entries. NULL: no memory. */
static inline void *table_new(const struct seam_alloc *alloc, size_t bytes)
{
	struct table *table = memory_zeroed(alloc, sizeof(*table) + bytes);

	if (!table)
		return NULL;
	table->bytes = bytes;
	return table->entries;
}

/* A table of its own with the same entries, NULL for NULL. False: no memory, and *ret_copy NULL. */
static inline bool table_copy(const struct seam_alloc *alloc, void **ret_copy, const void *entries)
{
	size_t bytes = table_bytes(entries);
	struct table *table;

	*ret_copy = NULL;
	if (!entries)
		return true;
	table = alloc->alloc(alloc->ctx, sizeof(*table) + bytes);
	if (!table)
		return false;
	table->older = NULL;
	table->bytes = bytes;
	memcpy(table->entries, entries, bytes);
	*ret_copy = table->entries;
	return true;
}

/* An entry is about to become another one: what readers have of it counts no more. */
static inline void table_reuse(size_t *reused)
{
	WRITE_RELEASE(*reused, *reused + 1);
	shared_fence();
}

/* NULL is allowed. */
static inline void table_free(const struct seam_alloc *alloc, void *entries)
{
	struct table *table = entries ? table_of(entries) : NULL;

	while (table) {
		struct table *older = table->older;

		memory_free(alloc, table, sizeof(*table) + table->bytes);
		table = older;
	}
}

/*
 * A longer table with the same entries, those behind them not set; the caller puts it in the old
 * one's place. @keep: readers may look at the old one. NULL: no memory, and the old one stays.
 */
static inline void *table_grow(const struct seam_alloc *alloc, void *entries, size_t bytes,
			       bool keep)
{
	struct table *old = entries ? table_of(entries) : NULL, *table;

	if (old && keep) {
		table = alloc->alloc(alloc->ctx, sizeof(*table) + bytes);
		if (!table)
			return NULL;
		memcpy(table->entries, entries, old->bytes);
		table->older = old;
	} else {
		table = memory_resize(alloc, old, old ? sizeof(*old) + old->bytes : 0,
				      sizeof(*table) + bytes);
		if (!table)
			return NULL;
		if (!old)
			table->older = NULL;
	}
	table->bytes = bytes;
	return table->entries;
}

#endif
