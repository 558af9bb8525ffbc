/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/beside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <seam/ops.h>

#include "probe/iter.h"
#include "probe/rights.h"
#include "replay/layout.h"
#include "replay/truth.h"
#include "trace/grow.h"
#include "trace/live.h"
#include "verify/kernel_anon.h"
#include "verify/op.h"
#include "verify/unasked.h"

#define LOOK_ROOM (256u << 10)
#define LOOK_ROOM_MAX (256u << 20)     /* the text of a map without PROCMAP_QUERY */
#define LOW_MEMORY (UINT64_C(1) << 20) /* below any vm.mmap_min_addr */
/* Identities that a search makes: far from those of the model. */
#define FIRST_SEARCHED UINT32_C(0x80000000)

/* One mm of the program. */
struct beside_mm {
	struct look look;
	bool can_look;
	bool unsure;	   /* calls overlapped, or one never ended: what the kernel has is taken */
	struct event last; /* call; kind EVENT_SPACE: none yet */
	uint64_t last_number;
};

struct beside {
	struct beside_options options;
	struct beside_result result;
	struct record_watcher watcher;
	struct live *live; /* as a trace: its files */
	struct source source;
	struct trace *trace;
	struct replay_kernel kernel;
	struct replay_options replay;
	struct replay_result counts; /* of no interest */
	struct layouts layouts;
	struct lane lane;
	struct replay_report report; /* of the last look at a whole map */
	struct beside_mm *mms;
	uint32_t nr_mms, room_mms;
	char *buf; /* of all looks */
	size_t room;
	struct history history;
	uint32_t next_anon;
	bool advised;
	bool uffd_closed;      /* before the last look at a whole map */
	struct iter *iterator; /* NULL: not wanted yet */
	bool no_iterator;      /* the kernel's anon_vmas cannot be read here */
};

static void fail(struct beside *beside, const char *why)
{
	if (!beside->result.failed)
		beside->result.failed = why;
}

static bool is_over(const struct beside *beside)
{
	return beside->result.failed || beside->result.ended;
}

/* ---- spaces ---- */

static struct beside_mm *mm_of(const struct beside *beside, uint32_t number)
{
	if (number >= beside->nr_mms || number >= beside->lane.nr_mms ||
	    !beside->lane.mms[number].space)
		return NULL;
	return &beside->mms[number];
}

static struct seam_space *space_of(const struct beside *beside, uint32_t number)
{
	return beside->lane.mms[number].space;
}

static void close_look(struct beside_mm *mm)
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
	close_look(mm);
	*mm = (struct beside_mm) { .last = *event };
	mm->can_look = !look_open(&mm->look, (pid_t)event->tid, beside->buf, beside->room);
	return mm;
}

/* ---- what is found ---- */

static void count_change(struct beside *beside, const char *what, const struct seam_area *area)
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

