/* SPDX-License-Identifier: BSD-2-Clause */
/* The recording as it happens: spaces, events, and what is found. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/iter.h"
#include "trace/grow.h"
#include "trace/live.h"
#include "verify/beside_parts.h"

#define LOOK_ROOM (256u << 10)
/* Identities that a search makes: far from those of the model. */
#define FIRST_SEARCHED UINT32_C(0x80000000)

void beside_fail(struct beside *beside, const char *why)
{
	if (!beside->result.failed)
		beside->result.failed = why;
}

static bool is_over(const struct beside *beside)
{
	return beside->result.failed || beside->result.ended;
}

/* ---- spaces ---- */

struct beside_mm *beside_mm_of(const struct beside *beside, uint32_t number)
{
	if (number >= beside->nr_mms || number >= beside->lane.nr_mms ||
	    !beside->lane.mms[number].space)
		return NULL;
	return &beside->mms[number];
}

struct seam_space *beside_space_of(const struct beside *beside, uint32_t number)
{
	return beside->lane.mms[number].space;
}

void beside_close_look(struct beside_mm *mm)
{
	if (mm->can_look)
		look_close(&mm->look);
	mm->can_look = false;
}

static struct beside_mm *add_mm(struct beside *beside, const struct event *event)
{
	struct beside_mm *mm;

	while (beside->nr_mms <= event->space) {
		if (grow(&beside->mms, beside->nr_mms, &beside->room_mms, sizeof(*beside->mms)))
			return NULL;
		memset(&beside->mms[beside->nr_mms++], 0, sizeof(*beside->mms));
	}
	mm = &beside->mms[event->space];
	beside_close_look(mm);
	*mm = (struct beside_mm) { .last = *event };
	mm->can_look = !look_open(&mm->look, (pid_t)event->tid, beside->buf, beside->room);
	return mm;
}

/* ---- what is found ---- */

void beside_count_change(struct beside *beside, const char *what, const struct seam_area *area)
{
	struct beside_result *result = &beside->result;
	struct beside_change *change = result->change;

	while (change < &result->change[result->nr_changes] && strcmp(change->what, what))
		change++;
	if (change == &result->change[BESIDE_CHANGES])
		return;
	if (change == &result->change[result->nr_changes]) {
		result->nr_changes++;
		change->what = what;
	}
	change->count++;
	if (area) {
		change->start = area->start;
		change->end = area->end;
	}
}

struct beside_mismatch *beside_add_mismatch(struct beside *beside, enum beside_when when,
					    const struct event *call, uint64_t number)
{
	struct beside_result *result = &beside->result;
	struct beside_mismatch *mismatch = NULL;

	result->nr_mismatches++;
	if (result->nr_kept < BESIDE_KEPT)
		mismatch = calloc(1, sizeof(*mismatch));
	if (beside->options.max_mismatches &&
	    result->nr_mismatches >= beside->options.max_mismatches)
		result->ended = true;
	if (!mismatch)
		return NULL;
	result->mismatch[result->nr_kept++] = mismatch;
	mismatch->when = when;
	mismatch->number = number;
	mismatch->call = *call;
	mismatch->call.areas = NULL;
	mismatch->call.nr_areas = 0;
	mismatch->call.text = NULL;
	return mismatch;
}

void beside_count_settled(struct beside *beside, bool told)
{
	if (told)
		beside->result.told++;
	else
		beside->result.undetermined++;
}

/* ---- events ---- */

static void begin_space(struct beside *beside, const struct event *event)
{
	struct space_layout layout = { 0 };
	struct trace_error error;
	struct beside_mm *mm = add_mm(beside, event);
	int r = mm ? 0 : -ENOMEM;

	if (!r && event->born != BORN_FORK)
		r = layout_of_space(&beside->layouts, &beside->source, &beside->replay, event,
				    trace_facts(beside->trace), &layout, &error);
	if (!r)
		r = lane_begin_space(&beside->lane, event, &layout);
	if (!r && !(event->flags & EVENT_AREAS_KNOWN))
		beside_close_look(mm); /* it ended at once */
	else if (!r && event->born == BORN_FORK && beside_mm_of(beside, event->space))
		r = beside_take_truth(beside, event);
	if (r < 0)
		beside_fail(beside, "no memory");
	else if (r > 0)
		beside_name_changes(beside, BESIDE_FORK, event->space, event, beside->result.calls,
				    (pid_t)event->tid);
}

