/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/compiler.h"
#include "lib/index/tree.h"

int index_reserve_more(struct index *index, size_t nr)
{
	/* a split makes two leaves of at least half a leaf each */
	size_t splits = nr / (LEAF_SLOTS / 2), leaves = splits + 4;

	if (block_ensure(index, POOL_LEAF, leaves) || block_ensure(index, POOL_COLD, 2 * leaves) ||
	    block_ensure(index, POOL_INNER,
			 leaves / (INNER_SLOTS / 2) * 2 + 2 * (index->height + 4)))
		return -SEAM_EALLOC;
	index->reserved = splits * (LEAF_SLOTS / 2) + LEAF_SLOTS / 2 - 1;
	return 0;
}

int index_reserve_apart(struct index *index, size_t nr)
{
	if (block_ensure(index, POOL_LEAF, nr + 4) || block_ensure(index, POOL_COLD, 2 * nr + 8))
		return -SEAM_EALLOC;
	return block_ensure(index, POOL_INNER, nr + 2 * (index->height + 4));
}

/*
 * For one insert: a leaf on each side, their cold arrays, a split on each level and a new root. A
 * space of a few areas stays one leaf.
 */
static int ensure_insert(struct index *index, const struct area *area)
{
	if (block_ensure(index, POOL_LEAF, 3) || block_ensure(index, POOL_COLD, 4))
		return -SEAM_EALLOC;
	if (index->nr < LEAF_SLOTS && !index->height &&
	    (!index->root || leaf_reaches(index->last, area->start >> index->page_shift)))
		return 0;
	return block_ensure(index, POOL_INNER, index->height + 2);
}

int index_insert_at(struct index *index, struct cursor *cursor, const struct area *area)
{
	if (index_replace(index, cursor, 0, area, 1))
		return 0;
	if (ensure_insert(index, area))
		return -SEAM_EALLOC;
	if (!cursor->node) {
		leaf_insert_first(index, area);
	} else {
		if (leaf_spill(index, cursor->node, (unsigned int)cursor->slot))
			index_seek(index, area->start, cursor);
		leaf_insert(index, cursor->node, (unsigned int)cursor->slot, area);
	}
	index->nr++;
	cursor->node = index->run;
	cursor->slot = index->run_slot;
	return 0;
}

int index_insert(struct index *index, const struct area *area, struct cursor *ret_cursor)
{
	struct cursor at;

	index_seek(index, area->start, &at);
	if (index_insert_at(index, &at, area))
		return -SEAM_EALLOC;
	if (ret_cursor)
		*ret_cursor = at;
	return 0;
}

/* Its own leaf can have both parts. */
static noinline_for_stack bool split_within(struct index *index, struct cursor *cursor, uint64_t at,
					    uint64_t pgoff)
{
	struct area parts[2];

	index_load(index, cursor, &parts[0]);
	parts[1] = parts[0];
	parts[1].start = at;
	parts[1].pgoff = pgoff;
	parts[0].end = at;
	return index_replace(index, cursor, 1, parts, 2);
}

int index_split(struct index *index, struct cursor *cursor, uint64_t at, uint64_t pgoff)
{
	struct area part;
	uint64_t end;

	if (split_within(index, cursor, at, pgoff))
		return 0;
	index_load(index, cursor, &part);
	end = part.end;
	part.end = at;
	/* the store, which moves no start, takes no more than the insert sets aside */
	if (ensure_insert(index, &(struct area) { .start = at }))
		return -SEAM_EALLOC;
	index_store(index, cursor, &part);
	index_step(index, cursor);
	part.start = at;
	part.end = end;
	part.pgoff = pgoff;
	index_insert_at(index, cursor, &part);
	index_prev(index, cursor);
	return 0;
}

void index_remove(struct index *index, struct cursor *cursor)
{
	struct leaf *leaf = cursor->node, *prev = leaf->prev, *next = leaf->next;

	if (index_replace(index, cursor, 1, NULL, 0))
		return;
	/* the only one of its leaf */
	index->nr--;
	leaf_drop(index, leaf);
	cursor->node = next ? next : prev;
	cursor->slot = next || !prev ? 0 : prev->node.nr;
}

/* Its start moves far away from the others of its leaf. */
static noinline_for_stack int store_far(struct index *index, struct cursor *cursor,
					const struct area *area)
{
	if (ensure_insert(index, area))
		return -SEAM_EALLOC;
	index_remove(index, cursor);
	index_seek(index, area->start, cursor);
	return index_insert_at(index, cursor, area);
}

int index_store(struct index *index, struct cursor *cursor, const struct area *area)
{
	struct leaf *leaf = cursor->node;

	if (index_replace(index, cursor, 1, area, 1))
		return 0;
	if (!leaf_reaches(leaf, area->start >> index->page_shift))
		return store_far(index, cursor, area);
	if (block_ensure(index, POOL_COLD, 4))
		return -SEAM_EALLOC;
	leaf_replace(index, leaf, (unsigned int)cursor->slot, 1, area, 1);
	return 0;
}
