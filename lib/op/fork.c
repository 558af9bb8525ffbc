/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/op/limits.h"
#include "lib/op/op.h"

/* Not inherited: what is locked, and what userfaultfd watches (6.18 dup_userfaultfd). */
static struct attr child_attr(const struct attr *parent)
{
	struct attr attr = *parent;

	attr.flags &= ~(SEAM_VM_LOCKED | SEAM_VM_LOCKONFAULT);
	if (attr.uffd) {
		attr.uffd = 0;
		attr.flags &= ~(SEAM_VM_UFFD_MISSING | SEAM_VM_UFFD_WP | SEAM_VM_UFFD_MINOR);
	}
	return attr;
}

/* The child's copy of one area, the charge included (6.18 mm/mmap.c dup_mmap). */
static int copy_area(const struct seam_space *parent, struct seam_space *child,
		     const struct area *area)
{
	struct attr attr = child_attr(area_attr(parent, area));
	struct area copy = *area;
	int err = commit_charge(child, commit_of(parent, area));

	if (err)
		return err;
	copy.attr = area_intern(child, &attr);
	if (attr.flags & SEAM_VM_WIPEONFORK)
		copy.anon = 0;
	else if (area->anon)
		copy.anon = anon_fork(child->family, area->anon);
	if (!copy.attr || (area->anon && !copy.anon && !(attr.flags & SEAM_VM_WIPEONFORK))) {
		child->no_memory = true;
		return -SEAM_EALLOC;
	}
	return area_insert(child, &copy, NULL);
}

int linux_fork(struct seam_space *parent, struct seam_space *child)
{
	struct cursor cursor;
	struct area area;
	int err;

	/* of mlockall and the like only the choice against huge pages is handed down */
	child->mm.def_flags &= SEAM_VM_NOHUGEPAGE;
	if (index_reserve(&child->index, index_count(&parent->index))) {
		child->no_memory = true;
		return -SEAM_EALLOC;
	}
	for (bool more = index_seek(&parent->index, 0, &cursor); more;
	     more = index_next(&parent->index, &cursor)) {
		index_load(&parent->index, &cursor, &area);
		if (area_flags(parent, &area) & SEAM_VM_DONTCOPY)
			continue;
		err = copy_area(parent, child, &area);
		if (err)
			return err;
	}
	return 0;
}
