/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/steps/tree.h"

#include "lib/memory.h"

#define FIRST_ROOM 64

static enum side other(enum side side)
{
	return side == LEFT ? RIGHT : LEFT;
}

int tree_init(struct tree *tree, const struct seam_alloc *alloc, bool keep_gaps)
{
	*tree = (struct tree) { .keep_gaps = keep_gaps };
	tree->nodes = alloc->alloc(alloc->ctx, FIRST_ROOM * sizeof(*tree->nodes));
	if (!tree->nodes)
		return -SEAM_EALLOC;
	tree->room = FIRST_ROOM;
	tree->nodes[tree->nr++] = (struct node) { .start = UINT64_MAX };
	return 0;
}

static bool grow(struct tree *tree, const struct seam_alloc *alloc)
{
	uint32_t room = tree->room * 2;
	struct node *nodes;

	if (room > UINT32_MAX / sizeof(*nodes))
		return false;
	nodes = memory_resize(alloc, tree->nodes, tree->room * sizeof(*nodes),
			      room * sizeof(*nodes));
	if (!nodes)
		return false;
	tree->nodes = nodes;
	tree->room = room;
	return true;
}

bool tree_grow(struct tree *tree, const struct seam_alloc *alloc, uint32_t nr)
{
	while (tree->room - tree->nr + tree->nr_free < nr)
		if (!grow(tree, alloc))
			return false;
	return true;
}

uint32_t tree_node_new(struct tree *tree)
{
	uint32_t id = tree->free_nodes;

	if (id) {
		tree->free_nodes = node_at(tree, id)->near[LEFT];
		tree->nr_free--;
	} else {
		id = tree->nr++ * (uint32_t)sizeof(struct node);
	}
	*node_at(tree, id) = (struct node) { 0 };
	return id;
}

uint32_t tree_count(const struct tree *tree)
{
	return tree->nr - tree->nr_free - 1; /* none is no area's */
}

int tree_copy(struct tree *copy, const struct tree *tree, const struct seam_alloc *alloc)
{
	size_t bytes = tree->room * sizeof(*tree->nodes);

	if (!tree->nodes)
		return 0;
	copy->nodes = alloc->alloc(alloc->ctx, bytes);
	if (!copy->nodes) {
		*copy = (struct tree) { 0 };
		return -SEAM_EALLOC;
	}
	memcpy(copy->nodes, tree->nodes, bytes);
	return 0;
}

void tree_destroy(struct tree *tree, const struct seam_alloc *alloc)
{
	memory_free(alloc, tree->nodes, tree->room * sizeof(*tree->nodes));
	*tree = (struct tree) { 0 };
}

uint32_t tree_seek(const struct tree *tree, uint64_t addr)
{
	uint32_t id = tree->root, found = 0;

	while (id) {
		const struct node *node = node_at(tree, id);

		if (node->end > addr)
			found = id;
		id = node->child[node->end > addr ? LEFT : RIGHT];
	}
	return found;
}

/* The free range that ends at the node's start. */
static uint64_t gap_before(const struct tree *tree, uint32_t id)
{
	const struct node *node = node_at(tree, id);

	return node->start - node_at(tree, node->near[LEFT])->end;
}

static uint64_t largest_gap(const struct tree *tree, uint32_t id)
{
	const struct node *node = node_at(tree, id);
	uint64_t gap = gap_before(tree, id);

	for (int side = LEFT; side <= RIGHT; side++)
		if (node_at(tree, node->child[side])->gap > gap)
			gap = node_at(tree, node->child[side])->gap;
	return gap;
}

/* From the node up, as far as it matters: what stays as it was tells those above nothing new. */
static void refresh_up(struct tree *tree, uint32_t id)
{
	for (; id; id = node_at(tree, id)->up) {
		uint64_t gap = largest_gap(tree, id);

		if (gap == node_at(tree, id)->gap)
			return;
		node_at(tree, id)->gap = gap;
	}
}

