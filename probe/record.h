/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/record.h - records every call that changes an address space of a process tree, by ptrace:
 * no privileges, no kernel support beyond ptrace and seccomp.
 *
 * A launched program gets a seccomp filter, so that only calls that can change a map stop. The
 * filter lives as long as the tree; without its tracer filtered calls would fail, so the tree is
 * killed when its tracer dies. With .survive, and for a process that runs already, all calls stop
 * instead, and the program goes on alone when the recorder ends.
 */
#ifndef PROBE_RECORD_H
#define PROBE_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/data.h"

/* A stopped task, for what a watcher may ask. */
struct record_stop;

/*
 * Follows a recording as it happens, in the recorder's own thread, while the task that an event is
 * about stands still. Members may be NULL.
 */
struct record_watcher {
	/* A file, before the first event that names it. */
	void (*file)(void *ctx, uint32_t number, const struct trace_file *file);
	/* A call at its entry: nothing of it has been done, result and duration are not set. */
	void (*before_call)(void *ctx, const struct event *call, const struct record_stop *stop);
	/* Each event, in order. */
	void (*event)(void *ctx, const struct event *event, const struct record_stop *stop);
	void *ctx;
};

/*
 * The areas of the stopped task's space with all that smaps shows, as an EVENT_TRUTH; they live
 * until the next event or call. -errno.
 */
int record_look(const struct record_stop *stop, struct event *ret_truth);

struct record_options {
	char **argv;  /* the program to launch; NULL: attach to pid */
	pid_t pid;    /* the process to attach to */
	bool survive; /* launched: no filter, the program outlives the recorder */
	bool stacks;  /* record the call stack of each call */
	/*
	 * Opens what events are written to, when the program runs or the process is attached, and the
	 * first of them is there: 0 or -errno, which result.write_err then has. The recorder does not
	 * close it. NULL: nothing is written.
	 */
	int (*open_writer)(void *ctx, struct data_writer **ret_writer);
	void *writer_ctx;
	const struct record_watcher *watcher; /* may be NULL */
	/*
	 * Calls of a space between two looks at its whole map, with all flags (0: few looks, and what
	 * maps shows). There are fewer where looking takes long.
	 */
	uint64_t truth_calls;
	/* Every call stops at its exit, so that the watcher sees the map as the call has left it. */
	bool exits;
	/* Something a person should know at once ("privilege lost: ..."). */
	void (*say)(const char *text);
};

struct record_result {
	int status;	      /* of the launched program, as a shell says it */
	int exec_errno;	      /* the program could not be run */
	int write_err;	      /* the first error of the writer, as -errno */
	bool interrupted;     /* a recording of a running process was ended by a signal */
	bool no_descriptions; /* open file descriptions could not be told apart */
	uint64_t calls, processes, spaces, threads;
	uint64_t areas_peak; /* the most that any look at a map saw */
	uint64_t ambiguous;  /* calls that overlapped others of their space */
	uint64_t elapsed_ns; /* wall time */
	uint64_t cpu_ns;     /* the recorder's own */
};

/* Facts about the host for the head of a recording. */
void record_host(struct trace_host *ret_host);

/*
 * Records until the tree has ended. -errno when nothing could be started or attached: -EPERM, the
 * process is not ours or traced already; -ESRCH; -ENOMEM.
 */
int record_run(const struct record_options *options, struct record_result *ret_result);

#endif
