/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index as a B+tree (shapes: btree.h).
 *
 * Memory: an insert, and a store that may move things, first makes sure that all the nodes it could
 * take are at hand, and some more; so no half-made tree is ever left, and taking back a call, which
 * needs no more nodes than the call gave up, cannot fail.
 */
#include <string.h>

#include "lib/index/history.h"
#include "lib/index/index.h"
#include "lib/index/blocks.h"
#include "lib/index/search.h"
#include "lib/shared.h"

#define FAR UINT32_MAX /* an end beyond LEAF_REACH, or an unused slot */
/* Two leaves become one when together they are no fuller than this. */
#define LEAF_MERGE (LEAF_SLOTS - 3)
/* A leaf with fewer areas than this takes some from a full neighbour. */
#define SPILL_BELOW (LEAF_SLOTS - 3)
#define INNER_MERGE (INNER_SLOTS * 3 / 4)

void index_init(struct index *index, const struct seam_alloc *alloc, unsigned int page_shift)
{
	*index = (struct index) { .alloc = alloc,
				  .page_shift = page_shift,
				  .search = search_detect() };
}

/* Asking the processor leaves a virtual machine: once for a space and all that are made of it. */
void index_init_like(struct index *index, const struct seam_alloc *alloc, const struct index *like)
{
	*index = (struct index) { .alloc = alloc,
				  .page_shift = like->page_shift,
				  .search = like->search };
}

int index_share(struct index *index)
{
	return history_create(index);
}

void index_destroy(struct index *index)
{
	history_destroy(index);
	blocks_destroy(index);
	index_init_like(index, index->alloc, index);
}

/*
 * Before the first change of a node in a call: readers still look at it as it was. They look at nr,
 * at all of a leaf's areas, its base and last_end, and at an inner node's children and the ends of
 * all but the last: these change only behind touch(), and by WRITE_ONCE or the shared_* functions.
 * All else may change at any time; relink_tree() makes it anew.
 */
static void touch(struct index *index, struct index_node *node)
{
	if (index->history && !node->saved)
		history_save(index, node);
}

/* Searching */

/* The first slot that ends behind @page; there is one. @count: plain_count32 or a faster one. */
#define LEAF_SLOT(leaf, page, count)                                                               \
	((page) < (leaf)->base ? 0                                                                 \
	 : (page) - (leaf)->base > (uint64_t)(LEAF_REACH)                                          \
		 ? (leaf)->node.nr - 1u                                                            \
		 : count((leaf)->end, (uint32_t)((page) - (leaf)->base)))

/* Down to the area that ends behind @page; there is one. One such function a kind of search. */
#define DEFINE_DESCEND(name, target, count32, count64)                                             \
	target static void name(const struct index_node *node, uint64_t page,                      \
				struct cursor *ret_cursor)                                         \
	{                                                                                          \
		const struct leaf *leaf;                                                           \
                                                                                                   \
		while (node->level) {                                                              \
			const struct inner *inner = (const struct inner *)node;                    \
                                                                                                   \
			node = inner->child[count64(inner->end, page)];                            \
		}                                                                                  \
		leaf = (const struct leaf *)node;                                                  \
		ret_cursor->node = (void *)leaf;                                                   \
		ret_cursor->slot = LEAF_SLOT(leaf, page, count32);                                 \
	}

DEFINE_DESCEND(descend_simd, , simd_count32, simd_count64)
#ifdef SEARCH_X86
DEFINE_DESCEND(descend_avx2, TARGET_AVX2, avx2_count32, avx2_count64)
DEFINE_DESCEND(descend_avx512, TARGET_AVX512, avx512_count32, avx512_count64)
#endif

static void descend(const struct index *index, const struct index_node *node, uint64_t page,
		    struct cursor *ret_cursor)
{
#ifdef SEARCH_X86
	if (index->search == SEARCH_AVX512)
		descend_avx512(node, page, ret_cursor);
	else if (index->search == SEARCH_AVX2)
		descend_avx2(node, page, ret_cursor);
	else
#endif
		descend_simd(node, page, ret_cursor);
}

/* Keeping the inner nodes right */