static struct beside_mismatch *add_mismatch(struct beside *beside, enum beside_when when,
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

/* What hung on which memory was faulted is settled: the kernel has @told, or nobody can tell. */
static void count_settled(struct beside *beside, bool told)
{
	if (told)
		beside->result.told++;
	else
		beside->result.undetermined++;
}

/* What the kernel itself has, with anon_vmas. False where that is not to be had. */
static bool read_kernel(struct beside *beside, pid_t tid, struct snapshot *ret_snapshot)
{
	char why[ITER_WHY_SIZE];
	int err = 0;

	if (!beside->iterator && !beside->no_iterator)
		err = iter_open(&beside->iterator, why);
	if (!err && beside->iterator)
		err = iter_read(beside->iterator, tid, ret_snapshot, why);
	beside->no_iterator |= err == -EPERM || err == -EOPNOTSUPP;
	return !err && beside->iterator;
}

/* ---- comparing ---- */

/* compare_range with more room for the text where that is what it wants. */
static int compare_with_room(struct beside *beside, struct beside_mm *mm,
			     const struct seam_space *space, uint64_t start, uint64_t end,
			     struct difference *ret)
{
	int r;

	mm->look.buf = beside->buf;
	mm->look.room = beside->room;
	while ((r = compare_range(space, &mm->look, start, end, ret)) == -E2BIG &&
	       beside->room < LOOK_ROOM_MAX) {
		char *buf = realloc(beside->buf, 2 * beside->room);

		if (!buf)
			return -ENOMEM;
		mm->look.buf = beside->buf = buf;
		mm->look.room = beside->room *= 2;
	}
	return r;
}

/* The areas within reach and beside it. 0 equal, 1 and *ret, -errno. */
static int compare_reach(struct beside *beside, struct beside_mm *mm,
			 const struct seam_space *space, const struct reach *reach,
			 struct difference *ret)
{
	int r = 0;

	if (reach->all)
		return compare_with_room(beside, mm, space, 0, UINT64_MAX, ret);
	for (unsigned int i = 0; !r && i < reach->nr; i++)
		r = compare_with_room(beside, mm, space, reach_below(&reach->range[i]),
				      reach->range[i].end + 1, ret);
	return r;
}

static uint64_t stack_pages_of(const struct seam_space *space)
{
	struct seam_totals totals;

	seam_space_get_totals(space, &totals);
	return totals.stack_pages;
}

static uint64_t registered(const struct seam_area *area)
{
	const uint64_t uffd = SEAM_VM_UFFD_MISSING | SEAM_VM_UFFD_WP | SEAM_VM_UFFD_MINOR;

	return area->flags & uffd ? area->end - area->start : 0;
}

/* How many bytes are registered with a userfaultfd. */
static uint64_t registered_in(const struct event *truth)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < truth->nr_areas; i++)
		bytes += registered(&truth->areas[i]);
	return bytes;
}

static uint64_t registered_in_model(const struct seam_space *space)
{
	struct seam_area area;
	uint64_t at = 0, bytes = 0;

	while (seam_area_next(space, &at, &area))
		bytes += registered(&area);
	return bytes;
}

/*
 * Holds the space against a whole map with all flags and takes over what differs. How many places
 * that are, other than grown stacks; -errno.
 */
static int take_truth(struct beside *beside, const struct event *truth)
{
	const struct seam_space *space = space_of(beside, truth->space);
	uint64_t stack_pages = stack_pages_of(space);
	int err;

	beside->report.nr_first = 0;
	beside->report.differences = 0;
	beside->uffd_closed = truth->sees & SEES_FLAGS &&
			      registered_in(truth) < registered_in_model(space);
	err = truth_check(&beside->lane, truth, &beside->report);
	if (err)
		return err;
	if (!beside->report.differences && stack_pages_of(space) > stack_pages)
		count_change(beside, "stack growth", NULL);
	return beside->report.differences > INT32_MAX ? INT32_MAX : (int)beside->report.differences;
}

/* All areas, and the anon_vmas where the kernel tells of them. As take_truth. */
static int take_over(struct beside *beside, uint32_t space, pid_t tid,
		     const struct record_stop *stop)
{
	struct snapshot snapshot;
	struct event truth;
	int r = record_look(stop, &truth), err = 0;

	if (!r)
		r = take_truth(beside, &truth);
	if (r >= 0 && read_kernel(beside, tid, &snapshot)) {
		err = kernel_anon_take(space_of(beside, space), &snapshot, &beside->next_anon);
		snapshot_free(&snapshot);
	}
	return err ? -ENOMEM : r;
}

/*
 * What is no longer writable stays accounted when it was faulted (6.18 mm/mprotect.c mprotect_fixup);
 * that it was may be known to nobody, as when its pages were given back before anyone asked. The
 * area is @after already. 1: so it is, and the model has it now; 0, -ENOMEM.
 */
