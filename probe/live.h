/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/live.h - the areas of a living process, from the best source that answers.
 */
#ifndef PROBE_LIVE_H
#define PROBE_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/snapshot.h"

struct live_options {
	/*
	 * Read smaps whatever it costs. Without it, smaps of another user's process is read only
	 * when the process has few areas: reading holds it up, 1.3 to 4 µs an area.
	 */
	bool all;
	/* Skip the sources above this one: "smaps" or "maps"; NULL: the best. For tests. */
	const char *source;
};

struct live_error {
	char text[256]; /* for people */
};

/*
 * Reads the map of @pid: tries the readers of probe/live.c, best first; one that does not work here
 * leaves a note in the snapshot.
 *  -EACCES, -ENOENT, -ESRCH, -ENOMEM, -EINVAL; *ret_error tells why and what would help
 */
int snapshot_live(pid_t pid, const struct live_options *options, struct snapshot *ret_snapshot,
		  struct live_error *ret_error);

/* A way to read a living process (one row of the table in probe/live.c). */
struct live_reader {
	const char *source; /* as in struct snapshot */
	/*
	 * -EOPNOTSUPP: it does not work here or for this process, try the next; *ret_note may then
	 * name what is missing (a constant text).
	 */
	int (*read)(pid_t pid, const struct live_options *options, struct snapshot *ret_snapshot,
		    struct live_error *ret_error, const char **ret_note);
};

void snapshot_note(struct snapshot *snapshot, const char *note);

#endif
