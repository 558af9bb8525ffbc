/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/compiler.h"
#include "lib/index/tree.h"

/* Two leaves become one when together they are no fuller than this. */
#define LEAF_MERGE (LEAF_SLOTS - 2)
/* A leaf with fewer areas than this takes some from a full neighbour. */
#define SPILL_BELOW (LEAF_SLOTS - 3)

/* The areas [slot, nr) of one leaf go to the end of another, within whose reach they lie. */
static void move_upper(struct index *index, struct leaf *to, struct leaf *from, unsigned int slot)
{
	leaf_move_areas(index, to, to->node.nr, from, slot, from->node.nr - slot);
}

/*
 * A full leaf gives half of what a neighbour has room for to it, so that leaves are split only when
 * three in a row are full. False when neither has room.
 */
static noinline_for_stack bool spill(struct index *index, struct leaf *leaf)
{
	struct leaf *prev = leaf->prev, *next = leaf->next;
	unsigned int nr;

	if (prev && prev->node.nr < SPILL_BELOW) {
		nr = (LEAF_SLOTS - prev->node.nr) / 2u;
		if (leaf_reaches(prev, leaf_start(leaf, nr - 1))) {
			leaf_move_areas(index, prev, prev->node.nr, leaf, 0, nr);
			node_refresh(index, &leaf->node);
			node_refresh(index, &prev->node);
			return true;
		}
	}
	if (next && next->node.nr < SPILL_BELOW) {
		nr = (LEAF_SLOTS - next->node.nr) / 2u;
		if (leaf_reaches(next, leaf_start(leaf, leaf->node.nr - nr))) {
			leaf_move_areas(index, next, 0, leaf, leaf->node.nr - nr, nr);
			node_refresh(index, &leaf->node);
			node_refresh(index, &next->node);
			return true;
		}
	}
	return false;
}

/* The leaf's upper areas, from @slot on, go to a new leaf behind it. */
static struct leaf *split_leaf(struct index *index, struct leaf *leaf, unsigned int slot)
{
	struct leaf *upper = leaf_new(index, leaf, leaf->next);

	move_upper(index, upper, leaf, slot);
	node_refresh(index, &upper->node);
	node_refresh(index, &leaf->node);
	node_add_behind(index, &leaf->node, &upper->node);
	return upper;
}

/* A leaf of its own for @area, between two leaves. */
static void insert_alone(struct index *index, struct leaf *prev, struct leaf *next,
			 const struct area *area)
{
	struct leaf *leaf = leaf_new(index, prev, next);

	leaf_replace(index, leaf, 0, 0, area, 1);
	if (prev) {
		node_add_behind(index, &prev->node, &leaf->node);
	} else if (next) {
		/* first of all: take the place of the first, then put that one behind */
		struct inner *parent = next->node.parent;

		if (parent) {
			node_touch(index, &parent->node);
			inner_set_child(parent, 0, &leaf->node);
		} else {
			history_set_root(index, &leaf->node);
		}
		next->node.parent = NULL;
		node_add_behind(index, &leaf->node, &next->node);
	} else {
		history_set_root(index, &leaf->node);
	}
}

/*
 * Where a full leaf is cut to make room at @slot. In a run, at the place where it goes on, so that
 * what it leaves behind stays full; else in the middle.
 */
static unsigned int leaf_split_at(const struct index *index, const struct leaf *leaf,
				  unsigned int slot)
{
	if (leaf == index->run && (slot == index->run_slot || slot == index->run_slot + 1))
		return slot;
	return LEAF_SLOTS / 2;
}

/* Not where a run fills the leaf. */
static bool wants_spill(const struct index *index, const struct leaf *leaf, unsigned int slot)
{
	return leaf->node.nr == LEAF_SLOTS && slot && slot < LEAF_SLOTS &&
	       leaf_split_at(index, leaf, slot) != slot;
}

bool leaf_spill(struct index *index, struct leaf *leaf, unsigned int slot)
{
	return wants_spill(index, leaf, slot) && spill(index, leaf);
}

void leaf_insert(struct index *index, struct leaf *leaf, unsigned int slot, const struct area *area)
{
	uint64_t start = area->start >> index->page_shift;
	struct leaf *upper;

	if (!slot && leaf != index->run && leaf->prev && leaf->prev->node.nr < LEAF_SLOTS &&
	    leaf_reaches(leaf->prev, start)) {
		leaf = leaf->prev;
		slot = leaf->node.nr;
	}
	if (leaf->node.nr < LEAF_SLOTS && leaf_reaches(leaf, start)) {
		leaf_replace(index, leaf, slot, 0, area, 1);
		return;
	}
	/* runs that go up or down leave full leaves behind */
	if (slot == leaf->node.nr) {
		insert_alone(index, leaf, leaf->next, area);
		return;
	}
	if (!slot) {
		insert_alone(index, leaf->prev, leaf, area);
		return;
	}
	if (leaf_reaches(leaf, start)) {
		unsigned int at = leaf_split_at(index, leaf, slot);
		bool down = slot == index->run_slot;

		upper = split_leaf(index, leaf, at);
		if (slot > at || (slot == at && down)) {
			leaf = upper;
			slot -= at;
		}
		leaf_replace(index, leaf, slot, 0, area, 1);
		return;
	}
	upper = split_leaf(index, leaf, slot);
	if (leaf_reaches(leaf, start)) {
		leaf_replace(index, leaf, slot, 0, area, 1);
		return;
	}
	if (leaf_reaches(upper, start)) {
		leaf_replace(index, upper, 0, 0, area, 1);
		return;
	}
	insert_alone(index, leaf, upper, area);
}

void leaf_insert_first(struct index *index, const struct area *area)
{
	insert_alone(index, NULL, NULL, area);
}

/* Two leaves, neighbours, that have become small: the lower takes all. */
static bool merge_leaves(struct index *index, struct leaf *lower, struct leaf *upper)
{
	if (!lower || !upper || lower->node.nr + upper->node.nr > LEAF_MERGE ||
	    !leaf_reaches(lower, leaf_start(upper, upper->node.nr - 1u)) ||
	    index->blocks[POOL_COLD].nr_free < 2)
		return false;
	move_upper(index, lower, upper, 0);
	leaf_drop(index, upper);
	node_refresh(index, &lower->node);
	return true;
}

void leaf_settle(struct index *index, struct cursor *cursor)
{
	struct leaf *leaf = cursor->node, *prev = leaf->prev;
	unsigned int below = prev ? prev->node.nr : 0;

	if (prev && merge_leaves(index, prev, leaf)) {
		cursor->slot += below;
		leaf = prev;
	} else {
		merge_leaves(index, leaf, leaf->next);
	}
	cursor->node = leaf;
	if (cursor->slot == leaf->node.nr && leaf->next)
		*cursor = (struct cursor) { .node = leaf->next };
}
