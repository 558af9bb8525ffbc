/* SPDX-License-Identifier: BSD-2-Clause */
/* Source: 6.18 mm/madvise.c madvise_vma_behavior, madvise_walk_vmas; mm/ksm.c ksm_madvise. */
#include "lib/op/fault.h"
#include "lib/op/ksm.h"
#include "lib/op/modify.h"
#include "lib/op/op.h"

#define THP_BITS (SEAM_VM_HUGEPAGE | SEAM_VM_NOHUGEPAGE)
#define READ_BITS (SEAM_VM_SEQ_READ | SEAM_VM_RAND_READ)

/* The generations of advices (rule advices): each knows those before it. */
enum {
	ADVICES_4_14,
	ADVICES_5_4,
	ADVICES_5_14,
	ADVICES_5_18,
	ADVICES_6_1,
	ADVICES_6_13,
	ADVICES_6_15
};

static unsigned int first_known(int advice)
{
	switch (advice) {
	case SEAM_MADV_COLD:
	case SEAM_MADV_PAGEOUT:
		return ADVICES_5_4;
	case SEAM_MADV_POPULATE_READ:
	case SEAM_MADV_POPULATE_WRITE:
		return ADVICES_5_14;
	case SEAM_MADV_DONTNEED_LOCKED:
		return ADVICES_5_18;
	case SEAM_MADV_COLLAPSE:
		return ADVICES_6_1;
	case SEAM_MADV_GUARD_INSTALL:
	case SEAM_MADV_GUARD_REMOVE:
		return ADVICES_6_13;
	default:
		return ADVICES_4_14;
	}
}

static bool is_known(const struct seam_space *space, int advice)
{
	bool named = (advice >= SEAM_MADV_NORMAL && advice <= SEAM_MADV_DONTNEED) ||
		     (advice >= SEAM_MADV_FREE && advice <= SEAM_MADV_COLLAPSE) ||
		     (advice >= SEAM_MADV_HWPOISON && advice <= SEAM_MADV_GUARD_REMOVE);

	if (advice == SEAM_MADV_HUGEPAGE || advice == SEAM_MADV_NOHUGEPAGE ||
	    advice == SEAM_MADV_COLLAPSE)
		named = named && space->flags & SEAM_SPACE_THP;
	return named && rule(space, SEAM_RULE_advices) >= first_known(advice);
}

static bool discards(int advice)
{
	switch (advice) {
	case SEAM_MADV_FREE:
	case SEAM_MADV_DONTNEED:
	case SEAM_MADV_DONTNEED_LOCKED:
	case SEAM_MADV_REMOVE:
	case SEAM_MADV_DONTFORK:
	case SEAM_MADV_WIPEONFORK:
	case SEAM_MADV_GUARD_INSTALL:
		return true;
	default:
		return false;
	}
}

/*
 * Sealed anonymous memory keeps what it holds, unless its owner could overwrite it (6.10 mm/mseal.c
 * is_ro_anon).
 */
static bool seal_forbids(const struct attr *attr, int advice)
{
	return attr->flags & SEAM_VM_SEALED && discards(advice) && !attr->file &&
	       !(attr->flags & SEAM_VM_WRITE);
}

