/* SPDX-License-Identifier: BSD-2-Clause */
/* One kernel of a replay: the lives of its spaces, and the frame around each call. */
#include "replay/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/segment.h"
#include "trace/grow.h"

#define MIN_ADDR 65536
#define SCRIPT_STACK_LIMIT (UINT64_C(8) << 20)
#define OLD_BASE_AT_64_BITS UINT64_C(0x2aaaaaaab000)

void lane_init(struct lane *lane, const struct trace *trace, const struct replay_options *options,
	       unsigned int number, struct replay_result *result)
{
	const struct replay_kernel *kernel = &options->kernels[number];
	bool scripted = !strcmp(trace_facts(trace)->format, "ops");
	bool recorded = !strcmp(trace_facts(trace)->format, "seam.data");

	*lane = (struct lane) {
		.kernel = kernel,
		.options = options,
		.trace = trace,
		.result = result,
		.version = version_of(kernel->policy.name),
		.touch = options->touch,
		.place_recorded = options->place_recorded || kernel->recorded,
		.may_be_reused = !recorded && !scripted,
		.scripted = scripted,
		.recorded = recorded,
		.number = number,
	};
	*result = (struct replay_result) {
		.kernel = kernel,
		.vector = seam_policy_vector(&kernel->policy),
	};
}

void lane_mm_free(struct lane_mm *mm)
{
	segment_free(mm);
	seam_space_destroy(mm->space);
	mm->space = NULL;
	ground_free(&mm->ground);
	range_map_free(&mm->untouched);
	range_map_free(&mm->guards);
}

void lane_free(struct lane *lane)
{
	for (size_t i = 0; i < lane->nr_mms; i++)
		lane_mm_free(&lane->mms[i]);
	free(lane->mms);
	free(lane->operations);
}

/* Room for the mm of this number, here and in the result. */
static struct lane_mm *mm_at(struct lane *lane, uint32_t number)
{
	struct replay_result *result = lane->result;

	while (lane->nr_mms <= number) {
		if (grow(&lane->mms, lane->nr_mms, &lane->room_mms, sizeof(*lane->mms)) ||
		    grow(&result->mms, lane->nr_mms, &lane->room_results, sizeof(*result->mms)))
			return NULL;
		memset(&lane->mms[lane->nr_mms++], 0, sizeof(*lane->mms));
		memset(&result->mms[result->nr_mms++], 0, sizeof(*result->mms));
	}
	return &lane->mms[number];
}

#define READ_IMPLIES_EXEC 0x0400000u
#define ADDR_COMPAT_LAYOUT 0x0200000u

/* What a recording tells of a new process besides its areas (trace/event.h, EVENT_SPACE). */
static void take_facts(const struct event *event, struct seam_space_options *options)
{
	uint32_t personality = (uint32_t)event->arg[5];

	options->may = (uint32_t)(event->arg[5] >> 32);
	if (personality & READ_IMPLIES_EXEC)
		options->flags |= SEAM_SPACE_READ_IMPLIES_EXEC;
	if (personality & ADDR_COMPAT_LAYOUT)
		options->flags |= SEAM_SPACE_BOTTOM_UP;
}

