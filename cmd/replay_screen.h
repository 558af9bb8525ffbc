/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd/replay_screen.h - what "seam replay" tells people. */
#ifndef CMD_REPLAY_SCREEN_H
#define CMD_REPLAY_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#include "replay/replay.h"

struct replay_screen {
	const char *file;   /* as the user wrote it */
	const char *fields; /* -F: these columns only, without sentences; NULL: all */
	bool no_header, maps;
};

/* 0, -EINVAL when a name in @fields is no column, or -ENOMEM. */
int replay_screen(const struct replay_report *report, const struct replay_screen *screen,
		  FILE *out);

/* "6 (one address twice): 5 areas on 2.4.2, 1 on 2.2.13 and 2.4.3": calls that a text quotes. */
void replay_say_calls(const struct replay_report *report, FILE *out);

#endif
