/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/compiler.h"
#include "lib/index/search.h"
#include "lib/index/tree.h"

struct leaf *leaf_new(struct index *index, struct leaf *prev, struct leaf *next)
{
	struct leaf *leaf = block_take(index, POOL_LEAF);

	leaf->node.parent = NULL;
	leaf->node.slot = leaf->node.saved = 0;
	leaf->node.gap = 0;
	leaf->prev = prev;
	leaf->next = next;
	WRITE_ONCE(leaf->node.level, 0);
	WRITE_ONCE(leaf->node.nr, 0);
	WRITE_ONCE(leaf->pgoff, NULL);
	WRITE_ONCE(leaf->tag, NULL);
	WRITE_ONCE(leaf->base, 0);
	WRITE_ONCE(leaf->last_end, 0);
	shared_fill32(leaf->end, UINT32_MAX, LEAF_SLOTS);
	shared_fill32(leaf->start, UINT32_MAX, LEAF_SLOTS);
	history_made(index, &leaf->node);
	if (prev)
		prev->next = leaf;
	if (next)
		next->prev = leaf;
	else
		index->last = leaf;
	return leaf;
}

void leaf_drop(struct index *index, struct leaf *leaf)
{
	if (leaf->prev)
		leaf->prev->next = leaf->next;
	if (leaf->next)
		leaf->next->prev = leaf->prev;
	else
		index->last = leaf->prev;
	if (index->run == leaf)
		index->run = NULL;
	node_drop(index, &leaf->node);
	history_retire(index, POOL_COLD, leaf->pgoff);
	history_retire(index, POOL_COLD, leaf->tag);
	history_retire(index, POOL_LEAF, leaf);
}

/* Moves the base down to @base; the caller knows that all starts stay within reach. */
static void rebase(struct leaf *leaf, uint64_t base)
{
	uint32_t by = (uint32_t)(leaf->base - base);
	unsigned int nr = leaf->node.nr;

	for (unsigned int i = 0; i < nr; i++)
		WRITE_ONCE(leaf->start[i], leaf->start[i] + by);
	for (unsigned int i = 0; i + 1 < nr; i++)
		WRITE_ONCE(leaf->end[i], leaf->end[i] + by);
	WRITE_ONCE(leaf->base, base);
	if (nr)
		WRITE_ONCE(leaf->end[nr - 1], leaf_relative_end(leaf->last_end, base));
}

bool leaf_reaches(const struct leaf *leaf, uint64_t start)
{
	uint64_t low = leaf->node.nr && leaf->base < start ? leaf->base : start;
	uint64_t high = leaf->node.nr ? leaf_start(leaf, leaf->node.nr - 1u) : start;

	return (high > start ? high : start) - low <= LEAF_REACH;
}

static void set_pgoff(struct index *index, struct leaf *leaf, unsigned int slot, uint64_t pgoff)
{
	if (!leaf->pgoff) {
		uint64_t *array = block_take(index, POOL_COLD);

		for (unsigned int i = 0; i < leaf->node.nr; i++)
			WRITE_ONCE(array[i], leaf_start(leaf, i));
		WRITE_ONCE(leaf->pgoff, array);
	}
	WRITE_ONCE(leaf->pgoff[slot], pgoff);
}

static void set_tag(struct index *index, struct leaf *leaf, unsigned int slot, uint64_t tag)
{
	if (!leaf->tag) {
		uint64_t *array = block_take(index, POOL_COLD);

		shared_fill64(array, 0, LEAF_SLOTS);
		WRITE_ONCE(leaf->tag, array);
	}
	WRITE_ONCE(leaf->tag[slot], tag);
}

/* The slot becomes @area, whose range lies within the leaf's reach. */
static void write_slot(struct index *index, struct leaf *leaf, unsigned int slot,
		       const struct area *area)
{
	uint64_t start = area->start >> index->page_shift, end = area->end >> index->page_shift;

	if (start < leaf->base)
		rebase(leaf, start);
	WRITE_ONCE(leaf->start[slot], (uint32_t)(start - leaf->base));
	WRITE_ONCE(leaf->end[slot], leaf_relative_end(end, leaf->base));
	if (slot + 1u == leaf->node.nr)
		WRITE_ONCE(leaf->last_end, end);
	WRITE_ONCE(leaf->ids[slot].attr, area->attr);
	WRITE_ONCE(leaf->ids[slot].anon, area->anon);
	if (leaf->pgoff || area->pgoff != start)
		set_pgoff(index, leaf, slot, area->pgoff);
	if (leaf->tag || area->tag)
		set_tag(index, leaf, slot, area->tag);
}

