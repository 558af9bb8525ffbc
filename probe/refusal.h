/* SPDX-License-Identifier: BSD-2-Clause */
/* probe/refusal.h - why a process's memory cannot be read, and which right would give it. */
#ifndef PROBE_REFUSAL_H
#define PROBE_REFUSAL_H

#include <stdbool.h>
#include <sys/types.h>

#define REFUSAL_SIZE 256

/*
 * For people: why opening or reading the map of @pid gave @error (-errno). Ask before rights are given up.
 */
void refusal_text(pid_t pid, int error, char *text);
/* The same for a process whose files could be opened, but were empty when they were read. */
void refusal_text_ended(pid_t pid, char *text);
/* Whether @pid is a kernel thread or has ended, and so has no map; @text then says it. */
bool refusal_without_memory(pid_t pid, char *text);

#endif
