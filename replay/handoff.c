/* SPDX-License-Identifier: BSD-2-Clause */
#include "replay/handoff.h"

void handoff_init(struct handoff *handoff, unsigned int nr_slots, unsigned int enough_filled)
{
	*handoff = (struct handoff) {
		.nr_slots = nr_slots,
		.enough_filled = enough_filled,
		.enough_free = nr_slots / 2,
	};
	pthread_mutex_init(&handoff->lock, NULL);
	pthread_cond_init(&handoff->filled, NULL);
	pthread_cond_init(&handoff->emptied, NULL);
}

void handoff_destroy(struct handoff *handoff)
{
	pthread_mutex_destroy(&handoff->lock);
	pthread_cond_destroy(&handoff->filled);
	pthread_cond_destroy(&handoff->emptied);
}

static uint64_t nr_full(const struct handoff *handoff)
{
	return handoff->nr_filled - handoff->nr_emptied;
}

bool handoff_next_free(struct handoff *handoff, unsigned int *ret_slot)
{
	bool wanted;

	pthread_mutex_lock(&handoff->lock);
	handoff->filler_sleeps = nr_full(handoff) == handoff->nr_slots;
	while (handoff->filler_sleeps && !handoff->stops)
		pthread_cond_wait(&handoff->emptied, &handoff->lock);
	wanted = !handoff->stops;
	*ret_slot = (unsigned int)(handoff->nr_filled % handoff->nr_slots);
	pthread_mutex_unlock(&handoff->lock);
	return wanted;
}

void handoff_filled(struct handoff *handoff)
{
	pthread_mutex_lock(&handoff->lock);
	handoff->nr_filled++;
	if (handoff->emptier_sleeps && nr_full(handoff) >= handoff->enough_filled) {
		handoff->emptier_sleeps = false;
		pthread_cond_signal(&handoff->filled);
	}
	pthread_mutex_unlock(&handoff->lock);
}

bool handoff_next_filled(struct handoff *handoff, unsigned int *ret_slot)
{
	bool any;

	pthread_mutex_lock(&handoff->lock);
	handoff->emptier_sleeps = !nr_full(handoff);
	while (handoff->emptier_sleeps && !handoff->stops)
		pthread_cond_wait(&handoff->filled, &handoff->lock);
	any = nr_full(handoff);
	*ret_slot = (unsigned int)(handoff->nr_emptied % handoff->nr_slots);
	pthread_mutex_unlock(&handoff->lock);
	return any;
}

void handoff_emptied(struct handoff *handoff)
{
	pthread_mutex_lock(&handoff->lock);
	handoff->nr_emptied++;
	if (handoff->filler_sleeps &&
	    handoff->nr_slots - nr_full(handoff) >= handoff->enough_free) {
		handoff->filler_sleeps = false;
		pthread_cond_signal(&handoff->emptied);
	}
	pthread_mutex_unlock(&handoff->lock);
}

void handoff_stop(struct handoff *handoff)
{
	pthread_mutex_lock(&handoff->lock);
	handoff->stops = true;
	pthread_cond_signal(&handoff->filled);
	pthread_cond_signal(&handoff->emptied);
	pthread_mutex_unlock(&handoff->lock);
}
