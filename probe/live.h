/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/live.h - the areas of a living process, from the best source that answers.
 */
#ifndef PROBE_LIVE_H
#define PROBE_LIVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "trace/snapshot.h"

struct live_options {
	/*
	 * Read smaps whatever it costs. Without it, smaps of another user's process is read only
	 * when the process has few areas: reading holds it up, 1.3 to 4 µs an area.
	 */
	bool all;
	/*
	 * Once all files are open, give up every right but those that the BPF iterator needs. The
	 * process can then read no other's memory any more.
	 */
	bool drop_rights;
	/* Do not look for guard markers, which takes a walk through all page tables. */
	bool no_guards;
	/* Begin with this source ("smaps", "maps") instead of the best; NULL. */
	const char *source;
};

struct live_error {
	char text[512]; /* for people */
};

/*
 * Reads the map of @pid: tries the readers of probe/live.c, best first; one that does not work here
 * leaves a note in the snapshot.
 *  -EACCES, -ENOENT, -ESRCH, -ENOMEM, -EINVAL; *ret_error tells why and what would help
 */
int snapshot_live(pid_t pid, const struct live_options *options, struct snapshot *ret_snapshot,
		  struct live_error *ret_error);

#endif
