/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd/verify.h - the parts of seam verify: what was asked for, the report, another kernel. */
#ifndef CMD_VERIFY_H
#define CMD_VERIFY_H

#include "cmd/cmd.h"
#include "probe/host.h"
#include "verify/run.h"

struct verify_options {
	uint64_t calls, seed, only;
	uint64_t area_limit;
	bool random, json, stop, emit_c, tap;
	const char *kernel, *rules, *output, *script;
	const char *image, *append; /* another kernel */
	const char *only_text, *kind_text;
	uint32_t kind;
};

struct verify_session {
	const struct verify_options *options;
	struct host host;
	struct seam_policy policy;
	uint64_t ns;
};

/* Writes the report as asked for; the exit status. */
int verify_report(const struct verify_session *session, const struct run *run);
/* The same request under another kernel, in a virtual machine; the exit status. */
int verify_in_guest(const struct verify_options *options);

#endif