static void take_whole(struct beside *beside, const struct event *truth)
{
	struct beside_mm *mm = beside_mm_of(beside, truth->space);
	int r;

	if (!mm)
		return;
	beside->result.whole++;
	r = beside_take_truth(beside, truth);
	if (r < 0)
		beside_fail(beside, "no memory");
	else if (r > 0 && !mm->unsure)
		beside_name_changes(beside, BESIDE_WHOLE, truth->space, &mm->last, mm->last_number,
				    (pid_t)truth->tid);
	mm->unsure = false;
}

/* Something that the recorder has seen without knowing what it does. */
static void take_change(struct beside *beside, const struct event *change)
{
	struct beside_mm *mm = beside_mm_of(beside, change->space);
	const struct replay_difference *difference = beside->report.first;
	int r;

	if (!mm)
		return;
	r = beside_take_truth(beside, change);
	if (r < 0) {
		beside_fail(beside, "no memory");
	} else if (r > 0 && !change->text) {
		beside_name_changes(beside, BESIDE_BETWEEN, change->space, &mm->last,
				    mm->last_number, (pid_t)change->tid);
	} else if (r > 0) {
		beside_count_change(beside, change->text,
				    difference->has_truth ? &difference->truth
							  : &difference->model);
	}
}

static void on_entry(void *ctx, const struct event *call, const struct record_stop *stop)
{
	struct beside *beside = ctx;

	if (!is_over(beside))
		beside_enter_call(beside, call, stop);
}

static void on_event(void *ctx, const struct event *event, const struct record_stop *stop)
{
	struct beside *beside = ctx;
	int err = 0;

	if (is_over(beside))
		return;
	switch (event->kind) {
	case EVENT_SPACE:
		begin_space(beside, event);
		break;
	case EVENT_CALL:
		beside_take_call(beside, event, stop);
		break;
	case EVENT_TOUCH:
		err = lane_touch(&beside->lane, event);
		break;
	case EVENT_CHANGE:
		take_change(beside, event);
		break;
	case EVENT_TRUTH:
		take_whole(beside, event);
		break;
	case EVENT_END:
		if (event->space < beside->nr_mms)
			beside_close_look(&beside->mms[event->space]);
		err = lane_end_space(&beside->lane, event->space);
		break;
	default:
		break;
	}
	if (err)
		beside_fail(beside, "no memory");
}

static void on_file(void *ctx, uint32_t number, const struct trace_file *file)
{
	live_give_file(((struct beside *)ctx)->live, number, file);
}

/* ---- its life ---- */

static int begin(struct beside *beside)
{
	struct trace_error error;
	int r;

	beside->live = live_new(beside->options.host);
	beside->buf = malloc(beside->room);
	if (!beside->live || !beside->buf)
		return -ENOMEM;
	live_source(beside->live, &beside->source);
	r = trace_open(&beside->source, &beside->replay.trace, &beside->trace, &error);
	if (r)
		return r;
	lane_init(&beside->lane, beside->trace, &beside->replay, 0, &beside->counts);
	return 0;
}

int beside_new(const struct beside_options *options, struct beside **ret_beside)
{
	struct beside *beside = calloc(1, sizeof(*beside));
	int err;

	if (!beside)
		return -ENOMEM;
	beside->options = *options;
	beside->watcher = (struct record_watcher) {
		.file = on_file,
		.before_call = on_entry,
		.event = on_event,
		.ctx = beside,
	};
	beside->kernel.policy = *options->policy;
	beside->replay = (struct replay_options) {
		.kernels = &beside->kernel,
		.nr_kernels = 1,
		.touch = options->eager ? TOUCH_EAGER : TOUCH_RECORDED,
		.place_recorded = true,
		.commit_limit_pages = options->commit_limit_pages,
		.exec_only_pkey = options->exec_only_pkey,
	};
	beside->room = LOOK_ROOM;
	beside->next_anon = FIRST_SEARCHED;
	err = begin(beside);
	if (err)
		beside_free(beside);
	else
		*ret_beside = beside;
	return err;
}

const struct record_watcher *beside_watcher(const struct beside *beside)
{
	return &beside->watcher;
}

const struct beside_result *beside_result(const struct beside *beside)
{
	return &beside->result;
}

const struct trace_file *beside_file(const struct beside *beside, const struct event *call)
{
	return call->file ? trace_file(beside->trace, call->file) : NULL;
}

void beside_free(struct beside *beside)
{
	for (uint32_t i = 0; i < beside->nr_mms; i++)
		beside_close_look(&beside->mms[i]);
	lane_free(&beside->lane);
	for (unsigned int i = 0; i < beside->result.nr_kept; i++)
		free(beside->result.mismatch[i]);
	free(beside->counts.mms);
	iter_close(beside->iterator);
	trace_close(beside->trace);
	live_free(beside->live);
	free(beside->mms);
	free(beside->buf);
	free(beside);
}
