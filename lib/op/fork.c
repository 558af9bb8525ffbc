/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child is made of a copy of its parent's index: most of an area stays as it is. Then each gets the
 * attributes and the anon_vma that a child has, or goes. No edit is kept in the journal: a child that
 * cannot be made whole is dropped whole.
 */
#include "lib/memory.h"
#include "lib/op/limits.h"
#include "lib/op/op.h"
#include "lib/steps/steps.h"

/* Not inherited: what is locked, and what userfaultfd watches (6.18 dup_userfaultfd). */
static struct attr child_attr(const struct attr *parent)
{
	struct attr attr = *parent;

	attr.flags &= ~LOCK_BITS;
	attr_drop_uffd(&attr);
	return attr;
}

/* For each attribute set of the parent the number of the child's. False: no memory. */
static bool map_attrs(const struct seam_space *parent, struct seam_space *child, uint32_t *map)
{
	for (uint32_t id = 1; id < parent->attrs.nr; id++) {
		struct attr attr;

		if (!parent->attrs.slots[id].refs)
			continue;
		attr = child_attr(attr_at(&parent->attrs, id));
		map[id] = area_intern(child, &attr);
		if (!map[id])
			return false;
	}
	return true;
}

/* The child's copy of one area, under @cursor, the charge included (6.18 mm/mmap.c dup_mmap). */
static int make_child_area(const struct seam_space *parent, struct seam_space *child,
			   const struct cursor *cursor, const struct area *area, uint32_t attr)
{
	struct area copy = *area;
	int err = commit_charge(child, commit_of(parent, area));

	if (err)
		return err;
	copy.attr = attr;
	copy.anon = 0;
	if (WITH_KERNELS && area->anon && !(area_flags(parent, area) & SEAM_VM_WIPEONFORK)) {
		copy.anon = anon_fork(child->family, area->anon);
		if (!copy.anon)
			return -SEAM_EALLOC;
	}
	index_set_identities(&child->index, cursor, copy.attr, copy.anon);
	attr_hold(&child->attrs, copy.attr);
	anon_hold(child->family, copy.anon);
	area_count(child, &copy, &child->mm.totals, 1);
	if (!steps_reserve(child, 1))
		return -SEAM_EALLOC;
	if (child->steps)
		steps_area_inserted(child, &copy);
	return 0;
}

/* Area by area through both, which are alike but for what was left out. */
static int make_child(const struct seam_space *parent, struct seam_space *child,
		      const uint32_t *map)
{
	struct cursor from, to;
	struct area area;
	int err;

	index_seek(&child->index, 0, &to);
	for_each_area(parent, 0, &from, &area) {
		if (area_flags(parent, &area) & SEAM_VM_DONTCOPY) {
			index_remove(&child->index, &to);
			continue;
		}
		err = make_child_area(parent, child, &to, &area, map[area.attr]);
		if (err)
			return err;
		index_next(&child->index, &to);
	}
	return 0;
}

int linux_fork(struct seam_space *parent, struct seam_space *child)
{
	size_t bytes = parent->attrs.nr * sizeof(uint32_t);
	uint32_t *map;
	int err;

	/* of mlockall and the like only the choice against huge pages is handed down */
	child->mm.def_flags &= SEAM_VM_NOHUGEPAGE;
	if (!index_count(&parent->index))
		return 0;
	map = child->alloc.alloc(child->alloc.ctx, bytes);
	child->no_memory = !map || !attr_copy(&child->attrs, &parent->attrs, &child->alloc) ||
			   index_copy(&child->index, &parent->index, false);
	if (!child->no_memory) {
		attr_recount_begin(&child->attrs);
		child->no_memory = !map_attrs(parent, child, map);
	}
	err = child->no_memory ? -SEAM_EALLOC : make_child(parent, child, map);
	child->no_memory = err == -SEAM_EALLOC;
	if (!err)
		attr_recount_end(&child->attrs);
	memory_free(&child->alloc, map, bytes);
	return err;
}
