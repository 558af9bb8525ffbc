/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/op/limits.h - what may not be exceeded: areas, RLIMIT_AS, DATA and MEMLOCK, the commit limit.
 */
#ifndef LIB_OP_LIMITS_H
#define LIB_OP_LIMITS_H

#include "lib/space.h"

/*
 * An area more would be one too many for a split, when there are @more than the space has now (6.18
 * mm/vma.c split_vma).
 */
bool limit_areas_reached(const struct seam_space *space, unsigned int more);

/* RLIMIT_AS, and RLIMIT_DATA for private writable memory (6.18 mm/vma.c may_expand_vm). */
bool limit_may_expand(const struct seam_space *space, uint64_t flags, uint64_t pages);

/* Heap and data together, were the break at @brk (6.18 include/linux/mm.h check_data_rlimit). */
bool limit_data_holds(const struct seam_space *space, const struct mm *mm, uint64_t brk);

/* Locking is not forbidden altogether (6.18 mm/mlock.c can_do_mlock). */
bool limit_may_lock(const struct seam_space *space);
/* The pages that the kernel counts as locked. */
uint64_t limit_locked(const struct seam_space *space);
/* RLIMIT_MEMLOCK holds @pages more; true where @flags do not lock (mlock_future_ok). */
bool limit_lock_fits(const struct seam_space *space, uint64_t flags, uint64_t pages);

/*
 * Memory-deny-write-execute (PR_SET_MDWE) refuses: both at once, or to become executable. @old: the
 * flags before; those of new memory themselves (6.18 include/linux/mman.h map_deny_write_exec).
 */
bool limit_denies_exec(const struct seam_space *space, uint64_t old, uint64_t flags);

/* Memory with these flags is charged: private, writable, reserved (accountable_mapping). */
bool commit_wanted(uint64_t flags);
/* -SEAM_ENOMEM: the overcommit mode does not allow it (6.18 mm/util.c __vm_enough_memory). */
int commit_charge(struct seam_space *space, uint64_t pages);
void commit_release(struct seam_space *space, uint64_t pages);
/* The pages of an area that are charged: all where VM_ACCOUNT is set. */
uint64_t commit_of(const struct seam_space *space, const struct area *area);

#endif
