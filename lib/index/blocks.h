/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/index/blocks.h - the memory of an index: blocks of three sizes, each cut from chunks of its
 * own. A chunk without a block in use goes back to the allocator. Where there are readers it stays
 * where it is, and only what it holds is given up (discard): a reader that is late finds a node of
 * the same kind there, or zeroes.
 */
#ifndef LIB_INDEX_BLOCKS_H
#define LIB_INDEX_BLOCKS_H

#include "lib/index/index.h"

/* Sets aside @nr blocks. -SEAM_EALLOC. */
int block_ensure(struct index *index, enum pool_kind kind, size_t nr);
/* A block that was set aside; never NULL. */
void *block_take(struct index *index, enum pool_kind kind);
/* NULL is allowed. */
void block_give(struct index *index, enum pool_kind kind, void *ptr);
/* A new block beside those that are set aside. NULL: no memory. */
void *block_cut(struct index *index, enum pool_kind kind);
void blocks_destroy(struct index *index);

/* Between two calls: gives back chunks that are empty, if enough was freed since the last time. */
void blocks_trim(struct index *index);
static inline void blocks_trim_if_due(struct index *index)
{
	if (index->nr_given > index->trim_at)
		blocks_trim(index);
}

#endif
