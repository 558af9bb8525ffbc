/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/source.h - a file, "-" or a buffer whose kind is told by what it holds, never by its name.
 */
#ifndef TRACE_SOURCE_H
#define TRACE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum source_kind {
	SOURCE_UNKNOWN,
	SOURCE_MAPS, /* /proc/PID/maps, also truncated, pasted, indented, quoted */
	SOURCE_SMAPS,
	SOURCE_NUMA_MAPS,
	SOURCE_DATA, /* seam.data */
	SOURCE_LIVE, /* a recorder that is at work (trace/live.h); never told by content */
	SOURCE_STRACE,
	SOURCE_OPS,
	SOURCE_MAIL, /* running text with excerpts of maps, strace or time output in it */
	SOURCE_ELF,  /* no core: a program, a library, or cut off */
	SOURCE_CORE,
	SOURCE_HS_ERR,
	SOURCE_ASAN,	   /* the process map of sanitizers */
	SOURCE_VALGRIND,   /* its list of segments, its system calls */
	SOURCE_PERF_TRACE, /* recognised and refused by name, with those below */
	SOURCE_PERF_SCRIPT,
	SOURCE_BPFTRACE,
	SOURCE_GDB_MAPPINGS,
	SOURCE_PMAP,
	SOURCE_VMMAP,	      /* macOS */
	SOURCE_PROCSTAT,      /* FreeBSD */
	SOURCE_BSD_MAP,	      /* FreeBSD, /proc/PID/map */
	SOURCE_KDUMP,	      /* FreeBSD */
	SOURCE_STRACE_COUNTS, /* the table of strace -c alone */
	SOURCE_COMPRESSED,
	SOURCE_UTF16, /* as text is saved on Windows */
	SOURCE_NR_KINDS
};

struct source {
	const char *name; /* as the user wrote it; "-" is standard input */
	const char *data;
	size_t size;
	enum source_kind kind;
	uint64_t line;	       /* not readable: the line that broke it, or that gave it away */
	size_t zero_byte;      /* and which byte of it, from 1, is a zero in a text; 0: none */
	bool mapped, borrowed; /* internal: where data comes from, */
	size_t skipped;	       /* and how many bytes before it are passed over */
};

/* -errno of open or read. Directories and devices without an end are refused (-EINVAL). */
int source_open(const char *path, struct source *ret_source);
/* What an error of source_open means, for messages. */
const char *source_error(int err);
/* A buffer of the caller's; for tests and fuzzers. */
void source_from_buffer(const char *name, const void *data, size_t size, struct source *ret_source);
void source_close(struct source *source);
/*
 * Where the first zero byte of [data, data + size) stands, if what comes before it is text. 1 and the
 * number of its line, and of the byte in it, from 1.
 */
bool source_find_zero(const char *data, size_t size, uint64_t *ret_line, size_t *ret_byte);
#define ZERO_BYTE "byte %zu of this line is a zero: expected text"
/* "strace log", "pmap output", ...: for messages. */
const char *source_kind_name(enum source_kind kind);

#endif
