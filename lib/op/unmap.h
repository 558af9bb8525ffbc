/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/op/unmap.h - taking memory out, for munmap and for whatever makes room first. */
#ifndef LIB_OP_UNMAP_H
#define LIB_OP_UNMAP_H

#include "lib/area.h"

/* A range that is to be free: what unmap_check() found in it. */
struct unmap {
	uint64_t start, end;
	uint64_t pages;	  /* mapped */
	uint64_t charged; /* of these, with VM_ACCOUNT */
	uint64_t whole;	  /* areas that lie in it as a whole */
	bool cuts_head;	  /* an area begins before it */
	bool cuts_tail;	  /* an area ends behind it */
	bool cuts_middle; /* the same area */
	bool due;	  /* mmap: it is taken out when it is filled */
	bool found;	  /* there is an area that ends behind its start ... */
	struct cursor at; /* ... and this is on it, else past the end */
};

/*
 * Looks whether the range can be taken out. Nothing is done, but what the kernel has cut before it
 * found that something cannot be taken stays cut (6.18 mm/vma.c vms_gather_munmap_vmas).
 *  -SEAM_ENOMEM  an area would be left on both sides, and the area limit is reached
 *  -SEAM_EPERM   sealed memory
 *  -SEAM_EINVAL  an area that cannot be split
 */
int unmap_check(struct seam_space *space, uint64_t start, uint64_t end, struct unmap *ret_unmap);
/*
 * Takes it out, gives back its charge. 0 or -SEAM_EALLOC. Afterwards found and at tell what ends
 * behind the range's start.
 */
int unmap_carry_out(struct seam_space *space, struct unmap *unmap);
/*
 * The same in two steps. The first leaves one exchange of areas, to which what fills the range may be
 * added; to carry it out is the second.
 */
int unmap_prepare(struct seam_space *space, struct unmap *unmap, struct exchange *ret_exchange);
int unmap_finish(struct seam_space *space, struct unmap *unmap, struct exchange *exchange);
/* Instead: a later test has failed, and the cuts at both edges are left. 0 or -SEAM_EALLOC. */
int unmap_leave_cuts(struct seam_space *space, struct unmap *unmap);
/* Checks and takes out. */
int unmap_range(struct seam_space *space, uint64_t start, uint64_t end);

/*
 * Whether the area may be cut in two at @at: drivers may refuse, huge pages stay whole (6.18
 * mm/vma.c __split_vma).
 */
bool may_cut(const struct seam_space *space, const struct area *area, uint64_t at);

#endif