void tree_refresh_gaps(struct tree *tree, uint32_t id)
{
	if (!tree->keep_gaps)
		return;
	refresh_up(tree, id);
	refresh_up(tree, node_at(tree, id)->near[RIGHT]);
}

/* What hung on @id's parent at @id's place is @with now. */
static void replace_child(struct tree *tree, uint32_t id, uint32_t with)
{
	uint32_t up = node_at(tree, id)->up;

	if (!up)
		tree->root = with;
	else
		node_at(tree, up)->child[node_at(tree, up)->child[RIGHT] == id] = with;
	if (with)
		node_at(tree, with)->up = up;
}

static uint32_t outermost(const struct tree *tree, uint32_t id, enum side side)
{
	while (node_at(tree, id)->child[side])
		id = node_at(tree, id)->child[side];
	return id;
}

/* The whole subtree comes up or goes down by one: its nodes stand together in the list. */
static void shift_depths(struct tree *tree, uint32_t id, int by)
{
	uint32_t at, last;

	if (!id)
		return;
	last = outermost(tree, id, RIGHT);
	for (at = outermost(tree, id, LEFT);; at = node_at(tree, at)->near[RIGHT]) {
		node_at(tree, at)->depth += (uint32_t)by;
		if (at == last)
			return;
	}
}

static void set_child(struct tree *tree, uint32_t id, enum side side, uint32_t child)
{
	node_at(tree, id)->child[side] = child;
	if (child)
		node_at(tree, child)->up = id;
}

static void hang(struct tree *tree, uint32_t id, uint32_t up, enum side side)
{
	struct node *node = node_at(tree, id);

	node->child[LEFT] = node->child[RIGHT] = 0;
	node->up = up;
	node->depth = node_at(tree, up)->depth + 1;
	if (up)
		node_at(tree, up)->child[side] = id;
	else
		tree->root = id;
}

void tree_list(struct tree *tree, uint32_t id, uint32_t above)
{
	struct node *node = node_at(tree, id), *next = node_at(tree, above);

	node->near[LEFT] = next->near[LEFT];
	node->near[RIGHT] = above;
	node_at(tree, next->near[LEFT])->near[RIGHT] = id;
	next->near[LEFT] = id;
}

/* Of two neighbours one is below the other in the tree, and has no child on the side between. */
void tree_link(struct tree *tree, uint32_t id, uint32_t above)
{
	uint32_t below = node_at(tree, above)->near[LEFT];

	if (above && !node_at(tree, above)->child[LEFT])
		hang(tree, id, above, LEFT);
	else
		hang(tree, id, below, RIGHT);
	tree_list(tree, id, above);
	tree_refresh_gaps(tree, id);
}

static void unlist(struct tree *tree, uint32_t id)
{
	uint32_t below = node_at(tree, id)->near[LEFT], above = node_at(tree, id)->near[RIGHT];

	node_at(tree, below)->near[RIGHT] = above;
	node_at(tree, above)->near[LEFT] = below;
}

static void free_node(struct tree *tree, uint32_t id)
{
	node_at(tree, id)->start = UINT64_MAX; /* nobody finds it */
	node_at(tree, id)->near[LEFT] = tree->free_nodes;
	tree->free_nodes = id;
	tree->nr_free++;
}

void tree_unlist(struct tree *tree, uint32_t id)
{
	unlist(tree, id);
	free_node(tree, id);
}

/* @heir, the nearest node on @side, leaves its place below @id and takes @id's with all it is. */
static void inherit(struct tree *tree, uint32_t id, uint32_t heir, enum side side,
		    uint32_t *ret_from, enum side *ret_side)
{
	struct node *node = node_at(tree, id), *next = node_at(tree, heir);

	shift_depths(tree, next->child[side], -1);
	if (next->up == id) {
		*ret_from = heir;
		*ret_side = side;
	} else {
		*ret_from = next->up;
		*ret_side = other(side);
		set_child(tree, next->up, other(side), next->child[side]);
		set_child(tree, heir, side, node->child[side]);
	}
	set_child(tree, heir, other(side), node->child[other(side)]);
	replace_child(tree, id, heir);
	next->height = node->height;
	next->depth = node->depth;
	next->gap = node->gap;
}

