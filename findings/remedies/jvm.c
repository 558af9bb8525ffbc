/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/remedies/remedies.h"

static bool has_jvm(const struct findings *findings, const struct group_row *row)
{
	return maps_file(findings->snapshot, "/libjvm.so");
}

const struct remedy remedies_of_jvm[] = {
	{
		.name = "runtime-setting",
		.group = GROUP_thread_stack,
		.what = "give tasks that wait virtual threads (Executors."
			"newVirtualThreadPerTaskExecutor()): those have no stacks of their own",
		.needs = "JDK 21",
		.source = "JEP 444",
		.anew = true,
		.drops_areas = true,
		.fits = has_jvm,
	},
	{ .name = NULL },
};
