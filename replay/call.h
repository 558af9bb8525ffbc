/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay/call.h - a recorded call on its way through one kernel, and what the files that carry out
 * calls share: apply.c (dispatch, ranges), call_map.c, call_mremap.c, call_range.c, call_space.c.
 */
#ifndef REPLAY_CALL_H
#define REPLAY_CALL_H

#include "replay/lane.h"

/* A call on its way through one kernel. */
struct call {
	struct lane *lane;
	struct lane_mm *mm;
	struct seam_space *space;
	const struct event *event;
	const struct trace_file *file; /* that it names; NULL: none, or not known */
	const uint64_t *arg;	       /* references resolved */
	bool known;		       /* the record tells the result */
	bool worked;		       /* it does, and the call succeeded */
	struct replay_outcome outcome;
	int error; /* of ours: -ENOMEM */
};

/* What it does to the space; ->outcome and ->error are set. */
void call_apply(struct call *call);

/* One piece of a call over a range, at this kernel's address. */
typedef int make_piece(struct call *call, uint64_t at, uint64_t len);

enum {
	GOES_ON = 0x1,	 /* past memory that is not there, as madvise does */
	ROUNDS = 0x2,	 /* the address need not be aligned */
	NEEDS_MEM = 0x4, /* it fails where nothing is mapped */
};

/* Makes a call over a recorded range, piece by piece where it lies in several. */
void call_over_range(struct call *call, uint64_t addr, uint64_t len, make_piece *make,
		     unsigned int how);
/* The log begins in the middle of a life: memory that a call worked on was there. */
void call_needs(struct call *call, uint64_t start, uint64_t end);

/* A piece of where a mapping with a fixed address goes. */
struct target {
	struct piece piece;
	bool refills; /* ground that was freed */
};
/* The first piece of the recorded range [start, end): HERE, MOVED, GONE, or TAKEN. */
bool call_next_target(struct call *call, uint64_t start, uint64_t end, struct target *ret_target);
/* Takes away what the record replaced within [start, end), where the newcomer goes elsewhere. */
void call_unmap(struct call *call, uint64_t start, uint64_t end);

/* The calls themselves. */
void call_mmap(struct call *call);
void call_munmap(struct call *call);
void call_shmat(struct call *call);
void call_shmdt(struct call *call);
void call_remap_file_pages(struct call *call);
void call_mremap(struct call *call);
void call_mprotect(struct call *call);
void call_madvise(struct call *call);
void call_mlock(struct call *call);
void call_munlock(struct call *call);
void call_mlockall(struct call *call);
void call_munlockall(struct call *call);
void call_mseal(struct call *call);
void call_mbind(struct call *call);
void call_set_mempolicy(struct call *call);
void call_prctl(struct call *call);
void call_uffd_ioctl(struct call *call);
void call_brk(struct call *call);
void call_personality(struct call *call);
void call_prlimit(struct call *call);
void call_rlimit(struct call *call);
void call_limit(struct call *call);
void call_exec(struct call *call);
void call_stack(struct call *call);
void call_touch(struct call *call);

/* touch.c: what eager replay takes as touched */

/* Private anonymous memory [at, at + len) was made; @writable: it counts as touched when eager. */
void touch_made(struct call *call, uint64_t at, uint64_t len, bool writable);
/* [at, at + len) may be writable now: what of it was never touched is. */
void touch_after_protect(struct call *call, uint64_t at, uint64_t len);
/* Other memory, or none, is at [at, at + len) now. */
void touch_gone(struct call *call, uint64_t at, uint64_t len);
/* [from, from + len) is at @to now. */
void touch_moved(struct call *call, uint64_t from, uint64_t len, uint64_t to);
/* guards.c: the remedy that makes guard pages of markers */

/* mprotect of [at, at + len) with the remedy; false: it is none of its cases, nothing was done. */
bool guards_protect(struct call *call, uint64_t at, uint64_t len, uint32_t prot, int *ret_err);
/* Other memory, or none, is there now. */
void guards_gone(struct call *call, uint64_t at, uint64_t len);
void guards_moved(struct call *call, uint64_t from, uint64_t len, uint64_t to);

/* Private anonymous memory was made; other memory or none is there; memory has moved. */
static inline void memory_made(struct call *call, uint64_t at, uint64_t len, bool writable)
{
	guards_gone(call, at, len);
	touch_made(call, at, len, writable);
}

static inline void memory_gone(struct call *call, uint64_t at, uint64_t len)
{
	guards_gone(call, at, len);
	touch_gone(call, at, len);
}

static inline void memory_moved(struct call *call, uint64_t from, uint64_t len, uint64_t to)
{
	guards_moved(call, from, len, to);
	touch_moved(call, from, len, to);
}

/* The result of a library call: notes our own failures. */
static inline int call_check(struct call *call, int err)
{
	if (err == -SEAM_EALLOC)
		call->error = err;
	return err;
}

static inline uint64_t page_mask(const struct call *call)
{
	return (UINT64_C(1) << seam_space_page_shift(call->space)) - 1;
}

/* Whole pages that [addr, addr + len) lies in; false when it wraps or is empty. */
static inline bool whole_pages(const struct call *call, uint64_t addr, uint64_t len,
			       uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t mask = page_mask(call), end = addr + len;

	if (!len || end < addr || end + mask < end)
		return false;
	*ret_start = addr & ~mask;
	*ret_end = (end + mask) & ~mask;
	return true;
}

static inline void call_keep(struct call *call, int err)
{
	if (err)
		call->error = -SEAM_EALLOC;
}

static inline void call_finish(struct call *call, int64_t result)
{
	call->outcome = (struct replay_outcome) { .answer = ANSWER_MADE, .result = result };
}

static inline void call_skip(struct call *call)
{
	call->outcome = (struct replay_outcome) { .answer = ANSWER_SKIPPED };
}

/* Nothing is known of what it does to areas: taken as it was recorded. */
static inline void call_pass(struct call *call)
{
	call->outcome = (struct replay_outcome) {
		.answer = ANSWER_NOT_MODELLED,
		.result = call->known ? call->event->result : 0,
	};
}

#endif
