/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/op/fault.h"
#include "lib/op/limits.h"
#include "lib/op/op.h"
#include "lib/op/placement.h"

/* include/linux/mm.h VM_STACK_FLAGS, as fs/exec.c leaves it */
#define STACK_FLAGS                                                                                \
	(SEAM_VM_READ | SEAM_VM_WRITE | SEAM_VM_MAYREAD | SEAM_VM_MAYWRITE | SEAM_VM_MAYEXEC |     \
	 SEAM_VM_GROWSDOWN | SEAM_VM_ACCOUNT)

int linux_stack(struct seam_space *space, uint64_t start, uint64_t len)
{
	uint64_t end = start + len, mask = page_size(space) - 1;
	struct attr attr = { .flags = STACK_FLAGS };
	struct area area = {
		.start = start,
		.end = end,
		/* numbered from the top of user space, from where exec moves it down */
		.pgoff = pages_of(space, space->user_end) - pages_of(space, len),
	};
	struct cursor cursor;
	int err;

	if (!len || (start | len) & mask || end < start || end > space->user_end)
		return -SEAM_EINVAL;
	if (!place_is_free(space, start, end))
		return -SEAM_EEXIST;
	if (space->flags & SEAM_SPACE_READ_IMPLIES_EXEC)
		attr.flags |= SEAM_VM_EXEC;
	err = commit_charge(space, pages_of(space, len));
	if (err)
		return err;
	area.attr = area_intern(space, &attr);
	if (!area.attr)
		return -SEAM_EALLOC;
	err = area_insert(space, &area, &cursor);
	return err ? err : fault_anon(space, &cursor);
}
