/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding areas and neighbours by address. */
#include "lib/old/old.h"

bool spot_before(const struct seam_space *space, uint64_t addr, struct spot *ret_spot)
{
	bool found;

	/* the one below the first that ends behind @addr */
	if (index_seek(&space->index, addr, &ret_spot->cursor))
		found = index_prev(&space->index, &ret_spot->cursor);
	else
		found = index_last(&space->index, &ret_spot->cursor);
	if (found)
		index_load(&space->index, &ret_spot->cursor, &ret_spot->area);
	return found;
}

bool old_range_taken(const struct seam_space *space, uint64_t start, uint64_t end)
{
	struct spot spot;

	return spot_find(space, start, &spot) && spot.area.start < end;
}
