/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The areas of a process from the text of maps, smaps or numa_maps, also cut, pasted, indented or
 * quoted, or in the middle of a mail. Two reads of such a file are not one moment: lines may come
 * twice, overlap or be empty, and that is mended here once for everyone behind.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/dump_line.h"
#include "trace/grow.h"
#include "trace/hs_err.h"
#include "trace/maps_line.h"
#include "trace/paste.h"
#include "trace/refused.h"
#include "trace/scan.h"
#include "trace/snapshot.h"
#include "trace/trace.h"
#include "trace/vmflags.h"

#define PAGE_SHIFT 12
#define PAGE_MASK ((UINT64_C(1) << PAGE_SHIFT) - 1)
#define VSYSCALL UINT64_C(0xffffffffff600000)
/* Bits above all of the kernel's for codes of VmFlags that are not known here. */
#define UNKNOWN_SHIFT 48
#define NR_UNKNOWN 16

/* What the text said of an area beside the area itself. */
struct entry {
	struct snapshot_area area;
	uint32_t excerpt;
	bool has_flags;
};

struct reader {
	const struct source *source;
	bool strict; /* a file of maps, not a text in which some stand */
	bool skip_bad;
	struct snapshot *snapshot;
	struct trace_error *error;
	struct entry *entries;
	uint32_t nr, room;
	uint32_t excerpt;	/* the present one */
	uint32_t excerpt_first; /* its first entry */
	bool repeating;		/* the last line had stood before */
	bool open;		/* keys belong to the last entry */
	bool wants_count;	/* the last line was a "wc -l" */
	uint32_t repeated, overlapping, empty;
	bool pkeys;
	char unknown[NR_UNKNOWN][2]; /* codes of VmFlags */
	unsigned int nr_unknown;
	uint64_t line;
	uint64_t last_offset; /* of the last entry, as printed */
};

/* A line that cannot be read: among prose it is prose. */
static int bad_line(struct reader *reader, const char *at, const char *end, const char *expected)
{
	size_t len = (size_t)(end - at);

	if (!reader->strict)
		return 0;
	if (reader->skip_bad) {
		reader->snapshot->bad_lines++;
		return 0;
	}
	return trace_fail(reader->error, reader->line, "'%.*s': expected %s",
			  (int)(len > 60 ? 60 : len), at, expected);
}

/* The device and inode, or the path where there are none; 0 for no file. */
static int file_id(struct reader *reader, const struct maps_line *line, uint64_t *ret_file)
{
	uint64_t key[3] = { line->dev_major, line->dev_minor, line->inode };
	uint32_t id = 0;

	*ret_file = 0;
	if (line->inode || line->dev_major || line->dev_minor)
		id = snapshot_text(reader->snapshot, key, sizeof(key), NULL);
	else if (line->name_len && line->name[0] == '/')
		id = snapshot_text(reader->snapshot, line->name, line->name_len, NULL);
	else
		return 0;
	*ret_file = id;
	return id ? 0 : -ENOMEM;
}

static int set_name(struct reader *reader, struct snapshot_area *area, const char *text, size_t len)
{
	char *copy = malloc(len + 1);
	uint32_t id;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, len);
	id = snapshot_text(reader->snapshot, copy, decode_entities(copy, len), &area->name);
	free(copy);
	if (!id)
		return -ENOMEM;
	area->area.traits = maps_name_traits(area->name);
	if (begins_with(area->name, "[anon:") || begins_with(area->name, "[anon_shmem:"))
		area->area.name = id;
	return 0;
}

static uint64_t flags_of(const char *perms)
{
	return (perms[0] == 'r' ? SEAM_VM_READ : 0) | (perms[1] == 'w' ? SEAM_VM_WRITE : 0) |
	       (perms[2] == 'x' ? SEAM_VM_EXEC : 0) |
	       (perms[3] == 's' ? SEAM_VM_SHARED | SEAM_VM_MAYSHARE : 0);
}

static bool same_kind(const struct seam_area *a, const struct seam_area *b)
{
	return a->flags == b->flags && a->file == b->file;
}

