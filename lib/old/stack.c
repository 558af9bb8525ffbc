/* SPDX-License-Identifier: BSD-2-Clause */
/* The stack as exec leaves it. Source: fs/exec.c setup_arg_pages. */
#include "lib/old/old.h"

int old_stack(struct seam_space *space, uint64_t start, uint64_t len)
{
	uint64_t end = start + round_up(space, len);
	struct area area = { .start = start, .end = end };
	struct attr attr = { .flags = SEAM_VM_READ | SEAM_VM_WRITE | SEAM_VM_GROWSDOWN |
				      OLD_VM_MAY | space->mm.def_flags };
	struct spot spot;
	int err;

	if (start & (page_size(space) - 1) || start >= end || end > space->user_end)
		return -SEAM_EINVAL;
	if (old_range_taken(space, start, end))
		return -SEAM_ENOMEM;
	if (rule(space, SEAM_RULE_heap_exec))
		attr.flags |= SEAM_VM_EXEC;
	if (rule(space, SEAM_RULE_account))
		attr.flags |= SEAM_VM_ACCOUNT;
	if (rule(space, SEAM_RULE_anon_pgoff) == PGOFF_ADDRESS)
		area.pgoff = pages_of(space, start);
	area.attr = area_intern(space, &attr);
	if (!area.attr)
		return -SEAM_EALLOC;
	spot.area = area;
	err = area_insert(space, &area, &spot.cursor);
	return err ? err : old_attach_anon(space, &spot);
}
