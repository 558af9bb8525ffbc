/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/op/unmap.h - taking memory out, for munmap and for whatever makes room first. */
#ifndef LIB_OP_UNMAP_H
#define LIB_OP_UNMAP_H

#include "lib/area.h"

/* What is in a range. */
struct unmapped {
	uint64_t pages;	  /* mapped */
	uint64_t charged; /* of these, with VM_ACCOUNT */
};

/*
 * Cuts the areas at the edges of the range so that it can be taken out whole, and counts it. What
 * was cut stays cut when a later test fails (6.18 mm/vma.c vms_gather_munmap_vmas).
 *  -SEAM_ENOMEM  an area would be left on both sides, and the area limit is reached
 *  -SEAM_EPERM   sealed memory
 *  -SEAM_EINVAL  an area that cannot be split
 */
int unmap_prepare(struct seam_space *space, uint64_t start, uint64_t end,
		  struct unmapped *ret_unmapped);
/* Takes out what unmap_prepare() has cut; gives back its charge. 0 or -SEAM_EALLOC. */
int unmap_commit(struct seam_space *space, uint64_t start, uint64_t end);
/* Both. */
int unmap_range(struct seam_space *space, uint64_t start, uint64_t end);

#endif
