/* SPDX-License-Identifier: BSD-2-Clause */
#include "face/call_text.h"

#include <inttypes.h>
#include <string.h>

#include <seam/ops.h>

#include "face/path_text.h"

struct word {
	const char *name;
	uint64_t value;
};

#define WORD(prefix, name)                                                                         \
	{                                                                                          \
#prefix "_" #name, SEAM_##prefix##_##name                                          \
	}

static const struct word prot_words[] = {
	WORD(PROT, READ), WORD(PROT, WRITE),	 WORD(PROT, EXEC),
	WORD(PROT, SEM),  WORD(PROT, GROWSDOWN), WORD(PROT, GROWSUP),
};

static const struct word map_types[] = {
	WORD(MAP, SHARED),
	WORD(MAP, PRIVATE),
	WORD(MAP, SHARED_VALIDATE),
	WORD(MAP, DROPPABLE),
};

static const struct word map_words[] = {
	WORD(MAP, FIXED),     WORD(MAP, ANONYMOUS), WORD(MAP, 32BIT),		WORD(MAP, ABOVE4G),
	WORD(MAP, GROWSDOWN), WORD(MAP, DENYWRITE), WORD(MAP, EXECUTABLE),	WORD(MAP, LOCKED),
	WORD(MAP, NORESERVE), WORD(MAP, POPULATE),  WORD(MAP, NONBLOCK),	WORD(MAP, STACK),
	WORD(MAP, HUGETLB),   WORD(MAP, SYNC),	    WORD(MAP, FIXED_NOREPLACE),
};

static const struct word mremap_words[] = {
	WORD(MREMAP, MAYMOVE),
	WORD(MREMAP, FIXED),
	WORD(MREMAP, DONTUNMAP),
};

static const struct word advice_words[] = {
	WORD(MADV, NORMAL),	     WORD(MADV, RANDOM),	WORD(MADV, SEQUENTIAL),
	WORD(MADV, WILLNEED),	     WORD(MADV, DONTNEED),	WORD(MADV, FREE),
	WORD(MADV, REMOVE),	     WORD(MADV, DONTFORK),	WORD(MADV, DOFORK),
	WORD(MADV, MERGEABLE),	     WORD(MADV, UNMERGEABLE),	WORD(MADV, HUGEPAGE),
	WORD(MADV, NOHUGEPAGE),	     WORD(MADV, DONTDUMP),	WORD(MADV, DODUMP),
	WORD(MADV, WIPEONFORK),	     WORD(MADV, KEEPONFORK),	WORD(MADV, COLD),
	WORD(MADV, PAGEOUT),	     WORD(MADV, POPULATE_READ), WORD(MADV, POPULATE_WRITE),
	WORD(MADV, DONTNEED_LOCKED), WORD(MADV, COLLAPSE),	WORD(MADV, HWPOISON),
	WORD(MADV, SOFT_OFFLINE),    WORD(MADV, GUARD_INSTALL), WORD(MADV, GUARD_REMOVE),
};

static const struct word mlock2_words[] = { WORD(MLOCK, ONFAULT) };
static const struct word mlockall_words[] = {
	WORD(MCL, CURRENT),
	WORD(MCL, FUTURE),
	WORD(MCL, ONFAULT),
};

#define SIZE(array) (sizeof(array) / sizeof(*(array)))

static const struct word *find_value(const struct word *words, size_t nr, uint64_t value)
{
	for (size_t i = 0; i < nr; i++)
		if (words[i].value == value)
			return &words[i];
	return NULL;
}

/* One of a list. */
static void print_choice(FILE *out, const struct word *words, size_t nr, uint64_t value)
{
	const struct word *word = find_value(words, nr, value);

	if (word)
		fputs(word->name, out);
	else
		fprintf(out, "0x%" PRIx64, value);
}

/* Any of a list, and what is left in hex; @none when there is nothing. */
static void print_bits(FILE *out, const struct word *words, size_t nr, uint64_t value,
		       const char *none)
{
	const char *bar = "";

	if (!value)
		fputs(none, out);
	for (size_t i = 0; i < nr; i++) {
		if (!(value & words[i].value))
			continue;
		fprintf(out, "%s%s", bar, words[i].name);
		value &= ~words[i].value;
		bar = "|";
	}
	if (value)
		fprintf(out, "%s0x%" PRIx64, bar, value);
}

static void print_map_flags(FILE *out, uint64_t flags)
{
	uint64_t rest = flags & ~(uint64_t)SEAM_MAP_TYPE;

	print_choice(out, map_types, SIZE(map_types), flags & SEAM_MAP_TYPE);
	if (!rest)
		return;
	fputc('|', out);
	print_bits(out, map_words, SIZE(map_words), rest, "0");
}

