/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/index/index.h - the ordered set of areas of a space: the contract.
 *
 * Areas never overlap. A cursor stands on one area; any edit but the one made through it makes it
 * stale. Areas are loaded and stored by value, so that an implementation may pack them.
 * Implementations: the tree of btree.h, and linear.c with -DSEAM_INDEX_LINEAR (a sorted array: the
 * reference that tests compare it against).
 */
#ifndef LIB_INDEX_H
#define LIB_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/space.h>

#include "lib/built.h"

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
#define INDEX_INLINE
struct index {
	const struct seam_alloc *alloc;
	struct area *areas;
	size_t nr, room;
};
#else
#include "lib/index/btree.h"
#define INDEX_INLINE static inline
#endif

/* Empty. index_destroy gives back all that it holds. */
void index_init(struct index *index, const struct seam_alloc *alloc, unsigned int page_shift);
void index_destroy(struct index *index);
/* From now on there may be readers beside the writer (lib/index/read.h). -SEAM_EALLOC. */
int index_share(struct index *index);
/*
 * The areas of @from for the empty @to, with their anon numbers or with 0. -SEAM_EALLOC, and @to is
 * empty.
 */
int index_copy(struct index *to, const struct index *from, bool with_anon);
/* Gives the area under the cursor other identities. Of an index that nobody reads yet. */
void index_set_identities(struct index *index, const struct cursor *cursor, uint32_t attr,
			  uint32_t anon);
/* Ends a call: readers see what has changed since the last one ended. */
void index_commit(struct index *index);
/*
 * Until the call ends its edits are taken back, or made anew: they take only what was set aside for
 * them.
 */
INDEX_INLINE void index_spend(struct index *index);
/*
 * In the child of a fork that came in the middle of a call: the index as it was before the call, or
 * after it if that was @finished. -SEAM_EALLOC when it is not known any more.
 */
int index_recover(struct index *index, bool finished);

static inline uint64_t index_count(const struct index *index)
{
	return index->nr;
}

/* To the first area that ends behind @addr. False, and past the end, when there is none. */
bool index_seek(const struct index *index, uint64_t addr, struct cursor *ret_cursor);
/* The same for who changes nothing there. */
bool index_look_up(const struct index *index, uint64_t addr, struct cursor *ret_cursor);
/* To the last area. False when empty. */
bool index_last(const struct index *index, struct cursor *ret_cursor);
/* One step; false, and the cursor unchanged, at the end. A cursor past the end may step back. */
INDEX_INLINE bool index_next(const struct index *index, struct cursor *cursor);
INDEX_INLINE bool index_prev(const struct index *index, struct cursor *cursor);
/* To the next place of an area, which is past the end behind the last one. */
INDEX_INLINE void index_step(const struct index *index, struct cursor *cursor);
/* The cursor is on an area, not past the end. */
INDEX_INLINE bool index_on_area(const struct index *index, const struct cursor *cursor);
INDEX_INLINE void index_load(const struct index *index, const struct cursor *cursor,
			     struct area *ret_area);
/* After this @nr inserts cannot fail. -SEAM_EALLOC. */
INDEX_INLINE int index_reserve(struct index *index, size_t nr);

/*
 * Puts in an area that overlaps none. The cursor stands at what index_seek finds for the area's
 * start, and ends on the area. -SEAM_EALLOC.
 */
int index_insert(struct index *index, struct cursor *cursor, const struct area *area);
/* Takes out the area; the cursor moves to the next one, or past the end. Gives back no memory. */
void index_remove(struct index *index, struct cursor *cursor);
/*
 * The area under the cursor, which stays on it, becomes *area. Its new range must not reach a
 * neighbour's. -SEAM_EALLOC.
 */
int index_store(struct index *index, struct cursor *cursor, const struct area *area);
/*
 * The @nr_old areas from the one under the cursor on become the @nr areas of @areas, which reach no
 * neighbour of theirs; with no old ones they come before the cursor, and then there are new ones.
 * The cursor ends on the first of the new ones, or without any on what comes next. False, and
 * nothing is done, where this is no matter of one node alone; single edits do it then.
 */
