/* SPDX-License-Identifier: BSD-2-Clause */
/* ui/progress.h - a line on a terminal for work that lasts over a second. */
#ifndef UI_PROGRESS_H
#define UI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what; /* "calls replayed" */
	uint64_t begin_ns, shown_ns;
	bool on_terminal;
};

/* Standard error; nothing is ever printed when it is no terminal. */
void progress_begin(struct progress *progress, const char *what);
/* @done so far. Cheap, but not for every call. */
void progress_step(struct progress *progress, uint64_t done);
/* Takes the line away. */
void progress_end(struct progress *progress);

#endif
