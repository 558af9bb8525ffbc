/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/index/history.h"

#include "lib/compiler.h"
#include "lib/index/blocks.h"
#include "lib/shared.h"
#include "lib/memory.h"

#define FIRST_RING_LOG 6
/* A ring that one large call has made larger than this is given up when the call ends. */
#define LARGEST_LASTING_RING 4096

static size_t ring_bytes(size_t size)
{
	return sizeof(struct ring) + size * sizeof(struct past);
}

static struct past *entry_at(struct ring *ring, size_t at)
{
	return &ring->entries[at & (ring->size - 1)];
}

static struct ring *ring_of(struct index *index, unsigned int log)
{
	struct history *history = index_history(index);

	if (log >= MOST_RINGS)
		return NULL;
	if (!history->rings[log]) {
		struct ring *ring = memory_zeroed(index->alloc, ring_bytes((size_t)1 << log));

		if (!ring)
			return NULL;
		ring->size = (size_t)1 << log;
		history->rings[log] = ring;
	}
	return history->rings[log];
}

int history_create(struct index *index)
{
	struct history *history = memory_zeroed(index->alloc, sizeof(*history));

	if (!history)
		return -SEAM_EALLOC;
	index->history = history;
	history->page_shift = index->page_shift;
	history->search = index->search;
	history->root = index->root;
	history->ring = ring_of(index, FIRST_RING_LOG);
	return history->ring ? 0 : -SEAM_EALLOC;
}

void history_destroy(struct index *index)
{
	struct history *history = index_history(index);

	if (!history)
		return;
	for (unsigned int log = 0; log < MOST_RINGS; log++)
		memory_free(index->alloc, history->rings[log], ring_bytes((size_t)1 << log));
	memory_free(index->alloc, history, sizeof(*history));
	index->history = NULL;
}

/* Images: blocks of their own, so that what calls have set aside stays */

static void *image_take(struct index *index, enum pool_kind kind)
{
	struct free_block *block = index->history->images[kind];

	if (!block)
		return block_cut(index, kind);
	index->history->images[kind] = block->next;
	return block;
}

static void image_give(struct index *index, enum pool_kind kind, void *ptr)
{
	struct free_block *block = ptr;

	if (!block)
		return;
	WRITE_ONCE(block->next, index->history->images[kind]);
	WRITE_RELEASE(index->history->images[kind], block);
}

static void image_drop(struct index *index, const struct past *entry)
{
	if (entry->kind == PAST_LEAF) {
		struct leaf *image = entry->image;

		image_give(index, POOL_COLD, image->pgoff);
		image_give(index, POOL_COLD, image->tag);
		image_give(index, POOL_LEAF, image);
	} else if (entry->kind == PAST_INNER) {
		image_give(index, POOL_INNER, entry->image);
	}
}

/* What readers look at; the cold arrays are the caller's matter. */
static void copy_leaf(struct leaf *to, const struct leaf *from)
{
	WRITE_ONCE(to->base, from->base);
	WRITE_ONCE(to->last_end, from->last_end);
	WRITE_ONCE(to->node.level, 0);
	WRITE_ONCE(to->node.nr, from->node.nr);
	shared_move32(to->end, from->end, LEAF_SLOTS);
	shared_move32(to->start, from->start, LEAF_SLOTS);
	shared_move32(&to->ids[0].attr, &from->ids[0].attr, 2 * LEAF_SLOTS);
}

static void copy_inner(struct inner *to, const struct inner *from)
{
	WRITE_ONCE(to->node.level, from->node.level);
	WRITE_ONCE(to->node.nr, from->node.nr);
	shared_move64(to->end, from->end, INNER_SLOTS);
	for (unsigned int i = 0; i < INNER_SLOTS; i++)
		WRITE_ONCE(to->child[i], from->child[i]);
}

/* False: there was no memory for the copy of a cold array, if there is an array. */
static bool copy_cold(uint64_t *copy, const uint64_t *from)
{
	if (copy)
		shared_move64(copy, from, LEAF_SLOTS);
	return copy || !from;
}

static struct leaf *image_of_leaf(struct index *index, const struct leaf *leaf)
{
	struct leaf *image = image_take(index, POOL_LEAF);

	if (!image)
		return NULL;
	copy_leaf(image, leaf);
	WRITE_ONCE(image->pgoff, leaf->pgoff ? image_take(index, POOL_COLD) : NULL);
	WRITE_ONCE(image->tag, leaf->tag ? image_take(index, POOL_COLD) : NULL);
	if (copy_cold(image->pgoff, leaf->pgoff) && copy_cold(image->tag, leaf->tag))
		return image;
	image_drop(index, &(struct past) { .kind = PAST_LEAF, .image = image });
	return NULL;
}

