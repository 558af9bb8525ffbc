/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay/lane.h - one kernel of a replay: its spaces, its counters, and how it takes a call.
 */
#ifndef REPLAY_LANE_H
#define REPLAY_LANE_H

#include "replay/counting.h"
#include "replay/ground.h"
#include "replay/replay.h"

/* A call and where it was made: differences are told with the call before them. */
struct last_call {
	uint64_t number; /* 0: none yet */
	uint32_t line, pid;
	uint8_t call;
};

struct segment; /* replay/segment.h */

/* One mm of the trace under one kernel. */
struct lane_mm {
	struct seam_space *space; /* NULL: not there, or ended */
	struct ground ground;
	/* eager touches: private anonymous memory that was never writable */
	struct range_map untouched;
	struct range_map guards; /* remedy: guard pages made as markers */
	struct seam_stats seen;	 /* counters as they were told to the result */
	bool starts_unknown;	 /* what the trace names was there, although nothing made it */
	bool heap_known;
	bool wide; /* 64-bit addresses */
	uint64_t peak;
	struct last_call last;
	/* how to make the like of it again */
	struct seam_space_options options;
	uint64_t code[3];	 /* as of seam_space_set_code */
	uint32_t future_locks;	 /* of mlockall */
	struct segment *segment; /* as it happened: what came since the last truth */
};

/* Results of a script's operations, which later ones refer to. */
struct operation {
	uint64_t value;
	bool failed; /* or skipped */
};

struct lane {
	const struct replay_kernel *kernel;
	const struct replay_options *options;
	const struct trace *trace;
	struct replay_result *result;
	struct counting *counting; /* counts all steps; NULL: the spaces do */
	uint32_t version;	   /* 6.18.44: 0x06122c; plain: the highest */
	enum replay_touch touch;
	bool place_recorded;
	bool may_be_reused;  /* an address handed out twice: an unmap between was not logged */
	unsigned int number; /* of the kernel */
	struct lane_mm *mms;
	uint32_t nr_mms, room_mms, room_results;
	struct operation *operations; /* [number of the call - 1] */
	uint32_t nr_operations, room_operations;
	bool scripted;	      /* an operation script */
	bool recorded;	      /* by seam itself */
	uint32_t nr_segments; /* attached so far */
};

/* How the spaces of a trace lie. */
struct space_layout {
	enum seam_arch arch;
	bool wide;	    /* 64-bit addresses */
	uint64_t user_end;  /* 0: the architecture's */
	uint64_t mmap_base; /* 0: the architecture's */
};

/* lane.c: 0 or -ENOMEM. Space numbers come one after another. */
void lane_init(struct lane *lane, const struct trace *trace, const struct replay_options *options,
	       unsigned int number, struct replay_result *result);
void lane_free(struct lane *lane);
int lane_begin_space(struct lane *lane, const struct event *event,
		     const struct space_layout *layout);
int lane_end_space(struct lane *lane, uint32_t number);
/* @file: that the event names, or NULL. */
int lane_call(struct lane *lane, const struct event *event, const struct trace_file *file,
	      uint64_t number, struct replay_outcome *ret_outcome);
/* As it happened: from here on the areas are known for sure. */
int lane_begin_segment(const struct lane *lane, struct lane_mm *mm);
/* Is @result how such a call fails? */
bool lane_is_failure(const struct event *event, const uint64_t *arg, int64_t result);
/* The most areas after any call so far. */
void lane_note_peak(struct lane_mm *mm);
/* Gives back all that it has. */
void lane_mm_free(struct lane_mm *mm);
/* The space gives way to that of @again, which is empty afterwards; counters go on. */
void lane_replace_space(struct lane *lane, struct lane_mm *mm, struct lane_mm *again);
/* Counters that came about otherwise than by a call are nobody's. */
void lane_forget_counts(struct lane_mm *mm);
int lane_touch(struct lane *lane, const struct event *event);
/* The same in a space that is not the lane's own. */
int lane_touch_in(struct lane *lane, struct lane_mm *mm, const struct event *event);
int lane_change(struct lane *lane, const struct event *event);

/* The bounds of text and data; they are remembered. */
void lane_set_code(struct lane_mm *mm, uint64_t end_code, uint64_t start_data, uint64_t end_data);

/* touch.c */

/* All private anonymous writable areas that are not faulted. */
int touch_all(struct lane *lane, struct lane_mm *mm);
/* Faults in [at, at + len); *ret_done as of seam_space_touch. */
int touch_range(struct lane *lane, struct lane_mm *mm, uint64_t at, uint64_t len, bool write,
		uint64_t *ret_done);

/* since.c: 0, or what this kernel answers to a call that it did not have. */
int call_missing(const struct lane *lane, const struct event *event);
/* "linux-6.18.44,-anon_vma" -> 0x06122c; a name without a number is newer than all. */
uint32_t version_of(const char *policy_name);

/* bytes.c: what the kernel's structures for the areas of a space take. */
uint64_t kernel_bytes(const struct lane *lane, const struct seam_space *space, bool wide);

static inline bool is_private_anonymous(const struct seam_area *area)
{
	return !area->file && !(area->flags & (SEAM_VM_SHARED | SEAM_VM_MAYSHARE));
}

#endif
