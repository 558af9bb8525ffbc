/* SPDX-License-Identifier: BSD-2-Clause */
/* Red-black trees: the areas of 2.4.10 - 6.0 (lib/rbtree.c). */
#include "lib/steps/tree.h"

static bool is_red(const struct tree *tree, uint32_t id)
{
	return node_at(tree, id)->red;
}

static enum side side_of(const struct tree *tree, uint32_t id)
{
	return node_at(tree, node_at(tree, id)->up)->child[RIGHT] == id ? RIGHT : LEFT;
}

static void paint(struct tree *tree, uint32_t id, bool red)
{
	if (id)
		node_at(tree, id)->red = red;
}

void rb_insert(struct tree *tree, uint32_t id)
{
	paint(tree, id, true);
	for (;;) {
		uint32_t up = node_at(tree, id)->up, grand, uncle;
		enum side side, away;

		if (!is_red(tree, up))
			break;
		grand = node_at(tree, up)->up;
		side = side_of(tree, up);
		away = side == LEFT ? RIGHT : LEFT;
		uncle = node_at(tree, grand)->child[away];
		if (is_red(tree, uncle)) {
			paint(tree, up, false);
			paint(tree, uncle, false);
			paint(tree, grand, true);
			id = grand;
			continue;
		}
		if (side_of(tree, id) == away) {
			tree_rotate(tree, up, side);
			up = id;
		}
		paint(tree, up, false);
		paint(tree, grand, true);
		tree_rotate(tree, grand, away);
		break;
	}
	paint(tree, tree->root, false);
}

/* The subtree of @up on @side has one black node less than the other. */
static void mend(struct tree *tree, uint32_t up, enum side side)
{
	while (up) {
		enum side away = side == LEFT ? RIGHT : LEFT;
		uint32_t short_one = node_at(tree, up)->child[side], sibling;

		if (is_red(tree, short_one)) {
			paint(tree, short_one, false);
			return;
		}
		sibling = node_at(tree, up)->child[away];
		if (is_red(tree, sibling)) {
			paint(tree, sibling, false);
			paint(tree, up, true);
			tree_rotate(tree, up, side);
			sibling = node_at(tree, up)->child[away];
		}
		if (!is_red(tree, node_at(tree, sibling)->child[LEFT]) &&
		    !is_red(tree, node_at(tree, sibling)->child[RIGHT])) {
			paint(tree, sibling, true);
			if (is_red(tree, up)) {
				paint(tree, up, false);
				return;
			}
			if (!node_at(tree, up)->up)
				return;
			side = side_of(tree, up);
			up = node_at(tree, up)->up;
			continue;
		}
		if (!is_red(tree, node_at(tree, sibling)->child[away])) {
			paint(tree, node_at(tree, sibling)->child[side], false);
			paint(tree, sibling, true);
			tree_rotate(tree, sibling, away);
			sibling = node_at(tree, up)->child[away];
		}
		paint(tree, sibling, is_red(tree, up));
		paint(tree, up, false);
		paint(tree, node_at(tree, sibling)->child[away], false);
		tree_rotate(tree, up, side);
		return;
	}
	paint(tree, tree->root, false);
}

void rb_remove(struct tree *tree, uint32_t id)
{
	struct node *node = node_at(tree, id);
	bool lost_red = node->red;
	enum side side;
	uint32_t from;

	/* the next node takes its place and its colour: that one's colour is lost */
	if (node->child[LEFT] && node->child[RIGHT])
		lost_red = is_red(tree, node->near[RIGHT]);
	tree_unlink(tree, id, RIGHT, &from, &side);
	if (!lost_red)
		mend(tree, from, side);
}
