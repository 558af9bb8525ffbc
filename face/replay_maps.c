/* SPDX-License-Identifier: BSD-2-Clause */
/* Areas of a replay as /proc/PID/maps shows them. */
#include <inttypes.h>
#include <string.h>

#include "face/path_text.h"
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

static const struct trace_file *file_of(const struct replay_report *report,
					const struct replay_mm *mm, const struct seam_area *area)
{
	uint32_t object = intern_find(&mm->objects, &area->file, sizeof(area->file));

	if (object)
		return trace_file(report->trace, mm->object_files[object - 1]);
	if (!area->file || area->file > UINT32_MAX)
		return NULL;
	return trace_file(report->trace, (uint32_t)area->file);
}

/* Mappings that the kernel makes at exec and that nothing may split: [vvar]s and [vdso]. */
static bool is_special(const struct seam_area *area)
{
	return !area->file && area->traits & SEAM_TRAIT_NO_SPLIT;
}

/* fs/proc/task_mmu.c, show_map_vma: the heap and the stack by where they are. */
const char *area_name(const struct replay_report *report, const struct replay_mm *mm, size_t i)
{
	const struct seam_area *area = &mm->maps[i];
	const struct trace_file *file = file_of(report, mm, area);

	if (file)
		return file->path;
	if (area->file & SEAM_FILE_OWN)
		return "/dev/zero (deleted)";
	if (area->file)
		return "";
	if (is_special(area)) {
		if (area->flags & SEAM_VM_EXEC)
			return "[vdso]";
		return i && is_special(&mm->maps[i - 1]) ? "[vvar_vclock]" : "[vvar]";
	}
	if (mm->brk > mm->start_brk && area->start < mm->brk && area->end > mm->start_brk)
		return "[heap]";
	return area->flags & SEAM_VM_GROWSDOWN ? "[stack]" : "";
}

void print_maps_line(const struct replay_report *report, const struct replay_mm *mm, size_t i,
		     FILE *out)
{
	const struct seam_area *area = &mm->maps[i];
	const struct trace_file *file = file_of(report, mm, area);
	const char *name = area_name(report, mm, i);
	uint64_t dev = file ? file->dev : 0, ino = file ? file->ino : 0;
	char perms[5];
	int width;

	area_perms(area, perms);
	width = fprintf(out, "%08" PRIx64 "-%08" PRIx64 " %s %08" PRIx64 " %02x:%02x %" PRIu64 " ",
			area->start, area->end, perms, area_shown_offset(area),
			(unsigned int)(dev >> 20), (unsigned int)(dev & 0xfffff), ino);
	if (*name) {
		fprintf(out, "%*s", width < NAME_COLUMN ? NAME_COLUMN - width : 0, "");
		path_text(out, name, "\n");
	}
	fputc('\n', out);
}
