/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/index/tree.h"

/* An inner node and its sibling become one when together they are no fuller than this. */
#define INNER_MERGE (INNER_SLOTS * 3 / 4)

void inner_set_child(struct inner *inner, unsigned int slot, struct index_node *child)
{
	uint64_t end;

	node_bounds(child, &inner->start[slot], &end, &inner->gap[slot]);
	child->parent = inner;
	child->slot = (uint8_t)slot;
	WRITE_ONCE(inner->child[slot], child);
	WRITE_ONCE(inner->end[slot], end);
}

/* Children are moved one by one: a reader must never follow half a pointer. */
static void move_child_pointers(struct inner *to, unsigned int at, const struct inner *from,
				unsigned int slot, unsigned int nr)
{
	if (to == from && at > slot)
		while (nr--)
			WRITE_ONCE(to->child[at + nr], from->child[slot + nr]);
	else
		for (unsigned int i = 0; i < nr; i++)
			WRITE_ONCE(to->child[at + i], from->child[slot + i]);
}

static void move_slots(struct inner *to, unsigned int at, const struct inner *from,
		       unsigned int slot, unsigned int nr)
{
	memmove(to->start + at, from->start + slot, nr * sizeof(to->start[0]));
	memmove(to->gap + at, from->gap + slot, nr * sizeof(to->gap[0]));
	shared_move64(to->end + at, from->end + slot, nr);
	move_child_pointers(to, at, from, slot, nr);
}

void inner_clear_slots(struct inner *inner, unsigned int slot, unsigned int nr)
{
	memset(inner->start + slot, 0xff, nr * sizeof(inner->start[0]));
	memset(inner->gap + slot, 0, nr * sizeof(inner->gap[0]));
	shared_fill64(inner->end + slot, UINT64_MAX, nr);
}

/* Moves the children [from, nr) of one inner node to the end of another. */
static void move_children(struct index *index, struct inner *to, struct inner *source,
			  unsigned int from)
{
	unsigned int nr = source->node.nr - from, at = to->node.nr;

	node_touch(index, &to->node);
	node_touch(index, &source->node);
	move_slots(to, at, source, from, nr);
	inner_clear_slots(source, from, nr);
	for (unsigned int i = at; i < at + nr; i++) {
		to->child[i]->parent = to;
		to->child[i]->slot = (uint8_t)i;
	}
	WRITE_ONCE(to->node.nr, (uint8_t)(at + nr));
	WRITE_ONCE(source->node.nr, (uint8_t)from);
}

static struct inner *new_inner(struct index *index, unsigned int level)
{
	struct inner *inner = block_take(index, POOL_INNER);

	inner->node.parent = NULL;
	inner->node.slot = inner->node.saved = 0;
	WRITE_ONCE(inner->node.level, (uint8_t)level);
	WRITE_ONCE(inner->node.nr, 0);
	inner_clear_slots(inner, 0, INNER_SLOTS);
	for (unsigned int i = 0; i < INNER_SLOTS; i++)
		WRITE_ONCE(inner->child[i], NULL);
	history_made(index, &inner->node);
	return inner;
}

static void insert_child(struct index *index, struct inner *inner, unsigned int slot,
			 struct index_node *child)
{
	node_touch(index, &inner->node);
	move_slots(inner, slot + 1, inner, slot, inner->node.nr - slot);
	WRITE_ONCE(inner->node.nr, (uint8_t)(inner->node.nr + 1));
	for (unsigned int i = slot + 1; i < inner->node.nr; i++)
		inner->child[i]->slot = (uint8_t)i;
	inner_set_child(inner, slot, child);
}

/* Runs up and runs down leave full nodes behind. */
static unsigned int inner_split_at(unsigned int slot)
{
	if (slot == INNER_SLOTS || slot == 1)
		return slot;
	return INNER_SLOTS / 2;
}

void node_add_behind(struct index *index, struct index_node *node, struct index_node *fresh)
{
	for (;;) {
		struct inner *parent = node->parent, *upper;
		unsigned int slot = node->slot + 1u;

		if (!parent) {
			parent = new_inner(index, node->level + 1u);
			history_set_root(index, &parent->node);
			index->height++;
			insert_child(index, parent, 0, node);
		}
		if (parent->node.nr < INNER_SLOTS) {
			insert_child(index, parent, slot, fresh);
			node_refresh(index, &parent->node);
			return;
		}
		upper = new_inner(index, parent->node.level);
		move_children(index, upper, parent, inner_split_at(slot));
		if (slot <= parent->node.nr && slot < INNER_SLOTS)
			insert_child(index, parent, slot, fresh);
		else
			insert_child(index, upper, slot - parent->node.nr, fresh);
		node_refresh(index, &parent->node);
		node = &parent->node;
		fresh = &upper->node;
	}
}

/* Takes a node, which is empty, out of the tree; the lowest of its parents that is left, or NULL. */
static struct inner *take_out(struct index *index, struct index_node *node)
{
	while (node->parent) {
		struct inner *inner = node->parent;
		unsigned int slot = node->slot;

		node_touch(index, &inner->node);
		move_slots(inner, slot, inner, slot + 1, inner->node.nr - slot - 1u);
		WRITE_ONCE(inner->node.nr, (uint8_t)(inner->node.nr - 1));
		inner_clear_slots(inner, inner->node.nr, 1);
		for (unsigned int i = slot; i < inner->node.nr; i++)
			inner->child[i]->slot = (uint8_t)i;
		if (node->level)
			history_retire(index, POOL_INNER, node);
		if (inner->node.nr) {
			node_refresh(index, &inner->node);
			return inner;
		}
		node = &inner->node;
	}
	history_set_root(index, NULL);
	index->height = 0;
	if (node->level)
		history_retire(index, POOL_INNER, node);
	return NULL;
}

/* Inner nodes that have become small join a sibling; a root with one child gives way to it. */
static void tidy(struct index *index, struct inner *inner)
{
	while (inner) {
		struct inner *parent = inner->node.parent;
		struct inner *lower, *upper;

		if (!parent) {
			while (index->root && index->root->level && index->root->nr == 1) {
				struct inner *root = (struct inner *)index->root;

				history_set_root(index, root->child[0]);
				index->root->parent = NULL;
				index->root->slot = 0;
				index->height--;
				history_retire(index, POOL_INNER, root);
			}
			return;
		}
		lower = upper = inner;
		if (inner->node.slot + 1u < parent->node.nr)
			upper = (struct inner *)parent->child[inner->node.slot + 1];
		else if (inner->node.slot)
			lower = (struct inner *)parent->child[inner->node.slot - 1];
		if (lower != upper && lower->node.nr + upper->node.nr <= INNER_MERGE) {
			move_children(index, lower, upper, 0);
			take_out(index, &upper->node);
			node_refresh(index, &lower->node);
		}
		inner = parent;
	}
}

void node_drop(struct index *index, struct index_node *node)
{
	tidy(index, take_out(index, node));
}
