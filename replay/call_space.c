/* SPDX-License-Identifier: BSD-2-Clause */
/* The heap, limits, and what the program loader and the operations of scripts do. */
#include "replay/call.h"

#define RLIMIT_DATA_NUMBER 2
#define RLIMIT_STACK_NUMBER 3
#define RLIMIT_MEMLOCK_NUMBER 8
#define RLIMIT_AS_NUMBER 9

/* The first break that the log shows is where the heap begins, unless its start is known. */
static void learn_heap(struct call *call)
{
	uint64_t result = (uint64_t)call->event->result;
	uint64_t start = seam_space_get_start_brk(call->space);

	call->mm->heap_known = true;
	/* where it begins is known, so its end is, to a page; this call may move that */
	if (start && start <= result && result == call->arg[0])
		return;
	if (!start || start > result) {
		/* 2.2 and 2.4 refuse a break below the text, of which the log does not tell */
		start = result;
		lane_set_code(call->mm, start, start, start);
	}
	seam_space_set_brk(call->space, start, result);
}

void call_brk(struct call *call)
{
	uint64_t asked = call->arg[0], before, after = 0, mask = page_mask(call);
	int err;

	if (call->known && call->event->result > 0 && !call->mm->heap_known)
		learn_heap(call);
	before = (seam_space_get_brk(call->space) + mask) & ~mask;
	err = call_check(call, seam_space_brk(call->space, asked, &after));
	if (err) {
		call_finish(call, err);
		return;
	}
	if (after == asked && asked) {
		uint64_t now = (after + mask) & ~mask;

		if (now > before)
			memory_made(call, before, now - before, true);
		else if (now < before)
			memory_gone(call, now, before - now);
	}
	call_finish(call, (int64_t)after);
}

/* personality(2). Which layout it asks for shows with the next exec. */
void call_personality(struct call *call)
{
	const uint32_t asks = UINT32_MAX, read_implies_exec = 0x0400000;
	uint32_t wanted = (uint32_t)call->arg[0];

	if (wanted != asks && wanted & read_implies_exec)
		seam_space_set_flags(call->space, SEAM_SPACE_READ_IMPLIES_EXEC, 0);
	else if (wanted != asks)
		seam_space_set_flags(call->space, 0, SEAM_SPACE_READ_IMPLIES_EXEC);
	call_pass(call); /* the result is what it was before */
}

void call_prlimit(struct call *call)
{
	enum seam_limit limit;

	switch (call->arg[0]) {
	case RLIMIT_DATA_NUMBER:
		limit = SEAM_LIMIT_DATA;
		break;
	case RLIMIT_STACK_NUMBER:
		limit = SEAM_LIMIT_STACK;
		break;
	case RLIMIT_MEMLOCK_NUMBER:
		limit = SEAM_LIMIT_MEMLOCK;
		break;
	case RLIMIT_AS_NUMBER:
		limit = SEAM_LIMIT_AS;
		break;
	default:
		call_finish(call, 0);
		return;
	}
	if (!call->known || call->worked)
		seam_space_set_limit(call->space, limit, call->arg[1]);
	call_finish(call, 0);
}

void call_rlimit(struct call *call)
{
	static const enum seam_limit limits[] = {
		[TRACE_RLIMIT_AS] = SEAM_LIMIT_AS,
		[TRACE_RLIMIT_DATA] = SEAM_LIMIT_DATA,
		[TRACE_RLIMIT_STACK] = SEAM_LIMIT_STACK,
		[TRACE_RLIMIT_MEMLOCK] = SEAM_LIMIT_MEMLOCK,
	};

	if (call->arg[0] < sizeof(limits) / sizeof(limits[0]))
		seam_space_set_limit(call->space, limits[call->arg[0]], call->arg[1]);
	call_finish(call, 0);
}

void call_limit(struct call *call)
{
	seam_space_set_limit(call->space, SEAM_LIMIT_AREAS, call->arg[0]);
	call_finish(call, 0);
}

void call_exec(struct call *call)
{
	lane_set_code(call->mm, call->arg[0], call->arg[1], call->arg[2]);
	seam_space_set_brk(call->space, call->arg[2], call->arg[2]);
	call->mm->heap_known = true;
	call_finish(call, 0);
}

void call_stack(struct call *call)
{
	int err = call_check(call, seam_space_stack(call->space, call->arg[0], call->arg[1]));

	call_finish(call, err ? err : (int64_t)call->arg[0]);
}

static int touch_piece(struct call *call, uint64_t at, uint64_t len)
{
	bool write = call->event->call == TRACE_CALL_touch;

	return touch_range(call->lane, call->mm, at, len, write, NULL);
}

void call_touch(struct call *call)
{
	if (call->lane->touch == TOUCH_NEVER)
		call_finish(call, 0);
	else
		call_over_range(call, call->arg[0], call->arg[1], touch_piece, ROUNDS);
}