static struct inner *image_of_inner(struct index *index, const struct inner *inner)
{
	struct inner *image = image_take(index, POOL_INNER);

	if (image)
		copy_inner(image, inner);
	return image;
}

/* The ring */

/* No reader needs the entry any more. */
static noinline_for_stack void release_entry(struct index *index, struct past *entry)
{
	struct past was = *entry;

	/* first, so that the child of a fork gives nothing back twice */
	WRITE_ONCE(entry->kind, PAST_NONE);
	switch (was.kind) {
	case PAST_LEAF:
	case PAST_INNER:
		image_drop(index, &was);
		break;
	case PAST_LEAF_OUT:
		block_give(index, POOL_LEAF, (void *)was.node);
		break;
	case PAST_INNER_OUT:
		block_give(index, POOL_INNER, (void *)was.node);
		break;
	case PAST_COLD_OUT:
		block_give(index, POOL_COLD, (void *)was.node);
		break;
	case PAST_NONE:
	case PAST_ROOT:
	case PAST_MADE:
		break;
	}
}

/* Twice the ring, with the same entries; the old one stays as it is, for readers. */
static noinline_for_stack bool grow_ring(struct index *index)
{
	struct history *history = index_history(index);
	struct ring *old = history->ring, *ring;
	unsigned int log = 0;
	size_t kept;

	while ((size_t)1 << log <= old->size)
		log++;
	ring = ring_of(index, log);
	if (!ring)
		return false;
	for (size_t at = history->head - old->size; at != history->head; at++) {
		struct past *from = entry_at(old, at), *to = entry_at(ring, at);

		WRITE_ONCE(to->node, from->node);
		WRITE_ONCE(to->image, from->image);
		WRITE_ONCE(to->kind, from->kind);
	}
	for (size_t at = history->head; at != history->head + old->size; at++)
		WRITE_ONCE(entry_at(ring, at)->kind, PAST_NONE);
	kept = history->head - old->first < old->size ? history->head - old->first : old->size;
	WRITE_ONCE(ring->first, history->head - kept);
	WRITE_RELEASE(history->ring, ring);
	return true;
}

static noinline_for_stack void enter(struct index *index, enum past_kind kind, const void *node,
				     void *image)
{
	struct history *history = index_history(index);
	size_t head = history->head;
	struct past *entry;

	/* so that numbers may wrap */
	if (!(head & (history->ring->size - 1)) &&
	    head - history->ring->first > history->ring->size)
		WRITE_ONCE(history->ring->first, head - history->ring->size);
	entry = entry_at(history->ring, head);
	release_entry(index, entry);
	WRITE_ONCE(entry->node, node);
	WRITE_ONCE(entry->image, image);
	WRITE_ONCE(entry->kind, kind);
	WRITE_RELEASE(history->head, head + 1);
	shared_fence();
}

/* False: no memory for all the entries of this call. */
static inline bool push(struct index *index, enum past_kind kind, const void *node, void *image)
{
	const struct history *history = index_history(index);

	/* the entries since the last commit are those of this call, and must stay */
	if (history->head + 1 - history->committed >= history->ring->size && !grow_ring(index))
		return false;
	enter(index, kind, node, image);
	return true;
}

/* All entries go, and with them all states but one yet to come. */
static void release_all(struct index *index)
{
	struct history *history = index_history(index);
	struct ring *ring = history->ring;
	size_t head = history->head;

	WRITE_RELEASE(history->head, head + ring->size);
	shared_fence();
	for (size_t at = head - ring->size; at != head; at++)
		release_entry(index, entry_at(ring, at));
}

/* Nodes of this call have no mark any more that they are saved. */
static void clear_marks(struct history *history)
{
	for (size_t at = history->committed; at != history->head; at++) {
		struct past *entry = entry_at(history->ring, at);

		if (entry->kind == PAST_LEAF || entry->kind == PAST_INNER ||
		    entry->kind == PAST_MADE)
			((struct index_node *)entry->node)->saved = 0;
	}
}

bool history_forget(struct index *index)
{
	struct history *history = index_history(index);

	if (!history || history->blind)
		return false;
	clear_marks(history);
	history->blind = true;
	release_all(index);
	return true;
}

