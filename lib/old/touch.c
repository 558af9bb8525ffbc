/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page faults as far as areas go: stack growth and anon_vma.
 * Source: arch/i386/mm/fault.c do_page_fault; mm/mmap.c expand_stack, find_mergeable_anon_vma;
 * mm/rmap.c anon_vma_prepare (2.6.7-).
 */
#include "lib/compiler.h"
#include "lib/old/old.h"

/*
 * May @spot take over the anon_vma of @near, which lies beside it? Protection does not count: an
 * mprotect may make the two equal later.
 */
static int can_share(struct seam_space *space, const struct spot *spot, const struct area *near,
		     enum join_neighbour neighbour, bool *ret_can)
{
	struct attr attr = *area_attr(space, &spot->area);
	struct area like = spot->area;

	*ret_can = false;
	if (!near->anon)
		return 0;
	attr.flags = (attr.flags & ~SEAM_VM_RWX) | (area_flags(space, near) & SEAM_VM_RWX);
	like.attr = area_intern(space, &attr);
	if (!like.attr)
		return -SEAM_EALLOC;
	*ret_can = neighbour == NEIGHBOUR_LEFT
			   ? near->end == like.start && join_check(space, near, &like, neighbour)
			   : like.end == near->start && join_check(space, &like, near, neighbour);
	return 0;
}

/* The next area's anon_vma, else the previous one's, else 0. */
static noinline_for_stack int shared_anon(struct seam_space *space, const struct spot *spot,
					  uint32_t *ret_anon)
{
	struct spot near;
	bool can = false;
	int err = 0;

	*ret_anon = 0;
	if (spot_above(space, spot, &near))
		err = can_share(space, spot, &near.area, NEIGHBOUR_RIGHT, &can);
	if (!err && !can && spot_below(space, spot, &near))
		err = can_share(space, spot, &near.area, NEIGHBOUR_LEFT, &can);
	if (can)
		*ret_anon = near.area.anon;
	return err;
}

int old_attach_anon(struct seam_space *space, struct spot *spot)
{
	struct area touched = spot->area;
	int err;

	if (touched.anon || !rule(space, SEAM_RULE_anon_vma))
		return 0;
	err = shared_anon(space, spot, &touched.anon);
	if (err)
		return err;
	if (!touched.anon)
		touched.anon = area_new_anon(space);
	if (!touched.anon)
		return -SEAM_EALLOC;
	spot->area = touched;
	return area_store(space, &spot->cursor, &touched);
}

int old_fault_in(struct seam_space *space, uint64_t start)
{
	uint64_t flags;
	struct spot spot;

	if (!spot_find(space, start, &spot))
		return 0;
	flags = area_flags(space, &spot.area);
	if (!(flags & (SEAM_VM_READ | SEAM_VM_WRITE)))
		return rule(space, SEAM_RULE_lock_faults) ? -SEAM_EFAULT : 0;
	if ((flags & (SEAM_VM_WRITE | SEAM_VM_SHARED)) == SEAM_VM_WRITE)
		return old_attach_anon(space, &spot);
	return 0;
}

/* A growing area comes down to @addr. 2.6.7 and later give it an anon_vma first. */
static int grow_down(struct seam_space *space, struct spot *spot, uint64_t addr)
{
	uint64_t flags = area_flags(space, &spot->area), grown = spot->area.start - addr;
	struct area area;
	int err;

	if (!(flags & SEAM_VM_GROWSDOWN) ||
	    spot->area.end - addr > space->limit[SEAM_LIMIT_STACK] || old_check_total(space, grown))
		return -SEAM_EFAULT;
	if (flags & SEAM_VM_LOCKED && !rule(space, SEAM_RULE_lock_capable) &&
	    old_check_locked(space, grown))
		return -SEAM_EFAULT;
	err = old_attach_anon(space, spot);
	if (err)
		return err;
	area = spot->area;
	area.pgoff = area_offset_at(space, &area, addr);
	area.start = addr;
	err = area_store(space, &spot->cursor, &area);
	spot->area = area;
	return err;
}

/* Does this access leave an anon_vma? Private memory that is written; 2.6.24: anonymous in any case */
static bool attaches(const struct seam_space *space, const struct area *area, int write)
{
	const struct attr *attr = area_attr(space, area);

	if (attr->flags & SEAM_VM_SHARED)
		return false;
	return write || (rule(space, SEAM_RULE_read_anon) && !attr->file);
}

static bool allowed(const struct seam_space *space, const struct area *area, int write)
{
	uint64_t flags = area_flags(space, area);

	if (write)
		return flags & SEAM_VM_WRITE;
	return flags & (SEAM_VM_READ | SEAM_VM_EXEC |
			(rule(space, SEAM_RULE_read_anon) ? SEAM_VM_WRITE : 0));
}

int old_touch(struct seam_space *space, uint64_t addr, uint64_t len, int write, uint64_t *ret_done)
{
	uint64_t at = page_down(space, addr), end = addr + len;
	struct spot spot;
	int err;

	while (at < end) {
		*ret_done = at;
		if (!spot_look_up(space, at, &spot))
			return -SEAM_EFAULT;
		if (spot.area.start > at) {
			err = grow_down(space, &spot, at);
			if (err)
				return err;
		}
		if (!allowed(space, &spot.area, write))
			return -SEAM_EFAULT;
		if (attaches(space, &spot.area, write)) {
			err = old_attach_anon(space, &spot);
			if (err)
				return err;
		}
		/* the area's other pages are found in the cache, at no step */
		at = spot.area.end;
	}
	*ret_done = end;
	return 0;
}
