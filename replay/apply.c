/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One recorded call made under one kernel: its addresses are found anew, a range that lies in
 * several pieces there is gone through piece by piece, and what the call did is remembered.
 */
#include "replay/call.h"

/* What areas of memory that was there before the log began may look like. */
static struct seam_area unknown_area(const struct call *call, uint64_t start, uint64_t end)
{
	struct seam_area area = {
		.start = start,
		.end = end,
		.flags = SEAM_VM_READ | SEAM_VM_WRITE | SEAM_VM_MAYREAD | SEAM_VM_MAYWRITE |
			 SEAM_VM_MAYEXEC,
		.pgoff = start >> seam_space_page_shift(call->space),
	};

	/* 2.6.0 and later count writable memory */
	if (call->lane->version >= 0x020600)
		area.flags |= SEAM_VM_ACCOUNT;
	return area;
}

void call_needs(struct call *call, uint64_t start, uint64_t end)
{
	struct piece piece;
	struct seam_area next, area;

	if (!call->mm->starts_unknown || !call->worked)
		return;
	for (; ground_next(&call->mm->ground, start, end, &piece); start = piece.end) {
		uint64_t at = piece.start;

		if (piece.kind != GROUND_HERE)
			continue;
		while (at < piece.end) {
			uint64_t to = piece.end;

			if (seam_area_find(call->space, at, &next) && next.start < to)
				to = next.start;
			else
				next.end = piece.end;
			if (at < to) {
				area = unknown_area(call, at, to);
				if (call_check(call, seam_space_adopt(call->space, &area)))
					return;
				memory_made(call, at, to - at, true);
			}
			at = next.end;
		}
	}
}

static void over_pieces(struct call *call, uint64_t start, uint64_t end, make_piece *make,
			unsigned int how)
{
	struct piece piece;
	bool made = false;
	int result = 0;

	for (; ground_next(&call->mm->ground, start, end, &piece); start = piece.end) {
		int err;

		if (piece.kind == GROUND_GONE)
			continue;
		made = true;
		if (has_memory(piece.kind))
			err = call_check(call, make(call, piece.at, piece.end - piece.start));
		else
			err = how & NEEDS_MEM ? -SEAM_ENOMEM : 0;
		if (err && !result)
			result = err;
		if (err && !(how & GOES_ON && err == -SEAM_ENOMEM))
			break;
	}
	if (made)
		call_finish(call, result);
	else
		call_skip(call);
}

void call_over_range(struct call *call, uint64_t addr, uint64_t len, make_piece *make,
		     unsigned int how)
{
	struct ground *ground = &call->mm->ground;
	uint64_t start, end;
	struct piece piece;

	if (!whole_pages(call, addr, len, &start, &end) ||
	    (!(how & ROUNDS) && addr & page_mask(call))) {
		call_finish(call,
			    call_check(call, make(call, ground_translate(ground, addr), len)));
		return;
	}
	if (how & NEEDS_MEM)
		call_needs(call, start, end);
	if (ground_is_plain(ground)) {
		call_finish(call, call_check(call, make(call, addr, len)));
		return;
	}
	ground_next(ground, start, end, &piece);
	if (piece.end == end && has_memory(piece.kind))
		call_finish(call, call_check(call, make(call, piece.at + (addr - start), len)));
	else
		over_pieces(call, start, end, make, how);
}

/* The child comes with the event of its space. */
static void call_fork(struct call *call)
{
	call_finish(call, 0);
}

static void (*const calls[TRACE_NR_CALLS])(struct call *call) = {
	[TRACE_CALL_mmap] = call_mmap,
	[TRACE_CALL_kmmap] = call_mmap,
	[TRACE_CALL_munmap] = call_munmap,
	[TRACE_CALL_mprotect] = call_mprotect,
	[TRACE_CALL_pkey_mprotect] = call_mprotect,
	[TRACE_CALL_mremap] = call_mremap,
	[TRACE_CALL_madvise] = call_madvise,
	[TRACE_CALL_mlock] = call_mlock,
	[TRACE_CALL_mlock2] = call_mlock,
	[TRACE_CALL_munlock] = call_munlock,
	[TRACE_CALL_mlockall] = call_mlockall,
	[TRACE_CALL_munlockall] = call_munlockall,
	[TRACE_CALL_brk] = call_brk,
	[TRACE_CALL_mseal] = call_mseal,
	[TRACE_CALL_mbind] = call_mbind,
	[TRACE_CALL_set_mempolicy] = call_set_mempolicy,
	[TRACE_CALL_prctl] = call_prctl,
	[TRACE_CALL_uffd_ioctl] = call_uffd_ioctl,
	[TRACE_CALL_shmat] = call_shmat,
	[TRACE_CALL_shmdt] = call_shmdt,
	[TRACE_CALL_remap_file_pages] = call_remap_file_pages,
	[TRACE_CALL_personality] = call_personality,
	[TRACE_CALL_prlimit] = call_prlimit,
	[TRACE_CALL_rlimit] = call_rlimit,
	[TRACE_CALL_limit] = call_limit,
	[TRACE_CALL_exec] = call_exec,
	[TRACE_CALL_stack] = call_stack,
	[TRACE_CALL_touch] = call_touch,
	[TRACE_CALL_rtouch] = call_touch,
	[TRACE_CALL_fork] = call_fork,
};

void call_apply(struct call *call)
{
	const struct event *event = call->event;
	int missing = call_missing(call->lane, event);

	if (event->flags & EVENT_REFUSED && call->known && !call->worked)
		call_finish(call, event->result);
	else if (missing)
		call_finish(call, missing);
	else if (calls[event->call])
		calls[event->call](call);
	else
		call_pass(call);
}
