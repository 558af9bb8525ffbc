/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reader first goes down the tree as if nobody changed it, then looks whether any node that it
 * went through was changed since its state. If so it goes down once more, asking for each node how
 * it was.
 */
#include "lib/index/read.h"

#include "lib/index/search.h"

/* A tree with less than 2^64 areas is not higher; who meets more was led astray by changes. */
#define MOST_LEVELS 12

struct path {
	const struct index_node *nodes[MOST_LEVELS];
	unsigned int nr;
	unsigned int slot; /* in the last of them, a leaf */
};

/* The compiler shall use what was read, and not read it again. */
#define PIN(value) __asm__("" : "+r"(value))

/*
 * The child to go to when so many end at or before the page. The last child is taken without asking
 * where it ends, so that memory that grows at the end of a node changes no node above it.
 */
static inline unsigned int child_slot(const struct inner *inner, unsigned int count)
{
	unsigned int last = READ_ONCE(inner->node.nr) - 1u;

	PIN(count);
	count = count < last ? count : last;
	return count < INNER_SLOTS ? count : 0;
}

#define READ_LEAF_SLOT(leaf, page, count32, ret_slot)                                              \
	do {                                                                                       \
		uint64_t base_ = READ_ONCE((leaf)->base);                                          \
                                                                                                   \
		if ((page) < base_)                                                                \
			(ret_slot) = 0;                                                            \
		else if ((page)-base_ > LEAF_REACH)                                                \
			(ret_slot) = READ_ONCE((leaf)->node.nr) - 1u;                              \
		else                                                                               \
			(ret_slot) = count32((leaf)->end, (uint32_t)((page)-base_));               \
		PIN(ret_slot);                                                                     \
	} while (0)

/* False: there is nothing behind @page, or the way was lost. One such function a kind of search. */
#define DEFINE_READ_DOWN(name, target, count32, count64)                                           \
	target static bool name(struct path *path, const struct index_node *node, uint64_t page)   \
	{                                                                                          \
		for (path->nr = 0; node && path->nr < MOST_LEVELS;) {                              \
			const struct inner *inner = (const struct inner *)node;                    \
			unsigned int slot;                                                         \
                                                                                                   \
			path->nodes[path->nr++] = node;                                            \
			if (!READ_ONCE(node->level)) {                                             \
				READ_LEAF_SLOT((const struct leaf *)node, page, count32,           \
					       path->slot);                                        \
				return path->slot < READ_ONCE(node->nr);                           \
			}                                                                          \
			slot = child_slot(inner, count64(inner->end, page));                       \
			node = READ_ONCE(inner->child[slot]);                                      \
		}                                                                                  \
		return false;                                                                      \
	}

DEFINE_READ_DOWN(read_down_simd, , simd_count32, simd_count64)
#ifdef SEARCH_X86
DEFINE_READ_DOWN(read_down_avx2, TARGET_AVX2, avx2_count32, avx2_count64)
DEFINE_READ_DOWN(read_down_avx512, TARGET_AVX512, avx512_count32, avx512_count64)
#endif

static bool read_down(const struct history *history, struct path *path,
		      const struct index_node *root, uint64_t page)
{
#ifdef SEARCH_X86
	if (history->search == SEARCH_AVX512)
		return read_down_avx512(path, root, page);
	if (history->search == SEARCH_AVX2)
		return read_down_avx2(path, root, page);
#endif
	return read_down_simd(path, root, page);
}

/* @slot is one of the leaf's, or was when it was found. False: the area ends before @page. */
static bool read_area(const struct history *history, const struct leaf *leaf, unsigned int slot,
		      uint64_t page, struct area *ret_area)
{
	const uint64_t *pgoff = READ_ONCE(leaf->pgoff), *tag = READ_ONCE(leaf->tag);
	uint64_t base, start, end;
	uint32_t last;

	if (slot >= LEAF_SLOTS)
		return false;
	base = READ_ONCE(leaf->base);
	start = base + READ_ONCE(leaf->start[slot]);
	last = READ_ONCE(leaf->end[slot]);
	end = last == LEAF_FAR ? READ_ONCE(leaf->last_end) : base + last;
	ret_area->start = start << history->page_shift;
	ret_area->end = end << history->page_shift;
	ret_area->pgoff = pgoff ? READ_ONCE(pgoff[slot]) : start;
	ret_area->tag = tag ? READ_ONCE(tag[slot]) : 0;
	ret_area->attr = READ_ONCE(leaf->ids[slot].attr);
	ret_area->anon = READ_ONCE(leaf->ids[slot].anon);
	return end > page;
}

/* The entries since a state, as far as there are any at this moment. */
struct since {
	const struct ring *ring;
	size_t at, head;
};

