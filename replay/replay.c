/* SPDX-License-Identifier: BSD-2-Clause */
/* One pass over a trace, every kernel at once. */
#include "replay/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/feed.h"
#include "replay/lane.h"
#include "replay/layout.h"
#include "replay/truth.h"
#include "trace/grow.h"

struct pass {
	struct source *source;
	const struct replay_options *options;
	struct replay_report *report;
	struct trace_error *error;
	struct lane *lanes;
	unsigned int nr_lanes;
	struct layouts layouts;
	struct counting *counting; /* NULL: spaces count their steps by themselves */
	uint32_t room_processes;
	uint64_t nr_calls;
	bool scripted;
};

static void add_note(struct replay_report *report, const char *note)
{
	for (unsigned int i = 0; i < report->nr_notes; i++)
		if (!strcmp(report->notes[i], note))
			return;
	if (report->nr_notes < sizeof(report->notes) / sizeof(report->notes[0]))
		report->notes[report->nr_notes++] = note;
}

/* The process of a new space: a known one when its number begins anew, else the next. */
static int process_at(struct pass *pass, const struct event *event, struct replay_process **ret)
{
	struct replay_report *report = pass->report;

	if (event->space > report->nr_processes) {
		trace_fail(pass->error, event->line, "space %u is not the next one: expected %u",
			   event->space, report->nr_processes);
		return -EINVAL;
	}
	if (event->space == report->nr_processes) {
		if (grow(&report->processes, report->nr_processes, &pass->room_processes,
			 sizeof(*report->processes)))
			return -ENOMEM;
		memset(&report->processes[report->nr_processes++], 0, sizeof(**ret));
	}
	*ret = &report->processes[event->space];
	return 0;
}

static int set_comm(struct replay_process *process, const char *comm)
{
	char *copy = strdup(comm);

	if (!copy)
		return -ENOMEM;
	free(process->comm);
	process->comm = copy;
	return 0;
}

static const struct seam_space *space_of(const struct lane *lane, const struct event *event)
{
	return event->space < lane->nr_mms ? lane->mms[event->space].space : NULL;
}

static bool watch(const struct pass *pass, const struct lane *lane, const struct event *event,
		  const struct replay_outcome *outcome)
{
	const struct replay_watcher *watcher = pass->options->watcher;

	if (!watcher || !watcher->after_call)
		return true;
	return watcher->after_call(watcher->ctx, lane->number, event, outcome,
				   space_of(lane, event));
}

static void watch_before(const struct pass *pass, const struct lane *lane,
			 const struct event *event)
{
	const struct replay_watcher *watcher = pass->options->watcher;

	if (watcher && watcher->before_call)
		watcher->before_call(watcher->ctx, lane->number, event, space_of(lane, event));
}

static void watch_begin(const struct pass *pass, const struct lane *lane, const struct event *event)
{
	const struct replay_watcher *watcher = pass->options->watcher;
	const struct seam_space *space = space_of(lane, event);

	if (watcher && watcher->after_begin && space)
		watcher->after_begin(watcher->ctx, lane->number, event, space);
}

static bool all_is_copied(const struct seam_space *space)
{
	struct seam_area area;
	uint64_t at = 0;

	while (seam_area_next(space, &at, &area))
		if (area.flags & SEAM_VM_DONTCOPY)
			return false;
	return true;
}

/*
 * A child's areas are those that its parent had at this moment: what the parent's past leaves open is
 * settled before the child inherits it.
 */
static int check_parent(struct lane *lane, const struct event *child, struct replay_report *report)
{
	struct event truth = *child;
	const struct seam_space *space;

	truth.space = (uint32_t)child->arg[0];
	space = space_of(lane, &truth);
	return space && all_is_copied(space) ? truth_check(lane, &truth, report) : 0;
}

