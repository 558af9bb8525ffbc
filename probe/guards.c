/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/guards.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "probe/procfs.h"

/* include/uapi/linux/fs.h of 6.15; older headers lack them. */
struct scan_region {
	uint64_t start, end, categories;
};
struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define SCAN_IOCTL _IOWR('f', 16, struct scan_arg)
#define SCAN_IS_GUARD (UINT64_C(1) << 8)

#define SCAN_REGIONS 1024

/* A scan looks at each resident page, some 5 ns each: with more than this it would be felt. */
#define MAX_RESIDENT_KIB (UINT64_C(16) << 20)

static bool scan_is_cheap(pid_t pid)
{
	char status[4096];
	uint64_t resident_kib;

	return procfs_read(status, sizeof(status), "/proc/%d/status", (int)pid) > 0 &&
	       procfs_field(status, "VmRSS", &resident_kib) && resident_kib <= MAX_RESIDENT_KIB;
}

/* Shares a run of guard pages out over the areas that it lies in. @at: where the last one lay. */
static void count_region(struct snapshot *snapshot, size_t *at, const struct scan_region *region)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	while (*at < snapshot->nr_areas && snapshot->areas[*at].area.end <= region->start)
		++*at;
	for (size_t i = *at; i < snapshot->nr_areas; i++) {
		struct snapshot_area *area = &snapshot->areas[i];
		uint64_t start = area->area.start, end = area->area.end;

		if (start >= region->end)
			return;
		start = start > region->start ? start : region->start;
		end = end < region->end ? end : region->end;
		area->guard_pages += (end - start) / page;
	}
}

static int scan(int fd, struct snapshot *snapshot)
{
	static struct scan_region regions[SCAN_REGIONS];
	struct scan_arg arg = {
		.size = sizeof(arg),
		.vec = (uint64_t)(uintptr_t)regions,
		.vec_len = SCAN_REGIONS,
		.category_mask = SCAN_IS_GUARD,
		.return_mask = SCAN_IS_GUARD,
	};
	size_t at = 0;

	if (!snapshot->nr_areas)
		return 0;
	arg.start = snapshot->areas[0].area.start;
	arg.end = snapshot->areas[snapshot->nr_areas - 1].area.end;
	while (arg.start < arg.end) {
		int found = ioctl(fd, SCAN_IOCTL, &arg);

		if (found < 0 && errno == EINTR)
			continue;
		if (found < 0)
			return -errno;
		for (int i = 0; i < found; i++)
			count_region(snapshot, &at, &regions[i]);
		if (arg.walk_end <= arg.start)
			break;
		arg.start = arg.walk_end;
	}
	return 0;
}

int guards_read(int pagemap, pid_t pid, struct snapshot *snapshot)
{
	if (!scan_is_cheap(pid))
		return -E2BIG;
	if (!scan(pagemap, snapshot))
		snapshot->sees |= SEES_GUARDS;
	return 0;
}
