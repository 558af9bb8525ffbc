/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * index [CALLS [SEED]]: the B+tree against the sorted array. The same random calls go to both;
 * every answer is compared, and the tree's shape is walked after each call. Allocations fail now
 * and then, and the tree must be what it was.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/index/index.h"
#include "lib/index/read.h"
#include "tests/random.h"
#include "tests/tap.h"

/* The array under its own names (linear.c): what is used of it here. */
struct linear {
	const struct seam_alloc *alloc;
	struct area *areas;
	size_t nr, room;
};
void linear_init(struct linear *linear, const struct seam_alloc *alloc, unsigned int page_shift);
void linear_destroy(struct linear *linear);
bool linear_seek(const struct linear *linear, uint64_t addr, struct cursor *ret_cursor);
void linear_remove(struct linear *linear, struct cursor *cursor);
int linear_insert(struct linear *linear, struct cursor *cursor, const struct area *area);
bool linear_replace(struct linear *linear, struct cursor *cursor, unsigned int nr_old,
		    const struct area *areas, unsigned int nr);
int linear_store(struct linear *linear, struct cursor *cursor, const struct area *area);
bool linear_gap_highest(const struct linear *linear, uint64_t len, uint64_t lo, uint64_t hi,
			struct gap *ret_gap);
uint64_t linear_largest_gap(const struct linear *linear, const struct cursor *first,
			    const struct cursor *last, uint64_t lo);
bool linear_gap_lowest(const struct linear *linear, uint64_t len, uint64_t lo, uint64_t hi,
		       struct gap *ret_gap);

#define PAGE_SHIFT 12

static bool fail_next;

static void *test_alloc(void *ctx, size_t size)
{
	return fail_next ? NULL : malloc(size);
}

static void test_free(void *ctx, void *ptr, size_t size)
{
	free(ptr);
}

static const struct seam_alloc failing = { .alloc = test_alloc, .free = test_free };

/* Shape: links, slots, bounds, gaps, and that no leaf is empty. NULL or what is wrong. */
static const char *check_node(const struct index_node *node, const struct inner *parent,
			      const struct leaf **last)
{
	if (node->parent != parent || !node->nr)
		return "a node's parent or count";
	if (!node->level) {
		const struct leaf *leaf = (const struct leaf *)node;

		if (leaf->prev != *last || (*last && (*last)->next != leaf))
			return "the list of leaves";
		*last = leaf;
		for (unsigned int i = 0; i < LEAF_SLOTS; i++) {
			if (i >= node->nr
				    ? leaf->start[i] != UINT32_MAX || leaf->end[i] != UINT32_MAX
				    : leaf->start[i] >= leaf->end[i])
				return "a slot of a leaf";
			if (i && i < node->nr && leaf->start[i] < leaf->end[i - 1])
				return "the order in a leaf";
		}
		return NULL;
	}
	for (unsigned int i = 0; i < node->nr; i++) {
		const struct inner *inner = (const struct inner *)node;
		const struct index_node *child = inner->child[i];
		const char *wrong;

		if (child->slot != i || child->level + 1 != node->level)
			return "a child's slot or level";
		wrong = check_node(child, inner, last);
		if (wrong)
			return wrong;
		if (!child->level) {
			const struct leaf *leaf = (const struct leaf *)child;
			uint64_t gap = 0;

			for (unsigned int k = 1; k < child->nr; k++)
				if (leaf->start[k] - leaf->end[k - 1] > gap)
					gap = leaf->start[k] - leaf->end[k - 1];
			if (inner->start[i] != leaf->base + leaf->start[0] ||
			    inner->end[i] != leaf->last_end || inner->gap[i] != gap)
				return "what a parent knows of a leaf";
		} else {
			const struct inner *below_it = (const struct inner *)child;
			uint64_t gap = below_it->gap[0];

			for (unsigned int k = 1; k < child->nr; k++) {
				uint64_t between = below_it->start[k] - below_it->end[k - 1];

				gap = between > gap ? between : gap;
				gap = below_it->gap[k] > gap ? below_it->gap[k] : gap;
			}
			if (inner->start[i] != below_it->start[0] ||
			    inner->end[i] != below_it->end[child->nr - 1] || inner->gap[i] != gap)
				return "what a parent knows of an inner node";
		}
	}
	return NULL;
}

