/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/index/tree.h"

uint32_t leaf_largest_gap(const struct leaf *leaf, uint32_t bound)
{
	uint32_t largest = 0;

	for (unsigned int i = 1; i < leaf->node.nr && largest < bound; i++)
		largest = larger_gap(largest, leaf_gap_below(leaf, i));
	return largest;
}

/* The same of all that is under an inner node. */
static uint64_t inner_gap(const struct inner *inner, uint64_t bound)
{
	uint64_t largest = inner->gap[0];

	for (unsigned int i = 1; i < inner->node.nr && largest < bound; i++) {
		uint64_t gap = inner->start[i] - inner->end[i - 1];

		largest = gap > largest ? gap : largest;
		largest = inner->gap[i] > largest ? inner->gap[i] : largest;
	}
	return largest;
}

void node_bounds(const struct index_node *node, uint64_t *start, uint64_t *end, uint64_t *gap)
{
	if (node->level) {
		const struct inner *inner = (const struct inner *)node;

		*start = inner->start[0];
		*end = inner->end[node->nr - 1];
		*gap = inner_gap(inner, UINT64_MAX);
	} else {
		const struct leaf *leaf = (const struct leaf *)node;

		*start = leaf_start(leaf, 0);
		*end = leaf->last_end;
		*gap = leaf->node.gap;
	}
}

/* The largest of the gaps that a child has to do with: its own, and those to its siblings. */
static uint64_t gap_around(const struct inner *inner, unsigned int slot)
{
	uint64_t largest = inner->gap[slot];

	if (slot && inner->start[slot] - inner->end[slot - 1] > largest)
		largest = inner->start[slot] - inner->end[slot - 1];
	if (slot + 1u < inner->node.nr && inner->start[slot + 1] - inner->end[slot] > largest)
		largest = inner->start[slot + 1] - inner->end[slot];
	return largest;
}

/*
 * A parent looks at all its gaps again only when its largest was one of those that have changed, and
 * has shrunk.
 */
void node_tell_parents(struct index *index, struct index_node *node, uint64_t start, uint64_t end,
		       uint64_t gap)
{
	uint64_t before, after, largest;

	while (node->parent) {
		struct inner *parent = node->parent;
		unsigned int slot = node->slot;

		if (parent->start[slot] == start && parent->end[slot] == end &&
		    parent->gap[slot] == gap)
			return;
		if (slot + 1u == parent->node.nr && parent->start[slot] == start &&
		    parent->gap[slot] == gap) {
			/* the last child has grown or shrunk upward: no gap has to do with it */
			WRITE_ONCE(parent->end[slot], end);
			node = &parent->node;
			if (!node->parent)
				return;
			start = parent->start[0];
			gap = node->parent->gap[node->slot];
			continue;
		}
		before = gap_around(parent, slot);
		parent->start[slot] = start;
		if (parent->end[slot] != end) {
			/* of the last child readers do not ask where it ends */
			if (slot + 1u < parent->node.nr)
				node_touch(index, &parent->node);
			WRITE_ONCE(parent->end[slot], end);
		}
		parent->gap[slot] = gap;
		after = gap_around(parent, slot);
		node = &parent->node;
		if (!node->parent)
			return;
		start = parent->start[0];
		end = parent->end[node->nr - 1];
		largest = node->parent->gap[node->slot];
		if (after >= largest)
			gap = after;
		else
			gap = before == largest ? inner_gap(parent, largest) : largest;
	}
}

void node_refresh(struct index *index, struct index_node *node)
{
	uint64_t start, end, gap;

	if (!node->level)
		node->gap = leaf_largest_gap((struct leaf *)node, UINT32_MAX);
	if (!node->parent)
		return;
	node_bounds(node, &start, &end, &gap);
	node_tell_parents(index, node, start, end, gap);
}

void leaf_tell(struct index *index, struct leaf *leaf, uint32_t largest)
{
	leaf->node.gap = largest;
	if (leaf->node.parent)
		node_tell_parents(index, &leaf->node, leaf_start(leaf, 0), leaf->last_end, largest);
}
