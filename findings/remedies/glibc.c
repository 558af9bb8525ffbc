/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/groups.h"
#include "findings/remedies/remedies.h"

/* All reserves of the group are heaps of malloc. */
static bool are_arenas(const struct findings *findings, const struct group_row *row)
{
	for (size_t i = 0; i < findings->snapshot->nr_areas; i++)
		if (findings->group_of[i] == row->what &&
		    !group_is_glibc_arena(findings->snapshot, i))
			return false;
	return true;
}

const struct remedy remedies_of_glibc[] = {
	{
		.name = "allocator-setting",
		.group = GROUP_reserve_commit,
		.what = "one malloc arena for all threads: MALLOC_ARENA_MAX=1 (glibc.malloc."
			"arena_max=1 in GLIBC_TUNABLES); threads then share its lock",
		.needs = "glibc 2.10; tunables 2.26",
		.source = "mallopt(3) M_ARENA_MAX",
		.anew = true,
		.drops_areas = true,
		.fits = are_arenas,
	},
	{ .name = NULL },
};