void tree_unlink(struct tree *tree, uint32_t id, enum side side, uint32_t *ret_from,
		 enum side *ret_side)
{
	struct node *node = node_at(tree, id);
	uint32_t above = node->near[RIGHT];

	if (node->child[LEFT] && node->child[RIGHT]) {
		uint32_t heir = outermost(tree, node->child[side], other(side));

		inherit(tree, id, heir, side, ret_from, ret_side);
	} else {
		uint32_t up = node->up, child = node->child[node->child[LEFT] ? LEFT : RIGHT];

		*ret_from = up;
		*ret_side = up && node_at(tree, up)->child[RIGHT] == id ? RIGHT : LEFT;
		shift_depths(tree, child, -1);
		replace_child(tree, id, child);
	}
	unlist(tree, id);
	if (tree->keep_gaps) {
		refresh_up(tree, *ret_from);
		refresh_up(tree, above); /* an heir on the right is this one */
	}
	free_node(tree, id);
}

void tree_rotate(struct tree *tree, uint32_t id, enum side side)
{
	uint32_t riser = node_at(tree, id)->child[other(side)];

	shift_depths(tree, node_at(tree, id)->child[side], 1);
	shift_depths(tree, node_at(tree, riser)->child[other(side)], -1);
	node_at(tree, riser)->depth = node_at(tree, id)->depth++;
	replace_child(tree, id, riser);
	set_child(tree, id, other(side), node_at(tree, riser)->child[side]);
	set_child(tree, riser, side, id);
	if (tree->keep_gaps) {
		node_at(tree, id)->gap = largest_gap(tree, id);
		node_at(tree, riser)->gap = largest_gap(tree, riser);
	}
}

/* The free range before the node, cut to [lo, hi), holds @len. */
static bool gap_fits(const struct tree *tree, uint32_t id, uint64_t len, uint64_t lo, uint64_t hi)
{
	uint64_t end = node_at(tree, id)->start, start = end - gap_before(tree, id);

	if (start < lo)
		start = lo;
	if (end > hi)
		end = hi;
	return end > start && end - start >= len;
}

/* May the subtree hold an answer? Its largest gap must do, and its addresses be in range. */
static bool promising(const struct tree *tree, uint32_t id, uint64_t len)
{
	return id && node_at(tree, id)->gap >= len;
}

uint64_t tree_gap_steps(const struct tree *tree, uint64_t len, uint64_t lo, uint64_t hi,
			bool top_down)
{
	enum side first = top_down ? RIGHT : LEFT, second = other(first);
	uint32_t id = tree->root, last;
	uint64_t steps = 0;

	/* downward, the room above all areas is tried first; upward, last */
	if (!id || (top_down && hi > node_at(tree, outermost(tree, id, RIGHT))->end))
		return 1;
	if (!promising(tree, id, len))
		return 1;
	for (;;) {
		const struct node *node = node_at(tree, id);
		/* is the first side in range at all? */
		bool within = top_down ? node->start - gap_before(tree, id) <= hi
				       : node->start > lo;

		steps++;
		if (within && promising(tree, node->child[first], len)) {
			id = node->child[first];
			continue;
		}
		for (;;) {
			node = node_at(tree, id);
			if (gap_fits(tree, id, len, lo, hi))
				return steps;
			if (top_down ? node->start < lo : node->start > hi)
				return steps;
			if (promising(tree, node->child[second], len)) {
				id = node->child[second];
				break;
			}
			/* up to the first node of which this is the first side */
			do {
				last = id;
				id = node_at(tree, id)->up;
				steps++;
				if (!id)
					return steps;
			} while (node_at(tree, id)->child[first] != last);
		}
	}
}