bool index_replace(struct index *index, struct cursor *cursor, unsigned int nr_old,
		   const struct area *areas, unsigned int nr);
/*
 * As index_reserve, for inserts and stores that lie far apart: each may split a full node of its
 * own.
 */
int index_reserve_apart(struct index *index, size_t nr);

/* A free range, and the first area above it, or past the end. */
struct gap {
	uint64_t start, end;
	struct cursor above;
};

/*
 * The highest (lowest) free range of at least @len bytes within [lo, hi), as a whole but cut to
 * [lo, hi). False when there is none.
 */
bool index_gap_highest(const struct index *index, uint64_t len, uint64_t lo, uint64_t hi,
		       struct gap *ret_gap);
bool index_gap_lowest(const struct index *index, uint64_t len, uint64_t lo, uint64_t hi,
		      struct gap *ret_gap);
/* The same where it is known what index_seek finds for @lo. */
bool index_gap_lowest_from(const struct index *index, const struct cursor *at, uint64_t len,
			   uint64_t lo, uint64_t hi, struct gap *ret_gap);

/* Areas from the one under @first up to that under @last, which is not counted. O(n / 28). */
uint64_t index_between(const struct index *index, const struct cursor *first,
		       const struct cursor *last);
/*
 * The largest free range, in bytes, below any of these areas; below the first one it begins at @lo.
 * O(n / 28).
 */
uint64_t index_largest_gap(const struct index *index, const struct cursor *first,
			   const struct cursor *last, uint64_t lo);

#ifndef SEAM_INDEX_LINEAR
/* What every call does many times is written out here, for the compiler to put in place. */

static inline bool index_next(const struct index *index, struct cursor *cursor)
{
	const struct leaf *leaf = cursor->node;

	if (!leaf)
		return false;
	if (cursor->slot + 1 < leaf->node.nr) {
		cursor->slot++;
		return true;
	}
	if (!leaf->next)
		return false;
	cursor->node = leaf->next;
	cursor->slot = 0;
	return true;
}

static inline bool index_prev(const struct index *index, struct cursor *cursor)
{
	const struct leaf *leaf = cursor->node;

	if (!leaf)
		return false;
	if (cursor->slot) {
		cursor->slot--;
		return true;
	}
	if (!leaf->prev)
		return false;
	cursor->node = leaf->prev;
	cursor->slot = leaf->prev->node.nr - 1u;
	return true;
}

static inline void index_step(const struct index *index, struct cursor *cursor)
{
	const struct leaf *leaf = cursor->node;

	if (++cursor->slot == leaf->node.nr && leaf->next)
		*cursor = (struct cursor) { .node = leaf->next };
}

static inline bool index_on_area(const struct index *index, const struct cursor *cursor)
{
	const struct leaf *leaf = cursor->node;

	return leaf && cursor->slot < leaf->node.nr;
}

static inline void index_load(const struct index *index, const struct cursor *cursor,
			      struct area *ret_area)
{
	const struct leaf *leaf = cursor->node;
	unsigned int slot = (unsigned int)cursor->slot;
	uint64_t start = leaf_start(leaf, slot);

	ret_area->start = start << index->page_shift;
	ret_area->end = leaf_end(leaf, slot) << index->page_shift;
	ret_area->pgoff = leaf->pgoff ? leaf->pgoff[slot] : start;
	ret_area->tag = leaf->tag ? leaf->tag[slot] : 0;
	ret_area->attr = leaf->ids[slot].attr;
	ret_area->anon = leaf->ids[slot].anon;
}

static inline void index_spend(struct index *index)
{
	index->owed.spent = true;
}

/* index_reserve, where what is there does not do. */
int index_reserve_more(struct index *index, size_t nr);

static inline int index_reserve(struct index *index, size_t nr)
{
	return (ptrdiff_t)nr <= (ptrdiff_t)index->reserved ? 0 : index_reserve_more(index, nr);
}
#endif

#endif
