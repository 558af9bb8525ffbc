/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd/record_output.h - where a recording goes. What stood there before stays until the program that
 * is recorded runs: a name mistyped costs nobody an earlier recording.
 */
#ifndef CMD_RECORD_OUTPUT_H
#define CMD_RECORD_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/data.h"

struct record_output {
	const char *path; /* for messages */
	const struct trace_host *host;
	int fd;			    /* -1: not open */
	bool is_default;	    /* of which an earlier one is kept under another name */
	bool was_made;		    /* there was no such file */
	bool is_file;		    /* begun, and can be read again by its name */
	struct data_writer *writer; /* NULL: nothing was written yet */
};

/*
 * @path: NULL is the default name, "-" standard output. @host must stay. EXIT_DONE, or a status after
 * cmd_fail.
 */
int record_output_open(const char *path, const struct trace_host *host,
		       struct record_output *ret_output);
/* As record_options.open_writer, @output being a struct record_output. */
int record_output_begin(void *output, struct data_writer **ret_writer);
/* What was begun is written whole: 0 or -errno, and how large it is. Closes. */
int record_output_close(struct record_output *output, uint64_t *ret_bytes);
/* Closes; nothing was begun, and all is as it was. */
void record_output_drop(struct record_output *output);
#endif
