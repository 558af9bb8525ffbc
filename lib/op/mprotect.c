/* SPDX-License-Identifier: BSD-2-Clause */
/* Source: 6.18 mm/mprotect.c do_mprotect_pkey, mprotect_fixup. */
#include "lib/op/fault.h"
#include "lib/op/limits.h"
#include "lib/op/modify.h"
#include "lib/op/op.h"

#define GROWS (SEAM_PROT_GROWSDOWN | SEAM_PROT_GROWSUP)

struct change {
	uint32_t prot;
	int pkey; /* -1: as it is */
};

/*
 * A private area that becomes writable is charged, and remembers it (VM_ACCOUNT). One that ceases
 * to be forgets it again only while it is anonymous and nothing in it was written.
 */
static int account(struct seam_space *space, const struct area *area, uint64_t pages,
		   uint64_t *flags)
{
	uint64_t old = area_flags(space, area);

	if (!WITH_KERNELS)
		return 0;
	if (*flags & SEAM_VM_WRITE) {
		if (!limit_may_expand(space, *flags, pages) && limit_may_expand(space, old, pages))
			return -SEAM_ENOMEM;
		if (!(old & (SEAM_VM_ACCOUNT | SEAM_VM_WRITE | SEAM_VM_HUGETLB | SEAM_VM_SHARED |
			     SEAM_VM_NORESERVE))) {
			if (commit_charge(space, pages))
				return -SEAM_ENOMEM;
			*flags |= SEAM_VM_ACCOUNT;
		}
	} else if (old & SEAM_VM_ACCOUNT && rule(space, SEAM_RULE_account) == 2 && !area->anon &&
		   !area_attr(space, area)->file) {
		*flags &= ~SEAM_VM_ACCOUNT;
	}
	return 0;
}

static bool locked_becomes_writable(uint64_t old, uint64_t flags)
{
	return (old & (SEAM_VM_WRITE | SEAM_VM_SHARED | SEAM_VM_LOCKED)) == SEAM_VM_LOCKED &&
	       flags & SEAM_VM_WRITE;
}

static int change_area(struct seam_space *space, struct cursor *cursor, uint64_t start,
		       uint64_t end, uint64_t flags)
{
	uint64_t pages = pages_of(space, end - start), old, charged;
	struct area area;
	int err;

	index_load(&space->index, cursor, &area);
	old = area_flags(space, &area);
	if (old & SEAM_VM_SEALED)
		return -SEAM_EPERM;
	if (flags == old)
		return 0;
	charged = space->mm.committed_pages;
	err = account(space, &area, pages, &flags);
	if (err)
		return err;
	err = modify_flags(space, cursor, start, end, flags);
	if (err) {
		space->mm.committed_pages = charged;
		return err;
	}
	if (old & SEAM_VM_ACCOUNT && !(flags & SEAM_VM_ACCOUNT))
		commit_release(space, pages);
	if (WITH_KERNELS && locked_becomes_writable(old, flags))
		fault_populate(space, start, end); /* its errors are not told */
	return space->no_memory ? -SEAM_EALLOC : 0;
}

/*
 * The key that it has afterwards: what mprotect leaves to be executed alone gets a key of its own, and
 * loses it with that (arch/x86/mm/pkeys.c __arch_override_mprotect_pkey).
 */
static uint64_t key_after(const struct seam_space *space, const struct change *change, uint64_t old)
{
	bool exec_only = (old & SEAM_VM_RWX) == SEAM_VM_EXEC && has_exec_only_key(space, old);

	if (change->pkey >= 0)
		return (uint64_t)change->pkey << SEAM_VM_PKEY_SHIFT;
	if (!WITH_KERNELS || !space->exec_only_pkey)
		return old & SEAM_VM_PKEY;
	if (change->prot == SEAM_PROT_EXEC)
		return (uint64_t)space->exec_only_pkey << SEAM_VM_PKEY_SHIFT;
	return exec_only ? 0 : old & SEAM_VM_PKEY;
}

static int change_part(struct seam_space *space, struct cursor *cursor, uint64_t start,
		       uint64_t end, void *ctx)
{
	const struct change *change = ctx;
	uint64_t flags = change->prot & SEAM_VM_RWX, old;
	struct area area;

	index_load(&space->index, cursor, &area);
	old = area_flags(space, &area);
	if (WITH_KERNELS && space->flags & SEAM_SPACE_READ_IMPLIES_EXEC && flags & SEAM_VM_READ &&
	    old & SEAM_VM_MAYEXEC)
		flags |= SEAM_VM_EXEC;
	flags |= (old & ~(SEAM_VM_RWX | SEAM_VM_PKEY)) | key_after(space, change, old);
	/* MAYREAD, MAYWRITE and MAYEXEC stand four bits above what they allow */
	if (flags & ~(flags >> 4) & SEAM_VM_RWX)
		return -SEAM_EACCES;
	if (limit_denies_exec(space, old, flags))
		return -SEAM_EACCES;
	return change_area(space, cursor, start, end, flags);
}

int linux_mprotect(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t prot, int pkey)
{
	struct change change = { prot & ~GROWS, pkey };
	uint64_t end = addr + page_up(space, len);
	struct cursor cursor;
	struct area area;

	if ((prot & GROWS) == GROWS || addr & (page_size(space) - 1))
		return -SEAM_EINVAL;
	if (!len)
		return 0;
	if (end <= addr)
		return -SEAM_ENOMEM;
	if (change.prot & ~(SEAM_PROT_READ | SEAM_PROT_WRITE | SEAM_PROT_EXEC | SEAM_PROT_SEM) ||
	    pkey > MAX_PKEY || pkey < -1)
		return -SEAM_EINVAL;
	if (WITH_KERNELS && prot & GROWS) {
		if (!area_seek(space, addr, &cursor, &area))
			return -SEAM_ENOMEM;
		if (prot & SEAM_PROT_GROWSDOWN ? area.start >= end : area.start > addr)
			return -SEAM_ENOMEM;
		/* no architecture here has areas that grow up */
		if (prot & SEAM_PROT_GROWSUP || !(area_flags(space, &area) & SEAM_VM_GROWSDOWN))
			return -SEAM_EINVAL;
		addr = area.start;
	}
	return walk_range(space, addr, end, HOLES_STOP, change_part, &change);
}
