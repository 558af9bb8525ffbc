/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/op/fault.h - what page faults do to a map: memory becomes anonymous memory of its own.
 */
#ifndef LIB_OP_FAULT_H
#define LIB_OP_FAULT_H

#include "lib/area.h"

/*
 * The area under the cursor gets an anon_vma if it has none, as a first write fault chooses it: the
 * next neighbour's, else the previous one's, else a new one. The area stays under the cursor.
 * 0 or -SEAM_EALLOC. Source: 6.18 mm/rmap.c __anon_vma_prepare, mm/vma.c find_mergeable_anon_vma.
 */
int fault_anon(struct seam_space *space, struct cursor *cursor);

/* Where the area's pages end: short of its end where its object of shared memory ends before. */
uint64_t fault_backed_end(const struct seam_space *space, const struct area *area);

/*
 * Reading [from, to) of an area makes it anonymous: a page of its own is huge, if only of zeros. As
 * if no page of it had been there before.
 */
bool fault_read_is_anon(const struct seam_space *space, const struct area *area, uint64_t from,
			uint64_t to);

/*
 * Brings in the pages of all areas in the range, as mlock and MAP_POPULATE do (6.18 mm/gup.c
 * __mm_populate): by writing where memory is private and writable, else by reading. LOCKONFAULT,
 * IO and PFNMAP areas are passed over, holes too.
 *  -SEAM_EFAULT  an area that allows no access; what lies behind it is not reached
 */
int fault_populate(struct seam_space *space, uint64_t start, uint64_t end);
/* The same, going on behind areas that allow no access (mmap, mlockall). 0 or -SEAM_EALLOC. */
int fault_populate_all(struct seam_space *space, uint64_t start, uint64_t end);

#endif
