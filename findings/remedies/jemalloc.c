/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/remedies/remedies.h"

static bool has_jemalloc(const struct findings *findings, const struct group_row *row)
{
	return maps_file(findings->snapshot, "libjemalloc");
}

const struct remedy remedies_of_jemalloc[] = {
	{
		.name = "allocator-setting",
		.group = GROUP_decommit,
		.what = "run where overcommit is allowed (vm.overcommit_memory 0 or 1): only under "
			"2 does jemalloc give pages back by remapping them PROT_NONE",
		.needs = "jemalloc 5.0",
		.source = "jemalloc's src/pages.c, os_overcommits",
		.anew = true,
		.drops = SEAM_CAUSE(prot) | SEAM_CAUSE(flags) | SEAM_CAUSE(anon_vma) |
			 SEAM_CAUSE(fork),
		.drops_flags = SEAM_VM_ACCOUNT | SEAM_VM_NORESERVE,
		.fits = has_jemalloc,
	},
	{ .name = NULL },
};
