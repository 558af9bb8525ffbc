/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd/report_screen.h - what "seam report" tells people. */
#ifndef CMD_REPORT_SCREEN_H
#define CMD_REPORT_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#include "findings/activity.h"

struct report_screen {
	const char *file;
	unsigned int top; /* rows of each table */
	bool no_header;
};

/* 0 or -ENOMEM */
int report_screen(const struct activity *activity, const struct report_screen *screen, FILE *out);

#endif
