/* SPDX-License-Identifier: BSD-2-Clause */
#include "ui/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "ui/table.h"

#define SILENT_NS UINT64_C(1000000000)
#define BETWEEN_NS UINT64_C(200000000)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void progress_begin(struct progress *progress, const char *what)
{
	*progress = (struct progress) {
		.what = what,
		.begin_ns = now_ns(),
		.on_terminal = isatty(STDERR_FILENO),
	};
}

void progress_step(struct progress *progress, uint64_t done)
{
	char count[SHORT_TEXT];
	uint64_t now;

	if (!progress->on_terminal)
		return;
	now = now_ns();
	if (now - progress->begin_ns < SILENT_NS || now - progress->shown_ns < BETWEEN_NS)
		return;
	progress->shown_ns = now;
	fprintf(stderr, "\r%s %s", count_text(count, done), progress->what);
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->shown_ns) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	progress->shown_ns = 0;
}