void history_save(struct index *index, struct index_node *node)
{
	enum past_kind kind = node->level ? PAST_INNER : PAST_LEAF;
	struct past entry = { .kind = kind };

	if (index->history->blind)
		return;
	entry.image = node->level ? (void *)image_of_inner(index, (struct inner *)node)
				  : (void *)image_of_leaf(index, (struct leaf *)node);
	if (entry.image && push(index, kind, node, entry.image)) {
		node->saved = 1;
		return;
	}
	if (entry.image)
		image_drop(index, &entry);
	history_forget(index);
}

void history_made(struct index *index, struct index_node *node)
{
	if (!index_history(index) || index->history->blind)
		return;
	if (push(index, PAST_MADE, node, NULL))
		node->saved = 1;
	else
		history_forget(index);
}

void history_retire(struct index *index, enum pool_kind kind, void *block)
{
	static const enum past_kind kinds[NR_POOLS] = {
		[POOL_LEAF] = PAST_LEAF_OUT,
		[POOL_INNER] = PAST_INNER_OUT,
		[POOL_COLD] = PAST_COLD_OUT,
	};

	if (!block)
		return;
	if (index_history(index) && !index->history->blind) {
		if (push(index, kinds[kind], block, NULL))
			return;
		history_forget(index);
	}
	block_give(index, kind, block);
}

void history_set_root(struct index *index, struct index_node *root)
{
	struct history *history = index_history(index);

	if (history) {
		if (!history->blind && !push(index, PAST_ROOT, &history->root, history->root))
			history_forget(index);
		WRITE_ONCE(history->root, root);
	}
	index->root = root;
}

/* So many images are not needed again soon. */
static void images_give_up(struct index *index)
{
	for (int kind = 0; kind < NR_POOLS; kind++) {
		struct free_block *block = index->history->images[kind];

		WRITE_RELEASE(index->history->images[kind], NULL);
		while (block) {
			struct free_block *next = block->next;

			block_give(index, (enum pool_kind)kind, block);
			block = next;
		}
	}
}

/* Back to a small ring, for which readers must all begin anew. */
static void shrink_ring(struct index *index)
{
	struct history *history = index_history(index);
	struct ring *ring = history->rings[FIRST_RING_LOG];

	release_all(index);
	images_give_up(index);
	WRITE_ONCE(ring->first, history->head);
	for (size_t at = 0; at < ring->size; at++)
		WRITE_ONCE(ring->entries[at].kind, PAST_NONE);
	WRITE_RELEASE(history->ring, ring);
}

void history_commit(struct index *index)
{
	struct history *history = index_history(index);

	if (!history || history->head == history->committed)
		return;
	if (!history->blind)
		clear_marks(history);
	WRITE_RELEASE(history->committed, history->head);
	history->blind = false;
	if (history->ring->size > LARGEST_LASTING_RING) {
		shrink_ring(index);
		WRITE_RELEASE(history->committed, history->head);
	}
}

static void swap_cold(uint64_t **a, uint64_t **b)
{
	uint64_t *kept = *a;

	*a = *b;
	*b = kept;
}

static void restore_entry(struct index *index, struct past *entry)
{
	struct index_node *node = (struct index_node *)entry->node;

	switch (entry->kind) {
	case PAST_LEAF:
		copy_leaf((struct leaf *)node, entry->image);
		/* the image takes what the leaf has got since */
		swap_cold(&((struct leaf *)node)->pgoff, &((struct leaf *)entry->image)->pgoff);
		swap_cold(&((struct leaf *)node)->tag, &((struct leaf *)entry->image)->tag);
		image_drop(index, entry);
		break;
	case PAST_INNER:
		copy_inner((struct inner *)node, entry->image);
		image_drop(index, entry);
		break;
	case PAST_ROOT:
		index->history->root = entry->image;
		break;
	case PAST_MADE:
		block_give(index, node->level ? POOL_INNER : POOL_LEAF, node);
		break;
	case PAST_NONE:
	case PAST_LEAF_OUT:
	case PAST_INNER_OUT:
	case PAST_COLD_OUT:
		break;
	}
	entry->kind = PAST_NONE;
}

int history_roll_back(struct index *index, bool finished)
{
	struct history *history = index_history(index);

	if (!finished) {
		if (history->blind)
			return -SEAM_EALLOC;
		for (size_t at = history->head; at-- != history->committed;)
			restore_entry(index, entry_at(history->ring, at));
	}
	/* the one that was being written */
	entry_at(history->ring, history->head)->kind = PAST_NONE;
	history->committed = history->head;
	history->blind = false;
	index->root = history->root;
	return 0;
}
