/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/sentences.h"

#include <string.h>

#include "findings/causes.h"
#include "trace/vmflags.h"
#include "ui/table.h"

static void append(char *buf, const char *text)
{
	size_t len = strlen(buf);

	snprintf(buf + len, SENTENCE_SIZE - len, "%s", text);
}

const char *source_words(const struct snapshot *snapshot)
{
	if (!strcmp(snapshot->source, "text"))
		return "the text";
	if (!strcmp(snapshot->source, "bpf"))
		return "the kernel";
	if (!strcmp(snapshot->source, "core"))
		return "a core file";
	if (!strcmp(snapshot->source, "hs_err"))
		return "the log";
	return snapshot->source;
}

static void append_flags(char *buf, uint32_t causes, uint64_t flags)
{
	char letters[VMFLAGS_TEXT_SIZE];
	const char *meaning;

	flags = causes_flags(causes, flags);
	append(buf, "different flags: ");
	append(buf, vmflags_text(letters, flags));
	meaning = vmflags_meaning(flags);
	if (meaning && causes == SEAM_CAUSE(flags)) {
		append(buf, ", ");
		append(buf, meaning);
	}
}

static void append_cause(char *buf, const struct findings *findings, unsigned int bit,
			 uint32_t causes, uint64_t flags)
{
	switch (bit) {
	case SEAM_CAUSE_BIT_rule:
		append(buf, findings->policy.name);
		append(buf, " never joins such mappings");
		break;
	case SEAM_CAUSE_BIT_flags:
		append_flags(buf, causes, flags);
		break;
	case SEAM_CAUSE_BIT_unseen:
		append(buf, "equal as far as ");
		append(buf, source_words(findings->snapshot));
		append(buf, " shows");
		break;
	default:
		append(buf, seam_cause_text(bit));
	}
}

char *cause_sentence(char *buf, const struct findings *findings, uint32_t causes, uint64_t flags)
{
	buf[0] = '\0';
	for (unsigned int bit = 0; bit < SEAM_NR_CAUSES; bit++) {
		if (!(causes & 1u << bit))
			continue;
		if (buf[0])
			append(buf, "; ");
		append_cause(buf, findings, bit, causes, flags);
	}
	return buf;
}

char *group_sentence(char *buf, const struct snapshot *snapshot, const struct group_row *row)
{
	const char *name = snapshot->areas[row->example].name;
	char number[SHORT_TEXT], size[SHORT_TEXT], letters[VMFLAGS_TEXT_SIZE];
	char files[COUNTED_TEXT];

	snprintf(buf, SENTENCE_SIZE, "%s", group_text(row->what));
	count_text(number, row->units);
	size_text(size, row->unit_bytes);
	switch (row->what) {
	case GROUP_thread_stack:
	case GROUP_fiber_stack:
		snprintf(buf, SENTENCE_SIZE, "%s %s stacks of %s, ", number,
			 row->what == GROUP_thread_stack ? "thread" : "fiber", size);
		append(buf, "each with a guard of ");
		append(buf, size_text(size, row->guard_bytes));
		break;
	case GROUP_guard_marker:
		append(buf, ", ");
		append(buf, number);
		append(buf, " guard pages in them");
		break;
	case GROUP_elf_segments:
		append(buf, ", ");
		append(buf, counted(files, row->units, "file", "files"));
		break;
	case GROUP_jit_dual:
	case GROUP_file_windows:
	case GROUP_file_per_map:
	case GROUP_shared_anon_per_map:
		append(buf, ", such as ");
		append(buf, name);
		break;
	case GROUP_advice_stripes:
	case GROUP_lock_stripes:
	case GROUP_uffd_stripes:
		append(buf, ": ");
		append(buf, vmflags_text(letters, row->flags));
		break;
	case GROUP_aligned_chunks:
	case GROUP_other:
		append(buf, ", ");
		append(buf, size);
		append(buf, " each");
		break;
	default:
		break;
	}
	return buf;
}

char *hidden_sentence(char *buf, uint32_t hidden)
{
	static const struct {
		uint32_t causes;
		const char *text;
	} words[] = {
		{ SEAM_CAUSE(prot), "protection" },
		{ SEAM_CAUSE(shared), "whether memory is shared" },
		{ SEAM_CAUSE(flags) | SEAM_CAUSE(special), "flags (madvise, mlock, accounting)" },
		{ SEAM_CAUSE(anon_vma) | SEAM_CAUSE(fork),
		  "which memory was touched apart or inherited through fork" },
		{ SEAM_CAUSE(offset), "the numbering of anonymous memory" },
		{ SEAM_CAUSE(file), "one file opened twice" },
		{ SEAM_CAUSE(numa), "memory policies" },
		{ SEAM_CAUSE(uffd), "userfaultfd contexts" },
		{ SEAM_CAUSE(name), "names" },
		{ SEAM_CAUSE(pkey), "protection keys" },
		{ SEAM_CAUSE(close), "drivers that forbid joining" },
	};

	buf[0] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!(hidden & words[i].causes))
			continue;
		if (buf[0])
			append(buf, ", ");
		append(buf, words[i].text);
	}
	return buf;
}

const char *remedy_phrase(const char *remedy)
{
	static const struct {
		const char *remedy, *phrase;
	} phrases[] = {
		{ "guard-markers", "with guard markers" },
		{ "undo-advice", "with the advice taken back" },
		{ "one-advice", "with one advice for all" },
		{ "map-private", "mapped private" },
		{ "map-in-order", "mapped in file order" },
		{ "map-once", "mapped once" },
		{ "touch-first", "touched first" },
		{ "reserve-first", "reserved first" },
		{ "dual-mapping", "with a dual mapping" },
		{ "uffd-write-protect", "with userfaultfd write-protection" },
		{ "one-policy", "with one policy" },
		{ "allocator-setting", "with a setting of the allocator" },
		{ "runtime-setting", "with a setting of the run time" },
		{ "newer-kernel", "on a newer kernel" },
		{ "raise-limit", "only a higher limit helps:" },
	};

	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
		if (!strcmp(phrases[i].remedy, remedy))
			return phrases[i].phrase;
	return "mended";
}

void say_minutes(double minutes, FILE *out)
{
	if (minutes < 1)
		fprintf(out, "%.0f s", minutes * 60);
	else if (minutes < 90)
		fprintf(out, "%.0f min", minutes);
	else if (minutes < 48 * 60)
		fprintf(out, "%.0f h", minutes / 60);
	else
		fprintf(out, "%.0f days", minutes / (24 * 60));
}

void say_left_out(uint64_t nr, const char *one, const char *many, FILE *out)
{
	char count[COUNTED_TEXT];

	if (nr)
		fprintf(out, "Left out, since they could not be read: %s.\n",
			counted(count, nr, one, many));
}
