/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/op/placement.h - where a mapping goes (6.18 mm/mmap.c __get_unmapped_area, arch/x86/kernel/
 * sys_x86_64.c).
 */
#ifndef LIB_OP_PLACEMENT_H
#define LIB_OP_PLACEMENT_H

#include "lib/space.h"

struct place {
	uint64_t addr; /* hint */
	uint64_t len;
	uint64_t pgoff;
	uint64_t align;	    /* nonzero: huge pages of hugetlb */
	uint32_t flags;	    /* SEAM_MAP_* */
	bool file;	    /* a file, or an object behind shared memory */
	bool aligning_file; /* of a file system that aligns large maps */
	bool plain_file;    /* of one that has no way of its own to find room */
	bool given;	    /* the answer to the search is known: at */
	uint64_t at;
};

/* The answer, and what comes next. */
struct place_found {
	uint64_t addr;
	bool has_next;	    /* there is an area behind addr ... */
	struct cursor next; /* ... and this is on it, else past the end */
};

/* A hint as mmap rounds it: down to a page, up to the lowest address allowed. 0: no hint. */
uint64_t place_round_hint(const struct seam_space *space, uint64_t addr);

/*
 * Whether an address may be asked for by SEAM_MAP_FIXED; @align: nonzero for huge pages of hugetlb.
 *  -SEAM_ENOMEM  beyond user space
 *  -SEAM_EINVAL  not aligned
 *  -SEAM_EPERM   below vm.mmap_min_addr
 * An address of the last page of all, but its first byte, comes back as the error that it looks like.
 */
int place_fixed(const struct seam_space *space, uint64_t addr, uint64_t len, uint64_t align);
/*
 * Searches for an address. Errors as above, and
 *  -SEAM_ENOMEM  no room
 *  -SEAM_EINVAL  a given one that is not free
 */
int place_find(const struct seam_space *space, const struct place *place,
	       struct place_found *ret_found);

/* No area in [start, end). */
bool place_is_free(const struct seam_space *space, uint64_t start, uint64_t end);

/* Where the area begins with the gap that a growing stack keeps below it (vm_start_gap). */
uint64_t place_start_with_gap(const struct seam_space *space, const struct area *area);

#endif
