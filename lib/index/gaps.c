/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding room. */
#include "lib/index/tree.h"

/* What a search for a gap carries: the pages it may use, and the answer. */
struct gap_search {
	uint64_t len, lo, hi; /* pages */
	uint64_t start, end;
	struct cursor above;
};

/* The free range [start, end), cut to what may be used, is large enough. */
static bool gap_fits(struct gap_search *search, uint64_t start, uint64_t end)
{
	search->start = start > search->lo ? start : search->lo;
	search->end = end < search->hi ? end : search->hi;
	return search->end >= search->start && search->end - search->start >= search->len;
}

/* The same, of the range below (leaf, slot). */
static bool leaf_gap_fits(struct gap_search *search, const struct leaf *leaf, unsigned int slot,
			  uint64_t start, uint64_t end)
{
	search->above = (struct cursor) { .node = (void *)leaf, .slot = slot };
	return gap_fits(search, start, end);
}

/* The same, of the range below all of a node. */
static bool node_gap_fits(struct gap_search *search, const struct index_node *node, uint64_t start,
			  uint64_t end)
{
	while (node->level)
		node = ((const struct inner *)node)->child[0];
	return leaf_gap_fits(search, (const struct leaf *)node, 0, start, end);
}

/*
 * Downward through the gaps of a leaf from the one below @slot, which is an area's. The first that
 * is large enough is the answer, or there is none: it reaches below lo.
 */
static bool leaf_search_down(const struct leaf *leaf, unsigned int slot, struct gap_search *search,
			     bool *ret_fits)
{
	if (leaf->node.gap < search->len)
		return false;
	for (; slot; slot--) {
		if (leaf->start[slot] - leaf->end[slot - 1] < search->len)
			continue;
		*ret_fits = leaf_gap_fits(search, leaf, slot, leaf_end(leaf, slot - 1),
					  leaf_start(leaf, slot));
		return true;
	}
	return false;
}

/*
 * Down from @inner to where its highest gap that is large enough lies: a leaf, or between two
 * children. There is such a gap.
 */
static const struct leaf *descend_highest(const struct inner *inner, struct gap_search *search,
					  bool *ret_fits)
{
	for (;;) {
		const struct index_node *child;
		unsigned int slot = inner->node.nr - 1u;

		while (slot && inner->gap[slot] < search->len &&
		       inner->start[slot] - inner->end[slot - 1] < search->len)
			slot--;
		child = inner->child[slot];
		if (inner->gap[slot] < search->len) {
			*ret_fits = node_gap_fits(search, child, inner->end[slot - 1],
						  inner->start[slot]);
			return NULL;
		}
		if (!child->level)
			return (const struct leaf *)child;
		inner = (const struct inner *)child;
	}
}

/*
 * Downward from @top, below which lies slot @slot - 1 of the leaf. Within a leaf each gap is looked
 * at; above it only those of children that have one large enough.
 */
static bool search_down(const struct leaf *leaf, unsigned int slot, uint64_t top,
			struct gap_search *search)
{
	const struct index_node *node = &leaf->node, *above = node;
	bool fits = false;

	if (slot) {
		uint64_t bottom = leaf_end(leaf, slot - 1);

		if (leaf_gap_fits(search, leaf, slot, bottom, top))
			return true;
		if (bottom <= search->lo)
			return false;
		if (leaf_search_down(leaf, slot - 1, search, &fits))
			return fits;
		top = leaf_start(leaf, 0);
	}
	for (;;) {
		const struct inner *inner = node->parent;

		if (!inner)
			return node_gap_fits(search, above, 0, top);
		for (slot = node->slot; slot; slot--) {
			uint64_t bottom = inner->end[slot - 1];

			if (top - bottom >= search->len &&
			    node_gap_fits(search, above, bottom, top))
				return true;
			if (bottom <= search->lo)
				return false;
			node = inner->child[slot - 1];
			if (inner->gap[slot - 1] >= search->len) {
				leaf = node->level ? descend_highest((const struct inner *)node,
								     search, &fits)
						   : (const struct leaf *)node;
				if (leaf)
					leaf_search_down(leaf, leaf->node.nr - 1u, search, &fits);
				return fits;
			}
			top = inner->start[slot - 1];
			above = node;
		}
		node = &inner->node;
	}
}

static void gap_answer(const struct index *index, const struct gap_search *search,
		       struct gap *ret_gap)
{
	ret_gap->start = search->start << index->page_shift;
	ret_gap->end = search->end << index->page_shift;
	ret_gap->above = search->above;
}

static struct gap_search gap_request(const struct index *index, uint64_t len, uint64_t lo,
				     uint64_t hi)
{
	unsigned int shift = index->page_shift;

	return (struct gap_search) { .len = (len + (UINT64_C(1) << shift) - 1) >> shift,
				     .lo = lo >> shift,
				     .hi = hi >> shift };
}

bool index_gap_highest(const struct index *index, uint64_t len, uint64_t lo, uint64_t hi,
		       struct gap *ret_gap)
{
	struct gap_search search = gap_request(index, len, lo, hi);
	uint64_t top = search.hi;
	struct cursor at;
	bool found;

