/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd/cmd.h - the verbs: one file a verb, one const struct cmd each, listed in cmd/main.c.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd/options.h"

/* Exit statuses (docs, product manners). */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_SEAM_FAILED = 125 };

struct cmd {
	const char *name;
	const char *synopsis; /* behind "seam VERB " */
	const char *summary;  /* one line for the list of verbs; NULL: it is not listed */
	const char *about;    /* what help says before the options, or NULL; a line a paragraph */
	const char *notes;    /* and behind them */
	const struct cmd_option *options;
	bool options_first;		   /* none behind the first operand: those are its own */
	int (*run)(int argc, char **argv); /* argv[0] is the verb */
};

extern const struct cmd cmd_show, cmd_why, cmd_top, cmd_stat, cmd_record, cmd_replay, cmd_report,
	cmd_verify, cmd_kernels, cmd_cost, cmd_guest;

/* "seam: what: why" on stderr. Returns @status. */
int cmd_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A usage error: the message, then how to get help. Returns EXIT_USAGE. */
int cmd_usage(const struct cmd *cmd, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The report's stream: -o FILE, or @fallback. NULL after cmd_fail. Close with cmd_close_output. */
FILE *cmd_open_output(const char *path, FILE *fallback);
/*
 * @status, or EXIT_FAILED instead of EXIT_DONE after saying that the report could not be written
 * whole (full disk, closed pipe).
 */
int cmd_close_output(FILE *out, const char *path, int status);

#endif
