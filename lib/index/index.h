/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/index/index.h - the ordered set of areas of a space: the contract.
 *
 * Areas never overlap. A cursor stands on one area; any edit but the one made through it makes it
 * stale. Areas are loaded and stored by value, so that an implementation may pack them.
 * Implementations: btree.c, and linear.c with -DSEAM_INDEX_LINEAR (a sorted array: the reference
 * that tests compare it against).
 */
#ifndef LIB_INDEX_H
#define LIB_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/space.h>

/* An area as the index keeps it: 40 bytes, attributes interned (lib/attr.h, lib/anon.h). */
struct area {
	uint64_t start, end; /* bytes */
	uint64_t pgoff;
	uint64_t tag;
	uint32_t attr;
	uint32_t anon; /* 0: never faulted */
};

struct cursor {
	void *node;
	size_t slot;
};

#ifdef SEAM_INDEX_LINEAR
struct index {
	const struct seam_alloc *alloc;
	struct area *areas;
	size_t nr, room;
};
#else
#include "lib/index/btree.h"
#endif

void index_init(struct index *index, const struct seam_alloc *alloc, unsigned int page_shift);
void index_destroy(struct index *index);

static inline uint64_t index_count(const struct index *index)
{
	return index->nr;
}

/* To the first area that ends behind @addr. False, and past the end, when there is none. */
bool index_seek(const struct index *index, uint64_t addr, struct cursor *ret_cursor);
/* To the last area. False when empty. */
bool index_last(const struct index *index, struct cursor *ret_cursor);
/* One step; false, and the cursor unchanged, at the end. A cursor past the end may step back. */
bool index_next(const struct index *index, struct cursor *cursor);
bool index_prev(const struct index *index, struct cursor *cursor);
void index_load(const struct index *index, const struct cursor *cursor, struct area *ret_area);

/* Puts in an area that overlaps none; *ret_cursor (may be NULL) on it. -SEAM_EALLOC. */
int index_insert(struct index *index, const struct area *area, struct cursor *ret_cursor);
/* Takes out the area; the cursor moves to the next one, or past the end. Gives back no memory. */
void index_remove(struct index *index, struct cursor *cursor);
/*
 * The area under the cursor, which stays on it, becomes *area. Its new range must not reach a
 * neighbour's. -SEAM_EALLOC.
 */
int index_store(struct index *index, struct cursor *cursor, const struct area *area);
/* After this @nr inserts cannot fail. -SEAM_EALLOC. */
int index_reserve(struct index *index, size_t nr);

/* The same for inserts and stores that lie far apart: each may split a full node of its own. */
int index_reserve_apart(struct index *index, size_t nr);

/*
 * The highest (lowest) free range of at least @len bytes within [lo, hi), as a whole but cut to
 * [lo, hi). False when there is none.
 */
bool index_gap_highest(const struct index *index, uint64_t len, uint64_t lo, uint64_t hi,
		       uint64_t *ret_start, uint64_t *ret_end);
bool index_gap_lowest(const struct index *index, uint64_t len, uint64_t lo, uint64_t hi,
		      uint64_t *ret_start, uint64_t *ret_end);

#endif
