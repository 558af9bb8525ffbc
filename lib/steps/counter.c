/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/steps/counter.h"

#include "lib/export.h"
#include "lib/memory.h"

#define AVL_FROM 32 /* 2.2 - 2.4.9 include/linux/sched.h AVL_MIN_MAP_COUNT */

int counter_init(struct seam_step_counter *counter, uint32_t kind, uint32_t huge_shift,
		 const struct seam_alloc *alloc)
{
	bool with_gaps = kind == TREE_RB_GAPS;

	memset(counter, 0, sizeof(*counter));
	counter->alloc = *alloc;
	counter->kind = kind;
	counter->huge_shift = huge_shift;
	counter->by_tree = kind != TREE_AVL;
	/* one area; since 3.15 four for each thread, by address */
	counter->nr_cached = with_gaps ? MAX_CACHED : 1;
	return tree_init(&counter->tree, alloc, with_gaps);
}

void counter_free(struct seam_step_counter *counter)
{
	tree_destroy(&counter->tree, &counter->alloc);
}

int counter_copy(struct seam_step_counter *copy, const struct seam_step_counter *from,
		 const struct seam_alloc *alloc)
{
	*copy = *from;
	copy->alloc = *alloc;
	return tree_copy(&copy->tree, &from->tree, alloc);
}

/*
 * Areas of the list that end at or before @addr: these are passed over. *ret_found: the next; 0 none.
 */
static uint64_t list_steps(const struct tree *tree, uint64_t addr, uint32_t *ret_found)
{
	uint32_t id = node_at(tree, 0)->near[RIGHT];
	uint64_t nr = 0;

	for (; id && node_at(tree, id)->end <= addr; id = node_at(tree, id)->near[RIGHT])
		nr++;
	*ret_found = id;
	return nr;
}

/* The first node that ends behind @addr; 0 none. Counts nothing. */
static uint32_t seek(const struct seam_step_counter *counter, uint64_t addr)
{
	uint32_t id;

	if (counter->by_tree)
		return tree_seek(&counter->tree, addr);
	list_steps(&counter->tree, addr, &id);
	return id;
}

