/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/read.h - operation scripts as something to play. */
#ifndef VERIFY_READ_H
#define VERIFY_READ_H

#include "trace/source.h"
#include "trace/trace.h"
#include "verify/run.h"

/* The scripts of one file. */
struct scripts {
	struct named_script *list;
	uint32_t nr, room;
	char *names; /* the file's text, cut into its names */
};

/*
 * Reads a file: one script, or several, each behind a line "== NAME".
 *  -EINVAL  not an operation script, or a line that cannot be read; *ret_error tells
 *  -E2BIG   over SCRIPT_MAX operations in one
 *  -ENOMEM
 */
int scripts_read(struct source *source, struct scripts *ret_scripts, struct trace_error *ret_error);
void scripts_free(struct scripts *scripts);

#endif
