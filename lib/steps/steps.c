/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/steps/steps.h"

#include "lib/memory.h"
#include "lib/steps/counter.h"

/* 6.1 include/linux/maple_tree.h, 64 bits: slots of a node, of which three quarters are taken */
#define MAPLE_LEAF 12
#define MAPLE_BRANCH 7

struct steps {
	struct seam_step_sink *sink; /* takes the notes; NULL: the counter does */
	uint32_t number;	     /* of the space, there */
	bool noted;		     /* anything in this call */
	/* counts alone, where no tree is kept; not there, where a sink is */
	struct seam_step_counter counter;
};

#define BYTES_WITH_SINK offsetof(struct steps, counter)

/* Of the policy, not of the space: where a build has one policy, a constant. */
static unsigned int kind_of(const struct seam_space *space)
{
	return rule(space, SEAM_RULE_area_tree);
}

static bool keeps_tree(const struct seam_space *space)
{
	return is_kept(kind_of(space));
}

static size_t bytes_of(const struct steps *steps)
{
	return steps->sink ? BYTES_WITH_SINK : sizeof(*steps);
}

static void write_note(struct steps *steps, enum seam_step_kind kind, uint64_t a, uint64_t b,
		       uint64_t c)
{
	seam_step_sink_write(steps->sink,
			     &(struct seam_step_note) { kind, steps->number, a, b, c });
}

/* What the counter could need memory for was set aside before (steps_reserve). */
static inline void note(const struct seam_space *space, enum seam_step_kind kind, uint64_t a,
			uint64_t b, uint64_t c)
{
	struct steps *steps = space->steps;

	steps->noted = true;
	if (steps->sink)
		write_note(steps, kind, a, b, c);
	else
		counter_take(&steps->counter, &(struct seam_step_note) { kind, 0, a, b, c });
}

static int begin_with_sink(struct seam_space *space, struct seam_step_sink *sink)
{
	struct steps *steps = memory_zeroed(&space->alloc, BYTES_WITH_SINK);

	if (!steps)
		return -SEAM_EALLOC;
	space->steps = steps;
	steps->sink = sink;
	steps->number = sink->nr_spaces++;
	write_note(steps, SEAM_STEP_BEGIN, kind_of(space), space->arch->huge_shift, 0);
	return 0;
}

int steps_init(struct seam_space *space)
{
	struct steps *steps;

	if (space->step_sink && keeps_tree(space))
		return begin_with_sink(space, space->step_sink);
	steps = memory_zeroed(&space->alloc, sizeof(*steps));
	if (!steps)
		return -SEAM_EALLOC;
	space->steps = steps;
	if (!keeps_tree(space))
		return 0;
	return counter_init(&steps->counter, kind_of(space), space->arch->huge_shift,
			    &space->alloc);
}

int steps_copy(struct seam_space *copy, const struct seam_space *from)
{
	struct steps *steps;

	if (from->steps->sink) {
		copy->flags &= ~SEAM_SPACE_COUNT_STEPS;
		return 0;
	}
	steps = copy->alloc.alloc(copy->alloc.ctx, sizeof(*steps));
	if (!steps)
		return -SEAM_EALLOC;
	*steps = *from->steps;
	copy->steps = steps;
	return keeps_tree(from) ? counter_copy(&steps->counter, &from->steps->counter, &copy->alloc)
				: 0;
}

void steps_free(struct seam_space *space)
{
	struct steps *steps = space->steps;

	if (!steps)
		return;
	if (steps->sink)
		write_note(steps, SEAM_STEP_END, 0, 0, 0);
	else if (keeps_tree(space))
		counter_free(&steps->counter);
	memory_free(&space->alloc, steps, bytes_of(steps));
}

bool steps_reserve_room(struct seam_space *space, uint32_t nr)
{
	struct steps *steps = space->steps;

	return !keeps_tree(space) || steps->sink ||
	       tree_reserve(&steps->counter.tree, &space->alloc, nr);
}

void steps_area_inserted(struct seam_space *space, const struct area *area)
{
	if (keeps_tree(space))
		note(space, SEAM_STEP_INSERTED, area->start, area->end, 0);
}

