/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/remedies/remedies.h"

#include <stdlib.h>

/* What a window shows, and with which rights. */
struct window {
	uint64_t dev, inode, file, pgoff, pages, access;
};

static struct window window_of(const struct snapshot_area *area)
{
	return (struct window) {
		.dev = (uint64_t)area->dev_major << 32 | area->dev_minor,
		.inode = area->inode,
		.file = area->inode ? 0 : area->area.file,
		.pgoff = area->area.pgoff,
		.pages = area->area.end - area->area.start,
		.access = area->area.flags & (SEAM_VM_RWX | SEAM_VM_MAYSHARE),
	};
}

static int by_window(const void *left, const void *right)
{
	const uint64_t *l = left, *r = right;

	for (size_t i = 0; i < sizeof(struct window) / sizeof(*l); i++)
		if (l[i] != r[i])
			return l[i] < r[i] ? -1 : 1;
	return 0;
}

uint64_t repeated_windows(const struct findings *findings, const struct group_row *row)
{
	const struct snapshot *snapshot = findings->snapshot;
	struct window *windows = malloc(row->areas * sizeof(*windows));
	uint64_t repeats = 0;
	size_t nr = 0;

	if (!windows)
		return 0;
	for (size_t i = 0; i < snapshot->nr_areas && nr < row->areas; i++)
		if (findings->group_of[i] == row->what)
			windows[nr++] = window_of(&snapshot->areas[i]);
	qsort(windows, nr, sizeof(*windows), by_window);
	for (size_t i = 1; i < nr; i++)
		repeats += !by_window(&windows[i - 1], &windows[i]);
	free(windows);
	return repeats;
}
