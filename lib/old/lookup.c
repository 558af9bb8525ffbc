/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding areas and neighbours by address. */
#include "lib/old/old.h"

bool old_range_taken(const struct seam_space *space, uint64_t start, uint64_t end)
{
	struct spot spot;

	return spot_find(space, start, &spot) && spot.area.start < end;
}
