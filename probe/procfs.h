/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/procfs.h - small questions to /proc. All work on a process at its limit: nothing is
 * allocated.
 */
#ifndef PROBE_PROCFS_H
#define PROBE_PROCFS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Reads a small file whole, at most @size - 1 bytes, and ends it with a NUL. The path is that of
 * @format. Returns its length or -errno.
 */
ssize_t procfs_read(char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The name of the process or thread @tid, which may hold newlines. Its length or -errno; @buf is left
 * alone when the thread is gone.
 */
ssize_t procfs_read_comm(char *buf, size_t size, pid_t tid);

/* The number that stands alone in a file, as sysctls have it; -errno, -EINVAL when it is none. */
int procfs_read_number(uint64_t *ret_value, const char *path);

/* The number behind "KEY:" in the text of /proc/PID/status or meminfo. 1 when it is there. */
int procfs_field(const char *text, const char *key, uint64_t *ret_value);
/* The same for one in hexadecimal digits, as sets of capabilities are. */
int procfs_field_hex(const char *text, const char *key, uint64_t *ret_value);

/*
 * The areas of the process or thread @tid as the kernel counts them: the lines of its maps without
 * [vsyscall]. About 0.13 µs an area. -errno; 0 when it has no memory any more (a zombie, or a
 * leader that left by pthread_exit: ask one of its threads).
 */
int procfs_count_areas(pid_t tid, uint64_t *ret_areas);

#endif
