/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the entry stop of a call to its exit stop. In one space only one call runs at a time: the
 * others are held at their entry, so that the recording has the calls in the order in which they
 * changed the map. A call that waits for another one (a page fault that a userfaultfd handler of the
 * same program answers) would wait for ever; so after a time the held ones go, and are marked.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include <seam/ops.h>

#include "probe/procfs.h"
#include "probe/rec.h"

#define HOLD_NS UINT64_C(100000000) /* a caller that sleeps */
#define HOLD_LOCKED_NS UINT64_C(1000000000)
#define HOLD_MAX_NS UINT64_C(5000000000) /* any */
#define TRUTH_CALLS 4096		 /* calls between two checkpoints of a small map */
#define TRUTH_AREAS 8			 /* and calls per area of a large one */
#define TRUTH_SHARE 8			 /* where many are wanted: an eighth of the time at most */
#define DOUBTS 256 /* looks that are taken for what is not known, at any cost */

#define SET_VMA 0x53564d41 /* prctl(SET_VMA, ANON_NAME, addr, len, name) */
#define ANON_NAME_MAX 80   /* 6.18 mm/madvise.c ANON_VMA_NAME_MAX_LEN, with the final 0 */

/* The name by a number, the same for the same text; 0 takes a name away. */
static void number_name(struct rec *rec, const struct rec_task *task, struct rec_call *call)
{
	char text[ANON_NAME_MAX + 16] = "[anon:", *name = text + strlen(text), *at = name;

	if (call->arg[0] != SET_VMA || call->arg[1] || !call->arg[4])
		return;
	while (at < name + ANON_NAME_MAX - 1 &&
	       !rec_peek(task->tid, call->arg[4] + (uint64_t)(at - name), at, 1) && *at)
		at++;
	at[0] = ']';
	at[1] = 0;
	call->arg[4] = rec_name_number(rec, text);
}

static void set_caller(struct rec *rec, struct rec_task *task)
{
	struct rec_call *call = &task->pending;

	rec_before_reports(rec, task, call);
	rec_write_growth(rec, task, task->space, task->space->grown_to);
	if (task->space->nr_calling++)
		call->flags |= EVENT_AMBIGUOUS;
	if (!task->space->caller)
		task->space->caller = task;
	task->in_call = true;
	if (call->kind == REC_CALL && call->call == TRACE_CALL_mmap)
		rec_identify(rec, task, call);
	else if (call->kind == REC_CALL && call->call == TRACE_CALL_prctl)
		number_name(rec, task, call);
	if (call->kind == REC_CALL)
		call->stack = rec_stack(rec, task);
	rec_before_unmap(task, call);
	rec_ask_before(rec, task, call);
	rec_foresee(rec, task, call);
	rec_tell_entry(rec, task, call);
	call->entry_ns = clock_ns();
	call->not_made = !rec_resume(rec, task, 0);
	rec_describe_file(task, call);
}

static void hold(struct rec *rec, struct rec_task *task)
{
	struct rec_space *space = task->space;

	task->is_held = true;
	task->waiting_ns = clock_ns();
	task->next_held = NULL;
	if (space->last_held)
		space->last_held->next_held = task;
	else
		space->first_held = task;
	space->last_held = task;
	rec->nr_waiting++;
}

static void unhold(struct rec *rec, struct rec_task *task)
{
	struct rec_space *space = task->space;
	struct rec_task **link = &space->first_held, *before = NULL;

	if (!task->is_held)
		return;
	for (; *link != task; link = &(*link)->next_held)
		before = *link;
	*link = task->next_held;
	if (space->last_held == task)
		space->last_held = before;
	task->is_held = false;
	task->waiting_ns = 0;
	rec->nr_waiting--;
}

/*
 * A task that was killed while it was held stands at its end by now: it will not make the call, and must
 * not be let go from there.
 */
static bool is_at_entry(pid_t tid)
{
	siginfo_t info;

	return !ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) &&
	       info.si_code != (SIGTRAP | PTRACE_EVENT_EXIT << 8);
}

/* False: it will not make the call. */
static bool let_in(struct rec *rec, struct rec_task *task)
{
	unhold(rec, task);
	if (!is_at_entry(task->tid))
		return false;
	set_caller(rec, task);
	return true;
}

