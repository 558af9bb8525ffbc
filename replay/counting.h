/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay/counting.h - a thread that keeps the trees of old kernels and counts the steps in them,
 * from the notes of the spaces of all lanes (seam/steps.h).
 */
#ifndef REPLAY_COUNTING_H
#define REPLAY_COUNTING_H

#include <stdbool.h>

#include <seam/steps.h>

struct counting;

/* What was counted for one lane. */
struct counted {
	struct seam_steps steps;
	uint64_t touch_find; /* part of steps.find, in touches */
};

static inline void add_steps(struct seam_steps *steps, const struct seam_steps *more)
{
	steps->find += more->find;
	steps->placement += more->placement;
	steps->insert += more->insert;
}

/* NULL: no memory, or no thread; the spaces then count by themselves. */
struct counting *counting_open(unsigned int nr_lanes);
/* For the spaces of all lanes. */
struct seam_step_sink *counting_sink(struct counting *counting);
/* The spaces that begin from here on are this lane's. */
void counting_set_lane(struct counting *counting, unsigned int lane);
/* What is noted until it is over is for a touch. */
void counting_set_touch(struct counting *counting, bool touches);
/* After the end of all spaces: waits for the thread. @ret_counted: one for each lane. -ENOMEM */
int counting_finish(struct counting *counting, struct counted *ret_counted);
/* Also without having finished. NULL is allowed. */
void counting_close(struct counting *counting);

#endif
