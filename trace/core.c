/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/core.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/maps_line.h"
#include "trace/scan.h"

#define PAGE_SHIFT 12
#define VSYSCALL UINT64_C(0xffffffffff600000)

/* Offsets in an ELF header and its tables, which differ by the size of a word only. */
struct layout {
	uint8_t word; /* bytes */
	uint8_t phoff, shoff, phentsize, phnum, header;
	uint8_t p_offset, p_vaddr, p_filesz, p_memsz, p_flags, segment;
	uint8_t sh_info, section;
};

#define LAYOUT(bits)                                                                               \
	{                                                                                          \
		.word = (bits) / 8, .phoff = offsetof(Elf##bits##_Ehdr, e_phoff),                  \
		.shoff = offsetof(Elf##bits##_Ehdr, e_shoff),                                      \
		.phentsize = offsetof(Elf##bits##_Ehdr, e_phentsize),                              \
		.phnum = offsetof(Elf##bits##_Ehdr, e_phnum), .header = sizeof(Elf##bits##_Ehdr),  \
		.p_offset = offsetof(Elf##bits##_Phdr, p_offset),                                  \
		.p_vaddr = offsetof(Elf##bits##_Phdr, p_vaddr),                                    \
		.p_filesz = offsetof(Elf##bits##_Phdr, p_filesz),                                  \
		.p_memsz = offsetof(Elf##bits##_Phdr, p_memsz),                                    \
		.p_flags = offsetof(Elf##bits##_Phdr, p_flags),                                    \
		.segment = sizeof(Elf##bits##_Phdr),                                               \
		.sh_info = offsetof(Elf##bits##_Shdr, sh_info),                                    \
		.section = sizeof(Elf##bits##_Shdr),                                               \
	}
static const struct layout layout_32 = LAYOUT(32), layout_64 = LAYOUT(64);

struct core {
	const unsigned char *data;
	uint64_t size;
	bool big_endian, skip_bad;
	const struct layout *layout;
	uint64_t first, nr; /* the table of segments: its offset and length */
	struct snapshot *snapshot;
	struct trace_error *error;
	bool files_seen;
	uint64_t left_out; /* files' ranges without a segment */
	uint64_t objects;  /* of shared memory without a file, met so far */
};

static bool holds(const struct core *core, uint64_t offset, uint64_t size)
{
	return offset <= core->size && size <= core->size - offset;
}

/* @size bytes in the file's byte order; the caller has made sure that they are there. */
static uint64_t get(const struct core *core, uint64_t offset, unsigned int size)
{
	const unsigned char *p = core->data + offset;
	uint64_t value = 0;

	for (unsigned int i = 0; i < size; i++)
		value = value << 8 | p[core->big_endian ? i : size - 1 - i];
	return value;
}

static uint64_t get_word(const struct core *core, uint64_t offset)
{
	return get(core, offset, core->layout->word);
}

/* With 65,535 segments and more, section 0 has their number (PN_XNUM, 2.6.35 binfmt_elf.c). */
static int find_segments(struct core *core)
{
	const struct layout *layout;
	uint64_t sections;

	if (!holds(core, 0, EI_NIDENT) ||
	    (core->data[EI_CLASS] != ELFCLASS32 && core->data[EI_CLASS] != ELFCLASS64))
		return trace_fail(core->error, 0, "byte %d: not an ELF class; expected 1 or 2",
				  EI_CLASS);
	layout = core->layout = core->data[EI_CLASS] == ELFCLASS32 ? &layout_32 : &layout_64;
	core->big_endian = core->data[EI_DATA] == ELFDATA2MSB;
	if (!holds(core, 0, layout->header))
		return trace_fail(core->error, 0, "cut off in its ELF header: expected %d bytes",
				  layout->header);
	core->first = get_word(core, layout->phoff);
	core->nr = get(core, layout->phnum, 2);
	if (core->nr == PN_XNUM) {
		sections = get_word(core, layout->shoff);
		if (!holds(core, sections, layout->section))
			return trace_fail(core->error, 0,
					  "the number of its segments lies behind its end");
		core->nr = get(core, sections + layout->sh_info, 4);
	}
	if (get(core, layout->phentsize, 2) != layout->segment)
		return trace_fail(
			core->error, 0, "byte %d: a segment's entry has %d bytes; expected %d",
			layout->phentsize, (int)get(core, layout->phentsize, 2), layout->segment);
	if (!core->nr || !holds(core, core->first, core->nr * layout->segment))
		return trace_fail(core->error, 0,
				  "cut off: %" PRIu64 " segments at byte %" PRIu64 " expected",
				  core->nr, core->first);
	return 0;
}

static uint64_t segment_at(const struct core *core, uint64_t index)
{
	return core->first + index * core->layout->segment;
}

static uint64_t flags_of(uint32_t p_flags)
{
	return (p_flags & PF_R ? SEAM_VM_READ : 0) | (p_flags & PF_W ? SEAM_VM_WRITE : 0) |
	       (p_flags & PF_X ? SEAM_VM_EXEC : 0);
}

/* [vsyscall] is dumped as a segment, and is no area. */
static int add_segment(struct core *core, uint64_t index)
{
	struct snapshot *snapshot = core->snapshot;
	uint64_t at = segment_at(core, index);
	uint64_t start = get_word(core, at + core->layout->p_vaddr);
	uint64_t size = get_word(core, at + core->layout->p_memsz);
	uint64_t last = snapshot->nr_areas ? snapshot->areas[snapshot->nr_areas - 1].area.end : 0;

	if (!size || start == VSYSCALL)
		return 0;
	if (start + size < start || start < last) {
		if (!core->skip_bad)
			return trace_fail(core->error, 0,
					  "segment %" PRIu64 " at byte %" PRIu64 ": 0x%" PRIx64
					  ", 0x%" PRIx64 " bytes: expected above 0x%" PRIx64,
					  index, at, start, size, last);
		snapshot->bad_lines++;
		return 0;
	}
	snapshot->areas[snapshot->nr_areas++] = (struct snapshot_area) {
		.area = {
			.start = start,
			.end = start + size,
			.flags = flags_of((uint32_t)get(core, at + core->layout->p_flags, 4)),
		},
		.name = "",
	};
	return 0;
}

static struct snapshot_area *area_from(struct snapshot *snapshot, uint64_t start)
{
	size_t low = 0, high = snapshot->nr_areas;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (snapshot->areas[mid].area.start < start)
			low = mid + 1;
		else
			high = mid;
	}
	return low < snapshot->nr_areas ? &snapshot->areas[low] : NULL;
}

/*
 * One path, one file. Only shared memory without a file has the same path for each object: where one
 * begins anew, it is another.
 */
static uint32_t file_number(struct core *core, const char *name, uint64_t offset)
{
	char object[64];
	int len;

	if (!begins_with(name, "/SYSV") && !begins_with(name, "/dev/zero"))
		return snapshot_text(core->snapshot, name, strlen(name), NULL);
	core->objects += !offset;
	len = snprintf(object, sizeof(object), "%.40s %" PRIu64, name, core->objects);
	return snapshot_text(core->snapshot, object, (size_t)len, NULL);
}

/* A file's range is one segment, unless that was left out: gcore dumps nothing that a file has. */
static int set_file(struct core *core, uint64_t start, uint64_t offset, const char *name)
{
	struct snapshot_area *area = area_from(core->snapshot, start);

	if (!area || area->area.start != start) {
		core->left_out++;
		return 0;
	}
	if (!snapshot_text(core->snapshot, name, strlen(name), &area->name))
		return -ENOMEM;
	area->area.file = file_number(core, name, offset);
	area->inode = area->area.file; /* what belongs together is told by it */
	area->area.pgoff = offset >> PAGE_SHIFT;
	area->area.traits = maps_name_traits(name);
	return area->area.file ? 0 : -ENOMEM;
}

/* NT_FILE: count, page size, count times {start, end, offset in pages}, then the names. */
static int read_files(struct core *core, uint64_t at, uint64_t size)
{
	uint64_t word = core->layout->word, end = at + size, names, nr, page;

	if (size < 2 * word)
		return trace_fail(core->error, 0,
				  "byte %" PRIu64 ": the list of files (NT_FILE) is too short", at);
	nr = get_word(core, at);
	page = get_word(core, at + word);
	at += 2 * word;
	if (nr > (end - at) / (3 * word))
		return trace_fail(core->error, 0,
				  "byte %" PRIu64 ": %" PRIu64
				  " files (NT_FILE) do not fit its %" PRIu64 " bytes",
				  at, nr, size);
	names = at + nr * 3 * word;
	core->files_seen = true;
	for (; nr; nr--, at += 3 * word) {
		const char *name = (const char *)core->data + names;
		const char *stop = memchr(name, '\0', end - names);
		int r;

		if (!stop)
			return trace_fail(core->error, 0,
					  "byte %" PRIu64 ": a file's name does not end", names);
		r = set_file(core, get_word(core, at), get_word(core, at + 2 * word) * page, name);
		if (r)
			return r;
		names += (uint64_t)(stop - name) + 1;
	}
	return 0;
}

/* pr_fname: where it lies depends on the width of words and of user ids. */
static void read_comm(struct core *core, uint64_t at, uint64_t size)
{
	uint64_t name = size == 136 ? 40 : size == 128 ? 32 : size == 124 ? 28 : 0;

	if (name)
		snprintf(core->snapshot->comm, sizeof(core->snapshot->comm), "%.16s",
			 (const char *)core->data + at + name);
}

static uint64_t aligned(uint64_t size)
{
	return (size + 3) & ~UINT64_C(3);
}

static int read_notes(struct core *core, uint64_t at, uint64_t size)
{
	uint64_t end = at + size;
	int r = 0;

	while (!r && end - at >= sizeof(Elf64_Nhdr)) {
		uint64_t name = get(core, at, 4), desc = get(core, at + 4, 4);
		uint32_t type = (uint32_t)get(core, at + 8, 4);

		at += sizeof(Elf64_Nhdr);
		if (aligned(name) > end - at || desc > end - at - aligned(name))
			return trace_fail(core->error, 0,
					  "byte %" PRIu64 ": a note is longer than its segment",
					  at);
		at += aligned(name);
		if (type == NT_FILE && name == 5)
			r = read_files(core, at, desc);
		else if (type == NT_PRPSINFO && name == 5)
			read_comm(core, at, desc);
		at += aligned(desc) < end - at ? aligned(desc) : end - at;
	}
	return r;
}

static int read_segments(struct core *core, uint32_t type)
{
	int r = 0;

	for (uint64_t i = 0; !r && i < core->nr; i++) {
		uint64_t at = segment_at(core, i), offset, size;

		if (get(core, at, 4) != type)
			continue;
		if (type == PT_LOAD) {
			r = add_segment(core, i);
			continue;
		}
		offset = get_word(core, at + core->layout->p_offset);
		size = get_word(core, at + core->layout->p_filesz);
		if (holds(core, offset, size))
			r = read_notes(core, offset, size);
		else
			snapshot_note(core->snapshot,
				      "the core file is cut off before the end of its notes");
	}
	return r;
}

static int read_areas(struct core *core)
{
	struct snapshot *snapshot = core->snapshot;
	int r = find_segments(core);

	if (r)
		return r;
	snapshot->areas = calloc(core->nr, sizeof(*snapshot->areas));
	if (!snapshot->areas)
		return -ENOMEM;
	r = read_segments(core, PT_LOAD);
	if (!r && !snapshot->nr_areas)
		r = trace_fail(core->error, 0,
			       "none of its %" PRIu64 " segments is memory (PT_LOAD)", core->nr);
	if (!r)
		r = read_segments(core, PT_NOTE);
	return r;
}

int core_read(const struct source *source, bool skip_bad, struct snapshot *ret_snapshot,
	      struct trace_error *ret_error)
{
	struct snapshot snapshot = { .pid = -1, .source = "core" };
	struct core core = {
		.data = (const unsigned char *)source->data,
		.size = source->size,
		.skip_bad = skip_bad,
		.snapshot = &snapshot,
		.error = ret_error,
	};
	int r = read_areas(&core);

	if (r) {
		snapshot_free(&snapshot);
		return r;
	}
	snapshot.sees = SEES_RANGE | HIDES_SHARED;
	if (core.files_seen)
		snapshot.sees |= SEES_OFFSET;
	else
		snapshot_note(&snapshot, "the core file does not list files (NT_FILE)");
	if (core.left_out) {
		snapshot.counted = snapshot.nr_areas + core.left_out;
		snapshot_note(&snapshot,
			      "ranges of files stand in its list (NT_FILE) that were not dumped: "
			      "their protection is not known");
	}
	*ret_snapshot = snapshot;
	return 0;
}
