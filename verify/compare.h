/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/compare.h - the areas of a model against those of the kernel. */
#ifndef VERIFY_COMPARE_H
#define VERIFY_COMPARE_H

#include <seam/space.h>

#include "verify/look.h"

#define DIFFERENCE_SIZE 1024

/* What is unlike, for people: a few areas of each side, a line each. */
struct difference {
	uint64_t at;
	char expected[DIFFERENCE_SIZE]; /* the model's */
	char found[DIFFERENCE_SIZE];	/* the kernel's */
};

/*
 * The areas in and beside [start, end): ranges, permissions, offsets of files. A long range with
 * many areas is looked at from both of its ends. 0 equal, 1 and *ret_difference, -errno.
 */
int compare_near(const struct seam_space *space, struct look *look, uint64_t start, uint64_t end,
		 struct difference *ret_difference);

/* All areas in and beside [start, end), in the same respects. */
int compare_range(const struct seam_space *space, struct look *look, uint64_t start, uint64_t end,
		  struct difference *ret_difference);

/* All areas with all flags that smaps shows. */
int compare_all(const struct seam_space *space, struct look *look,
		struct difference *ret_difference);

/* One area as the lines above show it, with its flags, into DIFFERENCE_SIZE bytes; NULL: none. */
void compare_show(const struct seam_area *area, char *ret_line);

/* The totals that the kernel keeps: mapped, locked, data, stack (/proc/PID/status). */
int compare_totals(const struct seam_space *space, pid_t pid, struct difference *ret_difference);

#endif
