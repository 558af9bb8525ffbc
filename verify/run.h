/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/run.h - a whole run: episodes of random operations, or scripts, and what came of them. */
#ifndef VERIFY_RUN_H
#define VERIFY_RUN_H

#include "probe/host.h"
#include "verify/play.h"

#define MAX_FINDINGS 64
#define RANDOM_FINDINGS 8 /* then random calls have shown enough */

/* A script of a file: operations, and its name there ("" when it is the only one). */
struct named_script {
	const char *name;
	const struct op *ops;
	uint32_t nr;
};

struct run_options {
	uint64_t calls; /* system calls to make */
	uint64_t seed;
	uint64_t only;	     /* kinds of call, a bit each; 0 all */
	uint64_t area_limit; /* every episode under a limit of so many areas; 0 now and then */
	uint32_t kind;	     /* WORLD(): what the processes are; see any_kind */
	bool any_kind;	     /* random calls: all in turn */
	bool stop;	     /* at the first mismatch */
	const struct host *host;
	const struct seam_policy *policy;
	/* Told now and then; may be NULL. */
	void (*progress)(uint64_t calls, uint64_t wanted);
};

struct finding {
	struct mismatch mismatch;
	uint32_t kind;	      /* WORLD(): what the process was */
	char name[64];	      /* of the script that was given */
	struct script script; /* the shortest that shows it */
};

/* Lies in memory that the processes of a run share. */
struct run {
	uint64_t calls, checked, undetermined, skipped;
	uint64_t whole;	    /* comparisons of the whole map with all flags */
	uint64_t truths;    /* and of what only the kernel itself knows */
	char no_truth[160]; /* why not; "" when it can be had */
	uint64_t episodes;  /* or scripts */
	uint32_t nr_findings;
	struct finding finding[MAX_FINDINGS];
	char failed[256]; /* why seam itself failed; "" when it did not */
	struct play play;
	struct script kept, tried; /* for making scripts short */
};

/* NULL: no memory. */
struct run *run_new(void);
void run_free(struct run *run);
/* Random calls. 0, or -errno with run->failed said. */
int run_random(struct run *run, const struct run_options *options);
/* Scripts, one after the other. */
int run_scripts(struct run *run, const struct run_options *options,
		const struct named_script *scripts, uint32_t nr);

#endif
