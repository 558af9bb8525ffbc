/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/op/op.h - the calls of Linux 5.10 and later, one file each; see lib/calls.h for what the
 * members of the table promise.
 */
#ifndef LIB_OP_H
#define LIB_OP_H

#include "lib/area.h"

int linux_brk(struct seam_space *space, uint64_t addr, uint64_t *ret_brk);
int linux_fork(struct seam_space *parent, struct seam_space *child);
int linux_madvise(struct seam_space *space, uint64_t addr, uint64_t len, int advice);
int linux_mbind(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t numa);
int linux_memory_merge(struct seam_space *space, int on);
int linux_mlock(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t flags);
int linux_mlockall(struct seam_space *space, uint32_t flags);
int linux_mmap(struct seam_space *space, const struct seam_mmap *args, uint64_t *ret_addr);
int linux_mprotect(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t prot, int pkey);
int linux_mremap(struct seam_space *space, const struct seam_mremap *args, uint64_t *ret_addr);
int linux_mseal(struct seam_space *space, uint64_t addr, uint64_t len, uint64_t flags);
int linux_munlock(struct seam_space *space, uint64_t addr, uint64_t len);
int linux_munlockall(struct seam_space *space);
int linux_munmap(struct seam_space *space, uint64_t addr, uint64_t len);
int linux_remap_file_pages(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t prot,
			   uint64_t pgoff, uint32_t flags);
int linux_set_bound(struct seam_space *space, enum seam_bound bound, uint64_t addr);
int linux_set_name(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t name);
int linux_set_tag(struct seam_space *space, uint64_t addr, uint64_t len, uint64_t tag);
int linux_stack(struct seam_space *space, uint64_t start, uint64_t len);
int linux_touch(struct seam_space *space, uint64_t addr, uint64_t len, int write,
		uint64_t *ret_done);
int linux_uffd_register(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t uffd,
			uint64_t flags);
int linux_uffd_unregister(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t uffd);

#endif