/* The largest gap, which is known to be at most @bound. */
static uint64_t leaf_gap(const struct leaf *leaf, uint64_t bound)
{
	uint32_t largest = 0;

	for (unsigned int i = 1; i < leaf->node.nr && largest < bound; i++) {
		uint32_t gap = leaf->start[i] - leaf->end[i - 1];

		largest = gap > largest ? gap : largest;
	}
	return largest;
}

static uint64_t inner_gap(const struct inner *inner)
{
	uint64_t largest = inner->gap[0];

	for (unsigned int i = 1; i < inner->node.nr; i++) {
		uint64_t gap = inner->start[i] - inner->end[i - 1];

		largest = gap > largest ? gap : largest;
		largest = inner->gap[i] > largest ? inner->gap[i] : largest;
	}
	return largest;
}

static void node_bounds(const struct index_node *node, uint64_t *start, uint64_t *end,
			uint64_t *gap)
{
	if (node->level) {
		const struct inner *inner = (const struct inner *)node;

		*start = inner->start[0];
		*end = inner->end[node->nr - 1];
		*gap = inner_gap(inner);
	} else {
		const struct leaf *leaf = (const struct leaf *)node;

		*start = leaf_start(leaf, 0);
		*end = leaf->last_end;
		*gap = leaf_gap(leaf, UINT64_MAX);
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
 * Tells the parents what has become of a node, as far up as it matters. A parent looks at all its
 * gaps again only when its largest was one of those that have changed, and has shrunk.
 */
static void tell_parents(struct index *index, struct index_node *node, uint64_t start, uint64_t end,
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
				touch(index, &parent->node);
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
			gap = before == largest ? inner_gap(parent) : largest;
	}
}

/* The same for a node of which anything may have changed. */
static void refresh(struct index *index, struct index_node *node)
{
	uint64_t start, end, gap;

	if (!node->parent)
		return;
	node_bounds(node, &start, &end, &gap);
	tell_parents(index, node, start, end, gap);
}

/* The larger of the gaps within the leaf that the area borders on. */
static uint64_t gap_beside(const struct leaf *leaf, unsigned int slot)
{
	uint32_t below = slot ? leaf->start[slot] - leaf->end[slot - 1] : 0;
	uint32_t above = slot + 1u < leaf->node.nr ? leaf->start[slot + 1] - leaf->end[slot] : 0;

	return below > above ? below : above;
}

/*
 * Tells the parents of a change within a leaf: @lost is the largest of the gaps that went, @made
 * that of those that came. All gaps are looked at only when the largest of them may have gone.
 */
static void refresh_leaf(struct index *index, struct leaf *leaf, uint64_t lost, uint64_t made)
{
	const struct inner *parent = leaf->node.parent;
	uint64_t largest;

	if (!parent)
		return;
	largest = parent->gap[leaf->node.slot];
	if (made > largest)
		largest = made;
	else if (lost == largest && made < largest)
		largest = leaf_gap(leaf, largest);
	tell_parents(index, &leaf->node, leaf_start(leaf, 0), leaf->last_end, largest);
}

/* Of a node that was touched. */
static void set_child(struct inner *inner, unsigned int slot, struct index_node *child)
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

/* Slots from @slot on have no child. Their pointers may stay: nobody gets there. */
static void clear_slots(struct inner *inner, unsigned int slot, unsigned int nr)
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

	touch(index, &to->node);
	touch(index, &source->node);
	move_slots(to, at, source, from, nr);
	clear_slots(source, from, nr);
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
	clear_slots(inner, 0, INNER_SLOTS);
	for (unsigned int i = 0; i < INNER_SLOTS; i++)
		WRITE_ONCE(inner->child[i], NULL);
	history_made(index, &inner->node);
	return inner;
}

static void insert_child(struct index *index, struct inner *inner, unsigned int slot,
			 struct index_node *child)
{
	touch(index, &inner->node);
	move_slots(inner, slot + 1, inner, slot, inner->node.nr - slot);
	WRITE_ONCE(inner->node.nr, (uint8_t)(inner->node.nr + 1));
	for (unsigned int i = slot + 1; i < inner->node.nr; i++)
		inner->child[i]->slot = (uint8_t)i;
	set_child(inner, slot, child);
}

/* Runs up and runs down leave full nodes behind. */
static unsigned int inner_split_at(unsigned int slot)
{
	if (slot == INNER_SLOTS || slot == 1)
		return slot;
	return INNER_SLOTS / 2;
}

