/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/scratch.h - what a call works with while it runs. A space has one writer and one call at a
 * time, so this lies beside the space and not on the stack, of which calls are to take little
 * (tests/single). What it holds is not known when a call begins, and of no use when it has ended.
 */
#ifndef LIB_SCRATCH_H
#define LIB_SCRATCH_H

#include <seam/ask.h>

#include "lib/old/old.h"
#include "lib/op/join_new.h"
#include "lib/op/modify.h"
#include "lib/op/remap.h"
#include "lib/op/unmap.h"
#include "lib/space.h"

/* A call with the kernel's own choice of the place in it, made without limits (apply). */
struct forced {
	struct seam_call call;
	struct seam_mmap mmap;
	struct seam_mremap mremap;
	int result;	/* the kernel's */
	uint64_t value; /* the kernel's */
	struct seam_answer answer;
	/* all that can make the model refuse what a kernel did, as it was */
	uint64_t limit[NR_LIMITS], commit_limit_pages, min_addr, min_addr_sysctl;
	uint32_t may, overcommit;
};

/* What remap_file_pages makes of itself. */
struct mapped_anew {
	struct seam_mmap mmap;
	struct seam_file file;
};

struct scratch {
	struct seam_answer answer; /* ask */
	struct forced forced;
	struct join_new join;	  /* new memory: mmap, brk, mremap; ... */
	struct unmap unmap;	  /* munmap, and what makes room */
	struct area grown;	  /* of these, what has joined the new memory */
	struct exchange exchange; /* what becomes of areas side by side */
	struct area populated;	  /* each area whose pages are brought in, ... */
	struct cursor populated_at;
	struct area faulted;	 /* ... or that becomes anonymous */
	struct remap remap;	 /* mremap */
	struct area left;	 /* ... and the source that it leaves */
	struct mapped_anew anew; /* remap_file_pages */
	struct attr attr;	 /* of new memory, or of what gets other flags ... */
	struct area flagged;	 /* ... and this area */
	struct outcome outcome;	 /* each part of a walk over a range */
	/* the old kernels' */
	struct neighbours neighbours; /* of what joins */
	struct area old_joined;	      /* what becomes of it */
	struct old_remap old_remap;
	struct area fresh;	       /* new memory */
	struct spot old_unmapped;      /* an area that goes, or part of it */
	struct spot old_spot, old_cut; /* where a walk over a range is, and cuts */
};

/* A space and its scratch are one piece of memory. */
struct space_memory {
	struct seam_space space;
	struct scratch scratch;
};

static inline struct scratch *scratch_of(struct seam_space *space)
{
	return &((struct space_memory *)space)->scratch;
}

#endif