static int begin_space(struct pass *pass, const struct event *event)
{
	struct replay_process *process;
	struct replay_report *report = pass->report;
	struct space_layout layout = { 0 };
	const char *comm = event->text ? event->text : "";
	int r = process_at(pass, event, &process);

	if (r)
		return r;
	process->pid = event->pid;
	if (event->born == BORN_FORK && !event->text && event->arg[0] < report->nr_processes)
		comm = report->processes[event->arg[0]].comm;
	r = set_comm(process, comm ? comm : "");
	if (!r && !pass->scripted && event->born != BORN_FORK)
		r = layout_of_space(&pass->layouts, pass->source, pass->options, event,
				    trace_facts(report->trace), &layout, pass->error);
	for (unsigned int i = 0; !r && i < pass->nr_lanes; i++) {
		const struct seam_policy *policy = &pass->lanes[i].kernel->policy;
		bool is_seen;

		if (pass->scripted)
			layout_of_script(pass->options->layout, policy, &layout);
		report->old_at_64_bits |= layout.wide && policy->old;
		is_seen = event->born == BORN_FORK && event->flags & EVENT_AREAS_KNOWN &&
			  pass->lanes[i].kernel->recorded;
		if (is_seen)
			r = check_parent(&pass->lanes[i], event, report);
		if (!r)
			r = lane_begin_space(&pass->lanes[i], event, &layout);
		if (!r && is_seen)
			r = truth_check(&pass->lanes[i], event, report);
		if (!r)
			watch_begin(pass, &pass->lanes[i], event);
	}
	report->i386 |= event->born != BORN_FORK && !layout.wide;
	return r;
}

static int make_call(struct pass *pass, const struct fed *fed)
{
	const struct event *event = fed->event;
	struct replay_report *report = pass->report;
	struct replay_outcome outcome;
	bool goes_on = true;
	int r = 0;

	if (event->call >= TRACE_NR_CALLS)
		return 0;
	pass->nr_calls++;
	if (event->space < report->nr_processes)
		report->processes[event->space].pid = event->pid;
	for (unsigned int i = 0; i < pass->nr_lanes; i++) {
		watch_before(pass, &pass->lanes[i], event);
		r = lane_call(&pass->lanes[i], event, fed->file, pass->nr_calls, &outcome);
		if (r)
			return r;
		if (!i && outcome.answer == ANSWER_NOT_MODELLED && !(event->flags & EVENT_REFUSED))
			report->not_modelled++;
		if (pass->lanes[i].kernel->recorded)
			truth_note_result(event, &outcome, pass->nr_calls, report);
		goes_on &= watch(pass, &pass->lanes[i], event, &outcome);
	}
	return goes_on ? 0 : -ECANCELED;
}

static int take_event(struct pass *pass, const struct fed *fed)
{
	const struct event *event = fed->event;
	struct replay_process *process;
	int r = 0;

	switch (event->kind) {
	case EVENT_SPACE:
		return begin_space(pass, event);
	case EVENT_CALL:
		return make_call(pass, fed);
	case EVENT_TOUCH:
		for (unsigned int i = 0; !r && i < pass->nr_lanes; i++)
			r = lane_touch(&pass->lanes[i], event);
		return r;
	case EVENT_CHANGE:
		pass->report->changes++;
		for (unsigned int i = 0; !r && i < pass->nr_lanes; i++)
			r = lane_change(&pass->lanes[i], event);
		return r;
	case EVENT_TRUTH:
		for (unsigned int i = 0; !r && i < pass->nr_lanes; i++)
			if (pass->lanes[i].kernel->recorded)
				r = truth_check(&pass->lanes[i], event, pass->report);
		return r;
	case EVENT_END:
		for (unsigned int i = 0; !r && i < pass->nr_lanes; i++)
			r = lane_end_space(&pass->lanes[i], event->space);
		return r;
	case EVENT_COMM:
		if (event->space >= pass->report->nr_processes || !event->text)
			return 0;
		process = &pass->report->processes[event->space];
		return set_comm(process, event->text);
	default:
		return 0;
	}
}

