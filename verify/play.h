/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/play.h - playing a script, or an episode of random operations, in processes of their own:
 * each operation is made for real by the process whose it is and in that process's space of the
 * model, and the two are compared. The processes take turns; the spaces lie in memory they share.
 */
#ifndef VERIFY_PLAY_H
#define VERIFY_PLAY_H

#include <sys/types.h>

#include "verify/generate.h"
#include "verify/script.h"
#include "verify/world.h"

#define MAX_SPACES 8
#define NOBODY UINT32_MAX

/* One call at which model and kernel part. */
struct mismatch {
	uint32_t at;	   /* the operation's number - 1 */
	bool in_all;	   /* seen by the comparison of the whole map */
	bool late;	   /* areas were not compared after each call: it may have come earlier */
	uint8_t kind;	   /* of the call: enum trace_call */
	int32_t errors[2]; /* of model and kernel; 0 for success */
	char call[OP_TEXT_SIZE];
	char expected[DIFFERENCE_SIZE + 2 * OP_TEXT_SIZE]; /* the model's result or areas */
	char found[DIFFERENCE_SIZE + 2 * OP_TEXT_SIZE];	   /* the kernel's */
};

/* Whether two are alike but for addresses: the same call, the same results. */
bool mismatch_alike(const struct mismatch *a, const struct mismatch *b);

/* Lies in memory that the processes share. */
struct play {
	uint64_t calls;	  /* system calls made and compared */
	uint64_t skipped; /* operations that referred to a failed one, or cannot be made here */
	uint64_t undetermined; /* calls whose outcome hangs on what the model does not keep */
	uint64_t whole;	       /* comparisons of the whole map with all flags */
	uint64_t truths;       /* and of what only the kernel itself knows (verify/truth.h) */
	bool found;	       /* a mismatch, described in: */
	struct mismatch mismatch;
	char failed[256]; /* why seam itself failed; "" when it did not */

	struct script script;
	uint32_t next; /* operation */
	uint32_t turn; /* the space whose turn it is; NOBODY: all is over. A futex. */
	uint32_t nr_spaces;
	bool alive[MAX_SPACES];
	uint32_t parent[MAX_SPACES];
	pid_t pid[MAX_SPACES];
	struct seam_space *space[MAX_SPACES];
};

/*
 * Plays play->script from its beginning in a child of the caller, whose world it begins in, and
 * waits for its end. @all_each_time: the whole map is compared after every operation.
 * -errno, with play->failed said, when the processes came to grief; play->found else.
 */
int play_script(struct play *play, struct world *world, bool all_each_time);
/* The same with operations of @gen, which become the script, until @calls have been made. */
int play_random(struct play *play, struct world *world, struct generator *gen, uint64_t calls);

#endif
