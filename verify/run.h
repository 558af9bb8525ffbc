/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/run.h - running operations for real and in the model, and what came of it. */
#ifndef VERIFY_RUN_H
#define VERIFY_RUN_H

#include "probe/host.h"
#include "verify/compare.h"
#include "verify/script.h"

#define MAX_MISMATCHES 8

struct run_options {
	uint64_t calls; /* system calls to make */
	uint64_t seed;
	uint64_t only; /* kinds of call, a bit each; 0 all */
	bool stop;     /* at the first mismatch */
	const struct host *host;
	const struct seam_policy *policy;
	/* Told now and then; may be NULL. */
	void (*progress)(uint64_t calls, uint64_t wanted);
};

/* One call at which model and kernel part. */
struct mismatch {
	char call[OP_TEXT_SIZE];
	char expected[DIFFERENCE_SIZE + 2 * OP_TEXT_SIZE]; /* the model's result or areas */
	char found[DIFFERENCE_SIZE + 2 * OP_TEXT_SIZE];	   /* the kernel's */
	struct script script;				   /* the shortest that shows it */
};

/* Lies in memory that the processes of a run share. */
struct run {
	uint64_t calls, checked, undetermined;
	uint64_t whole; /* comparisons of the whole map with all flags */
	uint64_t episodes;
	uint32_t nr_mismatches;
	struct mismatch mismatch[MAX_MISMATCHES];
	char failed[256]; /* why seam itself failed; "" when it did not */
	/* between the processes */
	struct script script, tried;
	bool found;  /* the last script showed a mismatch, described in: */
	bool in_all; /* seen by the comparison of the whole map */
	uint32_t at; /* number of the operation */
	struct mismatch now;
};

/* NULL: no memory. */
struct run *run_new(void);
void run_free(struct run *run);
/* Random calls. 0, or -errno with run->failed said. */
int run_random(struct run *run, const struct run_options *options);

#endif
