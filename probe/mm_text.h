/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/mm_text.h - the texts that /proc has about a process's memory (maps, smaps, numa_maps),
 * whole, while the process may be changing, ending, or without its main thread.
 */
#ifndef PROBE_MM_TEXT_H
#define PROBE_MM_TEXT_H

#include <stddef.h>
#include <sys/types.h>

/* A whole file in memory, with a 0 behind it. */
struct mm_text {
	char *data;
	size_t size;
};

/*
 * A thread of @pid that still has its memory: the main thread, or when that has ended (its files in
 * /proc are empty then, though the process lives) another one. -ESRCH: there is none.
 */
pid_t mm_thread(pid_t pid);

/* Opens /proc/@pid/task/@tid/@file: a descriptor or -errno. Reading may still give -ESRCH. */
int mm_text_open(pid_t pid, pid_t tid, const char *file);
/* All of an open one. -ESRCH: no memory, a kernel thread or a process that has exited. */
int mm_text_read(int fd, struct mm_text *ret_text);
void mm_text_free(struct mm_text *text);

#endif
