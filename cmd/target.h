/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd/target.h - PID, FILE or "-": the snapshot behind a verb's argument. */
#ifndef CMD_TARGET_H
#define CMD_TARGET_H

#include <stdbool.h>

#include "cmd/cmd.h"
#include "probe/live.h"
#include "trace/snapshot.h"

struct target {
	const char *file; /* as the user wrote it; NULL for a living process */
	int pid;
	struct live_options live;
	bool skip_bad; /* leave out lines that cannot be read */
};

/*
 * All digits are a pid; anything else is a file ("./123" too), "-" standard input. 0, or EXIT_USAGE
 * after a message when there is none (NULL).
 */
int target_parse(const struct cmd *cmd, const char *argument, struct target *ret_target);
/* 0, or EXIT_FAILED after a message. The snapshot keeps nothing of a file open. */
int target_read(const struct target *target, struct snapshot *ret_snapshot);
/* "FILE" without its folder, or "comm PID": how a line about it begins. */
void target_label(const struct target *target, const struct snapshot *snapshot, char *buf,
		  size_t size);
/* What --skip-bad has left out, if anything, in a sentence. */
void target_print_bad(const struct snapshot *snapshot, FILE *out);

#endif
