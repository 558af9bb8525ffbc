/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd/show_screen.h - "seam show" as people read it: the answer, tables, one hint. */
#ifndef CMD_SHOW_SCREEN_H
#define CMD_SHOW_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#include "findings/show.h"

struct show_growth {
	bool known;
	double per_minute; /* areas */
};

/* "65,412 of 65,530 mappings (vm.max_map_count), ...", what follows the name and its colon. */
void show_verdict(const struct show *show, const struct show_growth *growth, FILE *out);

/* Everything: verdict with @label, tables, notes, hint. -ENOMEM. */
int show_screen(const struct show *show, const char *label, const struct show_growth *growth,
		bool header, FILE *out);

#endif
