/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings/top.h - all processes by the number of their areas, look after look.
 */
#ifndef FINDINGS_TOP_H
#define FINDINGS_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <seam/policy.h>

#define TOP_WHAT_SIZE 64

struct top_row {
	pid_t pid;
	uid_t uid;
	char comm[32];
	uint64_t areas;
	bool closed;		  /* may not be counted */
	uint64_t first_areas;	  /* when it was first seen, */
	uint64_t first_ns;	  /* and when that was */
	uint64_t told_areas;	  /* the count for which what was found out */
	char what[TOP_WHAT_SIZE]; /* what makes most of its map; "" when not looked at */
};

enum top_order { TOP_BY_AREAS, TOP_BY_GROWTH, TOP_BY_PID, TOP_BY_COMM, TOP_NR_ORDERS };
/* "areas", "growth", "pid", "comm"; NULL out of range. */
const char *top_order_name(enum top_order order);

struct top {
	struct top_row *rows;
	size_t nr;
	size_t nr_closed;
	uint64_t limit; /* vm.max_map_count at the last look */
	uint64_t now_ns;
	const char *source; /* "bpf" or "maps" */
	bool hides_others;  /* /proc shows no process of another user */
};

/* The first and every later look: rows of processes that live on keep their history. -errno. */
int top_look(struct top *top);
/* Largest first, or the other way round. */
void top_sort(struct top *top, enum top_order order, bool reverse);
/*
 * Finds out what @nr rows from @first on consist of, reading at most @max_areas areas in all besides
 * those of the first of them; what has hardly changed since is not read again.
 */
void top_explain(struct top *top, size_t first, size_t nr, const struct seam_policy *policy,
		 uint64_t max_areas);
/* Areas a minute since first seen; false when seen but once. */
bool top_growth(const struct top *top, const struct top_row *row, double *ret_per_minute);
void top_free(struct top *top);

#endif