/* Makes @fresh the sibling behind @node; splits full parents, and puts a root above the last. */
static void add_behind(struct index *index, struct index_node *node, struct index_node *fresh)
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
			refresh(index, &parent->node);
			return;
		}
		upper = new_inner(index, parent->node.level);
		move_children(index, upper, parent, inner_split_at(slot));
		if (slot <= parent->node.nr && slot < INNER_SLOTS)
			insert_child(index, parent, slot, fresh);
		else
			insert_child(index, upper, slot - parent->node.nr, fresh);
		refresh(index, &parent->node);
		node = &parent->node;
		fresh = &upper->node;
	}
}

/* Takes a node, which is empty, out of the tree; the lowest of its parents that is left, or NULL. */
static struct inner *drop_node(struct index *index, struct index_node *node)
{
	while (node->parent) {
		struct inner *inner = node->parent;
		unsigned int slot = node->slot;

		touch(index, &inner->node);
		move_slots(inner, slot, inner, slot + 1, inner->node.nr - slot - 1u);
		WRITE_ONCE(inner->node.nr, (uint8_t)(inner->node.nr - 1));
		clear_slots(inner, inner->node.nr, 1);
		for (unsigned int i = slot; i < inner->node.nr; i++)
			inner->child[i]->slot = (uint8_t)i;
		if (node->level)
			history_retire(index, POOL_INNER, node);
		if (inner->node.nr) {
			refresh(index, &inner->node);
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
static void tidy_inner(struct index *index, struct inner *inner)
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
			drop_node(index, &upper->node);
			refresh(index, &lower->node);
		}
		inner = parent;
	}
}

/* Leaves */

static struct leaf *new_leaf(struct index *index, struct leaf *prev, struct leaf *next)
{
	struct leaf *leaf = block_take(index, POOL_LEAF);

	leaf->node.parent = NULL;
	leaf->node.slot = leaf->node.saved = 0;
	leaf->prev = prev;
	leaf->next = next;
	WRITE_ONCE(leaf->node.level, 0);
	WRITE_ONCE(leaf->node.nr, 0);
	WRITE_ONCE(leaf->pgoff, NULL);
	WRITE_ONCE(leaf->tag, NULL);
	WRITE_ONCE(leaf->base, 0);
	WRITE_ONCE(leaf->last_end, 0);
	shared_fill32(leaf->start, UINT32_MAX, LEAF_SLOTS);
	shared_fill32(leaf->end, UINT32_MAX, LEAF_SLOTS);
	history_made(index, &leaf->node);
	if (prev)
		prev->next = leaf;
	if (next)
		next->prev = leaf;
	else
		index->last = leaf;
	return leaf;
}

static void drop_leaf(struct index *index, struct leaf *leaf)
{
	if (leaf->prev)
		leaf->prev->next = leaf->next;
	if (leaf->next)
		leaf->next->prev = leaf->prev;
	else
		index->last = leaf->prev;
	if (index->run == leaf)
		index->run = NULL;
	tidy_inner(index, drop_node(index, &leaf->node));
	history_retire(index, POOL_COLD, leaf->pgoff);
	history_retire(index, POOL_COLD, leaf->tag);
	history_retire(index, POOL_LEAF, leaf);
}

/* Moves the base down to @base; the caller knows that all starts stay within reach. */
static void rebase(struct index *index, struct leaf *leaf, uint64_t base)
{
	uint32_t by = (uint32_t)(leaf->base - base);

	touch(index, &leaf->node);
	for (unsigned int i = 0; i < leaf->node.nr; i++) {
		WRITE_ONCE(leaf->start[i], leaf->start[i] + by);
		if (i + 1u < leaf->node.nr)
			WRITE_ONCE(leaf->end[i], leaf->end[i] + by);
	}
	WRITE_ONCE(leaf->base, base);
	if (leaf->node.nr) {
		uint64_t far = leaf->last_end - base;

		WRITE_ONCE(leaf->end[leaf->node.nr - 1], far > LEAF_REACH ? FAR : (uint32_t)far);
	}
}

/* The pages from the leaf's first start, or @start if lower, to its last start, or @start, fit. */
static bool within_reach(const struct leaf *leaf, uint64_t start)
{
	uint64_t low = leaf->node.nr && leaf->base < start ? leaf->base : start;
	uint64_t high = leaf->node.nr ? leaf_start(leaf, leaf->node.nr - 1u) : start;

	return (high > start ? high : start) - low <= LEAF_REACH;
}

