/* SPDX-License-Identifier: BSD-2-Clause */
/* Readers beside the writer: the nodes are lib/index/read.c's, the identities behind them here. */
#include "lib/index/read.h"

#include <seam/read.h>

#include "lib/export.h"
#include "lib/space.h"

#define TRIES 8

/* NULL: the link is plain. */
static const struct anon_branch *read_branch(const struct family *family, uint32_t mark)
{
	return mark & ANON_BRANCH ? &READ_ACQUIRE(family->branches)[mark & ~ANON_BRANCH] : NULL;
}

/* Only what a link shows to the outside; it may be another one by now. */
static void read_anon(const struct family *family, uint32_t id, struct seam_area *area)
{
	const struct anon_link *links = READ_ACQUIRE(family->links);
	uint32_t mark = READ_ACQUIRE(links[id].mark);
	const struct anon_branch *branch = read_branch(family, mark);

	area->anon_chain = branch ? READ_ONCE(branch->length) : 1;
	if (branch) {
		uint32_t vma = READ_ACQUIRE(branch->vma);

		/* it may lie in a table that has come since */
		mark = READ_ACQUIRE(READ_ACQUIRE(family->links)[vma].mark);
		branch = read_branch(family, mark);
	}
	area->anon_vma = branch ? READ_ONCE(branch->serial) : mark;
}

static void read_attr(const struct attrs *attrs, uint32_t id, struct seam_area *area)
{
	const struct attr *attr = &READ_ACQUIRE(attrs->slots)[id].attr;

	area->flags = READ_ONCE(attr->flags);
	area->file = READ_ONCE(attr->file);
	area->numa = READ_ONCE(attr->numa);
	area->uffd = READ_ONCE(attr->uffd);
	area->name = READ_ONCE(attr->name);
	area->traits = READ_ONCE(attr->traits);
	area->moved_pages = READ_ONCE(attr->moved_pages);
}

/* False: a number stands for something else by now. */
static bool read_identities(const struct seam_read *read, const struct area *area,
			    struct seam_area *ret_area)
{
	const struct seam_space *space = read->space;

	*ret_area = (struct seam_area) {
		.start = area->start, .end = area->end, .pgoff = area->pgoff, .tag = area->tag
	};
	read_attr(&space->attrs, area->attr, ret_area);
	shared_fence();
	if (READ_ONCE(space->attrs.reused) != read->attrs)
		return false;
	if (!WITH_KERNELS || !area->anon)
		return true;
	read_anon(space->family, area->anon, ret_area);
	shared_fence();
	return READ_ONCE(space->family->reused) == read->anons;
}

SEAM_EXPORT int seam_read_begin(struct seam_read *read, const struct seam_space *space)
{
	if (!WITH_READERS || !space->history)
		return -SEAM_EINVAL;
	read->space = space;
	/* in this order: numbers that come to mean something else are noticed from here on */
	read->attrs = READ_ACQUIRE(space->attrs.reused);
	read->anons = READ_ACQUIRE(space->family->reused);
	read->state = index_read_begin(space->history);
	return 0;
}

SEAM_EXPORT int seam_read_find(const struct seam_read *read, uint64_t addr,
			       struct seam_area *ret_area)
{
	struct seam_area found;
	struct area area;
	int result = WITH_READERS ? index_read_seek(read->space->history, read->state, addr, &area)
				  : -SEAM_EINVAL;

	if (result != 1)
		return result;
	if (!read_identities(read, &area, &found))
		return -SEAM_EAGAIN;
	*ret_area = found;
	return 1;
}

SEAM_EXPORT int seam_read_try(const struct seam_space *space, uint64_t addr,
			      struct seam_area *ret_area)
{
	struct seam_read read;
	int result = seam_read_begin(&read, space);

	for (unsigned int i = 0; i < TRIES && !result; i++) {
		result = seam_read_find(&read, addr, ret_area);
		if (result != -SEAM_EAGAIN)
			return result;
		result = seam_read_begin(&read, space);
	}
	return result ? result : -SEAM_EAGAIN;
}
