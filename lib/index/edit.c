/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/compiler.h"
#include "lib/index/tree.h"

/*
 * index_replace() in a leaf without tags, whose base stays; most calls come to no other.
 * Written out where the numbers are constants, since most of them are 0 or 1.
 */
static inline_for_constants bool replace_plainly(struct index *index, struct cursor *cursor,
						 unsigned int nr_old, const struct area *areas,
						 unsigned int nr)
{
	struct leaf *leaf = cursor->node;
	unsigned int slot = (unsigned int)cursor->slot, before, after;
	uint64_t base, *pgoff;
	uint32_t lost;

	if (!FOR_SPEED || !leaf || leaf->tag)
		return false;
	before = leaf->node.nr;
	after = before - nr_old + nr;
	base = leaf->base;
	pgoff = leaf->pgoff;
	if (slot + nr_old > before || after - 1 >= LEAF_SLOTS || (!slot && !nr_old))
		return false;
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t start = areas[i].start >> index->page_shift;

		if (start - base > LEAF_REACH || (!pgoff && areas[i].pgoff != start) ||
		    areas[i].tag)
			return false;
	}
	node_touch(index, &leaf->node);
	lost = leaf_gaps_at(leaf, slot, nr_old);
	if (nr != nr_old) {
		leaf_move_slots(index, leaf, slot + nr, slot + nr_old, before - slot - nr_old);
		for (unsigned int i = after; i < before; i++) {
			WRITE_ONCE(leaf->end[i], UINT32_MAX);
			WRITE_ONCE(leaf->start[i], UINT32_MAX);
		}
		WRITE_ONCE(leaf->node.nr, (uint8_t)after);
		index->nr += (size_t)nr - nr_old;
	}
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t start = areas[i].start >> index->page_shift;
		uint64_t end = areas[i].end >> index->page_shift;

		WRITE_ONCE(leaf->start[slot + i], (uint32_t)(start - base));
		WRITE_ONCE(leaf->end[slot + i], leaf_relative_end(end, base));
		WRITE_ONCE(leaf->ids[slot + i].attr, areas[i].attr);
		WRITE_ONCE(leaf->ids[slot + i].anon, areas[i].anon);
		if (pgoff)
			WRITE_ONCE(pgoff[slot + i], areas[i].pgoff);
	}
	if (slot + nr == after)
		WRITE_ONCE(leaf->last_end, nr ? areas[nr - 1].end >> index->page_shift
					      : base + leaf->end[after - 1]);
	leaf_refresh(index, leaf, !slot || slot + nr == after, lost, leaf_gaps_at(leaf, slot, nr));
	if (nr) {
		index->run = leaf;
		index->run_slot = slot + nr - 1;
	}
	return true;
}

/* Where they are looked at in the end, the neighbours' counts are asked for before. */
static inline void prefetch_neighbours(const struct cursor *cursor)
{
	const struct leaf *leaf = cursor->node;

	/* there may be none: then no address of one is worked out */
	__builtin_prefetch((const void *)((uintptr_t)leaf->prev + offsetof(struct leaf, node.nr)));
	__builtin_prefetch((const void *)((uintptr_t)leaf->next + offsetof(struct leaf, node.nr)));
}

/* The same in any one leaf. */
static noinline_for_stack bool replace_anyhow(struct index *index, struct cursor *cursor,
					      unsigned int nr_old, const struct area *areas,
					      unsigned int nr)
{
	struct leaf *leaf = cursor->node;

	if (!leaf || !leaf_fits(index, leaf, (unsigned int)cursor->slot, nr_old, areas, nr))
		return false;
	leaf_replace(index, leaf, (unsigned int)cursor->slot, nr_old, areas, nr);
	index->nr += (size_t)nr - nr_old;
	return true;
}

/* Each written out by itself, with a frame that is gone before the long way is taken. */

static noinline_for_stack bool replace_some(struct index *index, struct cursor *cursor,
					    unsigned int nr_old, const struct area *areas,
					    unsigned int nr)
{
	return replace_plainly(index, cursor, nr_old, areas, nr);
}

static noinline_for_stack bool insert_one(struct index *index, struct cursor *cursor,
					  const struct area *area)
{
	return replace_plainly(index, cursor, 0, area, 1);
}

static noinline_for_stack bool remove_one(struct index *index, struct cursor *cursor)
{
	return replace_plainly(index, cursor, 1, NULL, 0);
}

static noinline_for_stack bool store_one(struct index *index, struct cursor *cursor,
					 const struct area *area)
{
	return replace_plainly(index, cursor, 1, area, 1);
}