/* Spaces that the trace did not end. */
static int end_spaces(struct pass *pass)
{
	int r = 0;

	for (uint32_t number = 0; !r && number < pass->report->nr_processes; number++)
		for (unsigned int i = 0; !r && i < pass->nr_lanes; i++)
			r = lane_end_space(&pass->lanes[i], number);
	return r;
}

static void sum_up(struct replay_result *result)
{
	for (unsigned int i = 0; i < TRACE_NR_CALLS; i++) {
		const struct replay_counts *kind = &result->by_call[i];

		result->total.calls += kind->calls;
		result->total.failed += kind->failed;
		result->total.failed_anew += kind->failed_anew;
		result->total.skipped += kind->skipped;
		result->total.join_tries += kind->join_tries;
		result->total.joins += kind->joins;
		result->total.splits += kind->splits;
	}
}

static enum replay_touch touch_to_use(const struct pass *pass)
{
	if (pass->options->touch != TOUCH_DEFAULT)
		return pass->options->touch;
	if (pass->scripted || trace_facts(pass->report->trace)->host.tells_touches)
		return TOUCH_RECORDED;
	return TOUCH_EAGER;
}

/* As it happened, the recorder's own word goes before the usual case. */
static enum replay_touch touch_of_lane(const struct pass *pass, const struct replay_kernel *kernel)
{
	bool told = trace_facts(pass->report->trace)->host.tells_touches;

	if (pass->options->touch == TOUCH_DEFAULT && kernel->recorded && told)
		return TOUCH_RECORDED;
	return pass->report->touch;
}

static int begin(struct pass *pass)
{
	const struct replay_options *options = pass->options;
	struct replay_report *report = pass->report;
	int r = trace_open(pass->source, &options->trace, &report->trace, pass->error);

	if (r)
		return r;
	pass->scripted = !strcmp(trace_facts(report->trace)->format, "ops");
	report->touch = touch_to_use(pass);
	report->guard_markers = options->guard_markers;
	report->results = calloc(options->nr_kernels, sizeof(*report->results));
	pass->lanes = calloc(options->nr_kernels, sizeof(*pass->lanes));
	if (!report->results || !pass->lanes)
		return -ENOMEM;
	for (unsigned int i = 0; i < options->nr_kernels; i++) {
		lane_init(&pass->lanes[i], report->trace, options, i, &report->results[i]);
		pass->lanes[i].touch = touch_of_lane(pass, &options->kernels[i]);
	}
	pass->nr_lanes = report->nr_results = options->nr_kernels;
	return 0;
}

/* Calls between two reports of progress. */
#define PROGRESS_CALLS (1u << 16)

/* Only the kernels that are replayed look at the trace while it is read, and not as it happened. */
static bool reads_alone(const struct pass *pass)
{
	for (unsigned int i = 0; i < pass->nr_lanes; i++)
		if (pass->lanes[i].kernel->recorded)
			return false;
	return !pass->options->watcher;
}

static int take_all(struct pass *pass, struct feed *feed)
{
	const struct replay_options *options = pass->options;
	struct fed fed;
	int r, taken;

	while ((r = feed_next(feed, &fed)) > 0) {
		if (options->progress && fed.event->kind == EVENT_CALL &&
		    pass->nr_calls % PROGRESS_CALLS == PROGRESS_CALLS - 1)
			options->progress(options->progress_ctx, pass->nr_calls);
		taken = take_event(pass, &fed);
		if (taken)
			return taken;
	}
	if (r < 0)
		*pass->error = *trace_last_error(pass->report->trace);
	return r;
}

/* For lanes whose kernel keeps a tree: the steps of the others cost little. */
static void begin_counting(struct pass *pass)
{
	bool alone = reads_alone(pass) && feed_is_long(pass->source);

	for (unsigned int i = 0; alone && i < pass->nr_lanes; i++) {
		if (!seam_policy_notes_steps(&pass->lanes[i].kernel->policy))
			continue;
		if (!pass->counting)
			pass->counting = counting_open(pass->nr_lanes);
		pass->lanes[i].counting = pass->counting;
	}
}

