/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork: areas marked DONTCOPY stay behind, locks are dropped, and the child's memory keeps the
 * parent's anon_vma: an anon_vma of its own came with 2.6.34. Source: kernel/fork.c dup_mmap.
 */
#include "lib/old/old.h"

int old_fork(struct seam_space *parent, struct seam_space *child)
{
	struct cursor cursor;
	struct area area;
	struct attr attr;
	int err;

	child->mm.def_flags = 0;
	place_fork(child);
	for_each_area(parent, 0, &cursor, &area) {
		attr = *area_attr(parent, &area);
		if (attr.flags & SEAM_VM_DONTCOPY)
			continue;
		attr.flags &= ~SEAM_VM_LOCKED;
		area.attr = area_intern(child, &attr);
		if (!area.attr)
			return -SEAM_EALLOC;
		err = area_insert(child, &area, NULL);
		if (err)
			return err;
	}
	return 0;
}
