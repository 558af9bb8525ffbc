/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd/verify.h - the parts of seam verify: what was asked for, the report, another kernel. */
#ifndef CMD_VERIFY_H
#define CMD_VERIFY_H

#include "cmd/cmd.h"
#include "probe/host.h"
#include "verify/run.h"

enum verify_emit { EMIT_NOTHING, EMIT_C, EMIT_OPS }; /* --emit */

struct verify_options {
	uint64_t calls, seed, only;
	uint64_t limit;	     /* areas of a process; 0: none asked for */
	uint64_t mismatches; /* beside a program; 0: however many */
	bool random, json, stop, tap;
	unsigned int emit; /* enum verify_emit */
	const char *kernel, *rules, *output, *script;
	const char *image, *append; /* another kernel */
	const char *only_text, *kind_text;
	uint32_t kind;
	char **program; /* beside it; NULL: none */
	uint64_t pid;	/* or beside this process */
	bool yes;
};

struct verify_session {
	const struct verify_options *options;
	struct host host;
	struct seam_policy policy;
	uint64_t ns;
};

/* "# title: text" where @text may have lines: each behind a mark. */
void verify_print_marked(FILE *out, const char *title, const char *text);
/* Writes the report as asked for; the exit status. */
int verify_report(const struct verify_session *session, const struct run *run);
/* Beside a program, or a process that runs; the exit status. */
int verify_beside(const struct verify_session *session);
/* The same request under another kernel, in a virtual machine; the exit status. */
int verify_in_guest(const struct verify_options *options);

#endif
