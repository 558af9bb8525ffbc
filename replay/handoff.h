/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay/handoff.h - the slots of a ring between two threads: one fills them in turn, the other
 * empties them. What is in a slot is theirs; it belongs to one of them at a time.
 *
 * To wake a thread costs as much as some ten calls. So who finds nothing to do sleeps until there is
 * enough of it.
 */
#ifndef REPLAY_HANDOFF_H
#define REPLAY_HANDOFF_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct handoff {
	unsigned int nr_slots;
	/* filled slots that the emptier is woken for, free ones that the filler is */
	unsigned int enough_filled, enough_free;
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	uint64_t nr_filled, nr_emptied; /* so far */
	bool filler_sleeps, emptier_sleeps;
	bool stops;
};

void handoff_init(struct handoff *handoff, unsigned int nr_slots, unsigned int enough_filled);
void handoff_destroy(struct handoff *handoff);

/* The filler: the next slot that is free. False: nobody wants it any more. */
bool handoff_next_free(struct handoff *handoff, unsigned int *ret_slot);
void handoff_filled(struct handoff *handoff);

/* The emptier: the next slot that is filled. False: there will be none. */
bool handoff_next_filled(struct handoff *handoff, unsigned int *ret_slot);
void handoff_emptied(struct handoff *handoff);

/* Either: nothing more is filled, and what is filled may be emptied. */
void handoff_stop(struct handoff *handoff);

#endif
