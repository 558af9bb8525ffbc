/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/remedies/remedies.h"

static bool has_mimalloc(const struct findings *findings, const struct group_row *row)
{
	return maps_file(findings->snapshot, "libmimalloc");
}

const struct remedy remedies_of_mimalloc[] = {
	{
		.name = "allocator-setting",
		.group = GROUP_decommit,
		.what = "commit whole arenas at once: MIMALLOC_ARENA_EAGER_COMMIT=1",
		.needs = "mimalloc 2.1",
		.source = "mimalloc's documentation of its environment options",
		.anew = true,
		.drops = SEAM_CAUSE(prot) | SEAM_CAUSE(flags) | SEAM_CAUSE(anon_vma),
		.drops_flags = SEAM_VM_ACCOUNT | SEAM_VM_NORESERVE,
		.fits = has_mimalloc,
	},
	{ .name = NULL },
};
