/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/op/limits.h"

/* vm.admin_reserve_kbytes and the upper bound of vm.user_reserve_kbytes, as they are by default */
#define ADMIN_RESERVE (UINT64_C(8) << 20)
#define USER_RESERVE (UINT64_C(128) << 20)

static uint64_t limit_pages(const struct seam_space *space, enum seam_limit limit)
{
	return pages_of(space, space->limit[limit]);
}

bool limit_areas_reached(const struct seam_space *space, unsigned int more)
{
	return index_count(&space->index) + more >= space->limit[SEAM_LIMIT_AREAS];
}

/* A limit of 0 bytes is none: the kernel spares valgrind (6.18 mm/mmap.c may_expand_vm). */
static bool data_fits(const struct seam_space *space, uint64_t pages)
{
	uint64_t limit = space->limit[SEAM_LIMIT_DATA];

	return !limit || space->mm.totals.data_pages + pages <= limit_pages(space, SEAM_LIMIT_DATA);
}

bool limit_may_expand(const struct seam_space *space, uint64_t flags, uint64_t pages)
{
	const uint64_t data_bits = SEAM_VM_WRITE | SEAM_VM_SHARED | SEAM_VM_GROWSDOWN;

	if (space->mm.totals.total_pages + pages > limit_pages(space, SEAM_LIMIT_AS))
		return false;
	return (flags & data_bits) != SEAM_VM_WRITE || data_fits(space, pages);
}

bool limit_data_holds(const struct seam_space *space, const struct mm *mm, uint64_t brk)
{
	uint64_t limit = space->limit[SEAM_LIMIT_DATA];

	return limit == SEAM_NO_LIMIT ||
	       brk - mm->start_brk + mm->end_data - mm->start_data <= limit;
}

bool limit_may_lock(const struct seam_space *space)
{
	return space->limit[SEAM_LIMIT_MEMLOCK] || space->may & SEAM_MAY_IPC_LOCK;
}

uint64_t limit_locked(const struct seam_space *space)
{
	return space->mm.totals.locked_pages + space->mm.locked_lost_pages;
}

bool limit_lock_fits(const struct seam_space *space, uint64_t flags, uint64_t pages)
{
	if (!WITH_KERNELS || !(flags & SEAM_VM_LOCKED) || space->may & SEAM_MAY_IPC_LOCK)
		return true;
	return limit_locked(space) + pages <= limit_pages(space, SEAM_LIMIT_MEMLOCK);
}

bool commit_wanted(uint64_t flags)
{
	return WITH_KERNELS && !(flags & SEAM_VM_HUGETLB) &&
	       (flags & (SEAM_VM_NORESERVE | SEAM_VM_SHARED | SEAM_VM_WRITE)) == SEAM_VM_WRITE;
}

/* vm.overcommit_memory 2: what is left for this process, with all that it has already */
static uint64_t strict_limit(const struct seam_space *space)
{
	uint64_t allowed = space->commit_limit_pages;
	uint64_t kept = space->may & SEAM_MAY_ADMIN ? 0 : pages_of(space, ADMIN_RESERVE);
	uint64_t for_user = space->mm.totals.total_pages / 32;

	if (for_user > pages_of(space, USER_RESERVE))
		for_user = pages_of(space, USER_RESERVE);
	kept += for_user;
	return allowed > kept ? allowed - kept : 0;
}

int commit_charge(struct seam_space *space, uint64_t pages)
{
	uint64_t committed = space->mm.committed_pages + pages;

	if (!WITH_KERNELS)
		return 0;
	if (space->overcommit == 0 && pages > space->commit_limit_pages)
		return -SEAM_ENOMEM;
	if (space->overcommit == 2 && committed >= strict_limit(space))
		return -SEAM_ENOMEM;
	space->mm.committed_pages = committed;
	return 0;
}

void commit_release(struct seam_space *space, uint64_t pages)
{
	uint64_t *committed = &space->mm.committed_pages;

	/* adopted areas were never charged here */
	*committed = *committed > pages ? *committed - pages : 0;
}

uint64_t commit_of(const struct seam_space *space, const struct area *area)
{
	if (!WITH_KERNELS || !(area_flags(space, area) & SEAM_VM_ACCOUNT))
		return 0;
	return pages_of(space, area->end - area->start);
}

bool limit_denies_exec(const struct seam_space *space, uint64_t old, uint64_t flags)
{
	if (!WITH_KERNELS || !(space->flags & SEAM_SPACE_MDWE) || !(flags & SEAM_VM_EXEC))
		return false;
	return flags & SEAM_VM_WRITE || !(old & SEAM_VM_EXEC);
}
