/* SPDX-License-Identifier: BSD-2-Clause */
/* Height-balanced trees: the areas of 2.2 - 2.4.9 (mm/mmap_avl.c), above 32 of them. */
#include "lib/steps/tree.h"

static uint32_t height_of(const struct tree *tree, uint32_t id)
{
	return node_at(tree, id)->height;
}

static uint32_t height_of_child(const struct tree *tree, uint32_t id, enum side side)
{
	return height_of(tree, node_at(tree, id)->child[side]);
}

static void set_height(struct tree *tree, uint32_t id)
{
	uint32_t left = height_of_child(tree, id, LEFT), right = height_of_child(tree, id, RIGHT);

	node_at(tree, id)->height = 1 + (left > right ? left : right);
}

/* @side is higher by two. */
static uint32_t lift(struct tree *tree, uint32_t id, enum side side)
{
	enum side away = side == LEFT ? RIGHT : LEFT;
	uint32_t child = node_at(tree, id)->child[side], top;

	if (height_of_child(tree, child, away) > height_of_child(tree, child, side)) {
		tree_rotate(tree, child, side);
		set_height(tree, child);
	}
	tree_rotate(tree, id, away);
	top = node_at(tree, id)->up;
	set_height(tree, id);
	set_height(tree, top);
	return top;
}

static void rebalance(struct tree *tree, uint32_t id)
{
	while (id) {
		uint32_t before = height_of(tree, id);
		uint32_t left = height_of_child(tree, id, LEFT);
		uint32_t right = height_of_child(tree, id, RIGHT);

		if (left > right + 1)
			id = lift(tree, id, LEFT);
		else if (right > left + 1)
			id = lift(tree, id, RIGHT);
		else
			set_height(tree, id);
		if (height_of(tree, id) == before)
			return;
		id = node_at(tree, id)->up;
	}
}

void avl_insert(struct tree *tree, uint32_t id)
{
	node_at(tree, id)->height = 1;
	rebalance(tree, node_at(tree, id)->up);
}

void avl_remove(struct tree *tree, uint32_t id)
{
	enum side side;
	uint32_t from;

	tree_unlink(tree, id, LEFT, &from, &side);
	rebalance(tree, from);
}

void avl_build(struct tree *tree)
{
	uint32_t id = node_at(tree, 0)->near[RIGHT], next;

	tree->root = 0;
	node_at(tree, 0)->near[LEFT] = node_at(tree, 0)->near[RIGHT] = 0;
	for (; id; id = next) {
		next = node_at(tree, id)->near[RIGHT];
		tree_link(tree, id, 0);
		avl_insert(tree, id);
	}
}