static int was_faulted(struct beside *beside, struct seam_space *space, pid_t tid,
		       const struct seam_area *before, const struct seam_area *after)
{
	struct snapshot kernel;
	struct seam_area area;
	bool told;

	if (!before || !after || before->start != after->start || before->end != after->end ||
	    before->flags & (SEAM_VM_WRITE | SEAM_VM_MAYSHARE) || before->anon_vma ||
	    !(after->flags & SEAM_VM_ACCOUNT) || !seam_area_find(space, after->start, &area))
		return 0;
	area.anon_vma = ++beside->next_anon;
	area.anon_chain = 1;
	told = read_kernel(beside, tid, &kernel);
	if (told) {
		const struct seam_area *like = kernel_anon_find(&kernel, &area);
		bool faulted = like && like->anon_vma;

		snapshot_free(&kernel);
		if (!faulted)
			return 0;
	}
	if (seam_space_adopt(space, &area) == -SEAM_EALLOC)
		return -ENOMEM;
	count_settled(beside, told);
	return 1;
}

/*
 * What the last look at a whole map took over came about without a call of the program: each place
 * by its name, or as a mismatch where nothing known does such a thing.
 */
static void name_changes(struct beside *beside, enum beside_when when, uint32_t space,
			 const struct event *call, uint64_t number, pid_t tid)
{
	for (unsigned int i = 0; i < beside->report.nr_first; i++) {
		const struct replay_difference *difference = &beside->report.first[i];
		struct unasked unasked = {
			.before = difference->has_model ? &difference->model : NULL,
			.after = difference->has_truth ? &difference->truth : NULL,
			.tid = tid,
			.advised = beside->advised,
			.uffd_closed = beside->uffd_closed,
		};
		struct beside_mismatch *mismatch;
		const char *name;
		int r;

		if (unasked.after && unasked.after->file && unasked.after->file <= UINT32_MAX)
			unasked.file = trace_file(beside->trace, (uint32_t)unasked.after->file);
		r = was_faulted(beside, space_of(beside, space), tid, unasked.before,
				unasked.after);
		if (r < 0)
			fail(beside, "no memory");
		if (r)
			continue;
		name = unasked_name(&unasked);
		if (name) {
			count_change(beside, name, unasked.after ? unasked.after : unasked.before);
			continue;
		}
		mismatch = add_mismatch(beside, when, call, number);
		if (!mismatch)
			continue;
		compare_show(unasked.before, mismatch->expected);
		compare_show(unasked.after, mismatch->found);
	}
}

/* ---- calls ---- */

/* Calls that want rights of whoever makes them, which setuid or capset may have taken. */
static bool wants_rights(const struct event *call)
{
	switch (call->call) {
	case TRACE_CALL_mlock:
	case TRACE_CALL_mlock2:
	case TRACE_CALL_mlockall:
		return true;
	case TRACE_CALL_mmap:
		return call->arg[3] & SEAM_MAP_LOCKED ||
		       (call->arg[3] & SEAM_MAP_FIXED && call->arg[0] < LOW_MEMORY);
	default:
		return false;
	}
}

/* A call as it is to be made in the model and compared. */
struct check {
	struct beside *beside;
	struct beside_mm *mm;
	struct seam_space *space;
	const struct event *call;
	struct reach reach;
	struct replay_outcome outcome;
	struct difference difference;
	int compared; /* 0 equal, 1 not, -errno */
	int error;
	const struct snapshot *kernel; /* during a search; NULL: cannot be read */
};

static bool same_result(const struct event *call, const struct replay_outcome *outcome)
{
	/* what such calls return besides success is not modelled */
	return outcome->result == call->result || (outcome->result == 0 && call->result > 0);
}

static void make_call(struct check *check)
{
	check->error = lane_call(&check->beside->lane, check->call, check->mm->last_number,
				 &check->outcome);
}

static void compare_call(struct check *check)
{
	check->compared = compare_reach(check->beside, check->mm, check->space, &check->reach,
					&check->difference);
}

/* Makes the call anew, with another history before it; whether all is as the kernel has it. */
static bool fits(void *ctx)
{
	struct check *check = ctx;

	make_call(check);
	if (check->error || check->outcome.answer != ANSWER_MADE ||
	    !same_result(check->call, &check->outcome))
		return false;
	compare_call(check);
	if (check->compared)
		return false;
	return !check->kernel || kernel_anon_agrees(check->space, check->kernel, &check->reach);
}

