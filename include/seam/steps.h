/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam/steps.h - counting a kernel's steps somewhere else: in another thread, or later.
 *
 * A space made with SEAM_SPACE_COUNT_STEPS counts what the modelled kernel would have searched in
 * its own list or tree (struct seam_stats, steps). Keeping that tree takes about a third of a call.
 * A space that is also given a sink (struct seam_space_options, step_sink) only notes what happens,
 * and its stats have no steps; a counter that takes the notes in their order has the same steps
 * that the space would have counted.
 *
 *	struct seam_step_note notes[1024];
 *	struct seam_step_sink sink = { .next = notes, .end = notes + 1024, .full = hand_over };
 *
 * Policies that keep no tree (plain) or whose steps are reckoned from numbers (a maple tree, Linux
 * 6.1 and later) take no notice of a sink: their spaces count by themselves, which costs little.
 * A fork's child writes to the sink of its parent; a snapshot counts no steps.
 *
 * Threads: a sink is written by whoever makes the calls on its spaces, and by nobody beside them; a
 *   counter is used by one thread at a time. They share nothing.
 */
#ifndef SEAM_STEPS_H
#define SEAM_STEPS_H

#include <stdint.h>

#include <seam/policy.h>
#include <seam/space.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of notes; which fields they have. Numbers from SEAM_STEP_OWN on are the embedder's own. */
enum seam_step_kind {
	SEAM_STEP_BEGIN,      /* a space begins; a, b: what its counter must know */
	SEAM_STEP_END,	      /* and ends */
	SEAM_STEP_INSERTED,   /* area [a, b) is there now */
	SEAM_STEP_REMOVED,    /* the area that started at a is not */
	SEAM_STEP_STORED,     /* the area that started at a is [b, c) now */
	SEAM_STEP_PASSED,     /* area [a, b) was put in, looked for and taken out */
	SEAM_STEP_FIND,	      /* address a is looked up; b: start of the area there or next above */
	SEAM_STEP_PLACE,      /* where an area at a goes is looked up; b: the same */
	SEAM_STEP_PASS,	      /* a walk for free memory passed a positions */
	SEAM_STEP_GAP_UP,     /* the lowest free range of a bytes in [b, c) is searched */
	SEAM_STEP_GAP_DOWN,   /* the highest */
	SEAM_STEP_FORGET,     /* what was found last is forgotten */
	SEAM_STEP_KEPT,	      /* end of a call */
	SEAM_STEP_TAKEN_BACK, /* end of a call whose steps do not count */
	SEAM_STEP_OWN = 64,
};

/* No area: b of SEAM_STEP_FIND and SEAM_STEP_PLACE past the last one. */
#define SEAM_STEP_NO_AREA UINT64_MAX

struct seam_step_note {
	uint32_t kind;	/* enum seam_step_kind */
	uint32_t space; /* numbered from 0 as they begin at this sink */
	uint64_t a, b, c;
};

/* Where spaces write their notes. Its owner may write notes of its own between calls. */
struct seam_step_sink {
	struct seam_step_note *next, *end;	   /* room for at least one, always */
	void (*full)(struct seam_step_sink *sink); /* next reached end: makes room; cannot fail */
	uint32_t nr_spaces;			   /* begun so far */
};

/* Writes a note: spaces do, and the owner for notes of its own. */
static inline void seam_step_sink_write(struct seam_step_sink *sink,
					const struct seam_step_note *note)
{
	*sink->next++ = *note;
	if (sink->next == sink->end)
		sink->full(sink);
}

/* One space's list or tree, and its steps. */
struct seam_step_counter;

/* Does a space with this policy note its steps where it has a sink? 0 or 1. */
int seam_policy_notes_steps(const struct seam_policy *policy);

/*
 * The counter for the space that began with the note @begin. @alloc: NULL is seam_alloc_malloc.
 *  -SEAM_EINVAL  no note of SEAM_STEP_BEGIN, or no allocator
 *  -SEAM_EALLOC  no memory
 *  -SEAM_ENOSYS  a build whose one policy keeps no tree
 */
int seam_step_counter_create(const struct seam_step_note *begin, const struct seam_alloc *alloc,
			     struct seam_step_counter **ret_counter);
/*
 * Takes the next note of its space; O(log areas).
 *  -SEAM_EALLOC  no memory: nothing is counted, the counter is of no use any more
 *  -SEAM_EINVAL  a note that does not belong here
 */
int seam_step_counter_take(struct seam_step_counter *counter, const struct seam_step_note *note);
/* What was counted in calls that have ended. */
void seam_step_counter_get(const struct seam_step_counter *counter, struct seam_steps *ret_steps);
/* NULL is allowed. */
void seam_step_counter_destroy(struct seam_step_counter *counter);

#ifdef __cplusplus
}
#endif

#endif
