/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/mail.h - what mails and issue texts quote beside maps and calls. */
#ifndef TRACE_MAIL_H
#define TRACE_MAIL_H

#include <stddef.h>
#include <stdint.h>

#include "trace/source.h"

/* The output of one "time" command. */
struct mail_timing {
	uint64_t real_ns, user_ns, sys_ns;
	const char *title; /* the heading above it ("2.4.2"), in the text, not terminated */
	size_t title_len;  /* 0: none */
	uint64_t line;
};

/* How many timings a text quotes; the first @max of them are filled. */
size_t mail_timings(const struct source *source, struct mail_timing *ret_timings, size_t max);

#endif