	if (hi <= lo || hi - lo < len)
		return false;
	if (index_seek(index, hi - 1, &at)) {
		uint64_t start = leaf_start(at.node, (unsigned int)at.slot);

		top = start < top ? start : top;
	}
	if (index->root)
		found = search_down(at.node, (unsigned int)at.slot, top, &search);
	else
		found = leaf_gap_fits(&search, NULL, 0, 0, top);
	gap_answer(index, &search, ret_gap);
	return found;
}

/* Upward through the gaps of a leaf from the one above @slot. The mirror of leaf_search_down. */
static bool leaf_search_up(const struct leaf *leaf, unsigned int slot, struct gap_search *search,
			   bool *ret_fits)
{
	if (leaf->node.gap < search->len)
		return false;
	for (slot++; slot < leaf->node.nr; slot++) {
		if (leaf->start[slot] - leaf->end[slot - 1] < search->len)
			continue;
		*ret_fits = leaf_gap_fits(search, leaf, slot, leaf_end(leaf, slot - 1),
					  leaf_start(leaf, slot));
		return true;
	}
	return false;
}

static const struct leaf *descend_lowest(const struct inner *inner, struct gap_search *search,
					 bool *ret_fits)
{
	for (;;) {
		const struct index_node *child;
		unsigned int slot = 0;

		while (slot + 1u < inner->node.nr && inner->gap[slot] < search->len &&
		       inner->start[slot + 1] - inner->end[slot] < search->len)
			slot++;
		child = inner->child[slot];
		if (inner->gap[slot] < search->len) {
			*ret_fits = node_gap_fits(search, inner->child[slot + 1], inner->end[slot],
						  inner->start[slot + 1]);
			return NULL;
		}
		if (!child->level)
			return (const struct leaf *)child;
		inner = (const struct inner *)child;
	}
}

/* Upward from @bottom, above which lies slot @slot of the leaf. The mirror of search_down. */
static bool search_up(const struct leaf *leaf, unsigned int slot, uint64_t bottom,
		      struct gap_search *search)
{
	const struct index_node *node = &leaf->node;
	bool fits = false;

	if (slot < leaf->node.nr) {
		uint64_t top = leaf_start(leaf, slot);

		if (leaf_gap_fits(search, leaf, slot, bottom, top))
			return true;
		if (top >= search->hi)
			return false;
		if (leaf_search_up(leaf, slot, search, &fits))
			return fits;
		bottom = leaf->last_end;
	}
	for (;;) {
		const struct inner *inner = node->parent;

		if (!inner)
			break;
		for (slot = node->slot + 1u; slot < inner->node.nr; slot++) {
			node = inner->child[slot];
			if (inner->start[slot] - bottom >= search->len &&
			    node_gap_fits(search, node, bottom, inner->start[slot]))
				return true;
			if (inner->start[slot] >= search->hi)
				return false;
			if (inner->gap[slot] >= search->len) {
				leaf = node->level ? descend_lowest((const struct inner *)node,
								    search, &fits)
						   : (const struct leaf *)node;
				if (leaf)
					leaf_search_up(leaf, 0, search, &fits);
				return fits;
			}
			bottom = inner->end[slot];
		}
		node = &inner->node;
	}
	while (node->level)
		node = ((const struct inner *)node)->child[node->nr - 1];
	return leaf_gap_fits(search, (const struct leaf *)node, node->nr, bottom, UINT64_MAX);
}

bool index_gap_lowest_from(const struct index *index, const struct cursor *at, uint64_t len,
			   uint64_t lo, uint64_t hi, struct gap *ret_gap)
{
	struct gap_search search = gap_request(index, len, lo, hi);
	bool found;

	if (hi <= lo || hi - lo < len)
		return false;
	if (index->root)
		found = search_up(at->node, (unsigned int)at->slot, search.lo, &search);
	else
		found = leaf_gap_fits(&search, NULL, 0, 0, search.hi);
	gap_answer(index, &search, ret_gap);
	return found;
}

bool index_gap_lowest(const struct index *index, uint64_t len, uint64_t lo, uint64_t hi,
		      struct gap *ret_gap)
{
	struct cursor at;

	index_seek(index, lo, &at);
	return index_gap_lowest_from(index, &at, len, lo, hi, ret_gap);
}

/* The largest gap of a leaf between the areas [first, last]. */
static uint32_t gap_among(const struct leaf *leaf, unsigned int first, unsigned int last)
{
	uint32_t largest = 0;

	if (!first && last + 1u == leaf->node.nr)
		return leaf->node.gap;
	for (unsigned int slot = first + 1; slot <= last; slot++)
		largest = larger_gap(largest, leaf_gap_below(leaf, slot));
	return largest;
}

uint64_t index_largest_gap(const struct index *index, const struct cursor *first,
			   const struct cursor *last, uint64_t lo)
{
	uint64_t bottom = lo >> index->page_shift, largest = 0;
	const struct leaf *leaf = first->node, *end = last->node;

	for (unsigned int slot = (unsigned int)first->slot;; leaf = leaf->next, slot = 0) {
		unsigned int stop = leaf == end ? (unsigned int)last->slot : leaf->node.nr;
		uint64_t start, within;

		if (slot < stop) {
			start = leaf_start(leaf, slot);
			within = gap_among(leaf, slot, stop - 1);
			if (start > bottom && start - bottom > largest)
				largest = start - bottom;
			largest = within > largest ? within : largest;
			bottom = leaf_end(leaf, stop - 1);
		}
		if (leaf == end)
			return largest << index->page_shift;
	}
}
