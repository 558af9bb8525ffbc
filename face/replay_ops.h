/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * face/replay_ops.h - what each operation of a script gave under one kernel, and the map behind it:
 * "seam replay --format ops" (docs/ops.md).
 */
#ifndef FACE_REPLAY_OPS_H
#define FACE_REPLAY_OPS_H

#include <stdbool.h>
#include <stdio.h>

#include "replay/replay.h"

struct ops_writer {
	FILE *out;
	const struct replay_report *report; /* of the replay that is running */
	bool shows_anon_vma;
	/* its own */
	uint64_t operations;
	bool map_printed; /* behind the last operation */
	bool stopped;	  /* by an assertion of the modelled kernel */
};

/* Writes the first line; *ret_watcher goes with replay_run. */
void ops_begin(struct ops_writer *writer, const struct seam_policy *policy, const char *file,
	       struct replay_watcher *ret_watcher);

#endif