static void start_next(struct rec *rec, struct rec_space *space)
{
	while (space->first_held && !space->caller && !let_in(rec, space->first_held))
		;
}

/*
 * For how long others wait for @tid, which is in a call. One that runs, or has stopped and is about to
 * be seen to, will be done; one that cannot be woken waits for the map's own lock, most likely.
 */
static uint64_t patience_ns(pid_t tid)
{
	char text[512], *at;

	if (procfs_read(text, sizeof(text), "/proc/%d/stat", (int)tid) <= 0)
		return HOLD_NS;
	at = strrchr(text, ')');
	if (!at || at[1] != ' ')
		return HOLD_NS;
	switch (at[2]) {
	case 'R':
	case 't':
		return HOLD_MAX_NS;
	case 'D':
		return HOLD_LOCKED_NS;
	default:
		return HOLD_NS;
	}
}

static bool waits_too_long(const struct rec_task *task, uint64_t now_ns)
{
	const struct rec_task *caller;

	if (!task->is_held || now_ns - task->waiting_ns < HOLD_NS)
		return false;
	caller = task->space->caller;
	return !caller || now_ns - task->waiting_ns > patience_ns(caller->tid);
}

void rec_release_old(struct rec *rec, uint64_t now_ns)
{
	for (unsigned int i = 0; i < REC_CHAINS && rec->nr_waiting; i++)
		for (struct rec_task *task = rec->chains[i]; task; task = task->next) {
			if (!waits_too_long(task, now_ns))
				continue;
			if (task->space->caller)
				task->space->caller->pending.flags |= EVENT_AMBIGUOUS;
			let_in(rec, task);
		}
}

/* The old map ends with exec unless others use it; they may go on using it. */
static void before_exec(struct rec *rec, struct rec_task *task)
{
	if (task->space->nr_users > 1)
		return;
	rec_write_truth(rec, task);
	rec_ranges_free(rec, &task->space->files);
}

void rec_call_entered(struct rec *rec, struct rec_task *task,
		      const struct ptrace_syscall_info *info)
{
	bool is_ours;

	task->seen_call = true;
	task->in_exec = false;
	rec_take_reports(rec);
	is_ours = rec_decode(task->tid, info, &task->pending);
	rec_hide_untraced(rec, task, &task->pending);
	if (!task->space || !is_ours) {
		rec_resume(rec, task, 0);
	} else if (task->pending.kind == REC_EXEC) {
		before_exec(rec, task);
		task->in_exec = true;
		rec_resume(rec, task, 0);
	} else if (task->pending.kind == REC_TRACES || task->pending.kind == REC_STRICT ||
		   task->pending.kind == REC_LISTENS) {
		rec_say_of_call(rec, task, &task->pending);
		rec_resume(rec, task, 0);
	} else if (task->space->caller) {
		hold(rec, task);
	} else {
		set_caller(rec, task);
	}
}

/* ---- what a finished call leaves in the trace ---- */

static uint64_t duration_ns(const struct rec_call *call)
{
	if (call->exit_unseen)
		return call->exit_ns ? call->exit_ns - call->entry_ns : 0;
	return clock_ns() - call->entry_ns;
}

static void write_call(struct rec *rec, struct rec_task *task, const struct rec_call *call,
		       int64_t result)
{
	struct event event = {
		.kind = EVENT_CALL,
		.call = call->call,
		.flags = call->flags,
		.stack = call->stack,
		.file = call->file,
		.time_ns = call->entry_ns - rec->began_ns,
		.duration_ns = duration_ns(call),
		.result = result,
	};

	memcpy(event.arg, call->arg, sizeof(event.arg));
	rec->result->calls += trace_call_counts(call->call);
	rec->result->ambiguous += call->flags & EVENT_AMBIGUOUS ? 1 : 0;
	rec_write(rec, task, &event);
}

static bool changes_limit(unsigned int resource)
{
	return resource == RLIMIT_AS || resource == RLIMIT_DATA || resource == RLIMIT_STACK ||
	       resource == RLIMIT_MEMLOCK;
}

