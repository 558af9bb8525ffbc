/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd/trace_kernel.h - the kernel that a trace is replayed under, and what is wrong with a trace. */
#ifndef CMD_TRACE_KERNEL_H
#define CMD_TRACE_KERNEL_H

#include "cmd/cmd.h"
#include "replay/replay.h"

/*
 * @spec as of --kernel, or "recorded" (with rules behind it): the kernel that the trace came from,
 * as far as it tells, else the running one. 0, EXIT_USAGE or EXIT_FAILED after a message.
 */
int cmd_trace_kernel(const struct cmd *cmd, const char *spec, struct source *source,
		     const struct trace_options *trace_options, struct replay_kernel *ret_kernel);

/* Says why a trace could not be read. EXIT_FAILED. */
int cmd_trace_error(const struct source *source, int err, const struct trace_error *error);

#endif
