/* SPDX-License-Identifier: BSD-2-Clause */
/* One call: what is learnt before it, then it is made in the model, compared and judged. */
#include <errno.h>
#include <string.h>

#include <seam/ops.h>

#include "probe/rights.h"
#include "verify/beside_parts.h"
#include "verify/kernel_anon.h"
#include "verify/op.h"

#define LOW_MEMORY (UINT64_C(1) << 20) /* below any vm.mmap_min_addr */

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
	check->error = lane_call(&check->beside->lane, check->call,
				 trace_file(check->beside->trace, check->call->file),
				 check->mm->last_number, &check->outcome);
}

static void compare_call(struct check *check)
{
	check->compared = beside_compare_reach(check->beside, check->mm, check->space,
					       &check->reach, &check->difference);
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

	if (beside_read_kernel(beside, (pid_t)check->call->tid, &kernel))
		check->kernel = &kernel;
	r = history_search(&beside->history, check->call,
			   check->kernel ? HISTORY_MAX_OPEN : HISTORY_OPEN, check->space,
			   &beside->next_anon, fits, check);
	if (check->kernel)
		snapshot_free(&kernel);
	if (r == 1) {
		beside_count_settled(beside, check->kernel);
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
	struct beside_mismatch *mismatch = beside_add_mismatch(check->beside, BESIDE_CALL,
							       check->call, check->mm->last_number);

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
		beside_close_look(mm);
		return;
	}
	beside->result.checked++;
	if (same && !check->compared)
		return;
	r = search(check);
	if (r == 1)
		return;
	if (r < 0) {
		beside_fail(beside, "no memory");
		return;
	}
	note_mismatch(check, same);
	beside_take_over(beside, check->call->space, (pid_t)check->call->tid, stop);
}

void beside_take_call(struct beside *beside, const struct event *call,
		      const struct record_stop *stop)
{
	struct check check = {
		.beside = beside,
		.mm = beside_mm_of(beside, call->space),
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
	check.space = beside_space_of(beside, call->space);
	reach_of(call, check.space, &check.reach);
	history_keep(&beside->history, check.space, &check.reach);
	if (wants_rights(call))
		seam_space_set_may(check.space, rights_to_memory((pid_t)call->tid));
	make_call(&check);
	if (check.error) {
		beside_fail(beside, "no memory");
	} else if (call->call == TRACE_CALL_touch) {
		beside_count_change(beside, "stack growth", NULL);
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
	struct seam_space *space = beside_space_of(beside, call->space);
	struct snapshot kernel;

	if (!reach->all && call->call != TRACE_CALL_mremap &&
	    !(beside->options.eager && has_neighbours(space, reach)))
		return;
	if (!beside_read_kernel(beside, (pid_t)call->tid, &kernel))
		return;
	if (kernel_anon_take(space, &kernel, &beside->next_anon))
		beside_fail(beside, "no memory");
	snapshot_free(&kernel);
}

void beside_enter_call(struct beside *beside, const struct event *call,
		       const struct record_stop *stop)
{
	struct beside_mm *mm = beside_mm_of(beside, call->space);
	struct difference difference;
	struct reach reach;
	int r;

	if (!mm || !mm->can_look || call->flags & EVENT_AMBIGUOUS)
		return;
	if (mm->unsure) { /* nothing is under way now */
		mm->unsure = false;
		if (beside_take_over(beside, call->space, (pid_t)call->tid, stop) < 0)
			beside_close_look(mm);
		return;
	}
	reach_of(call, beside_space_of(beside, call->space), &reach);
	r = beside_compare_reach(beside, mm, beside_space_of(beside, call->space), &reach,
				 &difference);
	if (r > 0)
		r = beside_take_over(beside, call->space, (pid_t)call->tid, stop);
	if (r < 0) {
		beside_close_look(mm); /* it is being killed */
		return;
	}
	if (r > 0)
		beside_name_changes(beside, BESIDE_BETWEEN, call->space, call, beside->result.calls,
				    (pid_t)call->tid);
	learn_history(beside, call, &reach);
}
