/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd/as_calls.h - a mail that shows a map often quotes the calls too: what they come to. */
#ifndef CMD_AS_CALLS_H
#define CMD_AS_CALLS_H

#include <seam/policy.h>

/*
 * "6 (one address twice): 5 areas on 2.4.2, 1 on 2.2.13 and 2.4.3", by the kernels of the report of
 * 2001 and @policy. NULL when the file is no such text, quotes no calls, or is standard input. Free
 * it.
 */
char *as_calls_text(const char *file, const struct seam_policy *policy);

#endif
