/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/index/blocks.h"

#include "lib/index/history.h"
#include "lib/shared.h"
#include "lib/memory.h"

#define FIRST_CHUNK 8192
#define LARGEST_CHUNK 65536
#define LINE 64

struct chunk {
	struct chunk *next;
	size_t size;
};

static const size_t pool_sizes[NR_POOLS] = {
	[POOL_LEAF] = sizeof(struct leaf),
	[POOL_INNER] = (sizeof(struct inner) + LINE - 1) / LINE * LINE,
	[POOL_COLD] = (LEAF_SLOTS * sizeof(uint64_t) + LINE - 1) / LINE * LINE,
};

_Static_assert(sizeof(struct leaf) <= 8 * LINE, "a leaf is eight cache lines");

static int add_chunk(struct index *index)
{
	size_t size = index->chunks ? index->chunks->size * 2 : FIRST_CHUNK;
	struct chunk *chunk;

	if (size > LARGEST_CHUNK)
		size = LARGEST_CHUNK;
	chunk = index->alloc->alloc(index->alloc->ctx, size);
	if (!chunk)
		return -SEAM_EALLOC;
	*chunk = (struct chunk) { .next = index->chunks, .size = size };
	/* in this order: what was used of the last one is never less than the header of this one */
	WRITE_RELEASE(index->chunks, chunk);
	WRITE_RELEASE(index->chunk_used, sizeof(*chunk));
	return 0;
}

/* Where in the chunk the next block may begin: on a cache line. */
static size_t block_start(const struct chunk *chunk, size_t used)
{
	return (((uintptr_t)chunk + used + LINE - 1) & ~(uintptr_t)(LINE - 1)) - (uintptr_t)chunk;
}

void *block_cut(struct index *index, enum pool_kind kind)
{
	size_t at = block_start(index->chunks, index->chunk_used), size = pool_sizes[kind];

	if (!index->chunks || at + size > index->chunks->size) {
		if (add_chunk(index))
			return NULL;
		at = block_start(index->chunks, index->chunk_used);
	}
	index->chunk_used = at + size;
	return (char *)index->chunks + at;
}

int block_ensure(struct index *index, enum pool_kind kind, size_t nr)
{
	while (index->nr_free[kind] < nr) {
		void *block = block_cut(index, kind);

		if (block)
			block_give(index, kind, block);
		else if (!history_forget(index))
			return -SEAM_EALLOC;
	}
	return 0;
}

void *block_take(struct index *index, enum pool_kind kind)
{
	struct free_block *block = index->free[kind];

	index->free[kind] = block->next;
	index->nr_free[kind]--;
	index->reserved = 0;
	return block;
}

void block_give(struct index *index, enum pool_kind kind, void *ptr)
{
	struct free_block *block = ptr;

	if (!block)
		return;
	WRITE_ONCE(block->next, index->free[kind]);
	/* a fork may keep what is done up to here: the list is whole at any moment */
	WRITE_RELEASE(index->free[kind], block);
	index->nr_free[kind]++;
}

void blocks_destroy(struct index *index)
{
	while (index->chunks) {
		struct chunk *chunk = index->chunks;

		index->chunks = chunk->next;
		memory_free(index->alloc, chunk, chunk->size);
	}
}
