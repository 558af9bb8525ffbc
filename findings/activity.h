/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings/activity.h - who makes and removes the areas of a trace: by call, thread, file and call
 * site; which calls fail; what becomes of their number.
 */
#ifndef FINDINGS_ACTIVITY_H
#define FINDINGS_ACTIVITY_H

#include "findings/growth.h"
#include "replay/replay.h"

struct activity_counts {
	uint64_t calls, failed;
	uint64_t made, removed; /* areas more and less after calls than before */
	uint64_t splits, joins, refused;
};

struct activity_row {
	uint64_t key;
	char *name;
	struct activity_counts counts;
	uint64_t areas_end; /* by file: areas of it at the ends of the processes */
};

/* What calls can be told apart by: X(name) */
#define ACTIVITY_KINDS(X)                                                                          \
	X(call)                                                                                    \
	X(thread)                                                                                  \
	X(file)                                                                                    \
	X(site)

enum activity_kind {
#define ACTIVITY_ENUM(name) ACTIVITY_BY_##name,
	ACTIVITY_KINDS(ACTIVITY_ENUM)
#undef ACTIVITY_ENUM
		ACTIVITY_NR_KINDS
};

struct activity_table {
	struct activity_row *rows; /* after activity_run: by areas made, most first */
	uint32_t nr, room;
	uint32_t *slots; /* a hash table: 1 + row */
	uint32_t nr_slots;
};

struct activity_space {
	uint64_t areas; /* so far */
	struct seam_stats seen;
	struct series series;
	struct growth growth;
	uint64_t limit;
};

struct activity_failure {
	uint8_t call;
	int64_t result; /* -errno; brk: the break that stayed */
	uint64_t calls;
	uint64_t first_call;
	uint32_t first_line, first_pid;
};

struct activity_cause {
	uint32_t causes; /* a set of SEAM_CAUSE() */
	uint64_t pairs;
};

struct activity {
	struct replay_report replay; /* under one kernel */
	struct seam_policy policy;
	struct activity_table tables[ACTIVITY_NR_KINDS];
	struct activity_space *spaces; /* one a process */
	uint32_t nr_spaces, room_spaces;
	struct activity_failure *failures; /* most calls first */
	uint32_t nr_failures, room_failures;
	struct activity_cause *causes; /* of the pairs at the ends; most first */
	uint32_t nr_causes, room_causes;
	bool has_stacks;
	/* of the call that is being made */
	uint64_t file_key;
	int error;
};

/*
 * Replays the trace under one kernel and looks on. Errors as of replay_run; the activity must be
 * freed whatever the result.
 */
int activity_run(struct source *source, const struct replay_options *options,
		 struct activity *ret_activity, struct trace_error *ret_error);
void activity_free(struct activity *activity);

/* The process with the most areas at its peak. */
uint32_t activity_largest(const struct activity *activity);

#endif