static int create_space(const struct lane *lane, const struct event *event,
			const struct space_layout *layout, struct lane_mm *mm)
{
	const struct trace_host *host = &trace_facts(lane->trace)->host;
	const struct seam_policy *policy = &lane->kernel->policy;
	struct seam_space_options options = {
		.size = sizeof(options),
		.policy = policy,
		.arch = layout->arch,
		.flags = SEAM_SPACE_COUNT_STEPS,
		.may = SEAM_MAY_IPC_LOCK | SEAM_MAY_RAWIO | SEAM_MAY_ADMIN,
		.user_end = layout->user_end,
		.mmap_base = layout->mmap_base,
		.max_areas = lane->options->max_areas,
		.step_sink = lane->counting ? counting_sink(lane->counting) : NULL,
	};

	if (policy->old) {
		if (layout->wide) {
			options.flags |= SEAM_SPACE_BOTTOM_UP;
			options.legacy_base = OLD_BASE_AT_64_BITS;
			options.mmap_base = 0;
		}
	} else {
		options.overcommit = host->overcommit <= 2 ? host->overcommit : 0;
		options.min_addr = options.min_addr_sysctl = host->min_addr ? host->min_addr
									    : MIN_ADDR;
		options.stack_gap = host->stack_gap;
		options.commit_limit_pages = lane->options->commit_limit_pages;
		options.exec_only_pkey = lane->options->exec_only_pkey;
		if (!options.max_areas)
			options.max_areas = host->max_areas;
		/* what a kernel without a number has is not known: as today's are built */
		options.flags |= SEAM_SPACE_THP;
	}
	if (lane->scripted)
		options.limit_stack = SCRIPT_STACK_LIMIT;
	if (lane->recorded)
		take_facts(event, &options);
	mm->options = options;
	return seam_space_create(&options, &mm->space);
}

void lane_note_peak(struct lane_mm *mm)
{
	uint64_t areas = seam_space_areas(mm->space);

	if (areas > mm->peak)
		mm->peak = areas;
}

/* Flag bits that 2.2 and later have had at the same places. */
#define OLD_FLAGS                                                                                  \
	(SEAM_VM_RWX | SEAM_VM_SHARED | SEAM_VM_MAYREAD | SEAM_VM_MAYWRITE | SEAM_VM_MAYEXEC |     \
	 SEAM_VM_MAYSHARE | SEAM_VM_GROWSDOWN | SEAM_VM_LOCKED | SEAM_VM_IO)
/* and 2.4, and 2.6 */
#define FLAGS_OF_2_4 (SEAM_VM_SEQ_READ | SEAM_VM_RAND_READ | SEAM_VM_DONTCOPY | SEAM_VM_DONTEXPAND)
#define FLAGS_OF_2_6 SEAM_VM_ACCOUNT

/* A recorded area as this kernel would have it. */
static struct seam_area translate_area(const struct lane *lane, const struct lane_mm *mm,
				       const struct event *event, const struct seam_area *given)
{
	struct seam_area area = *given;

	if (lane->kernel->policy.old) {
		area.flags &= OLD_FLAGS | (lane->version >= 0x020400 ? FLAGS_OF_2_4 : 0) |
			      (lane->version >= 0x020600 ? FLAGS_OF_2_6 : 0);
	}
	/* private anonymous memory is numbered by its address where the source does not see it */
	if (!(event->sees & SEES_ANON_OFFSET) && is_private_anonymous(&area))
		area.pgoff = area.start >> seam_space_page_shift(mm->space);
	return area;
}

static int adopt_areas(struct lane *lane, struct lane_mm *mm, const struct event *event)
{
	for (size_t i = 0; i < event->nr_areas; i++) {
		struct seam_area area = translate_area(lane, mm, event, &event->areas[i]);

		if (area.traits & SEAM_TRAIT_GATE)
			continue;
		if (seam_space_adopt(mm->space, &area) == -SEAM_EALLOC)
			return -ENOMEM;
	}
	if (lane->touch == TOUCH_EAGER && !(event->sees & SEES_ANON_VMA))
		return touch_all(lane, mm);
	return 0;
}

void lane_forget_counts(struct lane_mm *mm)
{
	seam_space_get_stats(mm->space, &mm->seen);
}