/* Has this very range stood in the present excerpt before? Its entries ascend. */
static bool stood_before(const struct reader *reader, uint64_t start, uint64_t end)
{
	uint32_t low = reader->excerpt_first, high = reader->nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct seam_area *area = &reader->entries[mid].area.area;

		if (area->start == start)
			return area->end == end;
		if (area->start < start)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

/*
 * Where a line goes that does not lie above the last one. True when it is to be added (perhaps as
 * the first of another excerpt), false when the last entry has taken it in or it says nothing new.
 */
static bool place_line(struct reader *reader, const struct seam_area *area)
{
	struct seam_area *last = &reader->entries[reader->nr - 1].area.area;

	if (area->start >= last->end)
		return true;
	if (stood_before(reader, area->start, area->end) ||
	    (reader->repeating && area->start < last->start)) {
		reader->repeated++;
		reader->repeating = true;
		return false;
	}
	if (area->start < last->start) {
		reader->excerpt++;
		reader->excerpt_first = reader->nr;
		return true;
	}
	reader->overlapping++;
	if (area->start > last->start) {
		last->end = area->start;
		return true;
	}
	if (same_kind(last, area) && area->end > last->end)
		last->end = area->end; /* it has grown between two reads */
	return false;
}

/* What a line says of the file. */
static int fill_file(struct reader *reader, struct snapshot_area *area,
		     const struct maps_line *line)
{
	int r = file_id(reader, line, &area->area.file);

	if (r)
		return r;
	area->area.pgoff = area->area.file ? line->offset >> PAGE_SHIFT : 0;
	area->dev_major = line->dev_major;
	area->dev_minor = line->dev_minor;
	area->inode = line->inode;
	return set_name(reader, area, line->name, line->name_len);
}

static int add_area(struct reader *reader, const struct maps_line *line)
{
	struct snapshot_area area = {
		.area = { .start = line->start, .end = line->end, .flags = flags_of(line->perms) },
		.line = reader->line,
	};
	int r;

	reader->open = false;
	if (line->start == line->end) {
		reader->empty++;
		return 0;
	}
	if (word_is(line->name, line->name_len, "[vsyscall]") || line->start == VSYSCALL)
		return 0;
	if (word_is(line->name, line->name_len, "[rollup]"))
		return trace_fail(reader->error, reader->line,
				  "this is smaps_rollup: sums and no areas; expected "
				  "smaps");
	r = fill_file(reader, &area, line);
	if (r)
		return r;
	if (reader->nr > reader->excerpt_first && !place_line(reader, &area.area))
		return 0;
	reader->repeating = false;
	reader->last_offset = line->offset;
	r = grow(&reader->entries, reader->nr, &reader->room, sizeof(*reader->entries));
	if (r)
		return r;
	reader->entries[reader->nr++] = (struct entry) { .area = area, .excerpt = reader->excerpt };
	reader->open = true;
	return 0;
}

/* The bit of a code that is not in the table: the same for the same code in this text. */
static uint64_t unknown_flag(struct reader *reader, const char *code)
{
	unsigned int i;

	for (i = 0; i < reader->nr_unknown; i++)
		if (!memcmp(reader->unknown[i], code, 2))
			break;
	if (i == reader->nr_unknown && i < NR_UNKNOWN) {
		memcpy(reader->unknown[i], code, 2);
		reader->nr_unknown++;
	}
	return UINT64_C(1) << (UNKNOWN_SHIFT + (i < NR_UNKNOWN ? i : NR_UNKNOWN - 1));
}

static uint64_t vm_flag(struct reader *reader, const char *code, size_t len)
{
	uint64_t bit;

	if (len != 2)
		return 0;
	bit = vmflags_bit(code);
	if (bit)
		return bit;
	/* gone since; never told two areas apart that could join */
	if (!memcmp(code, "dw", 2) || !memcmp(code, "nl", 2))
		return 0;
	return unknown_flag(reader, code);
}

static void read_vm_flags(struct reader *reader, struct entry *entry, const struct maps_key *key)
{
	const char *at = key->value;
	uint64_t pkey = entry->area.area.flags & SEAM_VM_PKEY;
	uint64_t flags = 0;

	for (scan_blanks(&at, key->value_end); at < key->value_end;
	     scan_blanks(&at, key->value_end)) {
		const char *code = at;

		while (at < key->value_end && !is_blank(*at))
			at++;
		flags |= vm_flag(reader, code, (size_t)(at - code));
	}
	entry->area.area.flags = flags | pkey;
	entry->has_flags = true;
}

static void read_key(struct reader *reader, const char *at, const char *end)
{
	struct entry *entry = &reader->entries[reader->nr - 1];
	struct maps_key key;
	uint64_t value = 0;

	maps_key_split(at, end, &key);
	if (word_is(key.name, key.name_len, "VmFlags")) {
		read_vm_flags(reader, entry, &key);
		return;
	}
	if (!scan_decimal(&key.value, key.value_end, &value))
		return;
	if (word_is(key.name, key.name_len, "Anonymous") ||
	    word_is(key.name, key.name_len, "Swap")) {
		entry->area.anonymous_bytes += value << 10;
	} else if (word_is(key.name, key.name_len, "ProtectionKey")) {
		reader->pkeys = true;
		entry->area.area.flags |= value << SEAM_VM_PKEY_SHIFT & SEAM_VM_PKEY;
	}
}

/* numa_maps tells starts and policies, no ends. */
static int add_numa(struct reader *reader, const struct maps_line *numa)
{
	struct maps_line line = *numa;
	struct entry *entry;
	uint32_t policy;
	int r;

	if (reader->source->kind != SOURCE_NUMA_MAPS)
		return 0;
	line.end = line.start + (PAGE_MASK + 1);
	line.name_len = 0;
	memcpy(line.perms, "---p", 4);
	if (line.end < line.start)
		return 0;
	r = add_area(reader, &line);
	if (r || !reader->open)
		return r;
	entry = &reader->entries[reader->nr - 1];
	if (word_is(numa->name, numa->name_len, "default"))
		return 0;
	policy = snapshot_text(reader->snapshot, numa->name, numa->name_len, NULL);
	entry->area.area.numa = policy;
	return policy ? 0 : -ENOMEM;
}

/* "wc -l" or "grep -c" and the number that it printed, on the next line or before the file's name. */
static void read_count(struct reader *reader, const char *at, const char *end)
{
	uint64_t count;
	const char *p = unquote(at, end, NULL);
	bool command = find_text(p, end, "wc -l") || find_text(p, end, "grep -c");

	scan_wide_blanks(&p, end);
	trim_markup(p, &end);
	if (scan_count(&p, end, &count)) {
		scan_blanks(&p, end);
		if ((p == end && reader->wants_count) ||
		    (p < end && *p == '/' && find_text(p, end, "maps"))) {
			if (!reader->snapshot->counted)
				reader->snapshot->counted = count;
		}
	}
	reader->wants_count = command;
}

/* Device, inode or path that a mailer has wrapped to the next line. */
static int continue_area(struct reader *reader, const char *at, const char *end, bool *ret_taken)
{
	struct entry *entry = reader->nr ? &reader->entries[reader->nr - 1] : NULL;
	struct maps_line line;

	*ret_taken = false;
	if (!entry || !reader->open || entry->area.line + 1 != reader->line)
		return 0;
	line = (struct maps_line) {
		.offset = reader->last_offset,
		.dev_major = entry->area.dev_major,
		.dev_minor = entry->area.dev_minor,
		.inode = entry->area.inode,
		.name = entry->area.name,
		.name_len = strlen(entry->area.name),
	};
	*ret_taken = maps_line_continue(at, end, &line);
	return *ret_taken ? fill_file(reader, &entry->area, &line) : 0;
}

static int read_other(struct reader *reader, const char *at, const char *end)
{
	bool taken;
	int r = continue_area(reader, at, end, &taken);

	if (r || taken)
		return r;
	read_count(reader, at, end);
	return bad_line(reader, at, end, "a line of maps, like 00400000-00452000 r-xp 00000000");
}

static int read_line(struct reader *reader, const char *at, const char *end, bool whole)
{
	struct maps_line line;
	const char *expected = NULL;

	switch (maps_line_parse(at, end, &line, &expected)) {
	case MAPS_LINE_AREA:
		reader->wants_count = false;
		return add_area(reader, &line);
	case MAPS_LINE_NUMA:
		return add_numa(reader, &line);
	case MAPS_LINE_KEY:
		if (reader->open)
			read_key(reader, at, end);
		return 0;
	case MAPS_LINE_ELISION:
		reader->open = false;
		reader->snapshot->cut++;
		return 0;
	case MAPS_LINE_BLANK:
		return 0;
	case MAPS_LINE_BROKEN:
		if (whole)
			return bad_line(reader, at, end, expected);
		reader->snapshot->cut++; /* in the middle of its last line */
		return 0;
	case MAPS_LINE_NONE:
		break;
	}
	trim_right(at, &end);
	if (!whole && reader->strict && reader->nr) {
		reader->snapshot->cut++;
		return 0;
	}
	return read_other(reader, at, end);
}

static int read_dump_line(struct reader *reader, const char *at, const char *end)
{
	struct maps_line line;

	return dump_line_parse(reader->source->kind, at, end, &line) ? add_area(reader, &line) : 0;
}

static int read_lines(struct reader *reader)
{
	const char *at = reader->source->data, *end = at + reader->source->size;
	int r = 0;

	while (!r && at < end) {
		const char *stop = line_end(at, end);

		reader->line++;
		r = holds_dump(reader->source->kind) ? read_dump_line(reader, at, stop)
						     : read_line(reader, at, stop, stop < end);
		at = stop + 1;
	}
	return r;
}

/* The excerpt with the most areas; [*ret_first, *ret_first + *ret_nr). */
static void largest_excerpt(const struct reader *reader, uint32_t *ret_first, uint32_t *ret_nr)
{
	uint32_t first = 0, best = 0, best_nr = 0;

	for (uint32_t i = 0; i < reader->nr; i++) {
		if (reader->entries[i].excerpt != reader->entries[first].excerpt)
			first = i;
		if (i - first + 1 > best_nr) {
			best = first;
			best_nr = i - first + 1;
		}
	}
	*ret_first = best;
	*ret_nr = best_nr;
}

/*
 * True when all areas have their VmFlags. A last one without them was cut off in the middle and is
 * left out.
 */
static bool all_flags(struct reader *reader, const struct entry *entries, uint32_t *nr)
{
	uint32_t with = 0;

	for (uint32_t i = 0; i < *nr; i++)
		with += entries[i].has_flags;
	if (with == *nr)
		return with != 0;
	if (with && with == *nr - 1 && !entries[with].has_flags) {
		reader->snapshot->cut++;
		(*nr)--;
		return true;
	}
	if (with)
		snapshot_note(reader->snapshot,
			      "VmFlags are missing in some areas: flags left aside");
	return false;
}

static uint32_t sees_of(const struct reader *reader, bool flags)
{
	if (reader->source->kind == SOURCE_NUMA_MAPS)
		return SEES_NUMA;
	if (reader->source->kind == SOURCE_ASAN)
		return SEES_RANGE | HIDES_PROT | HIDES_SHARED;
	if (reader->source->kind == SOURCE_VALGRIND)
		return SEES_RANGE | SEES_OFFSET | SEES_INODE | HIDES_SHARED;
	return SEES_RANGE | SEES_OFFSET | SEES_INODE | SEES_NAME | (flags ? SEES_FLAGS : 0) |
	       (reader->pkeys ? SEES_PKEY : 0);
}

static const char *source_word(const struct reader *reader)
{
	switch (reader->source->kind) {
	case SOURCE_SMAPS:
		return "smaps";
	case SOURCE_NUMA_MAPS:
		return "numa_maps";
	case SOURCE_MAIL:
	case SOURCE_ASAN:
	case SOURCE_VALGRIND:
		return "text";
	case SOURCE_HS_ERR:
		return "hs_err";
	default:
		return "maps";
	}
}

static void take_notes(struct reader *reader)
{
	struct snapshot *snapshot = reader->snapshot;

	if (reader->excerpt)
		snapshot_note(snapshot, "more than one map in the text: the largest was taken");
	if (reader->repeated)
		snapshot_note(snapshot,
			      "lines stand there twice, as when a map changes while it is read");
	if (reader->overlapping)
		snapshot_note(snapshot, "areas overlap, as when a map changes while it is read");
	if (reader->empty)
		snapshot_note(snapshot, "areas without length left out");
	if (reader->nr_unknown)
		snapshot_note(snapshot, "VmFlags holds codes that are not known here");
	if (reader->source->kind == SOURCE_VALGRIND)
		snapshot_note(snapshot,
			      "by Valgrind's own list of segments, with its own among them: "
			      "the kernel may hold some of them otherwise");
	if (reader->source->kind == SOURCE_NUMA_MAPS)
		snapshot_note(snapshot,
			      "numa_maps tells no ends: which areas touch is not visible");
}

/* Moves the chosen entries into the snapshot. */
static int finish(struct reader *reader)
{
	struct snapshot *snapshot = reader->snapshot;
	uint32_t first, nr;
	bool flags;

	largest_excerpt(reader, &first, &nr);
	if (!nr && holds_dump(reader->source->kind))
		return trace_fail(
			reader->error, reader->source->line,
			"this is %s without a list of segments; expected one, as valgrind "
			"-d -d and sanitizers print it",
			source_kind_name(reader->source->kind));
	if (!nr)
		return trace_fail(
			reader->error, 0,
			reader->empty ? "every mapping in it is empty: start and end are the same"
				      : "no line of maps found; expected " LIKE_MAPS);
	flags = all_flags(reader, reader->entries + first, &nr);
	snapshot->areas = calloc(nr, sizeof(*snapshot->areas));
	if (!snapshot->areas)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		snapshot->areas[i] = reader->entries[first + i].area;
		if (!flags)
			snapshot->areas[i].area.flags &= SEAM_VM_RWX | SEAM_VM_SHARED |
							 SEAM_VM_MAYSHARE | SEAM_VM_PKEY;
	}
	snapshot->nr_areas = nr;
	snapshot->sees = sees_of(reader, flags);
	snapshot->source = source_word(reader);
	take_notes(reader);
	return 0;
}