/* prlimit64(pid, resource, new, old): of another process perhaps. */
static void write_limit(struct rec *rec, struct rec_task *task, struct rec_call *call)
{
	bool any = call->kind == REC_PRLIMIT;
	pid_t pid = any ? (pid_t)call->arg[0] : 0;
	struct rec_task *whose = pid && pid != task->process->pid ? rec_find_task(rec, pid) : task;
	unsigned int resource = (unsigned int)call->arg[any ? 1 : 0];
	struct rlimit limit;

	if (!whose || !whose->space || !changes_limit(resource) || (any && !call->arg[2]) ||
	    prlimit(whose->tid, (__rlimit_resource_t)resource, NULL, &limit))
		return;
	call->call = TRACE_CALL_prlimit;
	memset(call->arg, 0, sizeof(call->arg));
	call->arg[0] = resource;
	call->arg[1] = limit.rlim_cur;
	call->arg[2] = limit.rlim_max;
	write_call(rec, whose, call, 0);
}

/* Calls whose effect on the map the model cannot work out from their arguments. */
static bool is_opaque(const struct rec_call *call)
{
	switch (call->call) {
	case TRACE_CALL_io_setup:
	case TRACE_CALL_arch_prctl:
	case TRACE_CALL_map_shadow_stack:
	case TRACE_CALL_process_madvise:
		return true;
	default:
		return false;
	}
}

static int64_t real_result(const struct rec_task *task, const struct rec_call *call, int64_t result)
{
	uint32_t addr;

	if (!(call->flags & EVENT_COMPAT) || result < 0)
		return result;
	if (call->result_at && !rec_peek(task->tid, call->result_at, &addr, sizeof(addr)))
		return addr;
	return result & UINT32_MAX;
}

/*
 * How long the segment is that a shmat has attached: no argument tells. Its area joins none, so it is
 * the whole area.
 */
static void tell_segment(struct rec *rec, const struct rec_task *task, struct rec_call *call,
			 int64_t result)
{
	uint64_t addr = (uint64_t)result;
	const struct seam_area *areas;
	struct procmap_area area;
	size_t nr;
	int fd;

	if (call->kind != REC_CALL || call->call != TRACE_CALL_shmat || result <= 0)
		return;
	fd = rec_maps_fd(task);
	if (fd >= 0) {
		if (rec_find_area(task, addr, &area) == 1 && area.start == addr)
			call->arg[3] = area.end - area.start;
		return;
	}
	if (rec_look(rec, task, REC_LOOK_MAPS, &areas, &nr))
		return;
	for (size_t i = 0; i < nr; i++)
		if (areas[i].start == addr)
			call->arg[3] = areas[i].end - addr;
}

static void write_result(struct rec *rec, struct rec_task *task, struct rec_call *call,
			 int64_t result)
{
	switch (call->kind) {
	case REC_CALL:
		write_call(rec, task, call, result);
		if (result >= 0 && is_opaque(call))
			rec_write_change(rec, task, trace_call_name(call->call));
		break;
	case REC_SETRLIMIT:
	case REC_PRLIMIT:
		if (result >= 0)
			write_limit(rec, task, call);
		break;
	case REC_OPAQUE:
		if (result >= 0)
			rec_write_change(rec, task, "io_destroy or set_mempolicy_home_node");
		break;
	default:
		break;
	}
}

static bool truth_is_due(const struct rec *rec, const struct rec_space *space)
{
	uint64_t calls = space->nr_areas * TRUTH_AREAS, wanted = rec->options->truth_calls;

	if (space->nr_calling)
		return false;
	if (space->in_doubt && space->nr_doubts <= DOUBTS)
		return true;
	if (wanted || space->in_doubt)
		return space->calls_since_truth >= wanted &&
		       clock_ns() - space->truth_ns >= TRUTH_SHARE * space->truth_cost_ns;
	return space->calls_since_truth >= (calls > TRUTH_CALLS ? calls : TRUTH_CALLS);
}

static void end_call(struct rec_task *task)
{
	task->in_call = false;
	task->space->nr_calling--;
	if (task->space->caller == task)
		task->space->caller = NULL;
}

/* At a fixed address, over what may be there. */
static bool maps_over(const struct rec_call *call)
{
	return call->call == TRACE_CALL_remap_file_pages ||
	       (call->call == TRACE_CALL_mmap && call->arg[3] & SEAM_MAP_FIXED);
}

/*
 * A mapping at a fixed address that fails has changed nothing, or its range is clear: then the file
 * itself has refused (EVENT_CLEARED).
 */