/* All that was read up to here is older than what this sees. False: the state is gone. */
static bool look_since(const struct history *history, size_t at, struct since *ret_since)
{
	shared_fence();
	ret_since->at = at;
	ret_since->head = READ_ACQUIRE(history->head);
	ret_since->ring = READ_ACQUIRE(history->ring);
	return ring_reaches(ret_since->ring, ret_since->head, at);
}

/* What was read of the entries, and of images, still held when it was read. */
static bool still_held(const struct history *history, const struct since *since)
{
	shared_fence();
	return ring_reaches(since->ring, READ_ONCE(history->head), since->at);
}

static const struct past *entry_at(const struct since *since, size_t at)
{
	return &since->ring->entries[at & (since->ring->size - 1)];
}

/* The entry tells of a change of a node; one taken out stays as it is. */
static bool tells_change(enum past_kind kind)
{
	return kind == PAST_LEAF || kind == PAST_INNER || kind == PAST_ROOT || kind == PAST_MADE;
}

static bool on_path(const struct history *history, const struct path *path, const void *node)
{
	for (unsigned int i = 0; i < path->nr; i++)
		if (path->nodes[i] == node)
			return true;
	return node == &history->root;
}

static bool path_changed(const struct history *history, const struct path *path,
			 const struct since *since)
{
	for (size_t at = since->at; at != since->head; at++) {
		const struct past *entry = entry_at(since, at);

		if (on_path(history, path, READ_ONCE(entry->node)) &&
		    tells_change(READ_ONCE(entry->kind)))
			return true;
	}
	return false;
}

/* The oldest entry of a change of @node; NULL when it is as it was. */
static const struct past *change_of(const struct since *since, const void *node)
{
	for (size_t at = since->at; at != since->head; at++) {
		const struct past *entry = entry_at(since, at);

		if (READ_ONCE(entry->node) == node && tells_change(READ_ONCE(entry->kind)))
			return entry;
	}
	return NULL;
}

/* The node as it was in state @at. NULL: nobody knows any more. */
static const void *as_it_was(const struct history *history, size_t at, const void *node)
{
	const struct past *entry;
	struct since since;

	if (!look_since(history, at, &since))
		return NULL;
	entry = change_of(&since, node);
	return entry ? READ_ONCE(entry->image) : node;
}

/*
 * One level down: to the child (*ret_next) that has @page; from a leaf (*ret_next NULL) to the area.
 * False: there is nothing behind @page.
 */
static bool read_step(const struct history *history, const struct index_node *node, uint64_t page,
		      const struct index_node **ret_next, struct area *ret_area)
{
	const struct inner *inner = (const struct inner *)node;
	unsigned int slot;

	*ret_next = NULL;
	if (!READ_ONCE(node->level)) {
		const struct leaf *leaf = (const struct leaf *)node;

		READ_LEAF_SLOT(leaf, page, simd_count32, slot);
		return slot < READ_ONCE(node->nr) && read_area(history, leaf, slot, page, ret_area);
	}
	slot = child_slot(inner, simd_count64(inner->end, page));
	*ret_next = READ_ONCE(inner->child[slot]);
	return false;
}

/*
 * One node after the other: what is read of a node counts only if it was not changed up to then; of
 * one that was, the image is read, which nobody changes.
 */
static int seek_slowly(const struct history *history, size_t at, uint64_t page,
		       struct area *ret_area)
{
	const struct index_node *node = READ_ONCE(history->root), *next;
	const void *was = as_it_was(history, at, &history->root);
	bool found = false;
	struct since end;

	if (was != &history->root)
		node = was; /* NULL: there was no tree, or the state is gone */
	for (unsigned int depth = 0; node; node = next) {
		if (depth++ == MOST_LEVELS)
			return -SEAM_EAGAIN;
		found = read_step(history, node, page, &next, ret_area);
		was = as_it_was(history, at, node);
		if (!was)
			return -SEAM_EAGAIN;
		if (was != node)
			found = read_step(history, was, page, &next, ret_area);
	}
	return look_since(history, at, &end) ? found : -SEAM_EAGAIN;
}

int index_read_seek(const struct history *history, size_t at, uint64_t addr, struct area *ret_area)
{
	uint64_t page = addr >> history->page_shift;
	struct path path;
	struct since since;
	bool found;

	found = read_down(history, &path, READ_ONCE(history->root), page) &&
		read_area(history, (const struct leaf *)path.nodes[path.nr - 1], path.slot, page,
			  ret_area);
	if (!look_since(history, at, &since))
		return -SEAM_EAGAIN;
	if (since.head == at)
		return found;
	if (path_changed(history, &path, &since))
		return seek_slowly(history, at, page, ret_area);
	return still_held(history, &since) ? found : -SEAM_EAGAIN;
}