static uint32_t *known_at(struct seam_step_counter *counter, uint64_t start)
{
	return &counter->known[(start * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

/* The node of the area that starts at @start, which there is. */
static uint32_t node_of(struct seam_step_counter *counter, uint64_t start)
{
	uint32_t *known = known_at(counter, start);

	if (node_at(&counter->tree, *known)->start != start)
		*known = seek(counter, start);
	return counter->last = *known;
}

/* @start lies between this node and the one below it; 0 is behind all. */
static bool is_above(const struct tree *tree, uint32_t id, uint64_t start)
{
	return node_at(tree, id)->start > start &&
	       node_at(tree, node_at(tree, id)->near[LEFT])->end <= start;
}

/* The node above free memory at @start, 0 none: mostly the one looked at last, or the next. */
static uint32_t node_above(const struct seam_step_counter *counter, uint64_t start)
{
	const struct tree *tree = &counter->tree;
	uint32_t next = node_at(tree, counter->last)->near[RIGHT];

	if (is_above(tree, counter->last, start))
		return counter->last;
	return is_above(tree, next, start) ? next : seek(counter, start);
}

int counter_inserted(struct seam_step_counter *counter, uint64_t start, uint64_t end)
{
	struct tree *tree = &counter->tree;
	uint32_t id, above;

	if (!tree_reserve(tree, &counter->alloc, 1))
		return -SEAM_EALLOC;
	id = tree_node_new(tree);
	node_at(tree, id)->start = start;
	node_at(tree, id)->end = end;
	above = node_above(counter, start);
	counter->last = *known_at(counter, start) = id;
	if (counter->by_tree) {
		tree_link(tree, id, above);
		if (counter->kind == TREE_AVL)
			avl_insert(tree, id);
		else
			rb_insert(tree, id);
		return 0;
	}
	tree_list(tree, id, above);
	if (tree_count(tree) >= AVL_FROM) {
		avl_build(tree);
		counter->by_tree = true;
	}
	return 0;
}

void counter_removed(struct seam_step_counter *counter, uint64_t start)
{
	struct tree *tree = &counter->tree;
	uint32_t id = node_of(counter, start);

	counter->last = node_at(tree, id)->near[RIGHT];
	for (unsigned int i = 0; i < counter->nr_cached; i++)
		if (counter->cached[i] == id)
			counter->cached[i] = 0;
	if (!counter->by_tree)
		tree_unlist(tree, id);
	else if (counter->kind == TREE_AVL)
		avl_remove(tree, id);
	else
		rb_remove(tree, id);
}

void counter_stored(struct seam_step_counter *counter, uint64_t before, uint64_t start,
		    uint64_t end)
{
	uint32_t id = node_of(counter, before);

	node_at(&counter->tree, id)->start = start;
	node_at(&counter->tree, id)->end = end;
	*known_at(counter, start) = id;
	tree_refresh_gaps(&counter->tree, id);
}

/*
 * Nodes compared on the way down the tree to where @addr is; with @stop the walk ends at the area that
 * holds it. @found: the area that holds @addr or is the next above it; 0 none. Free memory lies below
 * the deeper one of the two areas beside it.
 */
static uint64_t tree_steps(const struct tree *tree, uint64_t addr, bool stop, uint32_t found)
{
	const struct node *above = node_at(tree, found), *below = node_at(tree, above->near[LEFT]);

	if (stop && found && above->start <= addr)
		return above->depth;
	return above->depth > below->depth ? above->depth : below->depth;
}

static uint64_t walk_steps(const struct seam_step_counter *counter, uint64_t addr, bool stop,
			   uint32_t found)
{
	uint32_t passed;

	if (counter->by_tree)
		return tree_steps(&counter->tree, addr, stop, found);
	return list_steps(&counter->tree, addr, &passed);
}

static uint32_t node_noted(struct seam_step_counter *counter, uint64_t start)
{
	return start == SEAM_STEP_NO_AREA ? 0 : node_of(counter, start);
}

void counter_find(struct seam_step_counter *counter, uint64_t addr, uint64_t start)
{
	const struct tree *tree = &counter->tree;
	uint32_t id;

	for (unsigned int i = 0; i < counter->nr_cached; i++) {
		id = counter->cached[i];
		if (node_at(tree, id)->start <= addr && node_at(tree, id)->end > addr) {
			counter->last = id;
			return;
		}
	}
	id = node_noted(counter, start);
	counter->count.find += walk_steps(counter, addr, true, id);
	if (id)
		counter->cached[(addr >> counter->huge_shift) & (counter->nr_cached - 1)] = id;
	counter->last = id;
}

/* The walk for links ends at an area that holds @addr; find_vma_prev goes on. */
static void count_place(struct seam_step_counter *counter, uint64_t addr, uint32_t id)
{
	counter->count.insert += walk_steps(counter, addr, counter->kind != TREE_AVL, id);
}

void counter_place(struct seam_step_counter *counter, uint64_t addr, uint64_t start)
{
	counter->last = node_noted(counter, start);
	count_place(counter, addr, counter->last);
}

void counter_forget(struct seam_step_counter *counter)
{
	memset(counter->cached, 0, sizeof(counter->cached));
}

int counter_passed(struct seam_step_counter *counter, uint64_t start, uint64_t end)
{
	int err = counter_inserted(counter, start, end);

	if (err)
		return err;
	count_place(counter, start, counter->last);
	counter_forget(counter);
	counter_removed(counter, start);
	return 0;
}

void counter_gap(struct seam_step_counter *counter, const struct seam_step_note *note)
{
	if (counter->kind == TREE_RB_GAPS)
		counter->count.placement += tree_gap_steps(&counter->tree, note->a, note->b,
							   note->c,
							   note->kind == SEAM_STEP_GAP_DOWN);
}

SEAM_EXPORT int seam_policy_notes_steps(const struct seam_policy *policy)
{
	return WITH_TREES && is_kept(policy->rule[SEAM_RULE_area_tree]);
}

SEAM_EXPORT int seam_step_counter_create(const struct seam_step_note *begin,
					 const struct seam_alloc *alloc,
					 struct seam_step_counter **ret_counter)
{
	struct seam_step_counter *counter;

	if (!WITH_TREES)
		return -SEAM_ENOSYS;
#ifndef SEAM_FREESTANDING
	if (!alloc)
		alloc = &seam_alloc_malloc;
#endif
	if (!alloc || begin->kind != SEAM_STEP_BEGIN || begin->a > UINT32_MAX ||
	    !is_kept((unsigned int)begin->a) || begin->a > TREE_MAPLE || begin->b > 63)
		return -SEAM_EINVAL;
	counter = alloc->alloc(alloc->ctx, sizeof(*counter));
	if (!counter)
		return -SEAM_EALLOC;
	if (counter_init(counter, (uint32_t)begin->a, (uint32_t)begin->b, alloc)) {
		memory_free(alloc, counter, sizeof(*counter));
		return -SEAM_EALLOC;
	}
	*ret_counter = counter;
	return 0;
}

SEAM_EXPORT int seam_step_counter_take(struct seam_step_counter *counter,
				       const struct seam_step_note *note)
{
	return WITH_TREES ? counter_take(counter, note) : -SEAM_EINVAL;
}

SEAM_EXPORT void seam_step_counter_get(const struct seam_step_counter *counter,
				       struct seam_steps *ret_steps)
{
	*ret_steps = counter->kept;
}

SEAM_EXPORT void seam_step_counter_destroy(struct seam_step_counter *counter)
{
	struct seam_alloc alloc;

	if (!counter)
		return;
	alloc = counter->alloc;
	counter_free(counter);
	memory_free(&alloc, counter, sizeof(*counter));
}
