/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay/ground.h - where recorded memory lies under another kernel.
 *
 * A program names memory by addresses that its kernel gave it. Another kernel places the same maps
 * elsewhere, so each recorded range that was placed is remembered with its distance:
 *
 *	recorded:  .....[a    b).........[c  d).....
 *	            here | moved | here  | gone | here
 *
 * *Here* is ground that means the same address under both. *Gone* is memory that the other kernel
 * did not make, since the call failed there. A range of this kernel that holds memory recorded
 * elsewhere is *taken*: a recorded call on the same numbers does not mean it.
 */
#ifndef REPLAY_GROUND_H
#define REPLAY_GROUND_H

#include "replay/range_map.h"

/* All zero: everything is here. */
struct ground {
	struct range_map moved; /* recorded ranges: distance to this kernel's; lost; freed */
	struct range_map taken; /* this kernel's ranges that hold memory recorded elsewhere */
};

enum ground_kind {
	GROUND_HERE,
	GROUND_MOVED,
	GROUND_FREED, /* had moved, and the record freed it: a fixed map belongs there again */
	GROUND_GONE,
	GROUND_TAKEN,
};

/* Memory that the record has is there. */
static inline bool has_memory(enum ground_kind kind)
{
	return kind == GROUND_HERE || kind == GROUND_MOVED;
}

/* A piece of a recorded range that is of one kind throughout. */
struct piece {
	enum ground_kind kind;
	uint64_t start, end; /* recorded */
	uint64_t at;	     /* where start lies under this kernel; GONE: no meaning */
};

static inline bool ground_is_plain(const struct ground *ground)
{
	return range_map_is_empty(&ground->moved) && range_map_is_empty(&ground->taken);
}

/* The first piece of the recorded range [start, end). False when it is empty. */
bool ground_next(struct ground *ground, uint64_t start, uint64_t end, struct piece *ret_piece);
/* The same without a look at what is taken: never GROUND_TAKEN. */
bool ground_next_recorded(struct ground *ground, uint64_t start, uint64_t end,
			  struct piece *ret_piece);
/* Is any of this kernel's [start, end) taken? */
bool ground_is_taken(struct ground *ground, uint64_t start, uint64_t end);
/* Where a recorded address lies, whatever is there. */
uint64_t ground_translate(struct ground *ground, uint64_t addr);

/* What follows gives 0 or -ENOMEM. */

/* Recorded memory [start, start + len) lies at @at under this kernel. */
int ground_settle(struct ground *ground, uint64_t start, uint64_t len, uint64_t at);
/* Recorded memory [start, start + len) does not exist under this kernel. */
int ground_lose(struct ground *ground, uint64_t start, uint64_t len);
/* This kernel made [at, at + len), which the record does not know. */
int ground_take(struct ground *ground, uint64_t at, uint64_t len);
/* The record freed [start, end). Where it was is remembered for fixed maps to come. */
int ground_freed(struct ground *ground, uint64_t start, uint64_t end);
/* The same for one piece. */
int ground_freed_piece(struct ground *ground, const struct piece *piece);
/* The numbers [start, end) mean this kernel's own ground again. */
int ground_forget(struct ground *ground, uint64_t start, uint64_t end);
/* This kernel freed [at, at + len). */
int ground_release(struct ground *ground, uint64_t at, uint64_t len);

int ground_copy(const struct ground *ground, struct ground *ret_copy);
void ground_free(struct ground *ground);

#endif
