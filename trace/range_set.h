/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/range_set.h - a set of addresses, kept as ranges that neither touch nor overlap: what an
 * importer knows to be mapped, or freed. A skip list: O(log n) each, plus the ranges removed.
 */
#ifndef TRACE_RANGE_SET_H
#define TRACE_RANGE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/range.h"

#define RANGE_SET_LEVELS 16

struct range_node;

/* All zero is an empty one. */
struct range_set {
	struct range_node *head[RANGE_SET_LEVELS];
	uint32_t random; /* the state of the coin that gives levels */
	uint32_t nr;	 /* ranges */
};

/* [start, end) belongs to the set from now on. -ENOMEM leaves a set that lacks some of it. */
int range_set_add(struct range_set *set, uint64_t start, uint64_t end);
/* [start, end) does not. -ENOMEM when a range in two pieces has lost the upper one. */
int range_set_remove(struct range_set *set, uint64_t start, uint64_t end);
/* The first range that has some of [start, end). */
bool range_set_find(const struct range_set *set, uint64_t start, uint64_t end,
		    struct range *ret_range);
/* Is any of it in the set; all of it? An empty range: neither. */
bool range_set_overlaps(const struct range_set *set, uint64_t start, uint64_t end);
bool range_set_covers(const struct range_set *set, uint64_t start, uint64_t end);
/* *@ret_set becomes a copy. -ENOMEM leaves it empty. */
int range_set_copy(const struct range_set *set, struct range_set *ret_set);
void range_set_free(struct range_set *set);

#endif