/* 1: another history explains it, and is kept. 0, -errno. */
static int search(struct check *check)
{
	struct beside *beside = check->beside;
	struct difference difference = check->difference;
	struct replay_outcome outcome = check->outcome;
	struct snapshot kernel = { 0 };
	int r;

	if (read_kernel(beside, (pid_t)check->call->tid, &kernel))
		check->kernel = &kernel;
	r = history_search(&beside->history, check->call,
			   check->kernel ? HISTORY_MAX_OPEN : HISTORY_OPEN, check->space,
			   &beside->next_anon, fits, check);
	if (check->kernel)
		snapshot_free(&kernel);
	if (r == 1) {
		count_settled(beside, check->kernel);
		return 1;
	}
	check->difference = difference;
	check->outcome = outcome;
	return r ? -ENOMEM : 0;
}

/* @same: the result is, so it is areas that differ. */
static void note_mismatch(struct check *check, bool same)
{
	struct op op = { .call = check->call->call };
	struct outcome expected = { .result = check->outcome.result };
	struct outcome found = { .result = check->call->result };
	struct beside_mismatch *mismatch =
		add_mismatch(check->beside, BESIDE_CALL, check->call, check->mm->last_number);

	if (!mismatch)
		return;
	mismatch->before = check->beside->history;
	if (same) {
		memcpy(mismatch->expected, check->difference.expected, sizeof(mismatch->expected));
		memcpy(mismatch->found, check->difference.found, sizeof(mismatch->found));
	} else {
		outcome_text(mismatch->expected, &op, &expected);
		outcome_text(mismatch->found, &op, &found);
	}
}

static void judge(struct check *check, const struct record_stop *stop)
{
	struct beside *beside = check->beside;
	struct beside_mm *mm = check->mm;
	bool same = same_result(check->call, &check->outcome);
	int r;

	if (check->compared < 0) { /* it is being killed */
		beside->result.unseen++;
		close_look(mm);
		return;
	}
	beside->result.checked++;
	if (same && !check->compared)
		return;
	r = search(check);
	if (r == 1)
		return;
	if (r < 0) {
		fail(beside, "no memory");
		return;
	}
	note_mismatch(check, same);
	take_over(beside, check->call->space, (pid_t)check->call->tid, stop);
}

static void take_call(struct beside *beside, const struct event *call,
		      const struct record_stop *stop)
{
	struct check check = {
		.beside = beside,
		.mm = mm_of(beside, call->space),
		.call = call,
	};

	if (!check.mm)
		return;
	beside->result.calls += trace_call_counts(call->call);
	beside->advised |= call->call == TRACE_CALL_process_madvise;
	check.mm->last = *call;
	check.mm->last_number = beside->result.calls;
	if (call->flags & EVENT_NO_RESULT) {
		check.mm->unsure = true;
		return;
	}
	check.space = space_of(beside, call->space);
	reach_of(call, check.space, &check.reach);
	history_keep(&beside->history, check.space, &check.reach);
	if (wants_rights(call))
		seam_space_set_may(check.space, rights_to_memory((pid_t)call->tid));
	make_call(&check);
	if (check.error) {
		fail(beside, "no memory");
	} else if (call->call == TRACE_CALL_touch) {
		count_change(beside, "stack growth", NULL);
	} else if (!trace_call_counts(call->call)) {
		return; /* limits */
	} else if (call->flags & EVENT_AMBIGUOUS || check.mm->unsure) {
		/* in which order they came the kernel alone knows */
		check.mm->unsure = true;
		beside->result.overlapped++;
	} else if (check.outcome.answer != ANSWER_MADE) {
		beside->result.not_modelled++;
	} else if (check.mm->can_look) {
		compare_call(&check);
		judge(&check, stop);
	} else {
		beside->result.unseen++;
	}
}

/* More than one private area within the reach of a call, so that there is something to join. */
static bool has_neighbours(const struct seam_space *space, const struct reach *reach)
{
	unsigned int nr = 0;
	struct seam_area area;

	for (unsigned int i = 0; i < reach->nr; i++) {
		uint64_t at = reach_below(&reach->range[i]);

		while (reach_next(&reach->range[i], space, &at, &area))
			if (!(area.flags & SEAM_VM_MAYSHARE) && ++nr > 1)
				return true;
	}
	return false;
}