/*
 * For one insert: a leaf on each side, their cold arrays, a split on each level and a new root. A
 * space of a few areas stays one leaf.
 */
static int ensure_insert(struct index *index, const struct area *area)
{
	if (block_ensure(index, POOL_LEAF, 3) || block_ensure(index, POOL_COLD, 4))
		return -SEAM_EALLOC;
	if (index->nr < LEAF_SLOTS && !index->height &&
	    (!index->root || within_reach(index->last, area->start >> index->page_shift)))
		return 0;
	return block_ensure(index, POOL_INNER, index->height + 2);
}

static void cold_set(struct index *index, struct leaf *leaf, unsigned int slot, uint64_t pgoff,
		     uint64_t tag)
{
	if (!leaf->pgoff && pgoff != leaf_start(leaf, slot)) {
		uint64_t *array = block_take(index, POOL_COLD);

		for (unsigned int i = 0; i < leaf->node.nr; i++)
			WRITE_ONCE(array[i], leaf_start(leaf, i));
		WRITE_ONCE(leaf->pgoff, array);
	}
	if (leaf->pgoff)
		WRITE_ONCE(leaf->pgoff[slot], pgoff);
	if (!leaf->tag && tag) {
		uint64_t *array = block_take(index, POOL_COLD);

		shared_fill64(array, 0, LEAF_SLOTS);
		WRITE_ONCE(leaf->tag, array);
	}
	if (leaf->tag)
		WRITE_ONCE(leaf->tag[slot], tag);
}

/* The slot becomes @area, whose range lies within the leaf's reach. */
static void write_slot(struct index *index, struct leaf *leaf, unsigned int slot,
		       const struct area *area)
{
	uint64_t start = area->start >> index->page_shift, end = area->end >> index->page_shift;

	touch(index, &leaf->node);
	if (start < leaf->base)
		rebase(index, leaf, start);
	WRITE_ONCE(leaf->start[slot], (uint32_t)(start - leaf->base));
	WRITE_ONCE(leaf->end[slot],
		   end - leaf->base > LEAF_REACH ? FAR : (uint32_t)(end - leaf->base));
	if (slot + 1u == leaf->node.nr)
		WRITE_ONCE(leaf->last_end, end);
	WRITE_ONCE(leaf->attr[slot], area->attr);
	WRITE_ONCE(leaf->anon[slot], area->anon);
	cold_set(index, leaf, slot, area->pgoff, area->tag);
}

/* Within one leaf: @nr areas from @slot on come to lie at @to. */
static void shift_slots(struct leaf *leaf, unsigned int to, unsigned int slot, unsigned int nr)
{
	shared_move32(leaf->start + to, leaf->start + slot, nr);
	shared_move32(leaf->end + to, leaf->end + slot, nr);
	shared_move32(leaf->attr + to, leaf->attr + slot, nr);
	shared_move32(leaf->anon + to, leaf->anon + slot, nr);
	if (leaf->pgoff)
		shared_move64(leaf->pgoff + to, leaf->pgoff + slot, nr);
	if (leaf->tag)
		shared_move64(leaf->tag + to, leaf->tag + slot, nr);
}

/* Room for @nr more at @slot; the caller writes them, in order. */
static void open_slots(struct index *index, struct leaf *leaf, unsigned int slot, unsigned int nr)
{
	touch(index, &leaf->node);
	shift_slots(leaf, slot + nr, slot, leaf->node.nr - slot);
	WRITE_ONCE(leaf->node.nr, (uint8_t)(leaf->node.nr + nr));
}

/* Takes out @nr areas from @slot on. */
static void close_slots(struct index *index, struct leaf *leaf, unsigned int slot, unsigned int nr)
{
	unsigned int left = leaf->node.nr - nr;

	touch(index, &leaf->node);
	if (slot == left && left)
		WRITE_ONCE(leaf->last_end, leaf->base + leaf->end[left - 1]);
	shift_slots(leaf, slot, slot + nr, left - slot);
	shared_fill32(leaf->start + left, UINT32_MAX, nr);
	shared_fill32(leaf->end + left, UINT32_MAX, nr);
	WRITE_ONCE(leaf->node.nr, (uint8_t)left);
}

