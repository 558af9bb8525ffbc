/* SPDX-License-Identifier: BSD-2-Clause */
/* Areas of a replay as /proc/PID/maps shows them. */
#include <inttypes.h>
#include <string.h>

#include "face/replay.h"

#define NAME_COLUMN 73

void area_perms(const struct seam_area *area, char perms[5])
{
	perms[0] = area->flags & SEAM_VM_READ ? 'r' : '-';
	perms[1] = area->flags & SEAM_VM_WRITE ? 'w' : '-';
	perms[2] = area->flags & SEAM_VM_EXEC ? 'x' : '-';
	perms[3] = area->flags & SEAM_VM_MAYSHARE ? 's' : 'p';
	perms[4] = 0;
}

uint64_t area_shown_offset(const struct seam_area *area)
{
	return area->file ? area->pgoff << 12 : 0;
}

/* fs/proc/task_mmu.c, show_map_vma: the heap and the stack by where they are. */
const char *area_name(const struct replay_report *report, const struct replay_mm *mm,
		      const struct seam_area *area)
{
	const struct trace_file *file;

	if (area->file & SEAM_FILE_OWN)
		return "/dev/zero (deleted)";
	if (area->file)
		file = area->file <= UINT32_MAX ? trace_file(report->trace, (uint32_t)area->file)
						: NULL;
	else
		file = NULL;
	if (file)
		return file->path;
	if (area->file)
		return "";
	if (mm->brk > mm->start_brk && area->start < mm->brk && area->end > mm->start_brk)
		return "[heap]";
	return area->flags & SEAM_VM_GROWSDOWN ? "[stack]" : "";
}

void print_maps_line(const struct replay_report *report, const struct replay_mm *mm,
		     const struct seam_area *area, FILE *out)
{
	const char *name = area_name(report, mm, area);
	const struct trace_file *file = NULL;
	uint64_t dev = 0, ino = 0;
	char perms[5];
	int width;

	if (area->file && area->file <= UINT32_MAX)
		file = trace_file(report->trace, (uint32_t)area->file);
	if (file) {
		dev = file->dev;
		ino = file->ino;
	}
	area_perms(area, perms);
	width = fprintf(out, "%08" PRIx64 "-%08" PRIx64 " %s %08" PRIx64 " %02x:%02x %" PRIu64 " ",
			area->start, area->end, perms, area_shown_offset(area),
			(unsigned int)(dev >> 20), (unsigned int)(dev & 0xfffff), ino);
	if (*name)
		fprintf(out, "%*s%s", width < NAME_COLUMN ? NAME_COLUMN - width : 0, "", name);
	fputc('\n', out);
}