static bool holds_maps(enum source_kind kind)
{
	return kind == SOURCE_MAPS || kind == SOURCE_SMAPS || kind == SOURCE_NUMA_MAPS ||
	       kind == SOURCE_MAIL || kind == SOURCE_HS_ERR || holds_dump(kind);
}

int snapshot_from_text(const struct source *source, bool skip_bad, struct snapshot *ret_snapshot,
		       struct trace_error *ret_error)
{
	struct snapshot snapshot = { .pid = -1 };
	struct reader reader = {
		.source = source,
		.strict = source->kind != SOURCE_MAIL,
		.skip_bad = skip_bad,
		.snapshot = &snapshot,
		.error = ret_error,
	};
	struct source section;
	int r;

	if (source->kind == SOURCE_UNKNOWN)
		return refused_text(source, ret_error);
	if (source->kind == SOURCE_ELF)
		return refused_elf(source, ret_error);
	if (!holds_maps(source->kind))
		return trace_fail(ret_error, source->line,
				  "this is %s; expected maps, smaps or a text in "
				  "which they stand",
				  source_kind_name(source->kind));
	if (source->kind == SOURCE_HS_ERR) {
		if (!hs_err_section(source, &section, &reader.line))
			return trace_fail(ret_error, 0,
					  "this is %s without its map: expected a line "
					  "'Dynamic libraries:'",
					  source_kind_name(source->kind));
		reader.source = &section;
	}
	r = read_lines(&reader);
	if (!r)
		r = finish(&reader);
	free(reader.entries);
	if (r)
		snapshot_free(&snapshot);
	else
		*ret_snapshot = snapshot;
	return r;
}
