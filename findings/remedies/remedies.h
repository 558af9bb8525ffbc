/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings/remedies/remedies.h - what a person can do about a group, as data: one table for changes
 * of a program's own code, one for each run time or allocator that has a setting.
 *
 * How many areas would be left is computed: the join predicate goes through the whole map once
 * more, left to right, with what the remedy takes away gone from between the areas of its group.
 */
#ifndef FINDINGS_REMEDIES_H
#define FINDINGS_REMEDIES_H

#include <stdbool.h>
#include <stdint.h>

#include "findings/findings.h"

struct remedy {
	const char *name; /* of the closed list of the JSON contract */
	enum group group;
	const char *what;   /* what to do, one sentence without its full stop */
	const char *needs;  /* "Linux 6.13"; NULL: nothing */
	const char *source; /* where the advice is from */
	bool confirmed;	    /* was tried: the areas that were computed were left */
	/*
	 * The program would have to be started anew with it, so the memory is made as it is told:
	 * what the past left in the areas does not count.
	 */
	bool anew;
	uint32_t drops;	      /* causes that go from between areas of the group */
	uint64_t drops_flags; /* flag bits in which they may differ then; 0 with "flags": any */
	bool one_file;	      /* "file" goes only between mappings of one device and inode */
	bool drops_areas;     /* the areas of the group are not made at all */
	/* How many of the group are not made; no others join for that. NULL: see drops_areas. */
	uint64_t (*fewer)(const struct findings *findings, const struct group_row *row);
	bool newer_kernel; /* by the newest policy */
	bool for_pressure; /* offered only when the count presses: it makes no area fewer */
	/* Whether it can be had here; NULL: always. */
	bool (*fits)(const struct findings *findings, const struct group_row *row);
};

/* The tables, each ended by an entry without a name. */
extern const struct remedy remedies_of_code[];
extern const struct remedy remedies_of_glibc[];
extern const struct remedy remedies_of_jemalloc[];
extern const struct remedy remedies_of_jvm[];
extern const struct remedy remedies_of_libgc[];
extern const struct remedy remedies_of_mimalloc[];

/* Fills remedies. -ENOMEM. */
int remedies_find(struct findings *findings);

/* The areas of the group that show the same part of a file as another, with the same rights. */
uint64_t repeated_windows(const struct findings *findings, const struct group_row *row);

/* True when a file whose name contains @name is mapped: how a run time or allocator is told. */
bool maps_file(const struct snapshot *snapshot, const char *name);

#endif
