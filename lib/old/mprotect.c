/* SPDX-License-Identifier: BSD-2-Clause */
/* mprotect. Source: mm/mprotect.c sys_mprotect, mprotect_fixup, mprotect_attempt_merge (2.6.0). */
#include "lib/compiler.h"
#include "lib/old/old.h"
#include "lib/scratch.h"

static unsigned int args_of(const struct seam_space *space)
{
	return rule(space, SEAM_RULE_mprotect_args);
}

/* The range in whole pages. *ret_nothing: success without doing anything. */
static int check_args(const struct seam_space *space, uint64_t start, uint64_t len, uint32_t prot,
		      uint64_t *ret_end, bool *ret_nothing)
{
	uint32_t known = SEAM_PROT_READ | SEAM_PROT_WRITE | SEAM_PROT_EXEC;
	uint32_t grows = SEAM_PROT_GROWSDOWN | SEAM_PROT_GROWSUP;
	uint64_t end = word(space, start + round_up(space, len));
	bool today = args_of(space) == MPROTECT_2_6_24;

	*ret_end = end;
	*ret_nothing = false;
	if (args_of(space) >= MPROTECT_2_6_0) {
		if ((prot & grows) == grows)
			return -SEAM_EINVAL;
		known |= SEAM_PROT_SEM | grows;
	}
	if (start & (page_size(space) - 1))
		return -SEAM_EINVAL;
	if (today && !len) {
		*ret_nothing = true;
		return 0;
	}
	if (end < start || (today && end == start))
		return args_of(space) >= MPROTECT_2_6_6 ? -SEAM_ENOMEM : -SEAM_EINVAL;
	if (prot & ~known)
		return -SEAM_EINVAL;
	*ret_nothing = end == start;
	return 0;
}

/* PROT_GROWSDOWN and PROT_GROWSUP change the area from its start, or up to its end (2.6). */
static int stretch(const struct spot *first, uint32_t prot, uint64_t *start, uint64_t *end)
{
	if (prot & SEAM_PROT_GROWSDOWN) {
		if (first->area.start >= *end)
			return -SEAM_ENOMEM;
		*start = first->area.start;
		return 1;
	}
	if (first->area.start > *start)
		return -SEAM_ENOMEM;
	if (prot & SEAM_PROT_GROWSUP)
		*end = first->area.end;
	return 0;
}

/* Flags that the MAY bits do not allow. Bit 8 is SHARED's, whose MAY bit always comes with it. */
static bool forbidden(uint64_t flags)
{
	return flags & ~(flags >> 4) & (SEAM_VM_RWX | SEAM_VM_SHARED);
}

/* Private memory made writable is accounted for good (2.6). */
static int account(const struct seam_space *space, uint64_t old, uint64_t len, uint64_t *flags)
{
	if (!(*flags & SEAM_VM_WRITE) || old & (SEAM_VM_ACCOUNT | SEAM_VM_WRITE | SEAM_VM_SHARED))
		return 0;
	if (rule(space, SEAM_RULE_account))
		*flags |= SEAM_VM_ACCOUNT;
	return old_check_memory(space, len);
}

/* New protection for [start, end) of one area; *ret_end: how far the area that holds it reaches. */
static int change(struct seam_space *space, const struct spot *spot, uint64_t start, uint64_t end,
		  uint64_t flags, uint64_t *ret_end)
{
	uint64_t old = area_flags(space, &spot->area);
	int err;

	*ret_end = spot->area.end;
	if (flags == old)
		return 0;
	err = account(space, old, end - start, &flags);
	if (err)
		return err;
	return merge_changed(space, rule(space, SEAM_RULE_mprotect_join), spot, start, end, flags,
			     ret_end);
}

/* 2.4.10 - 2.6.6: what ends where the range does is joined with what follows, changed or not. */
static noinline_for_stack int join_last(struct seam_space *space, uint64_t end)
{
	struct spot lower, upper;
	uint64_t flags;

	if (!spot_find(space, end, &upper) || !spot_below(space, &upper, &lower))
		return 0;
	flags = area_flags(space, &lower.area);
	if (upper.area.start != end || lower.area.end != end ||
	    !join_takes(JOIN_ANON, flags, file_of(space, &lower.area)))
		return 0;
	space->mm.stats.join_tries++;
	if (!join_check(space, &lower.area, &upper.area, NEIGHBOUR_RIGHT))
		return 0;
	return merge_pair(space, &lower, &upper);
}

static int change_range(struct seam_space *space, struct spot *spot, uint64_t start, uint64_t end,
			uint32_t prot)
{
	bool style_2_4 = rule(space, SEAM_RULE_mprotect_join) == JOIN_ANON;
	uint64_t at = start, piece_end, reached;
	int err;

	for (;;) {
		uint64_t flags = area_flags(space, &spot->area) & ~SEAM_VM_RWX;

		flags |= prot & SEAM_VM_RWX;
		if (forbidden(flags))
			return -SEAM_EACCES;
		piece_end = spot->area.end < end ? spot->area.end : end;
		if (style_2_4 && spot->area.end > end)
			style_2_4 = false;
		err = change(space, spot, at, piece_end, flags, &reached);
		if (err)
			return err;
		/* joined with what is above: that has these flags already */
		at = reached > piece_end ? reached : piece_end;
		if (at >= end)
			return style_2_4 ? join_last(space, end) : 0;
		if (!spot_find(space, at, spot) || spot->area.start != at)
			return args_of(space) >= MPROTECT_2_6_0 ? -SEAM_ENOMEM : -SEAM_EFAULT;
	}
}

int old_mprotect(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t prot, int pkey)
{
	uint64_t start = addr, end;
	struct spot *spot = &scratch_of(space)->old_spot;
	bool nothing;
	int err;

	if (pkey >= 0)
		return -SEAM_ENOSYS;
	err = check_args(space, start, len, prot, &end, &nothing);
	if (err || nothing)
		return err;
	if (!spot_look_up(space, start, spot))
		return args_of(space) >= MPROTECT_2_6_0 ? -SEAM_ENOMEM : -SEAM_EFAULT;
	if (args_of(space) >= MPROTECT_2_6_0) {
		err = stretch(spot, prot, &start, &end);
		if (err < 0)
			return err;
		if (prot & SEAM_PROT_GROWSUP ||
		    (err && !(area_flags(space, &spot->area) & SEAM_VM_GROWSDOWN)))
			return -SEAM_EINVAL;
	} else if (spot->area.start > start) {
		return -SEAM_EFAULT;
	}
	err = change_range(space, spot, start, end, prot);
	if (rule(space, SEAM_RULE_mprotect_join) == JOIN_SCAN && err != -SEAM_EALLOC &&
	    merge_scan(space, start, end))
		return -SEAM_EALLOC;
	return err;
}
