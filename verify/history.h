/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/history.h - outcomes that hang on what was touched, where nobody can tell.
 *
 * Whether neighbours join may depend on whether, and together with what, they were faulted. Where
 * the kernel's own state cannot be read, an outcome that differs from the model's is *undetermined*
 * when there is a history of the areas that touch the call's range, at most three, with which the
 * policy gives exactly the kernel's areas (docs/verify.md).
 */
#ifndef VERIFY_HISTORY_H
#define VERIFY_HISTORY_H

#include <stdbool.h>

#include "verify/reach.h"

#define HISTORY_AREAS 64 /* more within the range of one call are not gone into */
#define HISTORY_OPEN 3	 /* areas that may have any history where the kernel tells nothing */
#define HISTORY_MAX_OPEN 5

/* What a call may change, as it was before. */
struct history {
	struct seam_area area[HISTORY_AREAS];
	unsigned int nr;
	bool whole; /* nothing was left out */
	struct reach reach;
	uint64_t start_brk, brk;
};

/* Keeps the areas that @reach covers as they are before a call. */
void history_keep(struct history *history, const struct seam_space *space,
		  const struct reach *reach);

/*
 * Tries other histories of the areas around @call, if they are @max_open at most, the least changes
 * first, until @fits, which makes the call anew and compares, is content. Then the space is as that
 * left it. *next_anon: numbers for identities that nobody else has. 1 found, 0 none: the space is as
 * before the call, -SEAM_EALLOC.
 */
int history_search(const struct history *history, const struct event *call, unsigned int max_open,
		   struct seam_space *space, uint32_t *next_anon, bool (*fits)(void *ctx),
		   void *ctx);

#endif
