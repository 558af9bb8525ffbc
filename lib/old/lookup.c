/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding areas and neighbours by address. */
#include "lib/old/old.h"

bool spot_find(const struct seam_space *space, uint64_t addr, struct spot *ret_spot)
{
	if (!index_seek(&space->index, addr, &ret_spot->cursor))
		return false;
	index_load(&space->index, &ret_spot->cursor, &ret_spot->area);
	return true;
}

bool spot_look_up(struct seam_space *space, uint64_t addr, struct spot *ret_spot)
{
	steps_find(space, addr);
	return spot_find(space, addr, ret_spot);
}

bool spot_above(const struct seam_space *space, const struct spot *spot, struct spot *ret_spot)
{
	struct cursor cursor = spot->cursor;

	if (!index_next(&space->index, &cursor))
		return false;
	ret_spot->cursor = cursor;
	index_load(&space->index, &cursor, &ret_spot->area);
	return true;
}

bool spot_below(const struct seam_space *space, const struct spot *spot, struct spot *ret_spot)
{
	struct cursor cursor = spot->cursor;

	if (!index_prev(&space->index, &cursor))
		return false;
	ret_spot->cursor = cursor;
	index_load(&space->index, &cursor, &ret_spot->area);
	return true;
}

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
