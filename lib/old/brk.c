/* SPDX-License-Identifier: BSD-2-Clause */
/* brk. Source: mm/mmap.c sys_brk, do_brk; 2.2 maps the new part like mmap does. */
#include "lib/compiler.h"
#include "lib/old/old.h"
#include "lib/scratch.h"

static uint64_t heap_flags(const struct seam_space *space)
{
	uint64_t flags = SEAM_VM_READ | SEAM_VM_WRITE | OLD_VM_MAY;

	if (rule(space, SEAM_RULE_heap_exec))
		flags |= SEAM_VM_EXEC;
	if (rule(space, SEAM_RULE_account))
		flags |= SEAM_VM_ACCOUNT;
	return flags | space->mm.def_flags;
}

/* Nothing looks at the end of user space: 2.4.10 on i386, with 4 GiB of addresses. */
static bool unbound(const struct seam_space *space)
{
	return rule(space, SEAM_RULE_brk_unbound) && space->arch == arch_at(SEAM_ARCH_I386);
}

/* The checks of 2.2's do_mmap came before the range was cleared; here it is free already. */
static noinline_for_stack int check_growth(struct seam_space *space, uint64_t start, uint64_t len)
{
	int err = 0;

	if (start + len > space->user_end && !unbound(space))
		return -SEAM_EINVAL;
	/* a range that ends at the last address passes for free; clearing it is refused then */
	if (old_range_taken(space, start, start + len))
		return -SEAM_ENOMEM;
	if (space->mm.def_flags & SEAM_VM_LOCKED)
		err = old_check_locked(space, len);
	if (!err)
		err = old_check_total(space, len);
	if (!err && index_count(&space->index) > space->limit[SEAM_LIMIT_AREAS])
		err = -SEAM_ENOMEM;
	return err ? err : old_check_memory(space, len);
}

static noinline_for_stack int grow(struct seam_space *space, uint64_t start, uint64_t len)
{
	struct area *range = &scratch_of(space)->fresh;
	const struct attr attr = { .flags = heap_flags(space) };
	int err = check_growth(space, start, len);
	struct cursor at;

	if (err)
		return err;
	*range = (struct area) {
		.start = start,
		.end = start + len,
		.tag = area_heap_tag(space, start),
	};
	if (rule(space, SEAM_RULE_anon_pgoff) == PGOFF_ADDRESS)
		range->pgoff = pages_of(space, start);
	range->attr = area_intern(space, &attr);
	if (!range->attr)
		return -SEAM_EALLOC;
	index_seek(&space->index, start, &at);
	steps_insert(space, start, &at);
	err = merge_fresh(space, rule(space, SEAM_RULE_brk_join), true, range, &at);
	if (!err && attr.flags & SEAM_VM_LOCKED && old_fault_in(space, start) == -SEAM_EALLOC)
		err = -SEAM_EALLOC;
	return err;
}

/* Moves the end of the heap from @old to @new, page aligned both. */
static int move_end(struct seam_space *space, uint64_t addr, uint64_t old, uint64_t new)
{
	uint64_t from = rule(space, SEAM_RULE_data_start) ? space->mm.start_data
							  : space->mm.end_code;
	struct spot *spot = &scratch_of(space)->old_spot;

	if (addr <= space->mm.brk)
		return old_unmap(space, new, old - new);
	if (addr - from > space->limit[SEAM_LIMIT_DATA])
		return -SEAM_ENOMEM;
	/* beyond the last address; 2.4.10 would go on with a heap that ends before it starts */
	if (new < old)
		return -SEAM_EINVAL;
	/* a page stays free above the heap */
	if (spot_look_up(space, old, spot) && spot->area.start < new + page_size(space))
		return -SEAM_ENOMEM;
	return grow(space, old, new - old);
}

int old_brk(struct seam_space *space, uint64_t addr, uint64_t *ret_brk)
{
	uint64_t old = round_up(space, space->mm.brk), new = round_up(space, addr);
	int err = 0;

	*ret_brk = space->mm.brk;
	if (addr < space->mm.end_code)
		return 0;
	if (new != old)
		err = move_end(space, addr, old, new);
	if (err)
		return err == -SEAM_EALLOC ? err : 0;
	*ret_brk = space->mm.brk = addr;
	return 0;
}
