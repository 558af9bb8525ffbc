/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/index/tree.h"

#include "lib/index/search.h"

/*
 * Asking the processor leaves a virtual machine: once in a process is enough. The one variable that
 * spaces share; whoever comes first writes into it what everybody else would.
 */
static enum search_kind best_search(void)
{
	static int known; /* one more than the kind; 0: not asked yet */
	int kind = READ_ONCE(known) - 1;

	if (kind < 0) {
		kind = search_detect();
		WRITE_ONCE(known, kind + 1);
	}
	return kind;
}

void index_init(struct index *index, const struct seam_alloc *alloc, unsigned int page_shift)
{
	*index = (struct index) { .alloc = alloc,
				  .page_shift = page_shift,
				  .search = best_search() };
}

int index_share(struct index *index)
{
	return history_create(index);
}

void index_destroy(struct index *index)
{
	history_destroy(index);
	blocks_destroy(index);
	index_init(index, index->alloc, index->page_shift);
}

/* Readers beside the writer */

void index_commit(struct index *index)
{
	index->owed = (struct owed) { 0 };
	if (index->reserved & RESERVE_TAKEN)
		index->reserved = 0;
	if (index_history(index))
		history_commit(index);
	blocks_trim_if_due(index);
}

/* All that is told twice and that readers do not look at: made anew from what they do. */

static void count_free(struct index *index)
{
	for (int kind = 0; kind < NR_POOLS; kind++) {
		struct index_blocks *blocks = &index->blocks[kind];

		blocks->nr_free = 0;
		for (struct free_block *block = blocks->free; block; block = block->next)
			blocks->nr_free++;
	}
}

static struct leaf *relink_leaf(struct index *index, struct leaf *leaf, struct leaf *prev)
{
	leaf->prev = prev;
	leaf->next = NULL;
	leaf->node.saved = 0;
	leaf->node.gap = leaf_largest_gap(leaf, UINT32_MAX);
	if (prev)
		prev->next = leaf;
	index->nr += leaf->node.nr;
	index->last = leaf;
	return leaf;
}

/* Each inner node is finished when its last child is. */
static void relink_tree(struct index *index)
{
	struct index_node *node = index->root;
	struct leaf *prev = NULL;

	if (!node)
		return;
	node->parent = NULL;
	node->slot = 0;
	for (;;) {
		while (node->level) {
			struct inner *inner = (struct inner *)node;

			inner->node.saved = 0;
			inner_clear_slots(inner, inner->node.nr, INNER_SLOTS - inner->node.nr);
			node = inner->child[0];
			node->parent = inner;
			node->slot = 0;
		}
		prev = relink_leaf(index, (struct leaf *)node, prev);
		while (node->parent) {
			struct inner *parent = node->parent;
			unsigned int slot = node->slot;

			inner_set_child(parent, slot, node);
			if (++slot < parent->node.nr) {
				node = parent->child[slot];
				node->parent = parent;
				node->slot = (uint8_t)slot;
				break;
			}
			node = &parent->node;
		}
		if (!node->parent)
			return;
	}
}

int index_recover(struct index *index, bool finished)
{
	int err = history_roll_back(index, finished);

	if (err)
		return err;
	count_free(index);
	index->nr = 0;
	index->reserved = 0;
	index->owed = (struct owed) { 0 };
	index->last = index->run = NULL;
	relink_tree(index);
	index->height = index->root ? index->root->level : 0;
	return 0;
}

uint64_t index_between(const struct index *index, const struct cursor *first,
		       const struct cursor *last)
{
	const struct leaf *leaf = first->node;
	uint64_t nr = (uint64_t)last->slot - first->slot; /* wraps, and back */

	for (; leaf != last->node; leaf = leaf->next)
		nr += leaf->node.nr;
	return nr;
}
