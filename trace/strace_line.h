/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/strace_line.h - one line of an strace log taken apart: who, when, and what kind of line.
 */
#ifndef TRACE_STRACE_LINE_H
#define TRACE_STRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum strace_line_kind {
	STRACE_LINE_OTHER, /* not a line of strace */
	STRACE_LINE_BLANK,
	STRACE_LINE_CALL,     /* name and rest, which begins behind '(' */
	STRACE_LINE_RESUMED,  /* "<... name resumed>": name and rest behind '>' */
	STRACE_LINE_SIGNAL,   /* "--- SIG... ---": rest begins at the signal */
	STRACE_LINE_EXITED,   /* "+++ exited with N +++": value */
	STRACE_LINE_KILLED,   /* "+++ killed by SIG +++": value is 128 + its number */
	STRACE_LINE_REPLACED, /* "+++ superseded by execve in pid N +++" */
	STRACE_LINE_ATTACHED, /* "Process N attached", with or without "strace: ": value */
	STRACE_LINE_MODE,     /* "[ Process PID=N runs in B bit mode. ]": value N, bits */
	STRACE_LINE_MESSAGE,  /* anything else that strace says about itself */
	STRACE_LINE_STACK,    /* " > file(symbol+0x1) [0x2]" */
	STRACE_LINE_TABLE,    /* of -c */
};

/* How a time is written. */
enum strace_clock {
	STRACE_CLOCK_NONE,
	STRACE_CLOCK_DAY,     /* 10:59:55 or 10:59:55.985404: time_ns since midnight */
	STRACE_CLOCK_SECONDS, /* 1796036396.401025, or from one line to the next (-r) */
};

struct strace_line {
	enum strace_line_kind kind;
	bool has_pid, bracketed; /* "[pid N]" rather than "N" */
	uint32_t pid;
	const char *comm; /* of -Y, or NULL */
	size_t comm_len;
	enum strace_clock clock;
	uint64_t time_ns;
	const char *name;
	size_t name_len;
	const char *rest, *end; /* what is behind the name, to the line's end */
	uint64_t value;
	unsigned int bits;
	bool whole; /* STRACE_LINE_ATTACHED: all threads of a process that had run before */
};

/* Takes the line [at, end) apart. */
void strace_line_parse(const char *at, const char *end, struct strace_line *ret_line);

enum strace_looks {
	STRACE_LOOKS_OTHER, /* 0 */
	STRACE_LOOKS_HALF,  /* the first half of one that a mailer has wrapped */
	STRACE_LOOKS_WHOLE,
};

/*
 * Is this surely a line of strace? Stricter than strace_line_parse, for lines that stand among
 * prose.
 */
enum strace_looks strace_line_looks(const char *at, const char *end);

#endif
