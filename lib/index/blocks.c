/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/index/blocks.h"

#include "lib/index/history.h"
#include "lib/memory.h"
#include "lib/shared.h"

#define LARGEST_CHUNK ((size_t)256 << 10)
/* A chunk is as large as this part of all there are: a large index has few, a small one wastes little. */
#define CHUNK_PART 8
#define LEAST_GIVEN 128 /* blocks given back before it is worth a look which chunks are empty */
#define LEAST_DISCARD ((size_t)64 << 10)

struct chunk {
	struct chunk *next;
	size_t size;
	size_t nr_free; /* only while chunks are being looked for that are */
};

#define LINES(bytes) (((bytes) + LINE_SIZE - 1) / LINE_SIZE * LINE_SIZE)
#define LEAF_BYTES LINES(sizeof(struct leaf))
#define INNER_BYTES LINES(sizeof(struct inner))
#define COLD_BYTES LINES(LEAF_SLOTS * sizeof(uint64_t))

static const struct {
	size_t size, first_blocks; /* in bytes; in the first chunk */
} kinds[NR_POOLS] = {
	[POOL_LEAF] = { LEAF_BYTES, 15 },
	[POOL_INNER] = { INNER_BYTES, 3 },
	[POOL_COLD] = { COLD_BYTES, 7 },
};

_Static_assert(sizeof(struct leaf) <= 8 * LINE_SIZE, "a leaf is eight cache lines");

/* Where in the chunk the next block may begin: on a cache line. */
static size_t block_start(const struct chunk *chunk, size_t used)
{
	return (((uintptr_t)chunk + used + LINE_SIZE - 1) & ~(uintptr_t)(LINE_SIZE - 1)) -
	       (uintptr_t)chunk;
}

static size_t chunk_capacity(const struct chunk *chunk, enum pool_kind kind)
{
	size_t room = chunk->size - block_start(chunk, sizeof(*chunk));

	/* by constants: some 32-bit processors have no division, and ask a library for it */
	if (kind == POOL_LEAF)
		return room / LEAF_BYTES;
	return kind == POOL_INNER ? room / INNER_BYTES : room / COLD_BYTES;
}

static size_t chunk_size(const struct index_blocks *blocks, enum pool_kind kind)
{
	size_t least =
		sizeof(struct chunk) + LINE_SIZE + kinds[kind].first_blocks * kinds[kind].size;
	size_t size = blocks->nr_cut * kinds[kind].size / CHUNK_PART;

	if (size > LARGEST_CHUNK)
		size = LARGEST_CHUNK;
	return size > least ? size : least;
}

static int add_chunk(struct index *index, enum pool_kind kind)
{
	struct index_blocks *blocks = &index->blocks[kind];
	struct chunk *chunk = blocks->spare;
	size_t size;

	if (chunk) {
		blocks->spare = chunk->next;
	} else {
		size = chunk_size(blocks, kind);
		chunk = index->alloc->alloc(index->alloc->ctx, size);
		if (!chunk)
			return -SEAM_EALLOC;
		chunk->size = size;
	}
	chunk->next = blocks->chunks;
	/* in this order: what was used of the last one is never less than the header of this one */
	WRITE_RELEASE(blocks->chunks, chunk);
	WRITE_RELEASE(blocks->chunk_used, sizeof(*chunk));
	return 0;
}

void *block_cut(struct index *index, enum pool_kind kind)
{
	struct index_blocks *blocks = &index->blocks[kind];
	size_t at = block_start(blocks->chunks, blocks->chunk_used), size = kinds[kind].size;

	if (!blocks->chunks || at + size > blocks->chunks->size) {
		if (add_chunk(index, kind))
			return NULL;
		at = block_start(blocks->chunks, blocks->chunk_used);
	}
	blocks->chunk_used = at + size;
	blocks->nr_cut++;
	return (char *)blocks->chunks + at;
}

