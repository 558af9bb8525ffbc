/* SPDX-License-Identifier: BSD-2-Clause */
/* mlock, munlock, mlockall, munlockall. Source: mm/mlock.c do_mlock, mlock_fixup, do_mlockall. */
#include "lib/compiler.h"
#include "lib/old/old.h"
#include "lib/scratch.h"

bool old_may_lock(const struct seam_space *space)
{
	if (space->may & SEAM_MAY_IPC_LOCK)
		return true;
	return !rule(space, SEAM_RULE_lock_capable) && space->limit[SEAM_LIMIT_MEMLOCK];
}

/* Is there room for @pages locked ones in all? */
static bool within_limit(const struct seam_space *space, uint64_t pages)
{
	if (pages <= pages_of(space, space->limit[SEAM_LIMIT_MEMLOCK]))
		return true;
	return !rule(space, SEAM_RULE_lock_capable) && space->may & SEAM_MAY_IPC_LOCK;
}

/* [start, end) of one area is locked or unlocked; *ret_end: how far the area now there reaches. */
static noinline_for_stack int change(struct seam_space *space, const struct spot *spot,
				     uint64_t start, uint64_t end, bool lock, uint64_t *ret_end)
{
	uint64_t old = area_flags(space, &spot->area);
	uint64_t flags = lock ? old | SEAM_VM_LOCKED : old & ~SEAM_VM_LOCKED;
	int err;

	*ret_end = spot->area.end;
	if (flags == old)
		return 0;
	err = merge_changed(space, rule(space, SEAM_RULE_mlock_join), spot, start, end, flags,
			    ret_end);
	if (err)
		return err == -SEAM_ENOMEM ? -SEAM_EAGAIN : err;
	return lock ? old_fault_in(space, start) : 0;
}

/* What was done before an error stays done; 2.2 joins even then. */
static int lock_range(struct seam_space *space, uint64_t start, uint64_t len, bool lock)
{
	uint64_t end = word(space, start + round_up(space, len)), at = start, reached;
	struct spot *spot = &scratch_of(space)->old_spot;
	int err;

	if (end < start)
		return -SEAM_EINVAL;
	if (end == start)
		return 0;
	if (!spot_look_up(space, start, spot) || spot->area.start > start)
		return -SEAM_ENOMEM;
	for (;;) {
		uint64_t piece_end = spot->area.end < end ? spot->area.end : end;

		err = change(space, spot, at, piece_end, lock, &reached);
		if (err)
			break;
		at = reached > piece_end ? reached : piece_end;
		if (at >= end)
			break;
		if (!spot_find(space, at, spot) || spot->area.start != at) {
			err = -SEAM_ENOMEM;
			break;
		}
	}
	if (rule(space, SEAM_RULE_mlock_join) == JOIN_SCAN && err != -SEAM_EALLOC &&
	    merge_scan(space, start, end))
		return -SEAM_EALLOC;
	return err;
}

/* The pages that hold any byte of the range. */
static void widen(const struct seam_space *space, uint64_t *addr, uint64_t *len)
{
	*len = round_up(space, *len + (*addr & (page_size(space) - 1)));
	*addr = page_down(space, *addr);
}

int old_mlock(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t flags)
{
	if (flags)
		return -SEAM_ENOSYS; /* mlock2 */
	widen(space, &addr, &len);
	/* which of the two is looked at first changed with who is bound by the limit */
	if (!rule(space, SEAM_RULE_lock_capable) && !old_may_lock(space))
		return -SEAM_EPERM;
	if (!within_limit(space, pages_of(space, len) + space->mm.totals.locked_pages))
		return -SEAM_ENOMEM;
	if (!old_may_lock(space))
		return -SEAM_EPERM;
	return lock_range(space, addr, len, true);
}

int old_munlock(struct seam_space *space, uint64_t addr, uint64_t len)
{
	widen(space, &addr, &len);
	return lock_range(space, addr, len, false);
}

/* Errors of single areas end the walk up to 2.6.7 and are passed over later. */
static int lock_all(struct seam_space *space, bool lock)
{
	bool go_on = rule(space, SEAM_RULE_mlock_join) == JOIN_CASES;
	uint64_t at = 0, reached;
	struct spot *spot = &scratch_of(space)->old_spot;
	int err = 0;

	while (spot_find(space, at, spot)) {
		err = change(space, spot, spot->area.start, spot->area.end, lock, &reached);
		if (err == -SEAM_EALLOC || (err && !go_on))
			break;
		at = err ? spot->area.end : reached;
		err = 0;
	}
	if (rule(space, SEAM_RULE_mlock_join) == JOIN_SCAN && !err)
		err = merge_scan(space, 0, space->user_end);
	return err;
}

int old_mlockall(struct seam_space *space, uint32_t flags)
{
	bool future_only = flags == SEAM_MCL_FUTURE && rule(space, SEAM_RULE_future_only);

	if (!flags || flags & ~(SEAM_MCL_CURRENT | SEAM_MCL_FUTURE))
		return -SEAM_EINVAL;
	if (!rule(space, SEAM_RULE_lock_capable)) {
		if (!old_may_lock(space))
			return -SEAM_EPERM;
		if (flags & SEAM_MCL_CURRENT && !within_limit(space, space->mm.totals.total_pages))
			return -SEAM_ENOMEM;
	} else if (!within_limit(space, space->mm.totals.total_pages)) {
		return -SEAM_ENOMEM;
	} else if (!old_may_lock(space)) {
		return -SEAM_EPERM;
	}
	space->mm.def_flags = flags & SEAM_MCL_FUTURE ? SEAM_VM_LOCKED : 0;
	return future_only ? 0 : lock_all(space, flags & SEAM_MCL_CURRENT);
}

int old_munlockall(struct seam_space *space)
{
	if (rule(space, SEAM_RULE_lock_capable) && !old_may_lock(space))
		return -SEAM_EPERM;
	space->mm.def_flags = 0;
	return lock_all(space, false);
}
