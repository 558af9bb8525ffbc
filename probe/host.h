/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/host.h - what the running kernel and this process give to an address space: sizes, bases,
 * limits. The rules by which its kernel joins are probe/rules.h.
 */
#ifndef PROBE_HOST_H
#define PROBE_HOST_H

#include <seam/space.h>

struct host {
	char release[80];
	char thp[16]; /* "always", "madvise", "never"; "" when it is not built in */
	/* Options for a space like the caller's and its children by fork; policy and alloc NULL. */
	struct seam_space_options options;
};

/*
 * Looks. Where the search for free memory begins is found in a short-lived child, by unmapping the
 * highest page below the stack and asking for one. -errno.
 */
int host_look(struct host *ret_host);

#endif