/* After the end of all spaces. */
static int end_counting(const struct pass *pass)
{
	struct counted *counted;
	int r;

	if (!pass->counting)
		return 0;
	counted = calloc(pass->nr_lanes, sizeof(*counted));
	r = counted ? counting_finish(pass->counting, counted) : -ENOMEM;
	for (unsigned int i = 0; !r && i < pass->nr_lanes; i++) {
		struct replay_result *result = &pass->report->results[i];

		add_steps(&result->steps, &counted[i].steps);
		result->touch_find_steps += counted[i].touch_find;
	}
	free(counted);
	return r;
}

static int read_all(struct pass *pass)
{
	struct feed *feed;
	int r = feed_open(pass->report->trace, pass->source, reads_alone(pass), &feed);

	if (r)
		return r;
	begin_counting(pass);
	r = take_all(pass, feed);
	feed_close(feed);
	return r;
}

/* Kernels before 6.13 do not know the advice. */
static void note_without_markers(struct replay_report *report)
{
	for (unsigned int i = 0; i < report->nr_results; i++)
		if (version_of(report->results[i].kernel->policy.name) < 0x060d00)
			add_note(report,
				 "guard markers came with Linux 6.13: kernels before it are "
				 "replayed without");
}

static void take_timings(struct replay_report *report, const struct source *source)
{
	report->nr_timings = mail_timings(source, report->timings, REPLAY_MAX_TIMINGS);
	if (report->nr_timings > REPLAY_MAX_TIMINGS)
		report->nr_timings = REPLAY_MAX_TIMINGS;
}

int replay_run(struct source *source, const struct replay_options *options,
	       struct replay_report *ret_report, struct trace_error *ret_error)
{
	struct pass pass = {
		.source = source,
		.options = options,
		.report = ret_report,
		.error = ret_error,
	};
	int r, ended;

	memset(ret_report, 0, sizeof(*ret_report));
	memset(ret_error, 0, sizeof(*ret_error));
	r = begin(&pass);
	if (!r)
		r = read_all(&pass);
	if (!r || r == -ECANCELED) {
		ended = end_spaces(&pass);
		if (!ended)
			ended = end_counting(&pass);
		r = ended ? ended : r;
	}
	for (unsigned int i = 0; i < pass.nr_lanes; i++) {
		sum_up(&ret_report->results[i]);
		lane_free(&pass.lanes[i]);
	}
	counting_close(pass.counting);
	free(pass.lanes);
	if (ret_report->trace)
		ret_report->facts = *trace_facts(ret_report->trace);
	if (options->guard_markers)
		note_without_markers(ret_report);
	if (source->kind == SOURCE_MAIL)
		take_timings(ret_report, source);
	if (ret_report->old_at_64_bits)
		add_note(ret_report, "kernels up to 2.6.24 had no such addresses: their rules are "
				     "applied to user space up to 2^47 - 4096, searched from "
				     "0x2aaaaaaab000 upward");
	return r;
}

bool replay_failed(const struct event *event, const struct replay_outcome *outcome)
{
	return outcome->answer != ANSWER_SKIPPED &&
	       lane_is_failure(event, event->arg, outcome->result);
}

void replay_report_free(struct replay_report *report)
{
	for (unsigned int i = 0; i < report->nr_results; i++) {
		for (uint32_t j = 0; j < report->results[i].nr_mms; j++) {
			free(report->results[i].mms[j].maps);
			intern_free(&report->results[i].mms[j].objects);
			free(report->results[i].mms[j].object_files);
		}
		free(report->results[i].mms);
	}
	free(report->results);
	for (uint32_t i = 0; i < report->nr_processes; i++)
		free(report->processes[i].comm);
	free(report->processes);
	trace_close(report->trace);
	memset(report, 0, sizeof(*report));
}