static const char *check_tree(const struct index *tree)
{
	const struct leaf *last = NULL;
	const char *wrong;

	if (!tree->root)
		return tree->nr || tree->last ? "an empty tree" : NULL;
	wrong = check_node(tree->root, NULL, &last);
	if (wrong)
		return wrong;
	return last != tree->last || last->next ? "the last leaf" : NULL;
}

static bool same_area(const struct area *a, const struct area *b)
{
	return a->start == b->start && a->end == b->end && a->pgoff == b->pgoff &&
	       a->tag == b->tag && a->attr == b->attr && a->anon == b->anon;
}

/* The whole of both, forward by the tree's cursor and backward. */
static const char *compare(const struct index *tree, const struct linear *array)
{
	struct cursor cursor;
	struct area area;
	size_t nr = 0;

	for (bool more = index_seek(tree, 0, &cursor); more; more = index_next(tree, &cursor)) {
		index_load(tree, &cursor, &area);
		if (nr >= array->nr || !same_area(&area, &array->areas[nr]))
			return "an area, going up";
		nr++;
	}
	if (nr != array->nr || nr != index_count(tree))
		return "the count";
	for (bool more = index_last(tree, &cursor); more; more = index_prev(tree, &cursor)) {
		index_load(tree, &cursor, &area);
		if (!nr || !same_area(&area, &array->areas[nr - 1]))
			return "an area, going down";
		nr--;
	}
	return nr ? "the count, going down" : NULL;
}

/* Where areas lie: close together, or anywhere in a space of 57 bits. */
struct arena {
	uint64_t low, pages, largest;
};

static const struct arena arenas[] = {
	{ 0x10000000, 400, 6 },
	{ 0x10000000, 20000, 3 },
	{ UINT64_C(0x10000000000), UINT64_C(1) << 35, UINT64_C(1) << 33 },
	{ 0, UINT64_C(1) << 45, UINT64_C(1) << 40 },
};

static uint64_t random_page(const struct arena *arena)
{
	return (arena->low >> PAGE_SHIFT) + random_below(arena->pages);
}

/* Nothing lies behind. */
static uint64_t end_of(const struct arena *arena)
{
	return arena->low + ((arena->pages + arena->largest) << PAGE_SHIFT);
}

static struct area random_area(const struct arena *arena)
{
	uint64_t start = random_page(arena),
		 pages = 1 + random_below(arena->largest) % (1 + random_below(64));

	if (!random_below(8))
		pages = 1 + random_below(arena->largest);
	return (struct area) {
		.start = start << PAGE_SHIFT,
		.end = (start + pages) << PAGE_SHIFT,
		.pgoff = random_below(4) ? start : random_below(1000),
		.tag = random_below(10) ? 0 : random_bits(),
		.attr = 1 + (uint32_t)random_below(9),
		.anon = (uint32_t)random_below(3),
	};
}

static bool is_free(const struct linear *array, uint64_t start, uint64_t end)
{
	struct cursor at;

	return !linear_seek(array, start, &at) || array->areas[at.slot].start >= end;
}

static const char *try_insert(struct index *tree, struct linear *array, const struct arena *arena)
{
	struct area area = random_area(arena), found;
	struct cursor cursor, at;
	int err;

	if (!is_free(array, area.start, area.end))
		return NULL;
	fail_next = !random_below(4);
	index_seek(tree, area.start, &cursor);
	err = index_insert(tree, &cursor, &area);
	fail_next = false;
	if (err)
		return NULL;
	linear_seek(array, area.start, &at);
	linear_insert(array, &at, &area);
	index_load(tree, &cursor, &found);
	return same_area(&area, &found) ? NULL : "the cursor after an insert";
}

static const char *try_remove(struct index *tree, struct linear *array, const struct arena *arena)
{
	uint64_t addr = random_page(arena) << PAGE_SHIFT;
	struct cursor a, b;
	struct area area;

	if (!index_seek(tree, addr, &a))
		return NULL;
	linear_seek(array, addr, &b);
	index_remove(tree, &a);
	linear_remove(array, &b);
	if (b.slot == array->nr)
		return index_prev(tree, &a) == !!array->nr ? NULL : "a cursor past the end";
	index_load(tree, &a, &area);
	return same_area(&area, &array->areas[b.slot]) ? NULL : "the cursor after a remove";
}

#define MOST_REPLACED 3

