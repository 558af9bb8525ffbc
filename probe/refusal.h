/* SPDX-License-Identifier: BSD-2-Clause */
/* probe/refusal.h - why a process's memory cannot be read, and which right would give it. */
#ifndef PROBE_REFUSAL_H
#define PROBE_REFUSAL_H

#include <sys/types.h>

#define REFUSAL_SIZE 256

/* For people: why reading the map of @pid gave @error (-errno, as from mm_text_read). */
void refusal_text(pid_t pid, int error, char *text);

#endif