/* The child of a fork; it does not exist where the parent does not, or cannot be charged. */
static int fork_mm(struct lane *lane, struct lane_mm *mm, const struct event *event)
{
	struct lane_mm *parent;
	int err;

	if (event->arg[0] >= lane->nr_mms || event->arg[0] == event->space)
		return 0;
	parent = &lane->mms[event->arg[0]];
	if (!parent->space)
		return 0;
	err = seam_space_fork(parent->space, &mm->space);
	if (err == -SEAM_EALLOC)
		return -ENOMEM;
	if (err)
		return 0;
	mm->starts_unknown = parent->starts_unknown;
	mm->options = parent->options;
	memcpy(mm->code, parent->code, sizeof(mm->code));
	mm->heap_known = parent->heap_known;
	if (ground_copy(&parent->ground, &mm->ground) ||
	    range_map_copy(&parent->untouched, &mm->untouched) ||
	    range_map_copy(&parent->guards, &mm->guards))
		return -ENOMEM;
	/* memory that is wiped for the child is touched anew */
	return lane->touch == TOUCH_EAGER ? touch_all(lane, mm) : 0;
}

void lane_set_code(struct lane_mm *mm, uint64_t end_code, uint64_t start_data, uint64_t end_data)
{
	mm->code[0] = end_code;
	mm->code[1] = start_data;
	mm->code[2] = end_data;
	seam_space_set_code(mm->space, end_code, start_data, end_data);
}

void lane_replace_space(struct lane *lane, struct lane_mm *mm, struct lane_mm *again)
{
	struct seam_steps *steps = &lane->result->steps;
	struct seam_stats old, new;

	/* the steps of a space are added when it ends: these as if the old one had gone on */
	seam_space_get_stats(mm->space, &old);
	seam_space_get_stats(again->space, &new);
	steps->find += old.steps.find - new.steps.find;
	steps->placement += old.steps.placement - new.steps.placement;
	steps->insert += old.steps.insert - new.steps.insert;
	seam_space_destroy(mm->space);
	range_map_free(&mm->untouched);
	mm->space = again->space;
	mm->untouched = again->untouched;
	mm->seen = new;
	mm->peak = again->peak;
	again->space = NULL;
	again->untouched = (struct range_map) { 0 };
}

/* The bounds of text, data and heap, where the recording tells them. */
static void set_bounds(struct lane_mm *mm, const struct event *event)
{
	uint64_t start_brk = event->arg[1], brk = start_brk;
	struct seam_area area;

	if (!start_brk)
		return;
	if (event->arg[2])
		lane_set_code(mm, event->arg[2], event->arg[3], event->arg[4]);
	else
		lane_set_code(mm, start_brk, start_brk, start_brk);
	mm->heap_known = event->born == BORN_EXEC;
	if (!mm->heap_known && seam_area_find(mm->space, start_brk, &area) &&
	    area.start <= start_brk)
		brk = area.end;
	seam_space_set_brk(mm->space, start_brk, brk);
}

int lane_begin_segment(const struct lane *lane, struct lane_mm *mm)
{
	return lane->kernel->recorded && lane->recorded ? segment_begin(mm) : 0;
}

int lane_begin_space(struct lane *lane, const struct event *event,
		     const struct space_layout *layout)
{
	struct lane_mm *mm = mm_at(lane, event->space);
	bool known = event->flags & EVENT_AREAS_KNOWN;
	int err;

	if (!mm)
		return -ENOMEM;
	lane_mm_free(mm);
	*mm = (struct lane_mm) { .starts_unknown = !known, .wide = layout->wide };
	if (lane->counting)
		counting_set_lane(lane->counting, lane->number);
	if (event->born == BORN_FORK)
		err = fork_mm(lane, mm, event);
	else
		err = create_space(lane, event, layout, mm);
	if (err)
		return err == -SEAM_EALLOC ? -ENOMEM : err;
	if (!mm->space)
		return 0;
	if (known && event->born != BORN_FORK && adopt_areas(lane, mm, event))
		return -ENOMEM;
	if (lane->recorded && event->born != BORN_FORK)
		set_bounds(mm, event);
	lane_forget_counts(mm);
	lane_note_peak(mm);
	return lane_begin_segment(lane, mm);
}

