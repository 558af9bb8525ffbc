/* SPDX-License-Identifier: BSD-2-Clause */
#include "replay/counting.h"

#include <errno.h>
#include <stdlib.h>

#include "replay/handoff.h"
#include "trace/grow.h"
#include "trace/thread.h"

/* A batch is some 200 calls, and the thread is woken for 6,400. */
#define BATCH_NOTES 1024
#define NR_BATCHES 64

enum own_kind {
	NOTE_LANE = SEAM_STEP_OWN, /* a: its number */
	NOTE_TOUCH,		   /* a: begins or ends */
};

struct batch {
	unsigned int nr;
	struct seam_step_note notes[BATCH_NOTES];
};

struct counted_space {
	struct seam_step_counter *counter; /* NULL: it has ended */
	unsigned int lane;
};

struct counting {
	struct seam_step_sink sink; /* first: its functions get this */
	struct batch *batches;
	struct batch *batch; /* that is being filled */
	struct handoff handoff;
	pthread_t thread;
	bool is_joined;
	unsigned int nr_lanes;

	/* the thread's, until it is joined */
	struct counted_space *spaces;
	uint32_t nr_spaces, room;
	struct counted *counted; /* one for each lane */
	unsigned int lane;
	bool touches;
	bool no_memory; /* notes are thrown away */
};

static void hand_over(struct seam_step_sink *sink)
{
	struct counting *counting = (struct counting *)sink;
	unsigned int slot;

	counting->batch->nr = (unsigned int)(sink->next - counting->batch->notes);
	handoff_filled(&counting->handoff);
	handoff_next_free(&counting->handoff, &slot);
	counting->batch = &counting->batches[slot];
	sink->next = counting->batch->notes;
	sink->end = sink->next + BATCH_NOTES;
}

static int begin_space(struct counting *counting, const struct seam_step_note *note)
{
	struct counted_space *space;

	if (grow(&counting->spaces, counting->nr_spaces, &counting->room,
		 sizeof(*counting->spaces)))
		return -ENOMEM;
	space = &counting->spaces[counting->nr_spaces++];
	*space = (struct counted_space) { .lane = counting->lane };
	return seam_step_counter_create(note, NULL, &space->counter) ? -ENOMEM : 0;
}

static void end_space(struct counting *counting, struct counted_space *space)
{
	struct counted *counted = &counting->counted[space->lane];
	struct seam_steps steps;

	seam_step_counter_get(space->counter, &steps);
	add_steps(&counted->steps, &steps);
	seam_step_counter_destroy(space->counter);
	space->counter = NULL;
}

/* A touch is a call of its own: what it found is known when it is over. */
static int take_in_touch(struct counting *counting, struct counted_space *space,
			 const struct seam_step_note *note)
{
	struct seam_steps before, after;
	int err;

	seam_step_counter_get(space->counter, &before);
	err = seam_step_counter_take(space->counter, note);
	seam_step_counter_get(space->counter, &after);
	counting->counted[space->lane].touch_find += after.find - before.find;
	return err;
}

static int take_note(struct counting *counting, const struct seam_step_note *note)
{
	struct counted_space *space;

	switch (note->kind) {
	case NOTE_LANE:
		counting->lane = (unsigned int)note->a;
		return 0;
	case NOTE_TOUCH:
		counting->touches = note->a;
		return 0;
	case SEAM_STEP_BEGIN:
		return begin_space(counting, note);
	default:
		break;
	}
	space = &counting->spaces[note->space];
	if (note->kind == SEAM_STEP_END) {
		end_space(counting, space);
		return 0;
	}
	return counting->touches ? take_in_touch(counting, space, note)
				 : seam_step_counter_take(space->counter, note);
}

static void *count_all(void *ctx)
{
	struct counting *counting = ctx;
	unsigned int slot;

	while (handoff_next_filled(&counting->handoff, &slot)) {
		const struct batch *batch = &counting->batches[slot];

		for (unsigned int i = 0; !counting->no_memory && i < batch->nr; i++)
			counting->no_memory = take_note(counting, &batch->notes[i]);
		handoff_emptied(&counting->handoff);
	}
	return NULL;
}

struct counting *counting_open(unsigned int nr_lanes)
{
	struct counting *counting = calloc(1, sizeof(*counting));

	if (!counting)
		return NULL;
	counting->nr_lanes = nr_lanes;
	counting->batches = malloc(NR_BATCHES * sizeof(*counting->batches));
	counting->counted = calloc(nr_lanes, sizeof(*counting->counted));
	handoff_init(&counting->handoff, NR_BATCHES, NR_BATCHES / 2);
	if (!counting->batches || !counting->counted ||
	    thread_start(&counting->thread, THREAD_STACK_SMALL, count_all, counting)) {
		counting->is_joined = true;
		counting_close(counting);
		return NULL;
	}
	counting->batch = counting->batches;
	counting->sink = (struct seam_step_sink) {
		.next = counting->batch->notes,
		.end = counting->batch->notes + BATCH_NOTES,
		.full = hand_over,
	};
	return counting;
}

struct seam_step_sink *counting_sink(struct counting *counting)
{
	return &counting->sink;
}

static void write_own(struct counting *counting, enum own_kind kind, uint64_t value)
{
	seam_step_sink_write(&counting->sink,
			     &(struct seam_step_note) { .kind = kind, .a = value });
}

void counting_set_lane(struct counting *counting, unsigned int lane)
{
	write_own(counting, NOTE_LANE, lane);
}

void counting_set_touch(struct counting *counting, bool touches)
{
	write_own(counting, NOTE_TOUCH, touches);
}

static void join(struct counting *counting)
{
	if (counting->is_joined)
		return;
	hand_over(&counting->sink);
	handoff_stop(&counting->handoff);
	pthread_join(counting->thread, NULL);
	counting->is_joined = true;
}

int counting_finish(struct counting *counting, struct counted *ret_counted)
{
	join(counting);
	for (unsigned int i = 0; i < counting->nr_lanes; i++)
		ret_counted[i] = counting->counted[i];
	return counting->no_memory ? -ENOMEM : 0;
}

void counting_close(struct counting *counting)
{
	if (!counting)
		return;
	join(counting);
	for (uint32_t i = 0; i < counting->nr_spaces; i++)
		seam_step_counter_destroy(counting->spaces[i].counter);
	handoff_destroy(&counting->handoff);
	free(counting->spaces);
	free(counting->counted);
	free(counting->batches);
	free(counting);
}
