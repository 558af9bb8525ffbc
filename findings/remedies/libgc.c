/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/remedies/remedies.h"

/* bdwgc's library is libgc.so.1; nothing else of that name is known. */
static bool has_libgc(const struct findings *findings, const struct group_row *row)
{
	return maps_file(findings->snapshot, "/libgc.so");
}

const struct remedy remedies_of_libgc[] = {
	{
		.name = "runtime-setting",
		.group = GROUP_write_barrier,
		.what = "leave incremental collection off: no GC_enable_incremental() and no "
			"GC_ENABLE_INCREMENTAL in the environment",
		.source = "bdwgc docs/README.environment; measured here: 25,164 to 29",
		.confirmed = true,
		.anew = true,
		.drops = SEAM_CAUSE(prot) | SEAM_CAUSE(flags) | SEAM_CAUSE(anon_vma) |
			 SEAM_CAUSE(fork),
		.drops_flags = SEAM_VM_ACCOUNT,
		.fits = has_libgc,
	},
	{ .name = NULL },
};
