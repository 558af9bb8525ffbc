/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/index/tree.h - the parts of the B+tree to each other (shapes: btree.h).
 *	seek.c		from the root to an area
 *	gaps.c		finding room
 *	edit.c		the edits of the contract
 *	balance.c	leaves that are full, and leaves that have become small
 *	leaf.c		within one leaf
 *	inner.c		inner nodes and their children
 *	bounds.c	what parents know of their children
 *	tree.c		life and recovery
 *
 * Memory: an insert, and a store that may move things, first makes sure that all the nodes it could
 * take are at hand, so no half-made tree is ever left; and, beside them, those that it may take to
 * take back what the call has done so far (struct owed). Taking back then keeps nothing for later
 * (index_spend), and cannot fail: beyond what was set aside it needs what the call gave up.
 */
#ifndef LIB_INDEX_TREE_H
#define LIB_INDEX_TREE_H

#include <string.h>

#include "lib/compiler.h"
#include "lib/index/blocks.h"
#include "lib/index/history.h"
#include "lib/index/index.h"
#include "lib/shared.h"

/*
 * Before the first change of a node in a call: readers still look at it as it was. They look at nr,
 * at all of a leaf's areas, its base and last_end, and at an inner node's children and the ends of
 * all but the last: these change only behind node_touch(), and by WRITE_ONCE or the shared_*
 * functions. All else may change at any time; relink_tree() makes it anew.
 */
static inline void node_touch(struct index *index, struct index_node *node)
{
	if (index_history(index) && !node->saved)
		history_save(index, node);
}

/* bounds.c */

/* What a parent knows of a node: the first page, the page behind the last, the largest gap. */
void node_bounds(const struct index_node *node, uint64_t *start, uint64_t *end, uint64_t *gap);
/* Tells the parents what has become of a node, as far up as it matters. */
void node_tell_parents(struct index *index, struct index_node *node, uint64_t start, uint64_t end,
		       uint64_t gap);
/* The same for a node of which anything may have changed. */
void node_refresh(struct index *index, struct index_node *node);
/* The largest gap between the areas of a leaf, which is known to be at most @bound. */
uint32_t leaf_largest_gap(const struct leaf *leaf, uint32_t bound);
/* The leaf's largest gap has become another, or its first or last area has: the parents are told. */
void leaf_tell(struct index *index, struct leaf *leaf, uint32_t largest);

/*
 * After a change within a leaf: @lost is the largest of the gaps that went, @made that of those that
 * came. All gaps are looked at only when the largest of them may have gone. @edge: the leaf may
 * begin or end elsewhere.
 */
static inline void leaf_refresh(struct index *index, struct leaf *leaf, bool edge, uint32_t lost,
				uint32_t made)
{
	uint32_t largest = leaf->node.gap;

	if (made > largest)
		largest = made;
	else if (lost == largest && made < largest)
		largest = leaf_largest_gap(leaf, largest);
	if (edge || largest != leaf->node.gap)
		leaf_tell(index, leaf, largest);
}

/* The gap between an area of a leaf and the one below it. */
static inline uint32_t leaf_gap_below(const struct leaf *leaf, unsigned int slot)
{
	return leaf->start[slot] - leaf->end[slot - 1];
}

static inline uint32_t larger_gap(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/*
 * The largest of the gaps that @nr areas from @slot on border on, of a leaf; with none, that where
 * they would be.
 */
static inline_for_constants uint32_t leaf_gaps_at(const struct leaf *leaf, unsigned int slot,
						  unsigned int nr)
{
	uint32_t largest = nr && slot ? leaf_gap_below(leaf, slot) : 0;

	for (unsigned int i = 1; i < nr; i++)
		largest = larger_gap(largest, leaf_gap_below(leaf, slot + i));
	if (slot + nr && slot + nr < leaf->node.nr)
		largest = larger_gap(largest, leaf_gap_below(leaf, slot + nr));
	return largest;
}

/* inner.c */

/* Of a node that was touched. */
void inner_set_child(struct inner *inner, unsigned int slot, struct index_node *child);
/* Slots from @slot on have no child. Their pointers may stay: nobody gets there. */
void inner_clear_slots(struct inner *inner, unsigned int slot, unsigned int nr);
/* Makes @fresh the sibling behind @node; splits full parents, and puts a root above the last. */
void node_add_behind(struct index *index, struct index_node *node, struct index_node *fresh);
/* Takes a node, which is empty, out of the tree, and makes its parents as few as they may be. */
void node_drop(struct index *index, struct index_node *node);

/* leaf.c */

static inline uint32_t leaf_relative_end(uint64_t end, uint64_t base)
{
	return end - base > LEAF_REACH ? LEAF_FAR : (uint32_t)(end - base);
}

/* An empty one between two others, no part of the tree yet. */
struct leaf *leaf_new(struct index *index, struct leaf *prev, struct leaf *next);
void leaf_drop(struct index *index, struct leaf *leaf);
/* The pages from the leaf's first start, or @start if lower, to its last start, or @start, fit. */
bool leaf_reaches(const struct leaf *leaf, uint64_t start);
/* Of a leaf that was touched: the numbers of @nr areas from @slot on come to lie at @to. */
void leaf_move_slots(const struct index *index, struct leaf *leaf, unsigned int to,
		     unsigned int slot, unsigned int nr);

/*
 * Moves @nr areas from @slot on before slot @to_slot of another leaf, which has room for them and
 * within whose reach they lie. No parent is told.
 */
void leaf_move_areas(struct index *index, struct leaf *to, unsigned int to_slot, struct leaf *from,
		     unsigned int slot, unsigned int nr);
/* The leaf can have the @areas for @nr_old of its own from @slot on, as it is. */
bool leaf_fits(const struct index *index, const struct leaf *leaf, unsigned int slot,
	       unsigned int nr_old, const struct area *areas, unsigned int nr);
/*
 * index_replace() where it is known to be a matter of this leaf alone; cold arrays that it has not
 * yet are at hand.
 */
void leaf_replace(struct index *index, struct leaf *leaf, unsigned int slot, unsigned int nr_old,
		  const struct area *areas, unsigned int nr);

/* balance.c */

/*
 * The leaf, if it is full and an insert at @slot would split it, gives areas to a neighbour that has
 * room. False: it keeps them.
 */
bool leaf_spill(struct index *index, struct leaf *leaf, unsigned int slot);
/* Puts @area before (leaf, slot). The nodes that this takes are at hand. */
void leaf_insert(struct index *index, struct leaf *leaf, unsigned int slot,
		 const struct area *area);
/* The first area of all. */
void leaf_insert_first(struct index *index, const struct area *area);
/*
 * The leaf, which has fewer areas now, may become one with a neighbour. The cursor, which is on it
 * or past its end, stays on its area; past the end it goes on to the next leaf.
 */
void leaf_settle(struct index *index, struct cursor *cursor);

#endif
