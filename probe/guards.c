/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/guards.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <seam/ops.h>

#include "probe/pagemap.h"
#include "probe/procfs.h"

#define SCAN_REGIONS 1024

/* A scan looks at each resident page, some 5 ns each: with more than this it would be felt. */
#define MAX_RESIDENT_KIB (UINT64_C(16) << 20)

static bool scan_is_cheap(pid_t tid)
{
	char status[4096];
	uint64_t resident_kib = 0;

	return procfs_read(status, sizeof(status), "/proc/%d/status", (int)tid) > 0 &&
	       procfs_field(status, "VmRSS", &resident_kib) && resident_kib <= MAX_RESIDENT_KIB;
}

/* Shares a run of guard pages out over the areas that it lies in. @at: where the last one lay. */
static void count_region(struct snapshot *snapshot, size_t *at, const struct pagemap_region *region)
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

/* Areas [first, behind), and the holes between them. */
static int scan(int fd, struct snapshot *snapshot, size_t first, size_t behind)
{
	static struct pagemap_region regions[SCAN_REGIONS];
	struct pagemap_scan arg = {
		.size = sizeof(arg),
		.start = snapshot->areas[first].area.start,
		.end = snapshot->areas[behind - 1].area.end,
		.vec = (uint64_t)(uintptr_t)regions,
		.vec_len = SCAN_REGIONS,
		.category_mask = PAGEMAP_IS_GUARD,
		.return_mask = PAGEMAP_IS_GUARD,
	};
	size_t at = first;

	while (arg.start < arg.end) {
		int found = ioctl(fd, PAGEMAP_SCAN_IOCTL, &arg);

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

/* Whether smaps shows "gu" for the area of a page of ours. */
static bool is_marked(const void *page)
{
	FILE *smaps = fopen("/proc/self/smaps", "re");
	bool inside = false, marked = false;
	unsigned long start, end;
	char line[4200];

	while (smaps && !marked && fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = start <= (uintptr_t)page && (uintptr_t)page < end;
		else if (inside && !strncmp(line, "VmFlags:", 8))
			marked = strstr(line, " gu");
	}
	if (smaps)
		fclose(smaps);
	return marked;
}

/*
 * Whether this kernel marks each area that had a guard (rule "sticky", 6.18.44 and 6.19-), so that
 * the others need no scan. It is tried; kernels before have markers but no mark.
 */
static bool kernel_marks(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool marks = p != MAP_FAILED && !madvise(p, page, SEAM_MADV_GUARD_INSTALL) && is_marked(p);

	if (p != MAP_FAILED)
		munmap(p, page);
	return marks;
}

static bool may_have_guards(const struct snapshot_area *area, bool marks)
{
	return !marks || area->area.flags & SEAM_VM_MAYBE_GUARD;
}

int guards_read(int pagemap, pid_t tid, struct snapshot *snapshot)
{
	bool marks = snapshot->sees & SEES_FLAGS && kernel_marks();
	bool cheap = scan_is_cheap(tid);

	for (size_t i = 0, first; i < snapshot->nr_areas; i++) {
		if (!may_have_guards(&snapshot->areas[i], marks))
			continue;
		if (!cheap)
			return -E2BIG;
		for (first = i; i < snapshot->nr_areas; i++)
			if (!may_have_guards(&snapshot->areas[i], marks))
				break;
		if (scan(pagemap, snapshot, first, i))
			return 0;
	}
	snapshot->sees |= SEES_GUARDS;
	return 0;
}
