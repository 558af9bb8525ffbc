/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/op/fault.h"
#include "lib/op/join_new.h"
#include "lib/op/ksm.h"
#include "lib/op/limits.h"
#include "lib/op/op.h"
#include "lib/op/placement.h"
#include "lib/op/unmap.h"
#include "lib/scratch.h"
#include "lib/steps/steps.h"

/* include/linux/mm.h VM_DATA_DEFAULT_FLAGS */
#define HEAP_FLAGS                                                                                 \
	(SEAM_VM_READ | SEAM_VM_WRITE | SEAM_VM_MAYREAD | SEAM_VM_MAYWRITE | SEAM_VM_MAYEXEC |     \
	 SEAM_VM_ACCOUNT)

/*
 *	[heap	old)	 [new   | a page free | next)
 * One page must stay free, and more below a stack.
 */
static bool has_room(const struct seam_space *space, uint64_t old, uint64_t new)
{
	struct cursor cursor;
	struct area next;
	bool more = area_seek(space, old, &cursor, &next);

	steps_find(space, old, &cursor);
	if (!more)
		return true;
	return new + page_size(space) <= place_start_with_gap(space, &next);
}

/* 6.18 mm/vma.c do_brk_flags */
static int grow(struct seam_space *space, uint64_t old, uint64_t new)
{
	struct attr attr = { .flags = HEAP_FLAGS | space->mm.def_flags };
	uint64_t ksm_after;
	uint64_t pages = pages_of(space, new - old);
	struct join_new *join = &scratch_of(space)->join;
	struct cursor cursor;
	int err;

	if (new < old || new > space->user_end || !has_room(space, old, new))
		return -SEAM_ENOMEM;
	if (space->flags & SEAM_SPACE_READ_IMPLIES_EXEC)
		attr.flags |= SEAM_VM_EXEC;
	if (!limit_lock_fits(space, space->mm.def_flags, pages))
		return -SEAM_EAGAIN;
	if (!limit_may_expand(space, attr.flags, pages) ||
	    index_count(&space->index) > space->limit[SEAM_LIMIT_AREAS])
		return -SEAM_ENOMEM;
	err = commit_charge(space, pages);
	if (err)
		return err;
	ksm_after = ksm_flag_after(space, attr.flags);
	attr.flags |= ksm_flag_before(space, attr.flags);
	join_new_init(join, &(struct area) {
				    .start = old,
				    .end = new,
				    .pgoff = pages_of(space, old),
				    .tag = area_heap_tag(space, old),
				    .attr = area_intern(space, &attr),
			    });
	if (!join->area.attr)
		return -SEAM_EALLOC;
	join->left_only = true;
	join->prev_above = rule(space, SEAM_RULE_brk_own) ? space->mm.start_brk : 0;
	join_new_decide(space, join);
	err = join_new_commit(space, join, &cursor);
	if (!err && ksm_after && !join->joins_left)
		err = area_set_flags(space, &cursor, attr.flags | ksm_after);
	if (!err && space->mm.def_flags & SEAM_VM_LOCKED)
		err = fault_populate_all(space, old, new);
	return err;
}

/* What lies between the breaks; from 6.1 on there must be something to take away. */
static int shrink(struct seam_space *space, uint64_t new, uint64_t old)
{
	if (rule(space, SEAM_RULE_brk_own) && place_is_free(space, new, old))
		return -SEAM_EINVAL;
	return unmap_range(space, new, old);
}

int linux_brk(struct seam_space *space, uint64_t addr, uint64_t *ret_brk)
{
	struct mm *mm = &space->mm;
	uint64_t old = page_up(space, mm->brk), new = page_up(space, addr);
	int err = 0;

	if (addr >= mm->start_brk && limit_data_holds(space, mm, addr)) {
		/* a break on the last page is rounded up to 0, and still no way down */
		if (new != old)
			err = addr > mm->brk ? grow(space, old, new) : shrink(space, new, old);
		if (err == -SEAM_EALLOC)
			return err;
		if (!err)
			mm->brk = addr;
	}
	*ret_brk = mm->brk;
	return 0;
}
