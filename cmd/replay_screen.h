/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd/replay_screen.h - what "seam replay" tells people. */
#ifndef CMD_REPLAY_SCREEN_H
#define CMD_REPLAY_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd/options.h"
#include "replay/replay.h"

#define REPLAY_NR_FIELDS 13
/* The columns of its table, by the names that -F takes. */
extern const char *const replay_fields[REPLAY_NR_FIELDS];

struct replay_screen {
	const char *file;	   /* as the user wrote it */
	struct option_list fields; /* -F: these columns only, without sentences */
	bool no_header, maps;
};

/* 0 or -ENOMEM. */
int replay_screen(const struct replay_report *report, const struct replay_screen *screen,
		  FILE *out);

/* "6 (one address twice): 5 areas on 2.4.2, 1 on 2.2.13 and 2.4.3": calls that a text quotes. */
void replay_say_calls(const struct replay_report *report, FILE *out);

#endif