#ifdef SEARCH_X86
/* The lanes of an array of LEAF_SLOTS get what stands @by before. */
static inline TARGET_AVX512 void move64_avx512(void *array, uint32_t lanes, ptrdiff_t by)
{
	uint64_t *at = array;
	__m512i moved[4];

#pragma GCC unroll 4
	for (int i = 0; i < 4; i++)
		moved[i] = _mm512_maskz_loadu_epi64((__mmask8)(lanes >> 8 * i), at + 8 * i - by);
#pragma GCC unroll 4
	for (int i = 0; i < 4; i++)
		_mm512_mask_storeu_epi64(at + 8 * i, (__mmask8)(lanes >> 8 * i), moved[i]);
}

/* In whole registers: where the slots are differs from call to call, branches would guess ill. */
static TARGET_AVX512 void move_slots_avx512(struct leaf *leaf, unsigned int to, unsigned int slot,
					    unsigned int nr)
{
	/* the slots that get another one's contents, and how far below it stands */
	uint32_t lanes = (uint32_t)(((UINT64_C(1) << nr) - 1) << to);
	ptrdiff_t by = (ptrdiff_t)to - (ptrdiff_t)slot;
	__mmask16 low = (__mmask16)lanes, high = (__mmask16)(lanes >> 16);
	__m512i ends[2], starts[2];

	ends[0] = _mm512_maskz_loadu_epi32(low, leaf->end - by);
	ends[1] = _mm512_maskz_loadu_epi32(high, leaf->end + 16 - by);
	starts[0] = _mm512_maskz_loadu_epi32(low, leaf->start - by);
	starts[1] = _mm512_maskz_loadu_epi32(high, leaf->start + 16 - by);
	_mm512_mask_storeu_epi32(leaf->end, low, ends[0]);
	_mm512_mask_storeu_epi32(leaf->end + 16, high, ends[1]);
	_mm512_mask_storeu_epi32(leaf->start, low, starts[0]);
	_mm512_mask_storeu_epi32(leaf->start + 16, high, starts[1]);
	move64_avx512(leaf->ids, lanes, by);
	if (leaf->pgoff)
		move64_avx512(leaf->pgoff, lanes, by);
}
#endif

void leaf_move_slots(const struct index *index, struct leaf *leaf, unsigned int to,
		     unsigned int slot, unsigned int nr)
{
#ifdef SEARCH_X86
	if (index->search == SEARCH_AVX512) {
		move_slots_avx512(leaf, to, slot, nr);
		return;
	}
#endif
	shared_move32(leaf->end + to, leaf->end + slot, nr);
	shared_move32(leaf->start + to, leaf->start + slot, nr);
	shared_move32(&leaf->ids[to].attr, &leaf->ids[slot].attr, 2 * nr);
	if (leaf->pgoff)
		shared_move64(leaf->pgoff + to, leaf->pgoff + slot, nr);
}

/*
 * The @nr_old areas from @slot on give way to room for @nr, which the caller writes, in order. What
 * is behind them moves.
 */
static void make_room(struct index *index, struct leaf *leaf, unsigned int slot,
		      unsigned int nr_old, unsigned int nr)
{
	unsigned int behind = slot + nr_old, rest = leaf->node.nr - behind,
		     after = slot + nr + rest;

	if (!rest && !nr && after)
		WRITE_ONCE(leaf->last_end, leaf->base + leaf->end[after - 1]);
	if (nr != nr_old) {
		leaf_move_slots(index, leaf, slot + nr, behind, rest);
		if (leaf->tag)
			shared_move64(leaf->tag + slot + nr, leaf->tag + behind, rest);
	}
	for (unsigned int i = after; i < leaf->node.nr; i++) {
		WRITE_ONCE(leaf->end[i], UINT32_MAX);
		WRITE_ONCE(leaf->start[i], UINT32_MAX);
	}
	WRITE_ONCE(leaf->node.nr, (uint8_t)after);
}

