/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/index/blocks.h - the memory of an index: blocks of three sizes, cut from chunks that stay until
 * the index ends. A block never becomes one of another kind, so a reader that is late still finds
 * a node where there was one.
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

#endif
