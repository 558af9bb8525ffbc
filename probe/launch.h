/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/launch.h - starting a program that waits at a gate until its observer is ready, with the
 * signal mask and dispositions that seam itself was started with.
 */
#ifndef PROBE_LAUNCH_H
#define PROBE_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/clock.h"

struct launch {
	pid_t pid;
	int gate;	 /* the program waits until this is closed */
	int report;	 /* the errno of a failed exec comes out here */
	sigset_t mask;	 /* seam's own, to be restored */
	bool no_sigchld; /* seam was started with SIGCHLD ignored */
};

/*
 * Forks; the child waits at the gate. Blocks SIGCHLD and the signals that end a program in this
 * process until launch_end, so that launch_sleep can take them. -errno.
 */
int launch_start(struct launch *ret_launch, char **argv);
/* The same; the child runs @prepare before it waits. It gives 0, or -errno instead of the program. */
int launch_start_prepared(struct launch *ret_launch, char **argv, int (*prepare)(void));
void launch_open_gate(struct launch *launch);
/* True once the gate is open and exec has made the child the program, or has failed. */
bool launch_is_running(const struct launch *launch);
/* Ends a child that has not been let through the gate. */
void launch_cancel(struct launch *launch);

/*
 * Sleeps until a child has changed its state or the clock (CLOCK_MONOTONIC) says @until_ns. A
 * signal that somebody sent to seam alone is passed on to the program; what the terminal sends to
 * the whole group has reached it already.
 */
void launch_sleep(const struct launch *launch, uint64_t until_ns);

/*
 * Once the program has ended: the errno with which exec failed, the negative one of the
 * preparation, or 0. Restores the signals.
 */
int launch_end(struct launch *launch);

/* A signal that stops a process until SIGCONT. */
static inline bool is_stop_signal(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* A wait status as a shell says it: the exit status, or 128 + signal. */
int launch_status(int wait_status);

#endif