static void look_for_hole(const struct rec_task *task, struct rec_call *call, int64_t result)
{
	uint64_t start = call->arg[0], end = start + call->arg[1];

	if (call->kind != REC_CALL || !maps_over(call) || result >= 0 || end <= start ||
	    rec_maps_fd(task) < 0)
		return;
	if (rec_is_free(task, start, end))
		call->flags |= EVENT_CLEARED;
}

static void finish_call(struct rec *rec, struct rec_task *task, int64_t result)
{
	struct rec_space *space = task->space;

	result = real_result(task, &task->pending, result);
	look_for_hole(task, &task->pending, result);
	rec_mark_refused(rec, task, &task->pending, result);
	rec_number_file(rec, task, &task->pending, result);
	tell_segment(rec, task, &task->pending, result);
	if (!task->pending.exit_unseen)
		rec_ask_after(rec, task, &task->pending, result);
	write_result(rec, task, &task->pending, result);
	rec_after_call(rec, task, &task->pending, result);
	rec_move_ranges(rec, &space->touched, &task->pending, result);
	rec_foresight_after(rec, space, &task->pending, result);
	rec_doubt(rec, space, &task->pending, result);
	rec_stack_after(space, &task->pending, result);
	end_call(task);
	if (task->pending.kind == REC_CALL) {
		space->calls_since_truth++;
		space->has_sealed |= task->pending.call == TRACE_CALL_mseal;
	}
	if (truth_is_due(rec, space))
		rec_write_truth(rec, task);
	start_next(rec, space);
}

void rec_call_left(struct rec *rec, struct rec_task *task, int64_t result)
{
	rec_take_reports(rec);
	finish_call(rec, task, result);
	rec_resume(rec, task, 0);
}

/* The task will not come back from its call, and what came of that is written or not to be known. */
static void abandon(struct rec *rec, struct rec_task *task)
{
	struct rec_space *space = task->space;

	rec_after_call(rec, task, &task->pending, -1);
	rec_foresight_forget(rec, space);
	end_call(task);
	start_next(rec, space);
}

void rec_call_gone(struct rec *rec, struct rec_task *task)
{
	struct rec_space *space = task->space;

	if (task->is_held)
		unhold(rec, task);
	if (!task->in_call)
		return;
	rec_number_file(rec, task, &task->pending, -1);
	if (task->pending.kind == REC_CALL && !task->pending.not_made) {
		task->pending.flags |= EVENT_NO_RESULT;
		write_call(rec, task, &task->pending, 0);
		space->calls_since_truth++;
	}
	abandon(rec, task);
}

/* Something else has changed the map before the task's next stop. */
static bool was_disturbed(const struct rec_call *call, int64_t result)
{
	uint64_t start = (uint64_t)result, end = start + call->arg[1];
	bool is_own = call->call == TRACE_CALL_mmap && result >= 0 && call->also_start <= start &&
		      call->also_end >= end;

	return call->has_more || (call->has_also && !is_own);
}

void rec_call_passed(struct rec *rec, struct rec_task *task)
{
	bool is_disturbed;
	int64_t result;

	if (!task->in_call || !task->pending.exit_unseen)
		return;
	rec_take_reports(rec);
	if (rec_find_outcome(rec, task, &result)) {
		is_disturbed = was_disturbed(&task->pending, result);
		finish_call(rec, task, result);
		if (is_disturbed)
			rec_write_change(rec, task, NULL);
		return;
	}
	/* the kernel had no memory for it, perhaps: why is not known */
	rec_call_gone(rec, task);
	rec_write_truth(rec, task);
}

void rec_call_died(struct rec *rec, struct rec_task *task)
{
	bool had_result = false;
	int64_t result;

	if (task->in_call && rec_result_of_dying(task->tid, &task->pending, &result)) {
		if (result == -ENOSYS) {
			abandon(rec, task); /* killed where it stood at its entry */
			return;
		}
		had_result = true;
	} else if (task->in_call &&
		   (rec_is_back(task->tid, &task->pending) || rec_is_proved(task))) {
		had_result = rec_find_outcome(rec, task, &result);
	}
	if (had_result)
		finish_call(rec, task, result);
	else
		rec_call_gone(rec, task);
}
