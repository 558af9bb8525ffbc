/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd/record_print.h - seam record --print: one line per call on standard error, with what it did to
 * the map, by the model that runs beside the recorder.
 */
#ifndef CMD_RECORD_PRINT_H
#define CMD_RECORD_PRINT_H

#include "probe/record.h"
#include "trace/trace.h"

struct record_print;

/* 0, or the status to end with after a message. */
int record_print_start(const struct trace_host *host, struct record_print **ret_print);
/* For struct record_options; ends with @print. */
const struct record_watcher *record_print_watcher(const struct record_print *print);
/* Prints what is left, and frees. */
void record_print_end(struct record_print *print);

#endif