/* Copies @nr areas of one leaf into slots of another that were opened for them. */
static void copy_areas(struct index *index, struct leaf *to, unsigned int to_slot,
		       struct leaf *source, unsigned int slot, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct cursor cursor = { .node = source, .slot = slot + i };
		struct area area;

		index_load(index, &cursor, &area);
		write_slot(index, to, to_slot + i, &area);
	}
}

/* Moves the areas [from, nr) of one leaf to the end of another, within whose reach they lie. */
static void move_areas(struct index *index, struct leaf *to, struct leaf *source, unsigned int from)
{
	unsigned int nr = source->node.nr - from, at = to->node.nr;

	if (!at)
		WRITE_ONCE(to->base, leaf_start(source, from));
	open_slots(index, to, at, nr);
	copy_areas(index, to, at, source, from, nr);
	close_slots(index, source, from, nr);
}

/*
 * A full leaf gives half of what a neighbour has room for to it, so that leaves are split only when
 * three in a row are full. False when neither has room.
 */
static bool spill(struct index *index, struct leaf *leaf)
{
	struct leaf *prev = leaf->prev, *next = leaf->next;
	unsigned int nr;

	if (prev && prev->node.nr < SPILL_BELOW) {
		nr = (LEAF_SLOTS - prev->node.nr) / 2u;
		if (within_reach(prev, leaf_start(leaf, nr - 1))) {
			unsigned int at = prev->node.nr;

			open_slots(index, prev, at, nr);
			copy_areas(index, prev, at, leaf, 0, nr);
			close_slots(index, leaf, 0, nr);
			refresh(index, &leaf->node);
			refresh(index, &prev->node);
			return true;
		}
	}
	if (next && next->node.nr < SPILL_BELOW) {
		nr = (LEAF_SLOTS - next->node.nr) / 2u;
		if (within_reach(next, leaf_start(leaf, leaf->node.nr - nr))) {
			open_slots(index, next, 0, nr);
			copy_areas(index, next, 0, leaf, leaf->node.nr - nr, nr);
			close_slots(index, leaf, leaf->node.nr - nr, nr);
			refresh(index, &leaf->node);
			refresh(index, &next->node);
			return true;
		}
	}
	return false;
}

static void insert_at(struct index *index, struct leaf *leaf, unsigned int slot,
		      const struct area *area)
{
	uint64_t start = area->start >> index->page_shift;
	uint32_t lost;

	if (!leaf->node.nr)
		WRITE_ONCE(leaf->base, start);
	else if (start < leaf->base)
		rebase(index, leaf, start);
	lost = slot && slot < leaf->node.nr ? leaf->start[slot] - leaf->end[slot - 1] : 0;
	open_slots(index, leaf, slot, 1);
	/* a marker until write_slot: cold_set may fill the array from the starts */
	WRITE_ONCE(leaf->start[slot], (uint32_t)(start - leaf->base));
	write_slot(index, leaf, slot, area);
	refresh_leaf(index, leaf, lost, gap_beside(leaf, slot));
	index->run = leaf;
	index->run_slot = slot;
}

/* The leaf's upper areas, from @slot on, go to a new leaf behind it. */
static struct leaf *split_leaf(struct index *index, struct leaf *leaf, unsigned int slot)
{
	struct leaf *upper = new_leaf(index, leaf, leaf->next);

	move_areas(index, upper, leaf, slot);
	refresh(index, &leaf->node);
	add_behind(index, &leaf->node, &upper->node);
	return upper;
}

