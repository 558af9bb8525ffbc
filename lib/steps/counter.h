/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/steps/counter.h - the list or tree of one space, in shape only, and the steps taken in it. It
 * lives on notes (seam/steps.h), whoever brings them: the space itself, or another thread.
 */
#ifndef LIB_STEPS_COUNTER_H
#define LIB_STEPS_COUNTER_H

#include <seam/steps.h>

#include "lib/policy/policy.h"
#include "lib/steps/tree.h"

/* Values of the rule area_tree. */
enum { TREE_NONE, TREE_AVL, TREE_RB, TREE_RB_GAPS, TREE_MAPLE };

static inline bool is_kept(unsigned int kind)
{
	return kind != TREE_NONE && kind != TREE_MAPLE;
}

/* A constant: a build whose one policy keeps no tree has no counters. */
#ifdef SEAM_ONE_POLICY
#define WITH_TREES is_kept(POLICY_OBJECT(SEAM_ONE_POLICY).rule[SEAM_RULE_area_tree])
#else
#define WITH_TREES true
#endif

#define MAX_CACHED 4
#define NR_KNOWN 1024 /* a power of two */

struct seam_step_counter {
	struct tree tree;
	struct seam_alloc alloc;
	uint32_t kind; /* of the rule area_tree */
	uint32_t huge_shift;
	bool by_tree;		/* up to 2.4.9: the list is searched until there are 32 areas */
	unsigned int nr_cached; /* a power of two */
	uint32_t cached[MAX_CACHED]; /* areas found last */
	uint32_t last; /* the node that was looked at last: the next edit is mostly of its area */
	/* where the node of an area that starts at such an address may be */
	uint32_t known[NR_KNOWN];
	struct seam_steps count, kept; /* so far, and in calls that have ended */
};

/* -SEAM_EALLOC */
int counter_init(struct seam_step_counter *counter, uint32_t kind, uint32_t huge_shift,
		 const struct seam_alloc *alloc);
void counter_free(struct seam_step_counter *counter);
/* -SEAM_EALLOC: @copy has nothing. */
int counter_copy(struct seam_step_counter *copy, const struct seam_step_counter *from,
		 const struct seam_alloc *alloc);

/* Each kind of note (seam/steps.h); an insert cannot fail where the tree has room for an area more. */
int counter_inserted(struct seam_step_counter *counter, uint64_t start, uint64_t end);
void counter_removed(struct seam_step_counter *counter, uint64_t start);
void counter_stored(struct seam_step_counter *counter, uint64_t before, uint64_t start,
		    uint64_t end);
int counter_passed(struct seam_step_counter *counter, uint64_t start, uint64_t end);
void counter_find(struct seam_step_counter *counter, uint64_t addr, uint64_t start);
void counter_place(struct seam_step_counter *counter, uint64_t addr, uint64_t start);
void counter_gap(struct seam_step_counter *counter, const struct seam_step_note *note);
void counter_forget(struct seam_step_counter *counter);

/* As seam_step_counter_take. Inline: who makes the note knows its kind. */
static inline int counter_take(struct seam_step_counter *counter, const struct seam_step_note *note)
{
	switch (note->kind) {
	case SEAM_STEP_INSERTED:
		return counter_inserted(counter, note->a, note->b);
	case SEAM_STEP_REMOVED:
		counter_removed(counter, note->a);
		return 0;
	case SEAM_STEP_STORED:
		counter_stored(counter, note->a, note->b, note->c);
		return 0;
	case SEAM_STEP_PASSED:
		return counter_passed(counter, note->a, note->b);
	case SEAM_STEP_FIND:
		counter_find(counter, note->a, note->b);
		return 0;
	case SEAM_STEP_PLACE:
		counter_place(counter, note->a, note->b);
		return 0;
	case SEAM_STEP_PASS:
		counter->count.placement += note->a;
		return 0;
	case SEAM_STEP_GAP_UP:
	case SEAM_STEP_GAP_DOWN:
		counter_gap(counter, note);
		return 0;
	case SEAM_STEP_FORGET:
		counter_forget(counter);
		return 0;
	case SEAM_STEP_KEPT:
		counter->kept = counter->count;
		return 0;
	case SEAM_STEP_TAKEN_BACK:
		counter->count = counter->kept;
		return 0;
	default:
		return -SEAM_EINVAL;
	}
}

#endif