/* Up to three areas one behind the other in [low, high); returns how many. */
static unsigned int areas_within(uint64_t low, uint64_t high, const struct arena *arena,
				 struct area *areas)
{
	unsigned int most = (unsigned int)random_below(MOST_REPLACED + 1), nr = 0;

	while (nr < most && low < high) {
		uint64_t left = (high - low) >> PAGE_SHIFT, some = left < 5 ? left : 1 + left / 2;
		struct area *area = &areas[nr++];

		*area = random_area(arena);
		if (random_below(2))
			area->tag = 0;
		area->start = low + (random_below(some) << PAGE_SHIFT);
		left = (high - area->start) >> PAGE_SHIFT;
		area->end = area->start +
			    ((1 + random_below(random_below(2) ? left : 1)) << PAGE_SHIFT);
		if (random_below(8))
			area->pgoff = area->start >> PAGE_SHIFT;
		low = area->end;
	}
	return nr;
}

/* Areas side by side give way to others; the tree may say that this is no matter of one node. */
static const char *try_replace(struct index *tree, struct linear *array, const struct arena *arena)
{
	uint64_t addr = random_page(arena) << PAGE_SHIFT, low, high;
	unsigned int nr_old = (unsigned int)random_below(MOST_REPLACED + 1), nr;
	struct area areas[MOST_REPLACED], now;
	struct cursor a, b;
	bool done;

	index_seek(tree, addr, &a);
	linear_seek(array, addr, &b);
	if (nr_old > array->nr - b.slot)
		nr_old = (unsigned int)(array->nr - b.slot);
	low = b.slot ? array->areas[b.slot - 1].end : 0;
	high = b.slot + nr_old < array->nr ? array->areas[b.slot + nr_old].start : end_of(arena);
	nr = areas_within(low, high, arena, areas);
	if (!nr_old && !nr)
		return NULL;
	fail_next = true; /* it needs no memory */
	done = index_replace(tree, &a, nr_old, areas, nr);
	fail_next = false;
	if (!done)
		return NULL;
	linear_replace(array, &b, nr_old, areas, nr);
	if (b.slot == array->nr)
		return index_on_area(tree, &a) ? "a cursor that should be past the end" : NULL;
	index_load(tree, &a, &now);
	return same_area(&now, &array->areas[b.slot]) ? NULL : "the cursor after areas gave way";
}

/* The same area with another range between its neighbours, or with other identities. */
static const char *try_store(struct index *tree, struct linear *array, const struct arena *arena)
{
	uint64_t addr = random_page(arena) << PAGE_SHIFT;
	struct area area = random_area(arena), now;
	uint64_t low, high, pages;
	struct cursor a, b;

	if (!index_seek(tree, addr, &a))
		return NULL;
	linear_seek(array, addr, &b);
	low = b.slot ? array->areas[b.slot - 1].end : 0;
	high = b.slot + 1 < array->nr ? array->areas[b.slot + 1].start : end_of(arena);
	pages = (high - low) >> PAGE_SHIFT;
	area.start = array->areas[b.slot].start;
	area.end = array->areas[b.slot].end;
	if (random_below(2)) {
		area.start = low + (random_below(pages) << PAGE_SHIFT);
		area.end = area.start +
			   ((1 + random_below((high - area.start) >> PAGE_SHIFT)) << PAGE_SHIFT);
	} else if (random_below(2)) {
		area.end = random_below(2) ? high : area.end;
	}
	if (random_below(2))
		area.pgoff = area.start >> PAGE_SHIFT;
	fail_next = !random_below(4);
	if (!index_store(tree, &a, &area))
		linear_store(array, &b, &area);
	fail_next = false;
	index_load(tree, &a, &now);
	return same_area(&now, &array->areas[b.slot]) ? NULL : "the cursor after a store";
}

static const char *try_count(const struct index *tree, const struct linear *array, uint64_t lo,
			     uint64_t hi)
{
	struct cursor a[2], b[2], looked_up;

	if (lo > hi)
		return NULL;
	index_seek(tree, lo, &a[0]);
	if (index_seek(tree, hi, &a[1]) != index_look_up(tree, hi, &looked_up) ||
	    looked_up.node != a[1].node || looked_up.slot != a[1].slot)
		return "a lookup";
	linear_seek(array, lo, &b[0]);
	linear_seek(array, hi, &b[1]);
	if (index_between(tree, &a[0], &a[1]) != b[1].slot - b[0].slot)
		return "the areas between";
	if (tree->root && index_largest_gap(tree, &a[0], &a[1], lo) !=
				  linear_largest_gap(array, &b[0], &b[1], lo))
		return "the largest gap";
	return NULL;
}

