/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "lib/export.h"
#include "lib/payload.h"
#include "lib/space.h"
#include "lib/steps/steps.h"
#include "lib/table.h"

/* Counts of other spaces' areas stay in it: what is reused and what not must not depend on us. */
static bool copy_family(struct seam_space *copy, const struct family *from)
{
	struct family *family = family_new(&copy->alloc, from->shared);

	if (!family)
		return false;
	space_join_family(copy, family);
	family->foreign = from->spaces > 1 || from->foreign;
	family->nr = from->nr;
	family->room = from->room;
	family->free_links = from->free_links;
	family->nr_branches = from->nr_branches;
	family->branch_room = from->branch_room;
	family->free_branches = from->free_branches;

	family->next_serial = from->next_serial;
	family->next_object = from->next_object;
	if (!WITH_KERNELS)
		return true;
	return table_copy(&family->alloc, (void **)&family->links, from->links) &&
	       table_copy(&family->alloc, (void **)&family->branches, from->branches);
}

/* All that space_like() leaves out. */
static bool copy_parts(struct seam_space *copy, const struct seam_space *from)
{
	if (!copy_family(copy, from->family) ||
	    !attr_copy(&copy->attrs, &from->attrs, &copy->alloc) ||
	    (WITH_KERNELS && !table_copy(&copy->alloc, (void **)&copy->adopted, from->adopted)) ||
	    index_copy(&copy->index, &from->index, true))
		return false;
	copy->nr_adopted = from->nr_adopted;
	copy->adopted_room = from->adopted_room;
	if (WITH_READERS && from->history && space_init_readers(copy))
		return false;
	return !from->steps || !steps_copy(copy, from);
}

SEAM_EXPORT int seam_space_snapshot(const struct seam_space *space, struct seam_space **ret_copy)
{
	struct seam_space *copy;

	if (space_busy(space))
		return -SEAM_EBUSY;
	copy = space_like(space);
	if (!copy)
		return -SEAM_EALLOC;
	if (!copy_parts(copy, space)) {
		seam_space_destroy(copy);
		return -SEAM_EALLOC;
	}
	copy->payload = space->payload;
	payload_retain_all(copy);
	*ret_copy = copy;
	return 0;
}