static int keep_maps(struct replay_mm *kept, const struct seam_space *space)
{
	struct seam_area area;
	uint64_t at = 0;

	kept->maps = calloc(kept->areas_end ? kept->areas_end : 1, sizeof(*kept->maps));
	if (!kept->maps)
		return -ENOMEM;
	while (kept->nr_maps < kept->areas_end && seam_area_next(space, &at, &area))
		kept->maps[kept->nr_maps++] = area;
	kept->start_brk = seam_space_get_start_brk(space);
	kept->brk = seam_space_get_brk(space);
	return 0;
}

int lane_end_space(struct lane *lane, uint32_t number)
{
	struct replay_result *result = lane->result;
	struct seam_stats stats;
	struct replay_mm *kept;
	struct lane_mm *mm;
	int err = 0;

	if (number >= lane->nr_mms || !lane->mms[number].space)
		return 0;
	mm = &lane->mms[number];
	kept = &result->mms[number];
	kept->areas_end = seam_space_areas(mm->space);
	kept->areas_peak = mm->peak;
	result->areas_end += kept->areas_end;
	result->areas_peak += kept->areas_peak;
	result->kernel_bytes += kernel_bytes(lane, mm->space, mm->wide);
	seam_space_get_stats(mm->space, &stats);
	add_steps(&result->steps, &stats.steps);
	if (lane->options->watcher && lane->options->watcher->before_end)
		lane->options->watcher->before_end(lane->options->watcher->ctx, lane->number,
						   number, mm->space);
	if (lane->options->keep_maps)
		err = keep_maps(kept, mm->space);
	lane_mm_free(mm);
	return err;
}

/* A break that is not the one asked for is how brk fails. */
bool lane_is_failure(const struct event *event, const uint64_t *arg, int64_t result)
{
	if (event->call == TRACE_CALL_brk)
		return arg[0] && (uint64_t)result != arg[0];
	return result < 0 && result >= -SEAM_EBUG;
}

static void note_failure(struct replay_failure *failure, const struct event *event, uint64_t number,
			 int64_t result)
{
	if (failure->any)
		return;
	*failure = (struct replay_failure) {
		.any = true,
		.call = event->call,
		.line = event->line,
		.pid = event->pid,
		.number = number,
		.result = result,
	};
}

/* What the call added to the space's counters goes to its kind. */
static void add_counts(struct replay_counts *counts, const struct seam_space *space,
		       struct seam_stats *seen)
{
	uint64_t join_tries = seen->join_tries, joins = seen->joins, splits = seen->splits;

	seam_space_get_stats(space, seen);
	counts->join_tries += seen->join_tries - join_tries;
	counts->joins += seen->joins - joins;
	counts->splits += seen->splits - splits;
}

static void count_call(struct lane *lane, const struct call *call, uint64_t number)
{
	const struct event *event = call->event;
	struct replay_result *result = lane->result;
	struct replay_counts *kind = &result->by_call[event->call];

	kind->calls++;
	if (call->outcome.answer == ANSWER_SKIPPED) {
		kind->skipped++;
	} else if (lane_is_failure(event, call->arg, call->outcome.result)) {
		kind->failed++;
		note_failure(&result->first_failed, event, number, call->outcome.result);
		if (call->worked) {
			kind->failed_anew++;
			note_failure(&result->first_anew, event, number, call->outcome.result);
		}
	}
	add_counts(kind, call->space, &call->mm->seen);
	call->mm->last = (struct last_call) {
		.number = number,
		.line = event->line,
		.pid = event->pid,
		.call = event->call,
	};
	lane_note_peak(call->mm);
}

/* Arguments that are results of earlier operations. False when one of these failed. */
static bool resolve(const struct lane *lane, const struct event *event, uint64_t *arg)
{
	for (int i = 0; i < 6; i++) {
		arg[i] = event->arg[i];
		if (!event->ref[i])
			continue;
		if (event->ref[i] > lane->nr_operations ||
		    lane->operations[event->ref[i] - 1].failed)
			return false;
		arg[i] += lane->operations[event->ref[i] - 1].value;
	}
	return true;
}

