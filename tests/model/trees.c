/* SPDX-License-Identifier: BSD-2-Clause */
/* The shapes of lib/steps under random insertions and removals: order, balance, gaps, list. */
#include <stdlib.h>

#include "lib/steps/tree.h"
#include "tests/random.h"
#include "tests/tap.h"

#define SLOTS 600
#define ROUNDS 60000
#define PAGE UINT64_C(4096)

static void *test_alloc(void *ctx, size_t size)
{
	return malloc(size);
}

static void test_free(void *ctx, void *ptr, size_t size)
{
	free(ptr);
}

static const struct seam_alloc heap = { .alloc = test_alloc, .free = test_free };

struct check {
	const char *wrong;
	uint32_t last; /* node visited before */
	bool red_black;
};

/* Height of the subtree (AVL), or its black nodes down to a leaf (red-black). */
static uint32_t check_subtree(const struct tree *tree, uint32_t id, struct check *check)
{
	const struct node *node = node_at(tree, id);
	uint64_t gap = node->start - node_at(tree, node->near[LEFT])->end;
	uint32_t left, right;

	if (!id)
		return 0;
	if (node->depth != node_at(tree, node->up)->depth + 1)
		check->wrong = "a depth";
	left = check_subtree(tree, node->child[LEFT], check);
	if (node->near[LEFT] != check->last || node_at(tree, check->last)->end > node->start)
		check->wrong = "list or order";
	check->last = id;
	right = check_subtree(tree, node->child[RIGHT], check);
	for (int side = LEFT; side <= RIGHT; side++) {
		const struct node *child = node_at(tree, node->child[side]);

		if (node->child[side] && child->up != id)
			check->wrong = "a link up";
		if (check->red_black && node->red && child->red)
			check->wrong = "red below red";
		if (child->gap > gap)
			gap = child->gap;
	}
	if (tree->keep_gaps && node->gap != gap)
		check->wrong = "a gap";
	if (check->red_black) {
		if (left != right)
			check->wrong = "unequal black heights";
		return left + !node->red;
	}
	if (left > right + 1 || right > left + 1)
		check->wrong = "out of balance";
	if (node->height != 1 + (left > right ? left : right))
		check->wrong = "a height";
	return node->height;
}

static const char *check_tree(const struct tree *tree, bool red_black)
{
	struct check check = { .red_black = red_black };

	check_subtree(tree, tree->root, &check);
	if (tree->root && node_at(tree, tree->root)->up)
		return "the root's link up";
	return check.wrong;
}

/* A free range as the search must find it, by looking at each. */
static bool any_gap(const struct tree *tree, uint64_t len, uint64_t lo, uint64_t hi)
{
	uint64_t at = lo;

	for (uint32_t id = node_at(tree, 0)->near[RIGHT]; id; id = node_at(tree, id)->near[RIGHT]) {
		uint64_t end = node_at(tree, id)->start;

		if ((end < hi ? end : hi) >= at && (end < hi ? end : hi) - at >= len)
			return true;
		if (node_at(tree, id)->end > at)
			at = node_at(tree, id)->end;
	}
	return hi >= at && hi - at >= len;
}

static void link_node(struct tree *tree, uint32_t id)
{
	tree_link(tree, id, tree_seek(tree, node_at(tree, id)->start));
}

static const char *shake(bool red_black, bool gaps)
{
	struct tree tree;
	uint32_t ids[SLOTS] = { 0 };
	const char *wrong = NULL;

	if (tree_init(&tree, &heap, gaps))
		return "no memory";
	for (unsigned int round = 0; round < ROUNDS && !wrong; round++) {
		uint64_t slot = random_below(round % 20000 < 10000 ? SLOTS : SLOTS / 20);
		uint32_t id = ids[slot];

		if (!id) {
			if (!tree_reserve(&tree, &heap, 1))
				return "no memory";
			ids[slot] = id = tree_node_new(&tree);
			node_at(&tree, id)->start = (slot * 4 + 1) * PAGE;
			node_at(&tree, id)->end = (slot * 4 + 2 + random_below(3)) * PAGE;
			link_node(&tree, id);
			(red_black ? rb_insert : avl_insert)(&tree, id);
		} else if (random_below(3)) {
			(red_black ? rb_remove : avl_remove)(&tree, id);
			ids[slot] = 0;
		} else {
			node_at(&tree, id)->end = (slot * 4 + 2 + random_below(3)) * PAGE;
			tree_refresh_gaps(&tree, id);
		}
		if (round % 8 == 0)
			wrong = check_tree(&tree, red_black);
		if (gaps && !wrong) {
			uint64_t len = (1 + random_below(40)) * PAGE;
			uint64_t steps =
				tree_gap_steps(&tree, len, PAGE, SLOTS * 4 * PAGE, round % 2);

			/* a search is never longer than twice the way around the tree */
			if (!steps || steps > 2 * SLOTS + 2)
				wrong = "steps of a search";
			if (any_gap(&tree, len, PAGE, SLOTS * 4 * PAGE) && steps > 120)
				wrong = "a long search although there is room";
		}
	}
	tree_destroy(&tree, &heap);
	return wrong;
}

static const char *build(void)
{
	struct tree tree;
	const char *wrong;

	if (tree_init(&tree, &heap, false) || !tree_reserve(&tree, &heap, 100))
		return "no memory";
	for (uint64_t n = 0; n < 100; n++) {
		uint32_t id = tree_node_new(&tree);

		node_at(&tree, id)->start = n * 2 * PAGE;
		node_at(&tree, id)->end = (n * 2 + 1) * PAGE;
		link_node(&tree, id);
		avl_insert(&tree, id);
	}
	avl_build(&tree);
	wrong = check_tree(&tree, false);
	if (!wrong && node_at(&tree, tree.root)->height != 7)
		wrong = "the height of 100 areas put in upward";
	tree_destroy(&tree, &heap);
	return wrong;
}

int main(void)
{
	const char *wrong;

	wrong = shake(false, false);
	ok(!wrong, "AVL tree: %s", wrong ? wrong : "balanced");
	wrong = build();
	ok(!wrong, "AVL tree built from the list: %s", wrong ? wrong : "balanced");
	wrong = shake(true, false);
	ok(!wrong, "red-black tree: %s", wrong ? wrong : "balanced");
	wrong = shake(true, true);
	ok(!wrong, "red-black tree with gaps: %s", wrong ? wrong : "balanced, gaps right");
	return tap_done();
}