static bool same_gap(const struct index *tree, const struct gap *a, const struct linear *array,
		     const struct gap *b)
{
	struct area area;

	if (a->start != b->start || a->end != b->end)
		return false;
	if (b->above.slot == array->nr)
		return !index_on_area(tree, &a->above);
	index_load(tree, &a->above, &area);
	return same_area(&area, &array->areas[b->above.slot]);
}

static const char *try_gaps(const struct index *tree, const struct linear *array,
			    const struct arena *arena)
{
	uint64_t lo = random_page(arena) << PAGE_SHIFT, hi = random_page(arena) << PAGE_SHIFT;
	uint64_t len = (1 + random_below(arena->largest) % (1 + random_below(2000))) << PAGE_SHIFT;
	struct gap a = { 0 }, b = { 0 };
	bool found;

	if (random_below(2))
		lo = 0;
	if (random_below(2))
		hi = (arena->low + (arena->pages << PAGE_SHIFT)) * 2;
	found = index_gap_highest(tree, len, lo, hi, &a);
	if (found != linear_gap_highest(array, len, lo, hi, &b) ||
	    (found && !same_gap(tree, &a, array, &b)))
		return "the highest gap";
	found = index_gap_lowest(tree, len, lo, hi, &a);
	if (found != linear_gap_lowest(array, len, lo, hi, &b) ||
	    (found && !same_gap(tree, &a, array, &b)))
		return "the lowest gap";
	return try_count(tree, array, lo, hi);
}

static const char *one_call(struct index *tree, struct linear *array, const struct arena *arena,
			    bool growing)
{
	switch (random_below(9)) {
	case 0:
	case 1:
		return try_remove(tree, array, arena);
	case 2:
		return growing ? try_insert(tree, array, arena) : try_remove(tree, array, arena);
	case 3:
		return try_gaps(tree, array, arena);
	case 4:
		return try_store(tree, array, arena);
	case 5:
		return try_replace(tree, array, arena);
	default:
		return try_insert(tree, array, arena);
	}
}

static void run(const struct arena *arena, uint64_t calls)
{
	const char *wrong = NULL;
	struct linear array;
	struct index tree;
	uint64_t call;

	index_init(&tree, &failing, PAGE_SHIFT);
	linear_init(&array, &seam_alloc_malloc, PAGE_SHIFT);
	for (call = 0; call < calls && !wrong; call++) {
		/* fill, then empty, in turns */
		wrong = one_call(&tree, &array, arena, call / 20000 % 2 == 0);
		if (!wrong)
			wrong = check_tree(&tree);
		if (!wrong && call % 64 == 0)
			wrong = compare(&tree, &array);
	}
	ok(!wrong, "%" PRIu64 " calls in %" PRIu64 " pages: %zu areas%s%s", call, arena->pages,
	   array.nr, wrong ? "; wrong: " : "", wrong ? wrong : "");
	index_destroy(&tree);
	linear_destroy(&array);
}

/* A state that a reader may still look at, and what it must find there. */
struct kept {
	size_t at;
	struct linear areas;
};

#define NR_KEPT 4
#define LONG_CALL 400 /* edits; more than the ring has room for */

static void keep_state(struct kept *kept, const struct index *tree, const struct linear *array)
{
	kept->at = index_read_begin(tree->history);
	linear_destroy(&kept->areas);
	kept->areas.room = kept->areas.nr = array->nr;
	kept->areas.areas = malloc((array->nr + 1) * sizeof(struct area));
	if (!kept->areas.areas)
		abort();
	if (array->nr)
		memcpy(kept->areas.areas, array->areas, array->nr * sizeof(struct area));
}

/* Lookups in an older state give what it held, or say that it is gone. */
static const char *read_state(const struct index *tree, const struct kept *kept,
			      const struct arena *arena, bool must)
{
	uint64_t addr = random_page(arena) << PAGE_SHIFT;
	struct cursor at;
	struct area found;
	bool any = linear_seek(&kept->areas, addr, &at);
	int result = index_read_seek(tree->history, kept->at, addr, &found);

	if (result == -SEAM_EAGAIN)
		return must ? "the last state is gone" : NULL;
	if (result != any || (any && !same_area(&found, &kept->areas.areas[at.slot])))
		return "an area as a reader sees it";
	return NULL;
}

