/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/calls.h - how the calls of a generation are carried out.
 *
 * Each member runs between call_begin and call_end and gives 0 or a negative errno; it edits
 * through lib/area.h. A member that is NULL is a call which that generation did not have (ENOSYS).
 */
#ifndef LIB_CALLS_H
#define LIB_CALLS_H

#include <seam/ops.h>

struct seam_calls {
	int (*mmap)(struct seam_space *space, const struct seam_mmap *args, uint64_t *ret_addr);
	int (*munmap)(struct seam_space *space, uint64_t addr, uint64_t len);
	int (*mprotect)(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t prot,
			int pkey);
	int (*mremap)(struct seam_space *space, const struct seam_mremap *args, uint64_t *ret_addr);
	int (*madvise)(struct seam_space *space, uint64_t addr, uint64_t len, int advice);
	int (*mlock)(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t flags);
	int (*munlock)(struct seam_space *space, uint64_t addr, uint64_t len);
	int (*mlockall)(struct seam_space *space, uint32_t flags);
	int (*munlockall)(struct seam_space *space);
	int (*mseal)(struct seam_space *space, uint64_t addr, uint64_t len, uint64_t flags);
	int (*brk)(struct seam_space *space, uint64_t addr, uint64_t *ret_brk);
	int (*touch)(struct seam_space *space, uint64_t addr, uint64_t len, int write,
		     uint64_t *ret_done);
	int (*stack)(struct seam_space *space, uint64_t start, uint64_t len);
	int (*mbind)(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t numa);
	int (*uffd_register)(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t uffd,
			     uint64_t flags);
	int (*uffd_unregister)(struct seam_space *space, uint64_t addr, uint64_t len,
			       uint32_t uffd);
	int (*remap_file_pages)(struct seam_space *space, uint64_t addr, uint64_t len,
				uint32_t prot, uint64_t pgoff, uint32_t flags);
	int (*set_bound)(struct seam_space *space, enum seam_bound bound, uint64_t addr);
	int (*memory_merge)(struct seam_space *space, int on);
	int (*set_name)(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t name);
	int (*set_tag)(struct seam_space *space, uint64_t addr, uint64_t len, uint64_t tag);
	/* Fills the empty @child from @parent. */
	int (*fork)(struct seam_space *parent, struct seam_space *child);
};

extern const struct seam_calls calls_linux; /* 5.10 and later, and plain (lib/op/) */
extern const struct seam_calls calls_plain; /* of these, what plain has where it is alone */
extern const struct seam_calls calls_old;   /* 2.2.13 to 2.6.24 (lib/old/) */

#endif