static void print_addr(FILE *out, uint64_t addr)
{
	if (addr)
		fprintf(out, "0x%" PRIx64, addr);
	else
		fputs("NULL", out);
}

/*
 * What each argument is: address, length or number, offset, descriptor, prot, map or mremap flags,
 * advice, mlock2 and mlockall flags; else hex.
 */
static const char argument_kinds[TRACE_NR_CALLS][6] = {
	[TRACE_CALL_mmap] = "anpmfo",
	[TRACE_CALL_munmap] = "an",
	[TRACE_CALL_mprotect] = "anp",
	[TRACE_CALL_pkey_mprotect] = "anpn",
	[TRACE_CALL_mremap] = "annra",
	[TRACE_CALL_madvise] = "ani",
	[TRACE_CALL_mlock] = "an",
	[TRACE_CALL_mlock2] = "an2",
	[TRACE_CALL_munlock] = "an",
	[TRACE_CALL_mlockall] = "l",
	[TRACE_CALL_brk] = "a",
	[TRACE_CALL_mseal] = "anx",
	[TRACE_CALL_mbind] = "annxnx",
	[TRACE_CALL_remap_file_pages] = "anpnx",
	[TRACE_CALL_shmat] = "naxn",
	[TRACE_CALL_shmdt] = "a",
	[TRACE_CALL_uffd_ioctl] = "nxanx",
	[TRACE_CALL_prlimit] = "nnn",
	[TRACE_CALL_kmmap] = "anpmfo",
	[TRACE_CALL_touch] = "an",
	[TRACE_CALL_rtouch] = "an",
	[TRACE_CALL_exec] = "aaa",
	[TRACE_CALL_stack] = "an",
	[TRACE_CALL_rlimit] = "nn",
};

static void print_argument(FILE *out, char kind, uint64_t value, const struct trace_file *file)
{
	switch (kind) {
	case 'a':
		print_addr(out, value);
		break;
	case 'n':
		fprintf(out, "%" PRId64, (int64_t)value);
		break;
	case 'f':
		fprintf(out, "%" PRId64, (int64_t)value);
		if (file && *file->path) {
			fputc('<', out);
			path_text(out, file->path, PATH_CONTROLS);
			fputc('>', out);
		}
		break;
	case 'p':
		print_bits(out, prot_words, SIZE(prot_words), value, "PROT_NONE");
		break;
	case 'm':
		print_map_flags(out, value);
		break;
	case 'r':
		print_bits(out, mremap_words, SIZE(mremap_words), value, "0");
		break;
	case 'i':
		print_choice(out, advice_words, SIZE(advice_words), value);
		break;
	case '2':
		print_bits(out, mlock2_words, SIZE(mlock2_words), value, "0");
		break;
	case 'l':
		print_bits(out, mlockall_words, SIZE(mlockall_words), value, "0");
		break;
	default:
		fprintf(out, value ? "0x%" PRIx64 : "%" PRIu64, value);
	}
}

static bool gives_address(unsigned int call)
{
	return call == TRACE_CALL_mmap || call == TRACE_CALL_mremap || call == TRACE_CALL_brk ||
	       call == TRACE_CALL_shmat || call == TRACE_CALL_map_shadow_stack;
}

/* The fifth argument of mremap counts only with MREMAP_FIXED or _DONTUNMAP. */
static int shown_args(const struct event *event)
{
	int nr = trace_call_args(event->call);

	if (event->call == TRACE_CALL_mremap &&
	    !(event->arg[3] & (SEAM_MREMAP_FIXED | SEAM_MREMAP_DONTUNMAP)))
		nr--;
	return nr;
}

static void print_result(FILE *out, const struct event *event)
{
	int64_t result = event->result;
	const char *name = result < 0 && result >= -4095 ? strerrorname_np((int)-result) : NULL;

	if (event->flags & EVENT_NO_RESULT)
		fputc('?', out);
	else if (name)
		fprintf(out, "-1 %s%s", name, event->flags & EVENT_INFERRED ? " (inferred)" : "");
	else if (gives_address(event->call))
		fprintf(out, "0x%" PRIx64, (uint64_t)result);
	else
		fprintf(out, "%" PRId64, result);
}

void call_text(FILE *out, const struct event *event, const struct trace_file *file)
{
	const char *kinds = argument_kinds[event->call];
	int nr = shown_args(event);

	fprintf(out, "%s(", trace_call_name(event->call));
	for (int i = 0; i < nr; i++) {
		if (i)
			fputs(", ", out);
		print_argument(out, kinds[i], event->arg[i], file);
	}
	fputs(") = ", out);
	print_result(out, event);
}