void steps_area_removed(struct seam_space *space, const struct area *area)
{
	if (keeps_tree(space))
		note(space, SEAM_STEP_REMOVED, area->start, 0, 0);
}

void steps_area_passed(struct seam_space *space, const struct area *area)
{
	if (keeps_tree(space))
		note(space, SEAM_STEP_PASSED, area->start, area->end, 0);
}

void steps_area_stored(struct seam_space *space, const struct area *before,
		       const struct area *after)
{
	if (!keeps_tree(space) || (before->start == after->start && before->end == after->end))
		return;
	note(space, SEAM_STEP_STORED, before->start, after->start, after->end);
}

/* Levels of a maple tree that holds the areas and the gaps between them. */
static uint64_t maple_levels(const struct seam_space *space)
{
	uint64_t entries = 2 * index_count(&space->index) + 1, levels = 1;

	for (entries /= MAPLE_LEAF; entries; entries /= MAPLE_BRANCH)
		levels++;
	return levels;
}

/* A walk down the tree to @addr, where @at is. */
static void note_walk(const struct seam_space *space, enum seam_step_kind kind, uint64_t addr,
		      const struct cursor *at)
{
	uint64_t start = SEAM_STEP_NO_AREA;
	struct area area;

	if (index_on_area(&space->index, at)) {
		index_load(&space->index, at, &area);
		start = area.start;
	}
	note(space, kind, addr, start, 0);
}

/* Where no tree is kept: the levels of a maple tree, or nothing. */
static struct seam_steps *count_of(const struct seam_space *space)
{
	space->steps->noted = true;
	return &space->steps->counter.count;
}

void steps_count_find(const struct seam_space *space, uint64_t addr, const struct cursor *at)
{
	if (keeps_tree(space))
		note_walk(space, SEAM_STEP_FIND, addr, at);
	else if (kind_of(space) == TREE_MAPLE)
		count_of(space)->find += maple_levels(space);
}

/* Behind the first page the area is in the cache, where there is one. */
void steps_count_find_pages(const struct seam_space *space, uint64_t addr, uint64_t nr,
			    const struct cursor *at)
{
	if (keeps_tree(space))
		note_walk(space, SEAM_STEP_FIND, addr, at);
	else
		count_of(space)->find += nr * maple_levels(space);
}

void steps_count_insert(const struct seam_space *space, uint64_t addr, const struct cursor *at)
{
	if (keeps_tree(space))
		note_walk(space, SEAM_STEP_PLACE, addr, at);
	else if (kind_of(space) == TREE_MAPLE)
		count_of(space)->insert += maple_levels(space);
}

void steps_count_placement(const struct seam_space *space, uint64_t nr)
{
	if (keeps_tree(space))
		note(space, SEAM_STEP_PASS, nr, 0, 0);
	else
		count_of(space)->placement += nr;
}

void steps_count_gap_search(const struct seam_space *space, uint64_t len, uint64_t lo, uint64_t hi,
			    bool top_down)
{
	if (kind_of(space) == TREE_MAPLE)
		count_of(space)->placement += maple_levels(space);
	else if (kind_of(space) == TREE_RB_GAPS)
		note(space, top_down ? SEAM_STEP_GAP_DOWN : SEAM_STEP_GAP_UP, len, lo, hi);
}

void steps_drop_cache(const struct seam_space *space)
{
	if (keeps_tree(space))
		note(space, SEAM_STEP_FORGET, 0, 0, 0);
}

void steps_settle_count(struct seam_space *space, bool taken_back)
{
	struct steps *steps = space->steps;

	if (!steps->noted)
		return;
	if (keeps_tree(space))
		note(space, taken_back ? SEAM_STEP_TAKEN_BACK : SEAM_STEP_KEPT, 0, 0, 0);
	steps->noted = false;
	if (steps->sink)
		return;
	if (taken_back)
		steps->counter.count = space->mm.stats.steps;
	else
		space->mm.stats.steps = steps->counter.count;
}
