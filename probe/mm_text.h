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
 * All of /proc/@pid/@file. When the main thread has ended, its file is empty though the process
 * lives: then that of another thread.
 *  -ESRCH  no memory: a kernel thread, or the process has exited (maybe while it was read)
 *  -errno  of open or read
 */
int mm_text_read(pid_t pid, const char *file, struct mm_text *ret_text);
void mm_text_free(struct mm_text *text);

#endif
