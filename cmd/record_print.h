/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd/record_print.h - seam record --print: one line per call on standard error, with what it did to
 * the map, by the model that runs beside the recorder.
 */
#ifndef CMD_RECORD_PRINT_H
#define CMD_RECORD_PRINT_H

#include "trace/trace.h"

struct record_print;

/* 0, or the status to end with after a message. */
int record_print_start(const struct trace_host *host, struct record_print **ret_print);
/* For struct record_options, watch and watch_file. */
void record_print_event(void *print, const struct event *event);
void record_print_file(void *print, uint32_t number, const struct trace_file *file);
/* Prints what is left, and frees. */
void record_print_end(struct record_print *print);

#endif