/*
 * A call on the whole map hangs on the history of all areas. What moves keeps its numbering when it
 * was faulted, which shows much later. Else it is that of a few areas, which the recorder asks of
 * pagemap where that can be asked.
 */
static void learn_history(struct beside *beside, const struct event *call,
			  const struct reach *reach)
{
	struct seam_space *space = space_of(beside, call->space);
	struct snapshot kernel;

	if (!reach->all && call->call != TRACE_CALL_mremap &&
	    !(beside->options.eager && has_neighbours(space, reach)))
		return;
	if (!read_kernel(beside, (pid_t)call->tid, &kernel))
		return;
	if (kernel_anon_take(space, &kernel, &beside->next_anon))
		fail(beside, "no memory");
	snapshot_free(&kernel);
}

/* Before a call: what is not as the last call left it, no call has changed. */
static void on_entry(void *ctx, const struct event *call, const struct record_stop *stop)
{
	struct beside *beside = ctx;
	struct beside_mm *mm = mm_of(beside, call->space);
	struct difference difference;
	struct reach reach;
	int r;

	if (is_over(beside) || !mm || !mm->can_look || call->flags & EVENT_AMBIGUOUS)
		return;
	if (mm->unsure) { /* nothing is under way now */
		mm->unsure = false;
		if (take_over(beside, call->space, (pid_t)call->tid, stop) < 0)
			close_look(mm);
		return;
	}
	reach_of(call, space_of(beside, call->space), &reach);
	r = compare_reach(beside, mm, space_of(beside, call->space), &reach, &difference);
	if (r > 0)
		r = take_over(beside, call->space, (pid_t)call->tid, stop);
	if (r < 0) {
		close_look(mm); /* it is being killed */
		return;
	}
	if (r > 0)
		name_changes(beside, BESIDE_BETWEEN, call->space, call, beside->result.calls,
			     (pid_t)call->tid);
	learn_history(beside, call, &reach);
}

/* ---- other events ---- */

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
		close_look(mm); /* it ended at once */
	else if (!r && event->born == BORN_FORK && mm_of(beside, event->space))
		r = take_truth(beside, event);
	if (r < 0)
		fail(beside, "no memory");
	else if (r > 0)
		name_changes(beside, BESIDE_FORK, event->space, event, beside->result.calls,
			     (pid_t)event->tid);
}

static void take_whole(struct beside *beside, const struct event *truth)
{
	struct beside_mm *mm = mm_of(beside, truth->space);
	int r;

	if (!mm)
		return;
	beside->result.whole++;
	r = take_truth(beside, truth);
	if (r < 0)
		fail(beside, "no memory");
	else if (r > 0 && !mm->unsure)
		name_changes(beside, BESIDE_WHOLE, truth->space, &mm->last, mm->last_number,
			     (pid_t)truth->tid);
	mm->unsure = false;
}

/* Something that the recorder has seen without knowing what it does. */
static void take_change(struct beside *beside, const struct event *change)
{
	struct beside_mm *mm = mm_of(beside, change->space);
	const struct replay_difference *difference = beside->report.first;
	int r;

	if (!mm)
		return;
	r = take_truth(beside, change);
	if (r < 0) {
		fail(beside, "no memory");
	} else if (r > 0 && !change->text) {
		name_changes(beside, BESIDE_BETWEEN, change->space, &mm->last, mm->last_number,
			     (pid_t)change->tid);
	} else if (r > 0) {
		count_change(beside, change->text,
			     difference->has_truth ? &difference->truth : &difference->model);
	}
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
		take_call(beside, event, stop);
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
			close_look(&beside->mms[event->space]);
		err = lane_end_space(&beside->lane, event->space);
		break;
	default:
		break;
	}
	if (err)
		fail(beside, "no memory");
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
		close_look(&beside->mms[i]);
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
