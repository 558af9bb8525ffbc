/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/index/btree.h - the index as a B+tree, its shapes (lib/index/tree.h: its parts).
 *
 * A leaf is 512 bytes with up to 28 areas of 16 bytes: page numbers are 32 bits wide and relative to
 * the leaf's base, so a leaf reaches over 16 TiB (with 4 KiB pages). Only the end of its last area
 * may lie farther away: it stands in the head in full. Page offsets that are not the page number
 * itself, and tags, lie in arrays of their own that most leaves do not have. Of eight cache lines a
 * lookup needs five: the head, the two with the ends, and of starts and numbers one each.
 * An inner node knows of each child its first page, the page behind its last, and the largest gap
 * between areas within it.
 */
#ifndef LIB_INDEX_BTREE_H
#define LIB_INDEX_BTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/space.h>

#include "lib/built.h"

#define LEAF_SLOTS 28
#define INNER_SLOTS 64
/* The farthest page from a leaf's base that is kept relative to it. */
#define LEAF_REACH UINT32_C(0xfffffffe)
#define LEAF_FAR UINT32_MAX /* an end beyond that, or an unused slot */
#define LINE_SIZE 64	    /* of a cache line, in bytes */

struct inner;

struct index_node {
	struct inner *parent; /* NULL: the root */
	uint8_t nr;	      /* areas or children */
	uint8_t level;	      /* 0: a leaf */
	uint8_t slot;	      /* in the parent */
	uint8_t saved;	      /* readers need it as it is now no more (lib/index/history.h) */
	uint32_t gap;	      /* of a leaf: the largest between two of its areas, in pages */
};

/* What an area has besides its range (lib/attr.h, lib/anon.h). */
struct leaf_ids {
	uint32_t attr, anon;
};

struct leaf {
	struct index_node node;
	struct leaf *prev, *next;
	uint64_t *pgoff, *tag;			     /* NULL: implied, and 0 */
	uint64_t base;				     /* page that start and end count from */
	uint64_t last_end;			     /* page behind the last area, in full */
	uint32_t end[LEAF_SLOTS], start[LEAF_SLOTS]; /* beyond nr: UINT32_MAX */
	struct leaf_ids ids[LEAF_SLOTS];
};

struct inner {
	struct index_node node;
	/* beyond nr: UINT64_MAX, NULL, UINT64_MAX, 0; in whole lines what a search needs */
	_Alignas(LINE_SIZE) uint64_t end[INNER_SLOTS];
	struct index_node *child[INNER_SLOTS];
	uint64_t start[INNER_SLOTS], gap[INNER_SLOTS];
};

enum pool_kind { POOL_LEAF, POOL_INNER, POOL_COLD, NR_POOLS };

struct free_block {
	struct free_block *next;
};

struct chunk;
struct history;

/* The blocks of a kind: lib/index/blocks.h. */
struct index_blocks {
	struct chunk *chunks; /* where blocks are cut from; the newest first */
	size_t chunk_used;    /* of the newest */
	size_t nr_cut;	      /* blocks in all of them, but for what is not cut yet */
	struct free_block *free;
	size_t nr_free;
	struct chunk *spare; /* empty, and their memory discarded */
};

/* Some was taken of what was reserved in this call: signed, it is less than any number of inserts. */
#define RESERVE_TAKEN (~(SIZE_MAX >> 1))

/* What taking back the call that is being made may need, beside what was reserved. */
struct owed {
	uint32_t far; /* stores that moved an area to where another leaf is */
	bool spent;   /* it is being taken back, or made anew: edits keep nothing for later */
};

struct index {
	const struct seam_alloc *alloc;
	unsigned int page_shift;
	unsigned int height; /* levels above the leaves */
	int search;	     /* enum search_kind */
	size_t nr;
	struct index_node *root;
	struct leaf *last;
	struct leaf *run; /* where the last insert went: calls come in runs up or down */
	unsigned int run_slot;
	struct index_blocks blocks[NR_POOLS];
	size_t nr_given, trim_at; /* blocks freed; when to look for empty chunks */
	/* so many inserts are known not to fail, wherever they go; were, once it is RESERVE_TAKEN */
	size_t reserved;
	struct owed owed;
	struct history *history; /* NULL: nobody reads beside the writer */
};

/* NULL: there are no readers. */
static inline struct history *index_history(const struct index *index)
{
	return WITH_READERS ? index->history : NULL;
}

/* In pages. */
static inline uint64_t leaf_start(const struct leaf *leaf, unsigned int slot)
{
	return leaf->base + leaf->start[slot];
}

static inline uint64_t leaf_end(const struct leaf *leaf, unsigned int slot)
{
	return leaf->end[slot] == LEAF_FAR ? leaf->last_end : leaf->base + leaf->end[slot];
}

#endif
