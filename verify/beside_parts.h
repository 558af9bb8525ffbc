/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/beside_parts.h - the parts of the model beside a program: beside.c follows the recording,
 * beside_call.c makes calls and judges them, beside_map.c holds the model against the kernel's map.
 */
#ifndef VERIFY_BESIDE_PARTS_H
#define VERIFY_BESIDE_PARTS_H

#include "replay/lane.h"
#include "replay/layout.h"
#include "trace/snapshot.h"
#include "verify/beside.h"

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

/* beside.c */

/* Comparing ends here, and says @why; the program goes on. */
void beside_fail(struct beside *beside, const char *why);
/* NULL: a space that is not there in the model. */
struct beside_mm *beside_mm_of(const struct beside *beside, uint32_t number);
struct seam_space *beside_space_of(const struct beside *beside, uint32_t number);
/* Nothing more is looked at in this one. */
void beside_close_look(struct beside_mm *mm);
/* Something that no call of the program did; @area: where, may be NULL. */
void beside_count_change(struct beside *beside, const char *what, const struct seam_area *area);
/* NULL: it is counted, and not kept. */
struct beside_mismatch *beside_add_mismatch(struct beside *beside, enum beside_when when,
					    const struct event *call, uint64_t number);
/* What hung on which memory was faulted is settled: the kernel has @told, or nobody can tell. */
void beside_count_settled(struct beside *beside, bool told);

/* beside_map.c */

/* What the kernel itself has, with anon_vmas. False where that is not to be had. */
bool beside_read_kernel(struct beside *beside, pid_t tid, struct snapshot *ret_snapshot);
/* The areas within reach and beside it. 0 equal, 1 and *ret, -errno. */
int beside_compare_reach(struct beside *beside, struct beside_mm *mm,
			 const struct seam_space *space, const struct reach *reach,
			 struct difference *ret);
/*
 * Holds the space against a whole map with all flags and takes over what differs. How many places
 * that are, other than grown stacks; -errno.
 */
int beside_take_truth(struct beside *beside, const struct event *truth);
/* All areas, and the anon_vmas where the kernel tells of them. As beside_take_truth. */
int beside_take_over(struct beside *beside, uint32_t space, pid_t tid,
		     const struct record_stop *stop);
/*
 * What the last look at a whole map took over came about without a call of the program: each place
 * by its name, or as a mismatch where nothing known does such a thing.
 */
void beside_name_changes(struct beside *beside, enum beside_when when, uint32_t space,
			 const struct event *call, uint64_t number, pid_t tid);

/* beside_call.c */

/* Before a call: what is not as the last call left it, no call has changed. */
void beside_enter_call(struct beside *beside, const struct event *call,
		       const struct record_stop *stop);
/* The call was made, or its task was killed in it. */
void beside_take_call(struct beside *beside, const struct event *call,
		      const struct record_stop *stop);

#endif