/* Of leaves without cold arrays, the room in the target lying within its reach. */
static noinline_for_stack void copy_plainly(struct leaf *to, unsigned int to_slot,
					    const struct leaf *from, unsigned int slot,
					    unsigned int nr)
{
	uint32_t by = (uint32_t)(from->base - to->base);

	for (unsigned int i = 0; i < nr; i++)
		WRITE_ONCE(to->start[to_slot + i], from->start[slot + i] + by);
	for (unsigned int i = 0; i < nr; i++)
		WRITE_ONCE(to->end[to_slot + i],
			   leaf_relative_end(leaf_end(from, slot + i), to->base));
	shared_move32(&to->ids[to_slot].attr, &from->ids[slot].attr, 2 * nr);
	if (to_slot + nr == to->node.nr)
		WRITE_ONCE(to->last_end, leaf_end(from, slot + nr - 1));
}

static noinline_for_stack void copy_singly(struct index *index, struct leaf *to,
					   unsigned int to_slot, struct leaf *from,
					   unsigned int slot, unsigned int nr)
{
	struct cursor cursor = { .node = from };
	struct area area;

	for (unsigned int i = 0; i < nr; i++) {
		cursor.slot = slot + i;
		index_load(index, &cursor, &area);
		write_slot(index, to, to_slot + i, &area);
	}
}

void leaf_move_areas(struct index *index, struct leaf *to, unsigned int to_slot, struct leaf *from,
		     unsigned int slot, unsigned int nr)
{
	uint64_t start = leaf_start(from, slot);

	node_touch(index, &to->node);
	node_touch(index, &from->node);
	make_room(index, to, to_slot, 0, nr);
	if (to->node.nr == nr)
		WRITE_ONCE(to->base, start);
	else if (start < to->base)
		rebase(to, start);
	if (!to->pgoff && !from->pgoff && !to->tag && !from->tag)
		copy_plainly(to, to_slot, from, slot, nr);
	else
		copy_singly(index, to, to_slot, from, slot, nr);
	make_room(index, from, slot, nr, 0);
}

void leaf_replace(struct index *index, struct leaf *leaf, unsigned int slot, unsigned int nr_old,
		  const struct area *areas, unsigned int nr)
{
	uint32_t lost = leaf_gaps_at(leaf, slot, nr_old);
	bool edge = !slot || slot + nr_old == leaf->node.nr;

	node_touch(index, &leaf->node);
	if (nr && nr_old == leaf->node.nr)
		WRITE_ONCE(leaf->base, areas->start >> index->page_shift);
	else if (nr && areas->start >> index->page_shift < leaf->base)
		rebase(leaf, areas->start >> index->page_shift);
	make_room(index, leaf, slot, nr_old, nr);
	for (unsigned int i = 0; i < nr; i++)
		write_slot(index, leaf, slot + i, &areas[i]);
	leaf_refresh(index, leaf, edge, lost, leaf_gaps_at(leaf, slot, nr));
	if (nr) {
		index->run = leaf;
		index->run_slot = slot + nr - 1;
	}
}

/* What lies beside the range of an area, and has no array in the leaf, is as it is implied to be. */
static bool is_implied(const struct leaf *leaf, const struct area *area, uint64_t start)
{
	return (leaf->pgoff || area->pgoff == start) && (leaf->tag || !area->tag);
}

bool leaf_fits(const struct index *index, const struct leaf *leaf, unsigned int slot,
	       unsigned int nr_old, const struct area *areas, unsigned int nr)
{
	unsigned int after = leaf->node.nr - nr_old + nr, behind = slot + nr_old;
	uint64_t base = leaf->base, start = 0;

	/* before the first area of a leaf is behind the last of another: which one, is balance.c's */
	if (behind > leaf->node.nr || !after || after > LEAF_SLOTS || (!slot && !nr_old))
		return false;
	/* where no other area stays, the base is theirs */
	if (nr_old == leaf->node.nr)
		base = UINT64_MAX;
	for (unsigned int i = 0; i < nr; i++) {
		start = areas[i].start >> index->page_shift;
		base = start < base ? start : base;
		if (!is_implied(leaf, &areas[i], start))
			return false;
	}
	if (behind < leaf->node.nr)
		start = leaf_start(leaf, leaf->node.nr - 1u);
	return !nr || start - base <= LEAF_REACH;
}