/* As the child of a fork that comes now. */
static const char *recover(struct index *tree, struct linear *array, const struct kept *last)
{
	bool known = !tree->history->blind;

	if (index_recover(tree, false))
		return known ? "a fork in mid-call" : NULL;
	if (!known)
		return "a state that nobody can know";
	array->nr = 0;
	for (size_t i = 0; i < last->areas.nr; i++)
		linear_insert(array, &(struct cursor) { .slot = i }, &last->areas.areas[i]);
	return compare(tree, array);
}

/* Calls of a few edits each; between any two edits readers look at this state and earlier ones. */
static void run_shared(const struct arena *arena, uint64_t calls)
{
	struct kept kept[NR_KEPT] = { 0 };
	unsigned int last = 0, recovered = 0, read = 0, left = 1;
	const char *wrong = NULL;
	struct linear array;
	struct index tree;
	uint64_t call;

	index_init(&tree, &failing, PAGE_SHIFT);
	linear_init(&array, &seam_alloc_malloc, PAGE_SHIFT);
	for (unsigned int i = 0; i < NR_KEPT; i++)
		linear_init(&kept[i].areas, &seam_alloc_malloc, PAGE_SHIFT);
	if (index_share(&tree))
		abort();
	for (call = 0; call < calls && !wrong; call++) {
		wrong = one_call(&tree, &array, arena, call / 20000 % 2 == 0);
		if (!wrong)
			wrong = check_tree(&tree);
		for (unsigned int i = 0; i < 8 && !wrong; i++, read++)
			wrong = read_state(&tree, &kept[i % NR_KEPT], arena,
					   i % NR_KEPT == last && !tree.history->blind);
		if (wrong || --left)
			continue;
		left = random_below(16) ? 1 + (unsigned int)random_below(12) : LONG_CALL;
		if (!random_below(8)) {
			wrong = recover(&tree, &array, &kept[last]);
			kept[last].at = index_read_begin(tree.history);
			recovered++;
		} else {
			index_commit(&tree);
			last = (last + 1) % NR_KEPT;
			keep_state(&kept[last], &tree, &array);
		}
	}
	ok(!wrong && recovered && read,
	   "%" PRIu64 " edits under readers in %" PRIu64 " pages: %u lookups, %u recoveries%s%s",
	   call, arena->pages, read, recovered, wrong ? "; wrong: " : "", wrong ? wrong : "");
	index_destroy(&tree);
	linear_destroy(&array);
	for (unsigned int i = 0; i < NR_KEPT; i++)
		linear_destroy(&kept[i].areas);
}

/* Runs up and down leave full leaves; what is left of a large tree is small. */
static void runs(void)
{
	struct index tree;
	struct cursor cursor;
	const char *wrong;
	bool found;

	for (int up = 0; up < 2; up++) {
		index_init(&tree, &seam_alloc_malloc, PAGE_SHIFT);
		for (uint64_t i = 0; i < 100000; i++) {
			uint64_t page = up ? 16 + 2 * i : 300000 - 2 * i;
			struct area area = { .start = page << PAGE_SHIFT,
					     .end = (page + 1) << PAGE_SHIFT,
					     .pgoff = page,
					     .attr = 1 };

			index_seek(&tree, area.start, &cursor);
			index_insert(&tree, &cursor, &area);
		}
		wrong = check_tree(&tree);
		ok(!wrong, "a run %s: %s", up ? "up" : "down", wrong ? wrong : "well formed");
		ok(tree.height == 2, "its height is %u", tree.height);
		for (found = index_seek(&tree, 0, &cursor); found && index_count(&tree) > 1;)
			index_remove(&tree, &cursor);
		ok(index_count(&tree) == 1 && !tree.height && !check_tree(&tree),
		   "taken down to one area: %zu left, height %u", tree.nr, tree.height);
		index_destroy(&tree);
	}
}

int main(int argc, char **argv)
{
	uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 0) : 40000;

	random_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 88172645463325252;
	for (size_t i = 0; i < sizeof(arenas) / sizeof(arenas[0]); i++)
		run(&arenas[i], calls);
	for (size_t i = 0; i < sizeof(arenas) / sizeof(arenas[0]); i++)
		run_shared(&arenas[i], calls / 4);
	runs();
	return tap_done();
}
