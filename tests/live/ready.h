/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/live/ready.h - a program that is looked at: it says when, and ends when that is done. */
#ifndef TESTS_LIVE_READY_H
#define TESTS_LIVE_READY_H

#include <stdio.h>
#include <stdnoreturn.h>
#include <unistd.h>

static inline noreturn void ready(void)
{
	char line[32];
	int len = snprintf(line, sizeof(line), "READY %d\n", getpid());

	if (write(1, line, (size_t)len) != len || read(0, line, 1) < 0)
		_exit(1);
	_exit(0);
}

#endif
