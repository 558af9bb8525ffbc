/* SPDX-License-Identifier: BSD-2-Clause */
/* madvise. Source: mm/filemap.c (2.4), mm/madvise.c: sys_madvise, madvise_behavior. */
#include "lib/old/old.h"

static bool today(const struct seam_space *space)
{
	return rule(space, SEAM_RULE_madvise_args) == MADVISE_2_6_24;
}

/* What advice makes of the flags; false: it changes none. */
static bool advised_flags(const struct seam_space *space, int advice, uint64_t *flags)
{
	uint64_t hints = SEAM_VM_SEQ_READ | SEAM_VM_RAND_READ;

	switch (advice) {
	case SEAM_MADV_NORMAL:
		*flags &= ~hints;
		return true;
	case SEAM_MADV_SEQUENTIAL:
		*flags = (*flags & ~hints) | SEAM_VM_SEQ_READ;
		return true;
	case SEAM_MADV_RANDOM:
		*flags = (*flags & ~hints) | SEAM_VM_RAND_READ;
		return true;
	case SEAM_MADV_DONTFORK:
		*flags |= SEAM_VM_DONTCOPY;
		return today(space);
	case SEAM_MADV_DOFORK:
		*flags &= ~SEAM_VM_DONTCOPY;
		return today(space);
	default:
		return false;
	}
}

/* Up to 2.6.12 the range is cut out even where it has these flags already. */
static int change(struct seam_space *space, const struct spot *spot, uint64_t start, uint64_t end,
		  uint64_t flags, uint64_t *ret_end)
{
	int err;

	*ret_end = spot->area.end;
	if (flags == area_flags(space, &spot->area) && today(space))
		return 0;
	/* 2.4 looks at the limit once, whether it will cut or not */
	if (rule(space, SEAM_RULE_madvise_args) == MADVISE_2_4 &&
	    index_count(&space->index) > space->limit[SEAM_LIMIT_AREAS])
		return -SEAM_ENOMEM;
	err = merge_changed(space, rule(space, SEAM_RULE_madvise_join), spot, start, end, flags,
			    ret_end);
	return err == -SEAM_ENOMEM ? -SEAM_EAGAIN : err;
}

/* Advice that leaves areas as they are. */
static int pass(const struct seam_space *space, const struct spot *spot, int advice)
{
	uint64_t flags = area_flags(space, &spot->area), file = file_of(space, &spot->area);
	uint64_t kept = SEAM_VM_LOCKED;

	switch (advice) {
	case SEAM_MADV_WILLNEED:
		return file ? 0 : -SEAM_EBADF;
	case SEAM_MADV_DONTNEED:
		if (today(space))
			kept |= SEAM_VM_PFNMAP;
		if (rule(space, SEAM_RULE_account))
			kept |= SEAM_VM_HUGETLB;
		return flags & kept ? -SEAM_EINVAL : 0;
	case SEAM_MADV_REMOVE:
		if (!today(space) || flags & (SEAM_VM_LOCKED | SEAM_VM_HUGETLB) || !file)
			return -SEAM_EINVAL;
		if ((flags & (SEAM_VM_SHARED | SEAM_VM_WRITE)) != (SEAM_VM_SHARED | SEAM_VM_WRITE))
			return -SEAM_EACCES;
		return area_attr(space, &spot->area)->traits & SEAM_TRAIT_SHMEM ? 0 : -SEAM_ENOSYS;
	default:
		return -SEAM_EINVAL;
	}
}

static int advise(struct seam_space *space, const struct spot *spot, uint64_t start, uint64_t end,
		  int advice, uint64_t *ret_end)
{
	uint64_t flags = area_flags(space, &spot->area);

	*ret_end = spot->area.end;
	if (advice == SEAM_MADV_DOFORK && flags & SEAM_VM_IO)
		return -SEAM_EINVAL;
	if (!advised_flags(space, advice, &flags))
		return pass(space, spot, advice);
	return change(space, spot, start, end, flags, ret_end);
}

/* Holes are passed over and make the result ENOMEM. */
static int advise_range(struct seam_space *space, uint64_t start, uint64_t end, int advice)
{
	uint64_t at = start, reached;
	struct spot spot;
	int err, holes = 0;

	spot_look_up(space, start, &spot);
	while (at < end) {
		uint64_t piece_end;

		if (!spot_find(space, at, &spot))
			return -SEAM_ENOMEM;
		if (spot.area.start > at) {
			holes = -SEAM_ENOMEM;
			at = spot.area.start;
			if (at >= end)
				break;
		}
		piece_end = spot.area.end < end ? spot.area.end : end;
		err = advise(space, &spot, at, piece_end, advice, &reached);
		if (err)
			return err;
		at = reached > piece_end ? reached : piece_end;
	}
	return holes;
}

int old_madvise(struct seam_space *space, uint64_t addr, uint64_t len, int advice)
{
	uint64_t size = round_up(space, len), end = word(space, addr + size);

	if (!rule(space, SEAM_RULE_madvise_args))
		return -SEAM_ENOSYS;
	if (addr & (page_size(space) - 1) || end < addr)
		return -SEAM_EINVAL;
	/* a length that wraps to nothing */
	if (len && !size && rule(space, SEAM_RULE_madvise_args) >= MADVISE_2_6_12)
		return -SEAM_EINVAL;
	return advise_range(space, addr, end, advice);
}
