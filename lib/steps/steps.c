/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/steps/steps.h"

#include "lib/memory.h"
#include "lib/steps/tree.h"

/* Values of the rule area_tree. */
enum { TREE_NONE, TREE_AVL, TREE_RB, TREE_RB_GAPS, TREE_MAPLE };

#define AVL_FROM 32 /* 2.2 - 2.4.9 include/linux/sched.h AVL_MIN_MAP_COUNT */
#define MAX_CACHED 4
#define NR_KNOWN 1024 /* a power of two */

/* 6.1 include/linux/maple_tree.h, 64 bits: slots of a node, of which three quarters are taken */
#define MAPLE_LEAF 12
#define MAPLE_BRANCH 7

struct steps {
	struct tree tree;
	bool by_tree;		/* up to 2.4.9: the list is searched until there are 32 areas */
	unsigned int nr_cached; /* a power of two */
	uint32_t cached[MAX_CACHED]; /* areas found last */
	uint32_t last; /* the node that was looked at last: the next edit is mostly of its area */
	/* where the node of an area that starts at such an address may be */
	uint32_t known[NR_KNOWN];
	struct seam_steps count;
};

/* Of the policy, not of the space: where a build has one policy, a constant. */
static unsigned int kind_of(const struct seam_space *space)
{
	return rule(space, SEAM_RULE_area_tree);
}

static bool keeps_tree(const struct seam_space *space)
{
	return kind_of(space) != TREE_NONE && kind_of(space) != TREE_MAPLE;
}

int steps_init(struct seam_space *space)
{
	struct steps *steps = memory_zeroed(&space->alloc, sizeof(*steps));
	bool with_gaps = kind_of(space) == TREE_RB_GAPS;

	if (!steps)
		return -SEAM_EALLOC;
	space->steps = steps;
	steps->by_tree = kind_of(space) != TREE_AVL;
	/* one area; since 3.15 four for each thread, by address */
	steps->nr_cached = with_gaps ? MAX_CACHED : 1;
	return keeps_tree(space) ? tree_init(&steps->tree, &space->alloc, with_gaps) : 0;
}

int steps_copy(struct seam_space *copy, const struct seam_space *from)
{
	struct steps *steps = copy->alloc.alloc(copy->alloc.ctx, sizeof(*steps));

	if (!steps)
		return -SEAM_EALLOC;
	*steps = *from->steps;
	copy->steps = steps;
	return tree_copy(&steps->tree, &from->steps->tree, &copy->alloc);
}

void steps_free(struct seam_space *space)
{
	if (!space->steps)
		return;
	tree_destroy(&space->steps->tree, &space->alloc);
	memory_free(&space->alloc, space->steps, sizeof(*space->steps));
}

/*
 * Areas of the list that end at or before @addr: these are passed over. *ret_found: the next; 0 none.
 */
static uint64_t list_steps(const struct steps *steps, uint64_t addr, uint32_t *ret_found)
{
	const struct tree *tree = &steps->tree;
	uint32_t id = node_at(tree, 0)->near[RIGHT];
	uint64_t nr = 0;

	for (; id && node_at(tree, id)->end <= addr; id = node_at(tree, id)->near[RIGHT])
		nr++;
	*ret_found = id;
	return nr;
}

/* The first node that ends behind @addr; 0 none. Counts nothing. */
static uint32_t seek(const struct steps *steps, uint64_t addr)
{
	uint32_t id;

	if (steps->by_tree)
		return tree_seek(&steps->tree, addr);
	list_steps(steps, addr, &id);
	return id;
}