/* The advices that are flags. 1: it is none. */
static int advised_flags(const struct seam_space *space, const struct area *area, int advice,
			 uint64_t *flags)
{
	switch (advice) {
	case SEAM_MADV_NORMAL:
		*flags &= ~READ_BITS;
		return 0;
	case SEAM_MADV_SEQUENTIAL:
		*flags = (*flags & ~READ_BITS) | SEAM_VM_SEQ_READ;
		return 0;
	case SEAM_MADV_RANDOM:
		*flags = (*flags & ~READ_BITS) | SEAM_VM_RAND_READ;
		return 0;
	case SEAM_MADV_DONTFORK:
		*flags |= SEAM_VM_DONTCOPY;
		return 0;
	case SEAM_MADV_DOFORK:
		if (*flags & (rule(space, SEAM_RULE_dofork_special) ? SEAM_VM_SPECIAL : SEAM_VM_IO))
			return -SEAM_EINVAL;
		*flags &= ~SEAM_VM_DONTCOPY;
		return 0;
	case SEAM_MADV_WIPEONFORK:
		if (area_attr(space, area)->file || *flags & SEAM_VM_SHARED)
			return -SEAM_EINVAL;
		*flags |= SEAM_VM_WIPEONFORK;
		return 0;
	case SEAM_MADV_KEEPONFORK:
		if (*flags & SEAM_VM_DROPPABLE)
			return -SEAM_EINVAL;
		*flags &= ~SEAM_VM_WIPEONFORK;
		return 0;
	case SEAM_MADV_DONTDUMP:
		*flags |= SEAM_VM_DONTDUMP;
		return 0;
	case SEAM_MADV_DODUMP:
		if ((!(*flags & SEAM_VM_HUGETLB) && *flags & SEAM_VM_SPECIAL) ||
		    *flags & SEAM_VM_DROPPABLE)
			return -SEAM_EINVAL;
		*flags &= ~SEAM_VM_DONTDUMP;
		return 0;
	case SEAM_MADV_MERGEABLE:
		if (ksm_takes(area_flags(space, area)))
			*flags |= SEAM_VM_MERGEABLE;
		return 0;
	case SEAM_MADV_UNMERGEABLE:
		*flags &= ~SEAM_VM_MERGEABLE;
		return 0;
	case SEAM_MADV_HUGEPAGE:
		*flags = (*flags & ~THP_BITS) | SEAM_VM_HUGEPAGE;
		return 0;
	case SEAM_MADV_NOHUGEPAGE:
		*flags = (*flags & ~THP_BITS) | SEAM_VM_NOHUGEPAGE;
		return 0;
	default:
		return 1;
	}
}

static bool guard_possible(const struct seam_space *space, const struct area *area, bool locked_too)
{
	uint64_t refused = SEAM_VM_SPECIAL | SEAM_VM_HUGETLB;
	uint64_t flags = area_flags(space, area);

	if (!locked_too)
		refused |= SEAM_VM_LOCKED;
	if (rule(space, SEAM_RULE_advices) < ADVICES_6_15 &&
	    (area_attr(space, area)->file || !(flags & SEAM_VM_MAYWRITE)))
		return false;
	return !(flags & refused);
}

/* The markers lie in the page tables; the area as a whole is told apart, and gets an anon_vma. */
static int install_guard(struct seam_space *space, struct cursor *cursor)
{
	struct area area;
	int err;

	index_load(&space->index, cursor, &area);
	if (!guard_possible(space, &area, false))
		return -SEAM_EINVAL;
	if (!area_attr(space, &area)->file || !rule(space, SEAM_RULE_sticky)) {
		err = fault_anon(space, cursor);
		if (err)
			return err;
	}
	if (!rule(space, SEAM_RULE_sticky))
		return 0;
	return area_set_flags(space, cursor, area_flags(space, &area) | SEAM_VM_MAYBE_GUARD);
}

/*
 * Whether pages from @start on may be thrown away (6.18 madvise_dontneed_free_valid_vma). Huge ones
 * only since 5.18, and only from the beginning of one.
 */
static bool may_discard(const struct seam_space *space, const struct area *area, uint64_t start,
			int advice)
{
	uint64_t flags = area_flags(space, area), refused = SEAM_VM_PFNMAP;

	if (flags & SEAM_VM_HUGETLB)
		return advice != SEAM_MADV_FREE && is_huge_aligned(space, start) &&
		       rule(space, SEAM_RULE_advices) >= ADVICES_5_18;
	if (advice != SEAM_MADV_DONTNEED_LOCKED)
		refused |= SEAM_VM_LOCKED;
	if (advice == SEAM_MADV_FREE && area_attr(space, area)->file)
		return false;
	return !(flags & refused);
}

/* The pages of shared memory. Once it had to be writable, later only such that may be made so. */
static bool may_be_removed(const struct seam_space *space, uint64_t flags)
{
	uint64_t wanted = SEAM_VM_SHARED;

	wanted |= rule(space, SEAM_RULE_remove_writable) ? SEAM_VM_WRITE : SEAM_VM_MAYWRITE;
	return (flags & wanted) == wanted;
}

