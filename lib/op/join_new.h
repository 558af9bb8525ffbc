/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/op/join_new.h - a new range finds its place among its neighbours: mmap, brk, and what mremap
 * copies or adds.
 *
 *	[ prev )[ area )[ next )	prev, next: where they touch
 *
 * The request is decided first and carried out then, so that a caller may look at the outcome.
 * Source: 6.18 mm/vma.c vma_merge_new_range.
 */
#ifndef LIB_OP_JOIN_NEW_H
#define LIB_OP_JOIN_NEW_H

#include "lib/area.h"

struct join_new {
	struct area area;    /* as it would be alone; anon: what a copy has of its source */
	bool left_only;	     /* brk: what lies above is not looked at */
	bool right_first;    /* mmap, by the rule fill_right */
	bool extends;	     /* the range is added to prev by mremap, as a part of it */
	uint64_t prev_above; /* brk: what ends here or below is no neighbour */
	uint64_t apart_from; /* nonzero: the area that starts here is not to be joined ... */
	bool alone_beside;   /* ... nor is anything, where that one touches */
	bool alone;	     /* nothing is */

	bool sought; /* has_next, next_at: the first area that ends behind the range's start */
	bool beside; /* has_prev, prev, has_next, next: what will be beside it, touching or not */

	/* what join_new_decide found */
	bool joins_left, joins_right;
	bool has_prev, has_next;
	struct cursor prev_at, next_at;
	struct area prev, next;
};

/* A request about @area without conditions. What it finds is not set. */
static inline void join_new_init(struct join_new *join, const struct area *area)
{
	join->area = *area;
	join->left_only = join->right_first = join->extends = join->alone_beside = false;
	join->alone = join->sought = join->beside = false;
	join->prev_above = join->apart_from = 0;
}

/* Which neighbours the range, which must be free, will join. Counts the tries. */
void join_new_decide(struct seam_space *space, struct join_new *join);
/* Does it, or puts the range in as an area of its own; *ret_cursor on the result. -SEAM_EALLOC */
int join_new_commit(struct seam_space *space, const struct join_new *join,
		    struct cursor *ret_cursor);

#endif