/* A leaf of its own for @area, between two leaves. */
static struct leaf *insert_alone(struct index *index, struct leaf *prev, struct leaf *next,
				 const struct area *area)
{
	struct leaf *leaf = new_leaf(index, prev, next);

	insert_at(index, leaf, 0, area);
	if (prev) {
		add_behind(index, &prev->node, &leaf->node);
	} else if (next) {
		/* first of all: take the place of the first, then put that one behind */
		struct inner *parent = next->node.parent;

		if (parent) {
			touch(index, &parent->node);
			set_child(parent, 0, &leaf->node);
		} else {
			history_set_root(index, &leaf->node);
		}
		next->node.parent = NULL;
		add_behind(index, &leaf->node, &next->node);
	} else {
		history_set_root(index, &leaf->node);
	}
	return leaf;
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

/* Puts @area before (leaf, slot); returns the leaf that has it. */
static struct leaf *place_area(struct index *index, struct leaf *leaf, unsigned int slot,
			       const struct area *area)
{
	uint64_t start = area->start >> index->page_shift;
	struct leaf *upper;

	if (!slot && leaf != index->run && leaf->prev && leaf->prev->node.nr < LEAF_SLOTS &&
	    within_reach(leaf->prev, start)) {
		leaf = leaf->prev;
		slot = leaf->node.nr;
	}
	if (leaf->node.nr < LEAF_SLOTS && within_reach(leaf, start)) {
		insert_at(index, leaf, slot, area);
		return leaf;
	}
	/* runs that go up or down leave full leaves behind */
	if (slot == leaf->node.nr)
		return insert_alone(index, leaf, leaf->next, area);
	if (!slot)
		return insert_alone(index, leaf->prev, leaf, area);
	if (within_reach(leaf, start)) {
		unsigned int at = leaf_split_at(index, leaf, slot);
		bool down = slot == index->run_slot;

		upper = split_leaf(index, leaf, at);
		if (slot > at || (slot == at && down)) {
			leaf = upper;
			slot -= at;
		}
		insert_at(index, leaf, slot, area);
		return leaf;
	}
	upper = split_leaf(index, leaf, slot);
	if (within_reach(leaf, start)) {
		insert_at(index, leaf, slot, area);
		return leaf;
	}
	if (within_reach(upper, start)) {
		insert_at(index, upper, 0, area);
		return upper;
	}
	return insert_alone(index, leaf, upper, area);
}

/* The contract */

bool index_seek(const struct index *index, uint64_t addr, struct cursor *ret_cursor)
{
	uint64_t page = addr >> index->page_shift;
	const struct leaf *last = index->last, *run = index->run;
	const struct index_node *node = index->root;

	/* calls come in runs: most often it is the leaf that was changed last, or the very area */
	if (run && page < run->last_end && page >= leaf_start(run, 0)) {
		unsigned int slot = index->run_slot;

		if (slot < run->node.nr && page < leaf_end(run, slot) &&
		    page >= leaf_start(run, slot)) {
			*ret_cursor = (struct cursor) { .node = (void *)run, .slot = slot };
			return true;
		}
		node = &run->node;
	} else if (!last || page >= last->last_end) {
		*ret_cursor =
			(struct cursor) { .node = (void *)last, .slot = last ? last->node.nr : 0 };
		return false;
	}
	descend(index, node, page, ret_cursor);
	return true;
}

bool index_last(const struct index *index, struct cursor *ret_cursor)
{
	ret_cursor->node = index->last;
	ret_cursor->slot = index->last ? index->last->node.nr - 1u : 0;
	return index->last;
}

int index_reserve_more(struct index *index, size_t nr)
{
	/* a split makes two leaves of at least half a leaf each */
	size_t splits = nr / (LEAF_SLOTS / 2), leaves = splits + 4;

	if (block_ensure(index, POOL_LEAF, leaves) || block_ensure(index, POOL_COLD, 2 * leaves) ||
	    block_ensure(index, POOL_INNER,
			 leaves / (INNER_SLOTS / 2) * 2 + 2 * (index->height + 4)))
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

/* A full leaf, and not one that a run fills. */
static bool wants_spill(const struct index *index, const struct leaf *leaf, unsigned int slot)
{
	return leaf->node.nr == LEAF_SLOTS && slot && slot < LEAF_SLOTS &&
	       leaf_split_at(index, leaf, slot) != slot;
}

int index_insert_at(struct index *index, struct cursor *cursor, const struct area *area)
{
	struct leaf *leaf = cursor->node;

	if (ensure_insert(index, area))
		return -SEAM_EALLOC;
	if (!leaf) {
		insert_alone(index, NULL, NULL, area);
	} else {
		if (wants_spill(index, leaf, (unsigned int)cursor->slot) && spill(index, leaf))
			index_seek(index, area->start, cursor);
		place_area(index, cursor->node, (unsigned int)cursor->slot, area);
	}
	index->nr++;
	cursor->node = index->run;
	cursor->slot = index->run_slot;
	return 0;
}

int index_insert(struct index *index, const struct area *area, struct cursor *ret_cursor)
{
	struct cursor at;

	index_seek(index, area->start, &at);
	if (index_insert_at(index, &at, area))
		return -SEAM_EALLOC;
	if (ret_cursor)
		*ret_cursor = at;
	return 0;
}

/* The leaf is full, or the upper part out of its reach: as a store and an insert. */
static int split_apart(struct index *index, struct cursor *cursor, uint64_t at, uint64_t pgoff)
{
	struct area lower, upper;
	struct cursor behind;

	index_load(index, cursor, &lower);
	upper = lower;
	upper.start = at;
	upper.pgoff = pgoff;
	lower.end = at;
	/* the store, which moves no start, takes no more than this sets aside */
	if (ensure_insert(index, &upper))
		return -SEAM_EALLOC;
	index_store(index, cursor, &lower);
	behind = *cursor;
	index_step(index, &behind);
	index_insert_at(index, &behind, &upper);
	index_prev(index, &behind);
	*cursor = behind;
	return 0;
}

int index_split(struct index *index, struct cursor *cursor, uint64_t at, uint64_t pgoff)
{
	struct leaf *leaf = cursor->node;
	unsigned int slot = (unsigned int)cursor->slot;
	uint64_t page = at >> index->page_shift;

	if (leaf->node.nr == LEAF_SLOTS || page - leaf->base > LEAF_REACH ||
	    (pgoff != page && !leaf->pgoff))
		return split_apart(index, cursor, at, pgoff);
	/* both parts are the area until the border is drawn; the gaps beside them stay */
	open_slots(index, leaf, slot, 1);
	WRITE_ONCE(leaf->end[slot], (uint32_t)(page - leaf->base));
	WRITE_ONCE(leaf->start[slot + 1], (uint32_t)(page - leaf->base));
	if (leaf->pgoff)
		WRITE_ONCE(leaf->pgoff[slot + 1], pgoff);
	index->nr++;
	index->run = leaf;
	index->run_slot = slot + 1;
	return 0;
}

/* Two leaves, neighbours, that have become small: the lower takes all. */
static bool merge_leaves(struct index *index, struct leaf *lower, struct leaf *upper)
{
	if (!lower || !upper || lower->node.nr + upper->node.nr > LEAF_MERGE ||
	    !within_reach(lower, leaf_start(upper, upper->node.nr - 1u)) ||
	    index->blocks[POOL_COLD].nr_free < 2)
		return false;
	move_areas(index, lower, upper, 0);
	drop_leaf(index, upper);
	refresh(index, &lower->node);
	return true;
}

void index_remove(struct index *index, struct cursor *cursor)
{
	struct leaf *leaf = cursor->node, *prev = leaf->prev, *next = leaf->next;
	unsigned int below = prev ? prev->node.nr : 0, slot = (unsigned int)cursor->slot;
	uint64_t lost = gap_beside(leaf, slot);

	index->nr--;
	close_slots(index, leaf, slot, 1);
	if (!leaf->node.nr) {
		drop_leaf(index, leaf);
		cursor->node = next ? next : prev;
		cursor->slot = next || !prev ? 0 : prev->node.nr;
		return;
	}
	refresh_leaf(index, leaf, lost,
		     slot && slot < leaf->node.nr ? leaf->start[slot] - leaf->end[slot - 1] : 0);
	if (prev && merge_leaves(index, prev, leaf)) {
		cursor->slot += below;
		leaf = prev;
	} else {
		merge_leaves(index, leaf, next);
	}
	cursor->node = leaf;
	if (cursor->slot == leaf->node.nr && leaf->next) {
		cursor->node = leaf->next;
		cursor->slot = 0;
	}
}

int index_store(struct index *index, struct cursor *cursor, const struct area *area)
{
	struct leaf *leaf = cursor->node;
	unsigned int slot = (unsigned int)cursor->slot;
	uint64_t start = area->start >> index->page_shift, gap;

	if (!within_reach(leaf, start)) {
		/* its start moves far away from the others of its leaf */
		if (ensure_insert(index, area))
			return -SEAM_EALLOC;
		index_remove(index, cursor);
		return index_insert(index, area, cursor);
	}
	if (((area->pgoff != start && !leaf->pgoff) || (area->tag && !leaf->tag)) &&
	    block_ensure(index, POOL_COLD, 4))
		return -SEAM_EALLOC;
	gap = gap_beside(leaf, slot);
	write_slot(index, leaf, slot, area);
	refresh_leaf(index, leaf, gap, gap_beside(leaf, slot));
	index->run = leaf;
	index->run_slot = slot;
	return 0;
}

/* Finding room */

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

/* Where its parent knows better, a leaf is not looked through. */
static bool leaf_may_have(const struct leaf *leaf, uint64_t len)
{
	const struct inner *parent = leaf->node.parent;

	return !parent || parent->gap[leaf->node.slot] >= len;
}

/*
 * Downward through the gaps of a leaf from the one below @slot, which is an area's. The first that
 * is large enough is the answer, or there is none: it reaches below lo.
 */
static bool leaf_search_down(const struct leaf *leaf, unsigned int slot, struct gap_search *search,
			     bool *ret_fits)
{
	if (!leaf_may_have(leaf, search->len))
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

			if (node_gap_fits(search, above, bottom, top))
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
	if (!leaf_may_have(leaf, search->len))
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
			if (node_gap_fits(search, node, bottom, inner->start[slot]))
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

/* Readers beside the writer */

void index_commit(struct index *index)
{
	history_commit(index);
	blocks_trim_if_due(index);
}

/* All that is told twice and that readers do not look at: made anew from what they do. */

static void count_free(struct index *index)
{
	for (int kind = 0; kind < NR_POOLS; kind++) {
		struct index_blocks *blocks = &index->blocks[kind];

		blocks->nr_free = 0;
		for (struct free_block *block = blocks->free; block; block = block->next)
			blocks->nr_free++;
	}
}

static struct leaf *relink_leaf(struct index *index, struct leaf *leaf, struct leaf *prev)
{
	leaf->prev = prev;
	leaf->next = NULL;
	leaf->node.saved = 0;
	if (prev)
		prev->next = leaf;
	index->nr += leaf->node.nr;
	index->last = leaf;
	return leaf;
}

/* Each inner node is finished when its last child is. */
static void relink_tree(struct index *index)
{
	struct index_node *node = index->root;
	struct leaf *prev = NULL;

	if (!node)
		return;
	node->parent = NULL;
	node->slot = 0;
	for (;;) {
		while (node->level) {
			struct inner *inner = (struct inner *)node;

			inner->node.saved = 0;
			clear_slots(inner, inner->node.nr, INNER_SLOTS - inner->node.nr);
			node = inner->child[0];
			node->parent = inner;
			node->slot = 0;
		}
		prev = relink_leaf(index, (struct leaf *)node, prev);
		while (node->parent) {
			struct inner *parent = node->parent;
			unsigned int slot = node->slot;

			set_child(parent, slot, node);
			if (++slot < parent->node.nr) {
				node = parent->child[slot];
				node->parent = parent;
				node->slot = (uint8_t)slot;
				break;
			}
			node = &parent->node;
		}
		if (!node->parent)
			return;
	}
}

int index_recover(struct index *index, bool finished)
{
	int err = history_roll_back(index, finished);

	if (err)
		return err;
	count_free(index);
	index->nr = 0;
	index->reserved = 0;
	index->last = index->run = NULL;
	relink_tree(index);
	index->height = index->root ? index->root->level : 0;
	return 0;
}

uint64_t index_between(const struct index *index, const struct cursor *first,
		       const struct cursor *last)
{
	const struct leaf *leaf = first->node;
	uint64_t nr = (uint64_t)last->slot - first->slot; /* wraps, and back */

	for (; leaf != last->node; leaf = leaf->next)
		nr += leaf->node.nr;
	return nr;
}

/* The largest gap of a leaf between the areas [first, last]. */
static uint64_t gap_among(const struct leaf *leaf, unsigned int first, unsigned int last)
{
	const struct inner *parent = leaf->node.parent;
	uint32_t largest = 0;

	if (parent && !first && last + 1u == leaf->node.nr)
		return parent->gap[leaf->node.slot];
	for (unsigned int i = first + 1; i <= last; i++) {
		uint32_t gap = leaf->start[i] - leaf->end[i - 1];

		largest = gap > largest ? gap : largest;
	}
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
