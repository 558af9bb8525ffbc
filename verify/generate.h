/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/generate.h - random operations, weighted towards what joins, splits and fails.
 *
 * An episode has a character of its own: few protections, few flags, a few kinds of call, drawn
 * anew each time. So areas are alike often enough to join, and over many episodes everything meets
 * everything. The model is asked where areas begin and end.
 */
#ifndef VERIFY_GENERATE_H
#define VERIFY_GENERATE_H

#include "verify/script.h"
#include "verify/world.h"

#define MAX_REGIONS 24
#define MAX_GUARDED 32

/* Memory that operations name: at a fixed place, or relative to what an operation gave. */
struct region {
	uint32_t ref; /* operation; 0 fixed */
	uint64_t base, len;
};

struct character {
	uint16_t weight[OP_EXIT + 1];
	uint8_t prots[4];
	uint8_t nr_prots;
	uint8_t advices[4];
	uint8_t nr_advices;
	uint8_t file;	     /* the number of the one that is mapped most */
	uint64_t area_limit; /* 0: as it is */
	bool files, shared, noreserve, populate, locked, stacks, placed, low, wide, droppable, huge;
	bool limits, errors;
};

struct generator {
	uint64_t random;
	struct character is;
	struct region region[MAX_REGIONS]; /* [0] the arena */
	unsigned int nr_regions;
	struct region heap; /* once brk has been asked */
	/* where guard markers may be, or an object's end: the model does not keep pages */
	struct range guarded[MAX_GUARDED];
	unsigned int nr_guarded;
	bool moves_touched; /* the next operation is mremap of memory that has an anon_vma */
	bool chosen;	    /* by the user: none of them is left out by chance */
	uint64_t total_weight;
};

/* @only: the calls to make, a bit each (1 << enum trace_call); 0 all. @area_limit: 0 by chance. */
void generate_begin(struct generator *gen, const struct world *world, uint64_t seed, uint64_t only,
		    uint64_t area_limit);
/* The next operation for @world after those of @script. */
void generate_next(struct generator *gen, const struct world *world, const struct script *script,
		   struct op *ret_op);
/* Tells what it gave. */
void generate_learn(struct generator *gen, const struct world *world, uint32_t number,
		    const struct op *op, const uint64_t *args, int64_t result);

/* In a child by fork: it draws other numbers than its parent. */
void generate_forked(struct generator *gen, uint32_t space);
/* Whose turn it is next. */
uint32_t generate_turn(struct generator *gen, const bool *alive, uint32_t nr_spaces,
		       uint32_t current);

#endif
