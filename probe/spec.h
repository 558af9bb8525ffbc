/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/spec.h - policy specifications as all verbs take them: those that the library knows, and
 * linux-host, which takes system calls to find.
 */
#ifndef PROBE_SPEC_H
#define PROBE_SPEC_H

#include <seam/policy.h>

#define POLICY_ERROR_SIZE 256

/*
 * "linux-6.18", "linux-host", "linux-host,-anon_vma,sticky=1".
 * -errno, and @ret_error (POLICY_ERROR_SIZE) says which word was wrong or what failed.
 */
int policy_from_spec(const char *spec, struct seam_policy *ret_policy, char *ret_error);

/*
 * A vector from a text file: NAME=VALUE a line, "#" begins a comment; "policy=SPEC", the first
 * line, is what the others change (plain, when it is missing). Errors as above, with the line.
 */
int policy_from_file(const char *path, struct seam_policy *ret_policy, char *ret_error);

#endif