int block_ensure(struct index *index, enum pool_kind kind, size_t nr)
{
	while (index->blocks[kind].nr_free < nr) {
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
	struct index_blocks *blocks = &index->blocks[kind];
	struct free_block *block = blocks->free;

	blocks->free = block->next;
	blocks->nr_free--;
	index->reserved |= RESERVE_TAKEN;
	return block;
}

void block_give(struct index *index, enum pool_kind kind, void *ptr)
{
	struct index_blocks *blocks = &index->blocks[kind];
	struct free_block *block = ptr;

	if (!block)
		return;
	WRITE_ONCE(block->next, blocks->free);
	/* a fork may keep what is done up to here: the list is whole at any moment */
	WRITE_RELEASE(blocks->free, block);
	blocks->nr_free++;
	index->nr_given++;
}

static void free_chunks(struct index *index, struct chunk *chunk)
{
	while (chunk) {
		struct chunk *next = chunk->next;

		memory_free(index->alloc, chunk, chunk->size);
		chunk = next;
	}
}

void blocks_destroy(struct index *index)
{
	for (int kind = 0; kind < NR_POOLS; kind++) {
		free_chunks(index, index->blocks[kind].chunks);
		free_chunks(index, index->blocks[kind].spare);
	}
}

/* Giving memory back */

/* The chunks of a kind by address, but for the newest, which is still being cut. */
struct chunk_list {
	struct chunk **chunks;
	size_t nr;
};

static bool list_chunks(struct index *index, enum pool_kind kind, struct chunk_list *ret_list)
{
	struct chunk *newest = index->blocks[kind].chunks;
	size_t nr = 0, at = 0;

	for (struct chunk *chunk = newest; chunk && chunk->next; chunk = chunk->next)
		nr++;
	ret_list->nr = nr;
	ret_list->chunks = nr ? index->alloc->alloc(index->alloc->ctx, nr * sizeof(newest)) : NULL;
	if (!ret_list->chunks)
		return false;
	for (struct chunk *chunk = newest->next; chunk; chunk = chunk->next) {
		chunk->nr_free = 0;
		ret_list->chunks[at++] = chunk;
	}
	return true;
}

/* Shell's method: there are some thousand at the most. */
static void sort_chunks(const struct chunk_list *list)
{
	struct chunk **chunks = list->chunks;

	for (size_t gap = list->nr / 2; gap; gap /= 2) {
		for (size_t i = gap; i < list->nr; i++) {
			struct chunk *chunk = chunks[i];
			size_t at = i;

			for (; at >= gap && chunks[at - gap] > chunk; at -= gap)
				chunks[at] = chunks[at - gap];
			chunks[at] = chunk;
		}
	}
}

/* The chunk that the block was cut from; NULL: the newest. */
static struct chunk *chunk_of(const struct chunk_list *list, const void *block)
{
	size_t low = 0, high = list->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((const void *)list->chunks[middle] <= block)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low ||
	    (const char *)block >= (char *)list->chunks[low - 1] + list->chunks[low - 1]->size)
		return NULL;
	return list->chunks[low - 1];
}

/* No block of it is in use, nor in the list of free ones. Readers may be in it all the same. */
static void drop_chunk(struct index *index, enum pool_kind kind, struct chunk *chunk)
{
	size_t start = block_start(chunk, sizeof(*chunk));

	index->blocks[kind].nr_cut -= chunk_capacity(chunk, kind);
	if (!index_history(index)) {
		memory_free(index->alloc, chunk, chunk->size);
		return;
	}
	chunk->next = index->blocks[kind].spare;
	WRITE_RELEASE(index->blocks[kind].spare, chunk);
	if (chunk->size >= LEAST_DISCARD)
		index->alloc->discard(index->alloc->ctx, (char *)chunk + start,
				      chunk->size - start);
}

static bool is_empty(const struct chunk *chunk, enum pool_kind kind)
{
	return chunk && chunk->nr_free == chunk_capacity(chunk, kind);
}

static void trim_kind(struct index *index, enum pool_kind kind)
{
	struct index_blocks *blocks = &index->blocks[kind];
	struct free_block **block = &blocks->free;
	struct chunk_list list;
	struct chunk **link;

	if (!list_chunks(index, kind, &list))
		return;
	sort_chunks(&list);
	for (struct free_block *at = blocks->free; at; at = at->next) {
		struct chunk *chunk = chunk_of(&list, at);

		if (chunk)
			chunk->nr_free++;
	}
	while (*block) {
		if (is_empty(chunk_of(&list, *block), kind)) {
			WRITE_ONCE(*block, (*block)->next);
			blocks->nr_free--;
		} else {
			block = &(*block)->next;
		}
	}
	for (link = &blocks->chunks->next; *link;) {
		struct chunk *chunk = *link;

		if (is_empty(chunk, kind)) {
			WRITE_RELEASE(*link, chunk->next);
			drop_chunk(index, kind, chunk);
		} else {
			link = &chunk->next;
		}
	}
	memory_free(index->alloc, list.chunks, list.nr * sizeof(*list.chunks));
}

void blocks_trim(struct index *index)
{
	size_t nr_free = 0;

	for (int kind = 0; kind < NR_POOLS; kind++) {
		const struct index_blocks *blocks = &index->blocks[kind];

		if (blocks->nr_free >= blocks->nr_cut / 2 &&
		    blocks->nr_free * kinds[kind].size >= LEAST_DISCARD &&
		    (!index_history(index) || index->alloc->discard))
			trim_kind(index, (enum pool_kind)kind);
		nr_free += blocks->nr_free;
	}
	index->reserved = 0;
	index->nr_given = 0;
	index->trim_at = nr_free / 4 > LEAST_GIVEN ? nr_free / 4 : LEAST_GIVEN;
}
