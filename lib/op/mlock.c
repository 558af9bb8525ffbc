/* SPDX-License-Identifier: BSD-2-Clause */
/* Source: 6.18 mm/mlock.c. */
#include "lib/op/fault.h"
#include "lib/op/limits.h"
#include "lib/op/modify.h"
#include "lib/op/op.h"

static bool within_limit(const struct seam_space *space, uint64_t pages)
{
	return space->may & SEAM_MAY_IPC_LOCK ||
	       pages <= pages_of(space, space->limit[SEAM_LIMIT_MEMLOCK]);
}

/* Areas that cannot be locked are passed over as if they were. */
static bool supports_lock(const struct attr *attr)
{
	return !(attr->flags & (SEAM_VM_SPECIAL | SEAM_VM_DROPPABLE | SEAM_VM_HUGETLB)) &&
	       !(attr->traits & SEAM_TRAIT_SECRET);
}

static int lock_part(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
		     void *ctx)
{
	uint64_t bits = *(const uint64_t *)ctx, flags;
	const struct attr *attr;
	struct area area;

	index_load(&space->index, cursor, &area);
	attr = area_attr(space, &area);
	flags = attr->flags;
	if ((flags & LOCK_BITS) == bits || !supports_lock(attr))
		return 0;
	return modify_flags(space, cursor, start, end, (flags & ~LOCK_BITS) | bits);
}

/*
 * Pages of the range that are locked already: they do not count twice. A range that wraps ends at
 * the top (6.18 count_mm_mlocked_page_nr).
 */
static uint64_t locked_pages(const struct seam_space *space, uint64_t start, uint64_t size)
{
	uint64_t end = size > UINT64_MAX - start ? UINT64_MAX : start + size;
	struct cursor cursor;
	struct area area;
	uint64_t bytes = 0;

	for_each_area(space, start, &cursor, &area) {
		uint64_t low, high;

		if (area.start >= end)
			break;
		low = area.start > start ? area.start : start;
		high = area.end < end ? area.end : end;
		if (area_flags(space, &area) & SEAM_VM_LOCKED)
			bytes += high - low;
	}
	return pages_of(space, bytes);
}

static int lock_range(struct seam_space *space, uint64_t addr, uint64_t len, uint64_t bits)
{
	uint64_t start = page_down(space, addr);
	uint64_t end = start + page_up(space, len + (addr - start));

	if (end < start)
		return -SEAM_EINVAL;
	return walk_range(space, start, end, HOLES_STOP, lock_part, &bits);
}

/* The errors of faulting in, as mlock tells them (6.18 __mlock_posix_error_return). */
static int populate(struct seam_space *space, uint64_t start, uint64_t end)
{
	int err = fault_populate(space, start, end);

	if (err == -SEAM_EFAULT)
		return -SEAM_ENOMEM;
	return err == -SEAM_ENOMEM ? -SEAM_EAGAIN : err;
}

int linux_mlock(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t flags)
{
	uint64_t start = page_down(space, addr);
	uint64_t size = page_up(space, len + (addr - start));
	uint64_t bits = flags & SEAM_MLOCK_ONFAULT ? LOCK_BITS : SEAM_VM_LOCKED;
	uint64_t pages = pages_of(space, size) + limit_locked(space);
	int err;

	if (flags & ~SEAM_MLOCK_ONFAULT)
		return -SEAM_EINVAL;
	if (!limit_may_lock(space))
		return -SEAM_EPERM;
	if (!within_limit(space, pages) &&
	    !within_limit(space, pages - locked_pages(space, start, size)))
		return -SEAM_ENOMEM;
	err = lock_range(space, addr, len, bits);
	return err ? err : populate(space, start, start + size);
}

int linux_munlock(struct seam_space *space, uint64_t addr, uint64_t len)
{
	return lock_range(space, addr, len, 0);
}

/* Every area, each by itself: what refuses is passed over (6.18 apply_mlockall_flags). */
static int lock_all(struct seam_space *space, uint64_t bits)
{
	struct cursor cursor;
	struct area area;
	uint64_t at = 0;

	while (index_seek(&space->index, at, &cursor)) {
		index_load(&space->index, &cursor, &area);
		at = area.end;
		lock_part(space, &cursor, area.start, area.end, &bits);
		if (space->no_memory)
			return -SEAM_EALLOC;
	}
	return 0;
}

int linux_mlockall(struct seam_space *space, uint32_t flags)
{
	uint64_t bits = SEAM_VM_LOCKED;
	int err;

	if (!flags || flags & ~(SEAM_MCL_CURRENT | SEAM_MCL_FUTURE | SEAM_MCL_ONFAULT) ||
	    flags == SEAM_MCL_ONFAULT)
		return -SEAM_EINVAL;
	if (!limit_may_lock(space))
		return -SEAM_EPERM;
	if (flags & SEAM_MCL_CURRENT && !within_limit(space, space->mm.totals.total_pages))
		return -SEAM_ENOMEM;
	if (flags & SEAM_MCL_ONFAULT)
		bits |= SEAM_VM_LOCKONFAULT;
	space->mm.def_flags &= ~LOCK_BITS;
	if (flags & SEAM_MCL_FUTURE)
		space->mm.def_flags |= bits;
	if (!(flags & SEAM_MCL_CURRENT))
		return 0;
	err = lock_all(space, bits);
	if (err)
		return err;
	return fault_populate_all(space, 0, space->user_end);
}

int linux_munlockall(struct seam_space *space)
{
	space->mm.def_flags &= ~LOCK_BITS;
	return lock_all(space, 0);
}
