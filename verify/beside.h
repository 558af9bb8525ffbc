/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/beside.h - the model beside a program that runs. Each call of the program is made in the
 * model too, with the kernel's result, and the areas that it may have changed are compared while the
 * program stands still; from time to time, at exec and at exit, the whole map with all its flags.
 * Where they differ the kernel's areas are taken over.
 */
#ifndef VERIFY_BESIDE_H
#define VERIFY_BESIDE_H

#include "probe/record.h"
#include "verify/compare.h"
#include "verify/history.h"

#define BESIDE_KEPT 64	       /* mismatches that are kept; all are counted */
#define BESIDE_CHANGES 16      /* kinds of changes that no call explains */
#define BESIDE_WHOLE_CALLS 256 /* struct record_options, truth_calls */

enum beside_when {
	BESIDE_CALL,	/* what the call left, or its result */
	BESIDE_FORK,	/* the child's map */
	BESIDE_BETWEEN, /* before the call: nothing known explains the change */
	BESIDE_WHOLE,	/* seen by a comparison of the whole map, after the call */
};

struct beside_mismatch {
	enum beside_when when;
	uint64_t number; /* of the call; 0: none was made yet */
	struct event call;
	char expected[DIFFERENCE_SIZE]; /* the model's result or areas */
	char found[DIFFERENCE_SIZE];	/* the kernel's */
	struct history before; /* BESIDE_CALL: what the call worked on, as the model had it */
};

/* What was changed by something that is no call of the program. */
struct beside_change {
	const char *what; /* a constant text, or the name of a call */
	uint64_t count;
	uint64_t start, end; /* the last place */
};

struct beside_result {
	uint64_t calls;	       /* that can change a map */
	uint64_t checked;      /* of these: result and areas compared */
	uint64_t undetermined; /* of the checked: see verify/history.h */
	uint64_t told; /* of the checked: hung on what was touched, which the kernel told (BPF) */
	/* not checked: */
	uint64_t overlapped;   /* they ran at the same time in one space */
	uint64_t not_modelled; /* the model does not know the call; its effect is taken over */
	uint64_t unseen;       /* the map could not be looked at */
	uint64_t whole;	       /* comparisons of whole maps */
	uint64_t nr_mismatches;
	struct beside_mismatch *mismatch[BESIDE_KEPT];
	unsigned int nr_kept;
	struct beside_change change[BESIDE_CHANGES];
	unsigned int nr_changes;
	const char *failed; /* why comparing ended before the program; NULL: it did not */
	bool ended;	    /* after as many mismatches as were wanted */
};

struct beside_options {
	const struct seam_policy *policy;
	const struct trace_host *host;
	uint64_t commit_limit_pages; /* what the host has for one call (struct host, options) */
	uint32_t exec_only_pkey;     /* the same */
	uint64_t max_mismatches;     /* then nothing more is compared; 0: no limit */
	bool eager; /* touches cannot be asked for: what can be written counts as touched */
};

struct beside;

/* -ENOMEM, or why the trace of a living program could not be begun. */
int beside_new(const struct beside_options *options, struct beside **ret_beside);
/* For struct record_options. */
const struct record_watcher *beside_watcher(const struct beside *beside);
const struct beside_result *beside_result(const struct beside *beside);
/* The file that a call names; NULL: none. */
const struct trace_file *beside_file(const struct beside *beside, const struct event *call);
void beside_free(struct beside *beside);

#endif
