/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/unasked.h - changes of a map that no call of its program made: who may have. */
#ifndef VERIFY_UNASKED_H
#define VERIFY_UNASKED_H

#include <stdbool.h>
#include <sys/types.h>

#include "trace/event.h"

/* A place where the map is not as the calls left it. */
struct unasked {
	const struct seam_area *before, *after; /* as it was and is; NULL: none */
	const struct trace_file *file;		/* behind what is there now; may be NULL */
	pid_t tid;				/* a thread of the program */
	bool advised;	  /* a process_madvise was made somewhere in the tree */
	bool uffd_closed; /* less memory is registered with a userfaultfd than was */
};

/* A constant text; NULL: nothing that is known does this. */
const char *unasked_name(const struct unasked *unasked);

#endif
