/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd/show_screen.h - "seam show" as people read it: the answer, tables, one hint. */
#ifndef CMD_SHOW_SCREEN_H
#define CMD_SHOW_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#include "findings/show.h"

/* What the first line tells besides. */
struct show_extra {
	bool growth_known;
	double per_minute;    /* areas */
	const char *as_calls; /* what the calls that a text quotes come to; NULL */
};

/* "65,412 of 65,530 mappings (vm.max_map_count), ...", what follows the name and its colon. */
void show_verdict(const struct show *show, const struct show_extra *extra, FILE *out);

/* Everything: verdict with @label, tables, notes, hint. -ENOMEM. */
int show_screen(const struct show *show, const char *label, const struct show_extra *extra,
		bool header, FILE *out);

#endif
