/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/cost.h"

/*
 * What an area is made of: itself, its lock where that is an object of its own (6.4-6.14), nodes of
 * the tree it hangs in (6.1-), its anon_vma and the links to that.
 */
static bool holds_areas(const char *name)
{
	static const char *const names[] = { "vm_area_struct", "vma_lock", "maple_node", "anon_vma",
					     "anon_vma_chain" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Splitting replaces nodes of the tree; the old ones are freed some ticks later, by RCU. */
#define SETTLE_US 30000

int cost_slabs_read(struct cost_slabs *ret_slabs)
{
	FILE *slabs = fopen("/proc/slabinfo", "re");
	struct cost_slabs found = { 0 };
	char line[512], name[64];
	int64_t active, total, size;

	if (!slabs)
		return -errno;
	usleep(SETTLE_US);
	while (fgets(line, sizeof(line), slabs)) {
		if (sscanf(line, "%63s %" SCNd64 " %" SCNd64 " %" SCNd64, name, &active, &total,
			   &size) != 4 ||
		    !holds_areas(name))
			continue;
		if (!strcmp(name, "vm_area_struct"))
			found.areas = active;
		found.bytes += active * size;
	}
	fclose(slabs);
	*ret_slabs = found;
	return found.areas ? 0 : -ENODATA;
}
