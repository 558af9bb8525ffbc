/* SPDX-License-Identifier: BSD-2-Clause */
/* face/call_text.h - a call in the words that strace uses. */
#ifndef FACE_CALL_TEXT_H
#define FACE_CALL_TEXT_H

#include <stdio.h>

#include "trace/event.h"

/*
 * "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f...". @file, which
 * may be NULL, is put behind the descriptor: "3</lib/libc.so.6>".
 */
void call_text(FILE *out, const struct event *event, const struct trace_file *file);

#endif