static inline bool replace_within(struct index *index, struct cursor *cursor, unsigned int nr_old,
				  const struct area *areas, unsigned int nr)
{
	return replace_some(index, cursor, nr_old, areas, nr) ||
	       replace_anyhow(index, cursor, nr_old, areas, nr);
}

bool index_replace(struct index *index, struct cursor *cursor, unsigned int nr_old,
		   const struct area *areas, unsigned int nr)
{
	if (nr >= nr_old)
		return replace_within(index, cursor, nr_old, areas, nr);
	prefetch_neighbours(cursor);
	if (!replace_within(index, cursor, nr_old, areas, nr))
		return false;
	leaf_settle(index, cursor);
	return true;
}

/* A store that moves an area far may be taken back by a split, and a leaf of its own. */
#define FAR_LEAVES 2

int index_reserve_more(struct index *index, size_t nr)
{
	/* a split makes two leaves of at least half a leaf each */
	size_t splits = nr / (LEAF_SLOTS / 2), leaves = splits + FAR_LEAVES * index->owed.far + 4;

	if (block_ensure(index, POOL_LEAF, leaves) || block_ensure(index, POOL_COLD, 2 * leaves) ||
	    block_ensure(index, POOL_INNER, leaves / (INNER_SLOTS / 4) + 2 * (index->height + 4)))
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

/* What one insert takes at the most: a leaf on each side, and their cold arrays. */
#define INSERT_LEAVES 3
#define INSERT_COLD 4

/* Leaves to be kept so that what the call has done so far can be taken back; 0: it needs none. */
static size_t owed_leaves(const struct index *index)
{
	size_t inserts = index->reserved & ~RESERVE_TAKEN, far = index->owed.far;

	if (index->owed.spent || (!inserts && !far))
		return 0;
	return inserts / (LEAF_SLOTS / 2) + FAR_LEAVES * far + INSERT_LEAVES;
}

/* Cold arrays for an edit, beside those that are owed. */
static int ensure_cold(struct index *index, size_t nr)
{
	return block_ensure(index, POOL_COLD, nr + 2 * owed_leaves(index));
}

/*
 * For one insert, and to take it back with all that came before: leaves, so many cold arrays, a
 * split on each level, and a new root. A space of a few areas stays one leaf.
 */
static int ensure_insert(struct index *index, const struct area *area, size_t nr_cold)
{
	size_t owed = owed_leaves(index), inner = index->height + 2;

	if (block_ensure(index, POOL_LEAF, INSERT_LEAVES + owed) || ensure_cold(index, nr_cold))
		return -SEAM_EALLOC;
	if (index->nr < LEAF_SLOTS && !index->height &&
	    (!index->root || leaf_reaches(index->last, area->start >> index->page_shift)))
		return 0;
	if (owed)
		inner += owed / (INNER_SLOTS / 4) + index->height + 3;
	return block_ensure(index, POOL_INNER, inner);
}

int index_insert(struct index *index, struct cursor *cursor, const struct area *area)
{
	if (insert_one(index, cursor, area) || replace_anyhow(index, cursor, 0, area, 1))
		return 0;
	if (ensure_insert(index, area, INSERT_COLD))
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

void index_remove(struct index *index, struct cursor *cursor)
{
	struct leaf *leaf = cursor->node, *prev = leaf->prev, *next = leaf->next;

	if (leaf->node.nr > 1) {
		prefetch_neighbours(cursor);
		/* always a matter of this leaf: others stay */
		if (!remove_one(index, cursor))
			replace_anyhow(index, cursor, 1, NULL, 0);
		leaf_settle(index, cursor);
		return;
	}
	index->nr--;
	leaf_drop(index, leaf);
	cursor->node = next ? next : prev;
	cursor->slot = next || !prev ? 0 : prev->node.nr;
}

/* Its start moves far away from the others of its leaf. */
static noinline_for_stack int store_far(struct index *index, struct cursor *cursor,
					const struct area *area)
{
	index->owed.far++;
	/* where the area goes, leaves may join, which takes cold arrays of its own */
	if (ensure_insert(index, area, INSERT_COLD + 2))
		return -SEAM_EALLOC;
	index_remove(index, cursor);
	index_seek(index, area->start, cursor);
	return index_insert(index, cursor, area);
}

int index_store(struct index *index, struct cursor *cursor, const struct area *area)
{
	struct leaf *leaf = cursor->node;

	if (store_one(index, cursor, area) || replace_anyhow(index, cursor, 1, area, 1))
		return 0;
	if (!leaf_reaches(leaf, area->start >> index->page_shift))
		return store_far(index, cursor, area);
	if (ensure_cold(index, INSERT_COLD))
		return -SEAM_EALLOC;
	leaf_replace(index, leaf, (unsigned int)cursor->slot, 1, area, 1);
	return 0;
}
