/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/clock.h - the clocks, in nanoseconds. */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

static inline uint64_t clock_ns_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Since some moment; never set back. */
static inline uint64_t clock_ns(void)
{
	return clock_ns_of(CLOCK_MONOTONIC);
}

/* That this thread has computed. */
static inline uint64_t clock_thread_ns(void)
{
	return clock_ns_of(CLOCK_THREAD_CPUTIME_ID);
}

#endif
