/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay/replay.h - a trace made again under other kernels, or under its own as it happened.
 *
 * One pass over the trace drives any number of kernels at once. Each has spaces of its own, one for
 * each space of the trace; calls without a fixed address are placed by that kernel's own rule, and
 * later calls that name such memory find it there (replay/ground.h).
 */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/seam.h>

#include "trace/intern.h"
#include "trace/mail.h"
#include "trace/trace.h"

/* Which memory counts as touched: joining depends on it (docs/replay.md). */
enum replay_touch {
	TOUCH_DEFAULT,	/* recorded where the trace knows, else eager */
	TOUCH_RECORDED, /* what the trace tells */
	TOUCH_EAGER,	/* after each call, all writable private anonymous memory it made */
	TOUCH_NEVER,
};

/* Whose address space a trace has, where that is to be said. */
enum replay_layout {
	LAYOUT_DEFAULT, /* as the trace shows; scripts: i386 for kernels up to 2.6.24 */
	LAYOUT_I386,
	LAYOUT_X86_64,
};

struct replay_kernel {
	struct seam_policy policy;
	bool recorded; /* as it happened: recorded addresses, the truth taken where it differs */
};

/* A call as one kernel answered it. */
enum replay_answer {
	ANSWER_MADE,
	ANSWER_SKIPPED,	     /* the memory it names does not exist under this kernel */
	ANSWER_NOT_MODELLED, /* taken as recorded, changing nothing */
};

struct replay_outcome {
	enum replay_answer answer;
	int64_t result; /* a value, -errno or -SEAM_EBUG */
};

/* Sees what happens as it happens; members may be NULL. */
struct replay_watcher {
	/* A space has begun, with what it starts with. */
	void (*after_begin)(void *ctx, unsigned int kernel, const struct event *event,
			    const struct seam_space *space);
	/* @space is NULL when it is not there. */
	void (*before_call)(void *ctx, unsigned int kernel, const struct event *event,
			    const struct seam_space *space);
	/* After a call under a kernel; @space is NULL when it is not there. False ends the replay. */
	bool (*after_call)(void *ctx, unsigned int kernel, const struct event *event,
			   const struct replay_outcome *outcome, const struct seam_space *space);
	/* Before a space goes. */
	void (*before_end)(void *ctx, unsigned int kernel, uint32_t space_number,
			   const struct seam_space *space);
	void *ctx;
};

struct replay_options {
	const struct replay_kernel *kernels;
	unsigned int nr_kernels;
	enum replay_touch touch;
	enum replay_layout layout;
	bool place_recorded;	     /* no translation: memory lies where it was recorded */
	bool keep_maps;		     /* of each process at its end */
	bool guard_markers;	     /* remedy: guard pages become markers */
	uint64_t max_areas;	     /* 0: the host's own, or the kernel's default */
	uint32_t exec_only_pkey;     /* the same; a program that allocates keys may get another */
	uint64_t commit_limit_pages; /* as of struct seam_space_options; 0: not known, no limit */
	struct trace_options trace;
	const struct replay_watcher *watcher; /* may be NULL */
	/* Now and then, with the calls so far; may be NULL. */
	void (*progress)(void *ctx, uint64_t calls);
	void *progress_ctx;
};

/* What one kind of call did under one kernel. */
struct replay_counts {
	uint64_t calls, failed, failed_anew, skipped;
	uint64_t join_tries, joins, splits;
};

/* One mm of the trace. */
struct replay_process {
	uint32_t pid;
	char *comm; /* "" when not told */
};

/* The same under one kernel. */
struct replay_mm {
	uint64_t areas_end, areas_peak;
	struct seam_area *maps; /* with keep_maps */
	size_t nr_maps;
	uint64_t start_brk, brk; /* with keep_maps: where [heap] is */
	struct intern objects;	 /* the kernel's own, behind shared anonymous memory, by id */
	uint32_t *object_files;	 /* [number - 1]: the file that a truth showed it as */
	uint32_t room_objects;
};

/* A call that failed under a kernel. */
struct replay_failure {
	bool any;
	uint8_t call; /* enum trace_call */
	uint32_t line, pid;
	uint64_t number; /* of the call, from 1 */
	int64_t result;
};

struct replay_result {
	const struct replay_kernel *kernel;
	uint32_t vector;
	uint64_t areas_end, areas_peak;
	struct replay_counts total, by_call[TRACE_NR_CALLS];
	uint64_t touched_pages;	   /* by replayed faults */
	uint64_t touch_find_steps; /* steps of these, part of steps.find */
	struct seam_steps steps;
	uint64_t kernel_bytes; /* of the structures of the areas at their processes' ends */
	struct replay_failure first_failed, first_anew;
	struct replay_mm *mms; /* one a process */
	uint32_t nr_mms;
};

/* A place where the model and the kernel's own record differ. */
struct replay_difference {
	uint64_t call_number; /* the call before it; 0: none */
	uint8_t call;
	uint32_t line, pid;
	bool errno_differs; /* else the areas do */
	int64_t expected, found;
	struct seam_area model, truth; /* the first that differ; start == end: none there */
	bool has_model, has_truth;
};

#define REPLAY_MAX_DIFFERENCES 64
#define REPLAY_MAX_TIMINGS 8

struct replay_report {
	struct trace *trace; /* open, for the names of files */
	struct trace_facts facts;
	struct replay_process *processes;
	uint32_t nr_processes;
	struct replay_result *results;
	unsigned int nr_results;
	enum replay_touch touch; /* as it was used */
	bool guard_markers;	 /* the remedy was applied */
	bool i386;		 /* the trace's addresses fit into 32 bits */
	bool old_at_64_bits;	 /* a kernel up to 2.6.24 met 64-bit addresses */
	uint64_t not_modelled;	 /* calls whose effect on areas is not known here */
	uint64_t changes;	 /* that no call tells: the map was taken from the trace */
	/* as it happened */
	uint64_t checkpoints, differences, undetermined, resynced;
	struct replay_difference first[REPLAY_MAX_DIFFERENCES];
	unsigned int nr_first;
	struct mail_timing timings[REPLAY_MAX_TIMINGS]; /* that a mail quotes */
	size_t nr_timings;
	const char *notes[TRACE_MAX_REASONS]; /* constant texts */
	unsigned int nr_notes;
};

/*
 * Reads the trace to its end. The source must stay open as long as the report is used. The report
 * must be freed whatever the result.
 *  -EINVAL  a line or a block cannot be read: *ret_error tells
 *  -ENOMEM
 *  -ECANCELED  the watcher ended it; the report holds what was done so far
 */
int replay_run(struct source *source, const struct replay_options *options,
	       struct replay_report *ret_report, struct trace_error *ret_error);
/* Did the call fail? A break that is not the one asked for is how brk does. */
bool replay_failed(const struct event *event, const struct replay_outcome *outcome);
void replay_report_free(struct replay_report *report);

#endif