static uint32_t *known_at(struct steps *steps, uint64_t start)
{
	return &steps->known[(start * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

/* The node of the area that starts at @start. */
static uint32_t node_of(struct steps *steps, uint64_t start)
{
	uint32_t *known = known_at(steps, start);

	if (node_at(&steps->tree, *known)->start != start)
		*known = seek(steps, start);
	return steps->last = *known;
}

/* The node of the area under the cursor; 0 past the end. */
static uint32_t node_under(const struct seam_space *space, const struct cursor *at)
{
	struct area area;

	if (!index_on_area(&space->index, at))
		return 0;
	index_load(&space->index, at, &area);
	return node_of(space->steps, area.start);
}

/* @start lies between this node and the one below it; 0 is behind all. */
static bool is_above(const struct tree *tree, uint32_t id, uint64_t start)
{
	return node_at(tree, id)->start > start &&
	       node_at(tree, node_at(tree, id)->near[LEFT])->end <= start;
}

/* The node above free memory at @start, 0 none: mostly the one looked at last, or the next. */
static uint32_t node_above(const struct steps *steps, uint64_t start)
{
	const struct tree *tree = &steps->tree;
	uint32_t next = node_at(tree, steps->last)->near[RIGHT];

	if (is_above(tree, steps->last, start))
		return steps->last;
	return is_above(tree, next, start) ? next : seek(steps, start);
}

bool steps_reserve_room(struct seam_space *space, uint32_t nr)
{
	return !keeps_tree(space) || tree_reserve(&space->steps->tree, &space->alloc, nr);
}

void steps_area_inserted(struct seam_space *space, const struct area *area)
{
	struct steps *steps = space->steps;
	struct tree *tree = &steps->tree;
	uint32_t id, above;

	if (!keeps_tree(space))
		return;
	id = tree_node_new(tree);
	node_at(tree, id)->start = area->start;
	node_at(tree, id)->end = area->end;
	above = node_above(steps, area->start);
	steps->last = *known_at(steps, area->start) = id;
	if (!steps->by_tree) {
		tree_list(tree, id, above);
		if (tree_count(tree) < AVL_FROM)
			return;
		avl_build(tree);
		steps->by_tree = true;
		return;
	}
	tree_link(tree, id, above);
	if (kind_of(space) == TREE_AVL)
		avl_insert(tree, id);
	else
		rb_insert(tree, id);
}

void steps_area_removed(struct seam_space *space, const struct area *area)
{
	struct steps *steps = space->steps;
	struct tree *tree = &steps->tree;
	uint32_t id;

	if (!keeps_tree(space))
		return;
	id = node_of(steps, area->start);
	steps->last = node_at(tree, id)->near[RIGHT];
	for (unsigned int i = 0; i < steps->nr_cached; i++)
		if (steps->cached[i] == id)
			steps->cached[i] = 0;
	if (!steps->by_tree)
		tree_unlist(tree, id);
	else if (kind_of(space) == TREE_AVL)
		avl_remove(tree, id);
	else
		rb_remove(tree, id);
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

static uint64_t walk_steps(const struct steps *steps, uint64_t addr, bool stop, uint32_t found)
{
	uint32_t passed;

	if (steps->by_tree)
		return tree_steps(&steps->tree, addr, stop, found);
	return list_steps(steps, addr, &passed);
}

void steps_area_passed(struct seam_space *space, const struct area *area)
{
	struct steps *steps = space->steps;

	steps_area_inserted(space, area);
	if (keeps_tree(space))
		steps->count.insert +=
			walk_steps(steps, area->start, kind_of(space) != TREE_AVL, steps->last);
	steps_drop_cache(space);
	steps_area_removed(space, area);
}

void steps_area_stored(struct seam_space *space, const struct area *before,
		       const struct area *after)
{
	struct tree *tree = &space->steps->tree;
	uint32_t id;

	if (!keeps_tree(space) || (before->start == after->start && before->end == after->end))
		return;
	id = node_of(space->steps, before->start);
	node_at(tree, id)->start = after->start;
	node_at(tree, id)->end = after->end;
	*known_at(space->steps, after->start) = id;
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

void steps_count_find(const struct seam_space *space, uint64_t addr, const struct cursor *at)
{
	struct steps *steps = space->steps;
	const struct tree *tree = &steps->tree;
	uint32_t id;

	if (!keeps_tree(space)) {
		steps->count.find += kind_of(space) == TREE_MAPLE ? maple_levels(space) : 0;
		return;
	}
	for (unsigned int i = 0; i < steps->nr_cached; i++) {
		id = steps->cached[i];
		if (node_at(tree, id)->start <= addr && node_at(tree, id)->end > addr) {
			steps->last = id;
			return;
		}
	}
	id = node_under(space, at);
	steps->count.find += walk_steps(steps, addr, true, id);
	if (id)
		steps->cached[(addr >> space->arch->huge_shift) & (steps->nr_cached - 1)] = id;
	steps->last = id;
}

/* Behind the first page the area is in the cache, where there is one. */
void steps_count_find_pages(const struct seam_space *space, uint64_t addr, uint64_t nr,
			    const struct cursor *at)
{
	if (keeps_tree(space))
		steps_count_find(space, addr, at);
	else
		space->steps->count.find += nr * maple_levels(space);
}

/* The walk for links ends at an area that holds @addr; find_vma_prev goes on. */
void steps_count_insert(const struct seam_space *space, uint64_t addr, const struct cursor *at)
{
	struct steps *steps = space->steps;

	if (!keeps_tree(space)) {
		steps->count.insert += kind_of(space) == TREE_MAPLE ? maple_levels(space) : 0;
		return;
	}
	steps->last = node_under(space, at);
	steps->count.insert += walk_steps(steps, addr, kind_of(space) != TREE_AVL, steps->last);
}

void steps_count_placement(const struct seam_space *space, uint64_t nr)
{
	space->steps->count.placement += nr;
}

void steps_count_gap_search(const struct seam_space *space, uint64_t len, uint64_t lo, uint64_t hi,
			    bool top_down)
{
	struct steps *steps = space->steps;

	if (kind_of(space) == TREE_MAPLE)
		steps->count.placement += maple_levels(space);
	else if (kind_of(space) == TREE_RB_GAPS)
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