/* The advices that change pages, not areas: only whether they are allowed. */
static int advise_pages(struct seam_space *space, struct cursor *cursor, uint64_t start, int advice)
{
	struct area area;
	uint64_t flags;

	index_load(&space->index, cursor, &area);
	flags = area_flags(space, &area);
	switch (advice) {
	case SEAM_MADV_DONTNEED:
	case SEAM_MADV_FREE:
	case SEAM_MADV_DONTNEED_LOCKED:
		return may_discard(space, &area, start, advice) ? 0 : -SEAM_EINVAL;
	case SEAM_MADV_COLD:
	case SEAM_MADV_PAGEOUT:
		return flags & (SEAM_VM_LOCKED | SEAM_VM_PFNMAP | SEAM_VM_HUGETLB) ? -SEAM_EINVAL
										   : 0;
	case SEAM_MADV_REMOVE:
		if (flags & SEAM_VM_LOCKED || !area_attr(space, &area)->file)
			return -SEAM_EINVAL;
		if (!may_be_removed(space, flags))
			return -SEAM_EACCES;
		/* what has no name has no holes either */
		return area_attr(space, &area)->traits & SEAM_TRAIT_SECRET ? -SEAM_EOPNOTSUPP : 0;
	case SEAM_MADV_GUARD_INSTALL:
		return install_guard(space, cursor);
	case SEAM_MADV_GUARD_REMOVE:
		return guard_possible(space, &area, true) ? 0 : -SEAM_EINVAL;
	default:
		return 0;
	}
}

static int advise_part(struct seam_space *space, struct cursor *cursor, uint64_t start,
		       uint64_t end, void *ctx)
{
	int advice = *(const int *)ctx, err;
	struct area area;
	uint64_t flags;

	index_load(&space->index, cursor, &area);
	flags = area_flags(space, &area);
	if (seal_forbids(area_attr(space, &area), advice))
		return -SEAM_EPERM;
	err = advised_flags(space, &area, advice, &flags);
	if (err > 0)
		return advise_pages(space, cursor, start, advice);
	if (err || flags == area_flags(space, &area))
		return err;
	err = modify_flags(space, cursor, start, end, flags);
	/* as if memory were short for a moment: the area limit in disguise */
	return err == -SEAM_ENOMEM && rule(space, SEAM_RULE_advice_again) ? -SEAM_EAGAIN : err;
}

/* Faults in what the advice asks for; earlier areas stay faulted in when a later one refuses. */
static int populate_part(struct seam_space *space, struct cursor *cursor, uint64_t start,
			 uint64_t end, void *ctx)
{
	bool write = *(const int *)ctx == SEAM_MADV_POPULATE_WRITE;
	struct area area;
	uint64_t flags;

	index_load(&space->index, cursor, &area);
	flags = area_flags(space, &area);
	if (flags & (SEAM_VM_IO | SEAM_VM_PFNMAP) ||
	    area_attr(space, &area)->traits & SEAM_TRAIT_SECRET ||
	    has_exec_only_key(space, flags) || !(flags & (write ? SEAM_VM_WRITE : SEAM_VM_READ)))
		return -SEAM_EINVAL;
	/* an object of shared memory that ends before its area does */
	if (fault_backed_end(space, &area) < end)
		return -SEAM_EFAULT;
	if (write ? flags & SEAM_VM_SHARED : !fault_read_is_anon(space, &area, start, end))
		return 0;
	return fault_anon(space, cursor);
}

int linux_madvise(struct seam_space *space, uint64_t addr, uint64_t len, int advice)
{
	uint64_t end;

	if (!is_known(space, advice) || range_end(space, addr, len, &end))
		return -SEAM_EINVAL;
	if (end == addr)
		return 0;
	if (advice == SEAM_MADV_POPULATE_READ || advice == SEAM_MADV_POPULATE_WRITE)
		return walk_range(space, addr, end,
				  rule(space, SEAM_RULE_populate_holes) ? HOLES_PASS : HOLES_STOP,
				  populate_part, &advice);
	return walk_range(space, addr, end, HOLES_PASS, advise_part, &advice);
}
