/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd/policy.h - the value of --kernel. */
#ifndef CMD_POLICY_H
#define CMD_POLICY_H

#include <stdbool.h>

#include <seam/policy.h>

#include "cmd/cmd.h"

/*
 * The policy that @spec names ("linux-host" too). NULL: the running kernel's for a living process;
 * for a file, which may be from anywhere, the newest living one (@of_file).
 * 0, or EXIT_USAGE after a message.
 */
int cmd_policy(const struct cmd *cmd, const char *spec, bool of_file,
	       struct seam_policy *ret_policy);

/* The same for the value of another option, "--diff". */
int cmd_policy_of_option(const struct cmd *cmd, const char *option, const char *spec,
			 struct seam_policy *ret_policy);

/* The newest named policy that is not newer than the kernel of this release. False: none is. */
bool cmd_named_policy(const char *release, struct seam_policy *ret_policy);

/*
 * The policy of a kernel by its release ("6.18.44"): the running kernel's when it is that one or ""
 * (not told), else the newest named one that is not newer. 0, or EXIT_FAILED after a message.
 */
int cmd_policy_of_release(const struct cmd *cmd, const char *release,
			  struct seam_policy *ret_policy);

#endif