static int keep_operation(struct lane *lane, const struct replay_outcome *outcome)
{
	struct operation *operation;

	if (grow(&lane->operations, lane->nr_operations, &lane->room_operations,
		 sizeof(*lane->operations)))
		return -ENOMEM;
	operation = &lane->operations[lane->nr_operations++];
	operation->value = (uint64_t)outcome->result;
	operation->failed = outcome->answer == ANSWER_SKIPPED ||
			    (outcome->result < 0 && outcome->result >= -SEAM_EBUG);
	return 0;
}

int lane_call(struct lane *lane, const struct event *event, const struct trace_file *file,
	      uint64_t number, struct replay_outcome *ret_outcome)
{
	struct call call = { .lane = lane, .event = event, .file = file, .arg = event->arg };
	uint64_t resolved[6];

	*ret_outcome = (struct replay_outcome) { .answer = ANSWER_SKIPPED };
	call.known = !(event->flags & EVENT_NO_RESULT);
	call.worked = call.known && !lane_is_failure(event, event->arg, event->result);
	if (lane->scripted && !resolve(lane, event, resolved))
		goto out;
	if (lane->scripted)
		call.arg = resolved;
	if (event->space >= lane->nr_mms || !lane->mms[event->space].space) {
		lane->result->by_call[event->call].calls++;
		lane->result->by_call[event->call].skipped++;
		goto out;
	}
	call.mm = &lane->mms[event->space];
	call.space = call.mm->space;
	call_apply(&call);
	if (call.error)
		return -ENOMEM;
	count_call(lane, &call, number);
	*ret_outcome = call.outcome;
	if (call.mm->segment && segment_add(call.mm, event))
		return -ENOMEM;
out:
	return lane->scripted ? keep_operation(lane, ret_outcome) : 0;
}

int lane_touch_in(struct lane *lane, struct lane_mm *mm, const struct event *event)
{
	struct piece piece;
	uint64_t start = event->arg[0], end = event->arg[1];

	for (; ground_next(&mm->ground, start, end, &piece); start = piece.end) {
		if (!has_memory(piece.kind))
			continue;
		if (touch_range(lane, mm, piece.at, piece.end - piece.start, true, NULL) ==
		    -SEAM_EALLOC)
			return -ENOMEM;
	}
	return 0;
}

int lane_touch(struct lane *lane, const struct event *event)
{
	struct lane_mm *mm;
	int err;

	if (lane->touch == TOUCH_NEVER || event->space >= lane->nr_mms ||
	    !lane->mms[event->space].space)
		return 0;
	mm = &lane->mms[event->space];
	err = lane_touch_in(lane, mm, event);
	if (err)
		return err;
	lane_forget_counts(mm);
	lane_note_peak(mm);
	return mm->segment ? segment_add(mm, event) : 0;
}

/* What a kernel did unasked is done under each: the range becomes what the record says. */
int lane_change(struct lane *lane, const struct event *event)
{
	struct lane_mm *mm;
	uint64_t start = event->arg[0], end = event->arg[1];
	struct piece piece;

	if (event->space >= lane->nr_mms || !lane->mms[event->space].space)
		return 0;
	mm = &lane->mms[event->space];
	for (; ground_next(&mm->ground, start, end, &piece); start = piece.end)
		if (has_memory(piece.kind) &&
		    seam_space_forget(mm->space, piece.at, piece.at + piece.end - piece.start) ==
			    -SEAM_EALLOC)
			return -ENOMEM;
	if (ground_forget(&mm->ground, event->arg[0], event->arg[1]) ||
	    adopt_areas(lane, mm, event))
		return -ENOMEM;
	lane_forget_counts(mm);
	lane_note_peak(mm);
	return lane_begin_segment(lane, mm);
}
