/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/steps/steps.h"

#include "lib/memory.h"
#include "lib/steps/tree.h"

/* Values of the rule area_tree. */
enum { TREE_NONE, TREE_AVL, TREE_RB, TREE_RB_GAPS, TREE_MAPLE };

#define AVL_FROM 32 /* 2.2 - 2.4.9 include/linux/sched.h AVL_MIN_MAP_COUNT */
#define MAX_CACHED 4

/* 6.1 include/linux/maple_tree.h, 64 bits: slots of a node, of which three quarters are taken */
#define MAPLE_LEAF 12
#define MAPLE_BRANCH 7

struct steps {
	struct tree tree;
	unsigned int kind;
	bool by_tree;		/* up to 2.4.9: the list is searched until there are 32 areas */
	unsigned int nr_cached; /* a power of two */
	uint32_t cached[MAX_CACHED]; /* areas found last */
	struct seam_steps count;
};

int steps_init(struct seam_space *space)
{
	struct steps *steps = memory_zeroed(&space->alloc, sizeof(*steps));

	if (!steps)
		return -SEAM_EALLOC;
	steps->kind = rule(space, SEAM_RULE_area_tree);
	steps->by_tree = steps->kind != TREE_AVL;
	steps->tree.keep_gaps = steps->kind == TREE_RB_GAPS;
	/* one area; since 3.15 four for each thread, by address */
	steps->nr_cached = steps->kind == TREE_RB_GAPS ? MAX_CACHED : 1;
	space->steps = steps;
	return 0;
}

void steps_free(struct seam_space *space)
{
	if (!space->steps)
		return;
	tree_destroy(&space->steps->tree, &space->alloc);
	memory_free(&space->alloc, space->steps, sizeof(*space->steps));
}

static bool keeps_tree(const struct steps *steps)
{
	return steps->kind != TREE_NONE && steps->kind != TREE_MAPLE;
}

bool steps_area_inserted(struct seam_space *space, const struct area *area)
{
	struct steps *steps = space->steps;
	struct tree *tree = &steps->tree;
	uint32_t id;

	if (!keeps_tree(steps))
		return true;
	id = tree_node_new(tree, &space->alloc);
	if (!id)
		return false;
	node_at(tree, id)->start = area->start;
	node_at(tree, id)->end = area->end;
	tree_link(tree, id);
	if (steps->kind == TREE_AVL)
		avl_insert(tree, id);
	else
		rb_insert(tree, id);
	if (!steps->by_tree && index_count(&space->index) >= AVL_FROM) {
		avl_build(tree);
		steps->by_tree = true;
	}
	return true;
}

void steps_area_removed(struct seam_space *space, const struct area *area)
{
	struct steps *steps = space->steps;
	uint32_t id;

	if (!keeps_tree(steps))
		return;
	id = tree_seek(&steps->tree, area->start);
	for (unsigned int i = 0; i < steps->nr_cached; i++)
		if (steps->cached[i] == id)
			steps->cached[i] = 0;
	if (steps->kind == TREE_AVL)
		avl_remove(&steps->tree, id);
	else
		rb_remove(&steps->tree, id);
}

void steps_area_stored(struct seam_space *space, const struct area *before,
		       const struct area *after)
{
	struct tree *tree = &space->steps->tree;
	uint32_t id;

	if (!keeps_tree(space->steps) ||
	    (before->start == after->start && before->end == after->end))
		return;
	id = tree_seek(tree, before->start);
	node_at(tree, id)->start = after->start;
	node_at(tree, id)->end = after->end;
	tree_refresh_gaps(tree, id);
}

/* Levels of a maple tree that holds the areas and the gaps between them. */
static uint64_t maple_levels(const struct seam_space *space)
{
	uint64_t entries = 2 * index_count(&space->index) + 1, levels = 1;

	for (entries /= MAPLE_LEAF; entries; entries /= MAPLE_BRANCH)
		levels++;
	return levels;
}

/* Areas of the list that end at or before @addr: these are passed over. */
static uint64_t list_steps(const struct seam_space *space, uint64_t addr)
{
	const struct tree *tree = &space->steps->tree;
	uint64_t nr = 0;

	for (uint32_t id = tree->first; id && node_at(tree, id)->end <= addr;
	     id = node_at(tree, id)->near[RIGHT])
		nr++;
	return nr;
}

/* Nodes compared on the way down; with @stop the walk ends at the area that holds @addr. */
static uint64_t tree_steps(const struct tree *tree, uint64_t addr, bool stop)
{
	uint64_t nr = 0;

	for (uint32_t id = tree->root; id; nr++) {
		const struct node *node = node_at(tree, id);

		if (stop && node->start <= addr && node->end > addr)
			return nr + 1;
		id = node->child[node->end > addr ? LEFT : RIGHT];
	}
	return nr;
}

static uint64_t search_steps(const struct seam_space *space, uint64_t addr, bool stop)
{
	if (space->steps->kind == TREE_MAPLE)
		return maple_levels(space);
	return space->steps->by_tree ? tree_steps(&space->steps->tree, addr, stop)
				     : list_steps(space, addr);
}

void steps_count_find(const struct seam_space *space, uint64_t addr)
{
	struct steps *steps = space->steps;
	const struct tree *tree = &steps->tree;
	uint32_t id;

	if (keeps_tree(steps)) {
		for (unsigned int i = 0; i < steps->nr_cached; i++) {
			id = steps->cached[i];
			if (id && node_at(tree, id)->start <= addr && node_at(tree, id)->end > addr)
				return;
		}
		id = tree_seek(tree, addr);
		if (id)
			steps->cached[(addr >> space->arch->huge_shift) & (steps->nr_cached - 1)] =
				id;
	}
	steps->count.find += search_steps(space, addr, true);
}

/* Behind the first page the area is in the cache, where there is one. */
void steps_count_find_pages(const struct seam_space *space, uint64_t addr, uint64_t nr)
{
	if (keeps_tree(space->steps))
		steps_count_find(space, addr);
	else
		space->steps->count.find += nr * search_steps(space, addr, true);
}

void steps_count_insert(const struct seam_space *space, uint64_t addr)
{
	struct steps *steps = space->steps;

	/* the list of prepared links ends at an area that holds @addr; find_vma_prev goes on */
	steps->count.insert += search_steps(space, addr, steps->kind != TREE_AVL);
}

void steps_count_placement(const struct seam_space *space, uint64_t nr)
{
	space->steps->count.placement += nr;
}

void steps_count_gap_search(const struct seam_space *space, uint64_t len, uint64_t lo, uint64_t hi,
			    bool top_down)
{
	struct steps *steps = space->steps;

	if (steps->kind == TREE_MAPLE)
		steps->count.placement += maple_levels(space);
	else if (steps->kind == TREE_RB_GAPS)
		steps->count.placement += tree_gap_steps(&steps->tree, len, lo, hi, top_down);
}

void steps_drop_cache(const struct seam_space *space)
{
	memset(space->steps->cached, 0, sizeof(space->steps->cached));
}

void steps_settle_count(struct seam_space *space, bool taken_back)
{
	if (taken_back)
		space->steps->count = space->mm.stats.steps;
	else
		space->mm.stats.steps = space->steps->count;
}
