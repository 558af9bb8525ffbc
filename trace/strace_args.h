/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/strace_args.h - the arguments and the result of one call as strace prints them.
 */
#ifndef TRACE_STRACE_ARGS_H
#define TRACE_STRACE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRACE_MAX_ARGS 8

struct slice {
	const char *at, *end;
};

enum strace_result {
	STRACE_RESULT_VALUE,
	STRACE_RESULT_ERROR,	/* value is -errno */
	STRACE_RESULT_UNKNOWN,	/* "= ?" */
	STRACE_RESULT_NOT_MADE, /* "= ? ERESTARTSYS", "(INJECTED)": the call did not happen */
};

struct strace_call {
	struct slice arg[STRACE_MAX_ARGS];
	unsigned int nr_args; /* arguments behind the last slice are counted, not kept */
	enum strace_result result;
	int64_t value;
	struct slice path; /* of a descriptor that was returned (-y) */
	uint64_t duration_ns;
};

/*
 * Reads "args) = result" in [at, end), which begins behind the '('. NULL, or what was expected.
 */
const char *strace_call_parse(const char *at, const char *end, struct strace_call *ret_call);

/* The value of "4096", "0x20000", "NULL", "PROT_READ|0x40" with or without a comment, "8192*1024". */
bool strace_value(struct slice slice, uint64_t *ret_value);
/* A descriptor and the path that -y prints with it. -1 is -1; AT_FDCWD is not a descriptor. */
bool strace_fd(struct slice slice, int32_t *ret_fd, struct slice *ret_path);
/* The value of "name=..." inside a structure. */
bool strace_member(struct slice slice, const char *name, struct slice *ret_value);
/* What a name stands for; false when it is not known. */
bool strace_symbol(const char *name, size_t len, uint64_t *ret_value);

#endif
