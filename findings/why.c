/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/why.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "findings/causes.h"
#include "findings/joining.h"
#include "trace/vmflags.h"

static void append(char *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(char *buf, const char *format, ...)
{
	size_t len = strlen(buf);
	va_list args;

	if (len && len + 2 < WHY_TEXT_SIZE) {
		memcpy(buf + len, "; ", 3);
		len += 2;
	}
	va_start(args, format);
	vsnprintf(buf + len, WHY_TEXT_SIZE - len, format, args);
	va_end(args);
}

static const char *access_text(uint64_t flags)
{
	static const char *const texts[] = {
		"---", "r--", "-w-", "rw-", "--x", "r-x", "-wx", "rwx"
	};

	return texts[flags & SEAM_VM_RWX];
}

static void tell_flags(const struct findings *findings, const struct snapshot_area *l,
		       const struct snapshot_area *r, uint32_t causes, char *buf)
{
	uint64_t differ =
		causes_flags(causes, seam_explain_flags(&findings->policy, &l->area, &r->area));
	char left[VMFLAGS_TEXT_SIZE], right[VMFLAGS_TEXT_SIZE];

	vmflags_text(left, differ & l->area.flags);
	vmflags_text(right, differ & r->area.flags);
	if (left[0])
		append(buf, "flags %s left only", left);
	if (right[0])
		append(buf, "%s%s right only", left[0] ? "" : "flags ", right);
}

static const char *file_text(const struct snapshot_area *area)
{
	return area->name[0] ? area->name : area->area.file ? "a file without a name" : "no file";
}

static void tell_file(const struct snapshot_area *l, const struct snapshot_area *r, char *buf)
{
	if (l->inode && l->inode == r->inode && l->dev_major == r->dev_major &&
	    l->dev_minor == r->dev_minor)
		append(buf, "file %.120s, opened twice", file_text(l));
	else
		append(buf, "file %.120s | %.120s", file_text(l), file_text(r));
}

static void tell_offset(const struct findings *findings, const struct snapshot_area *l,
			const struct snapshot_area *r, char *buf)
{
	unsigned int shift = snapshot_page_shift(findings->snapshot);
	uint64_t behind = l->area.pgoff + ((l->area.end - l->area.start) >> shift);

	if (l->area.file)
		append(buf, "offset: left ends at 0x%" PRIx64 ", right begins at 0x%" PRIx64,
		       behind << shift, r->area.pgoff << shift);
	else
		append(buf,
		       "numbering: left goes on at 0x%" PRIx64
		       ", right is numbered as from 0x%" PRIx64,
		       behind << shift, r->area.pgoff << shift);
}

static void tell_anon(const struct snapshot_area *l, const struct snapshot_area *r, char *buf)
{
	const struct seam_area *areas[] = { &l->area, &r->area };
	char text[2][32];

	for (int i = 0; i < 2; i++) {
		if (!areas[i]->anon_vma)
			snprintf(text[i], sizeof(text[i]), "none");
		else
			snprintf(text[i], sizeof(text[i]), "A%" PRIu32 "%s", areas[i]->anon_vma,
				 areas[i]->anon_chain > 1 ? " of a parent" : "");
	}
	append(buf, "anon_vma %s | %s", text[0], text[1]);
}

static void tell_special(const struct snapshot_area *l, const struct snapshot_area *r, char *buf)
{
	char left[VMFLAGS_TEXT_SIZE], right[VMFLAGS_TEXT_SIZE];

	vmflags_text(left, l->area.flags & SEAM_VM_SPECIAL);
	vmflags_text(right, r->area.flags & SEAM_VM_SPECIAL);
	append(buf, "never joins: %s | %s", left[0] ? left : "-", right[0] ? right : "-");
}

static const char *name_text(const struct snapshot_area *area)
{
	return area->area.name ? area->name : "none";
}

static void tell_numbers(const char *what, uint64_t left, uint64_t right, char *buf)
{
	append(buf, "%s %" PRIu64 " | %" PRIu64 " (0: none)", what, left, right);
}

static void tell_hidden(const struct findings *findings, size_t left, char *buf)
{
	char text[CAUSES_TEXT_SIZE];

	append(buf, "equal as far as %s shows; it cannot show %s", findings->snapshot->source,
	       causes_text(text, causes_hidden(findings->snapshot, &findings->policy, left)));
}

static void tell_detail(const struct findings *findings, struct why *why)
{
	const struct snapshot_area *l = &findings->snapshot->areas[why->left], *r = l + 1;
	char *buf = why->detail;

	if (why->causes & SEAM_CAUSE(rule))
		append(buf, "%s never joins such areas", findings->policy.name);
	if (why->causes & SEAM_CAUSE(prot))
		append(buf, "prot %s | %s", access_text(l->area.flags), access_text(r->area.flags));
	if (why->causes & SEAM_CAUSE(shared))
		append(buf, "%s | %s", l->area.flags & SEAM_VM_SHARED ? "shared" : "private",
		       r->area.flags & SEAM_VM_SHARED ? "shared" : "private");
	if (why->causes & SEAM_CAUSE(flags))
		tell_flags(findings, l, r, why->causes, buf);
	if (why->causes & SEAM_CAUSE(special))
		tell_special(l, r, buf);
	if (why->causes & SEAM_CAUSE(file))
		tell_file(l, r, buf);
	if (why->causes & SEAM_CAUSE(offset))
		tell_offset(findings, l, r, buf);
	if (why->causes & (SEAM_CAUSE(anon_vma) | SEAM_CAUSE(fork)))
		tell_anon(l, r, buf);
	if (why->causes & SEAM_CAUSE(numa))
		tell_numbers("memory policy", l->area.numa, r->area.numa, buf);
	if (why->causes & SEAM_CAUSE(uffd))
		tell_numbers("userfaultfd", l->area.uffd, r->area.uffd, buf);
	if (why->causes & SEAM_CAUSE(name))
		append(buf, "name %.80s | %.80s", name_text(l), name_text(r));
	if (why->causes & SEAM_CAUSE(pkey))
		append(buf, "protection key %" PRIu64 " | %" PRIu64,
		       (l->area.flags & SEAM_VM_PKEY) >> SEAM_VM_PKEY_SHIFT,
		       (r->area.flags & SEAM_VM_PKEY) >> SEAM_VM_PKEY_SHIFT);
	if (why->causes & SEAM_CAUSE(close))
		append(buf, "the driver's close operation forbids it");
	if (why->causes & SEAM_CAUSE(untried))
		append(buf, "equal in all; no call has tried to join them since");
	if (why->causes & SEAM_CAUSE(unseen))
		tell_hidden(findings, why->left, buf);
}

static void tell_happened(const struct findings *findings, struct why *why)
{
	const struct snapshot_area *l = &findings->snapshot->areas[why->left], *r = l + 1;
	char *buf = why->happened;

	if (why->causes & SEAM_CAUSE(anon_vma))
		append(buf, "each was touched before the two could join");
	if (why->causes & SEAM_CAUSE(fork))
		append(buf, "%s was inherited through fork",
		       l->area.anon_chain > 1 && r->area.anon_chain > 1 ? "their memory"
		       : l->area.anon_chain > 1				? "the left one"
									: "the right one");
	if (why->causes & SEAM_CAUSE(offset) && !l->area.file && !r->area.file)
		append(buf, "moved there by mremap, it keeps its old numbering");
	if (why->causes & SEAM_CAUSE(untried))
		append(buf, "they became equal by something that does not join: a split that "
			    "failed half-way, or a stack that grew up to its neighbour");
}

/* What no call can change, the strongest reason first. */
static void tell_no_join(const struct findings *findings, struct why *why)
{
	static const struct {
		uint32_t cause;
		const char *text;
	} reasons[] = {
		{ SEAM_CAUSE(rule), "this kernel's code never looks at the neighbour" },
		{ SEAM_CAUSE(special), "mappings of drivers and of the kernel itself stay as they "
				       "were made" },
		{ SEAM_CAUSE(shared), "memory stays shared or private for its life" },
		{ SEAM_CAUSE(file), "a mapping keeps the open file that it was made from" },
		{ SEAM_CAUSE(offset), "they show parts of the file that do not follow each other" },
		{ SEAM_CAUSE(fork), "memory inherited through fork keeps the parent's anon_vma" },
		{ SEAM_CAUSE(anon_vma), "touched memory keeps its anon_vma" },
		{ SEAM_CAUSE(close), "the driver's close operation forbids it" },
		{ SEAM_CAUSE(uffd), "the two belong to different userfaultfd contexts" },
		{ SEAM_CAUSE(flags), "there is no call that takes such a flag back" },
	};
	const struct snapshot_area *left = &findings->snapshot->areas[why->left];

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (!(why->causes & reasons[i].cause))
			continue;
		if (reasons[i].cause == SEAM_CAUSE(offset) && !left->area.file)
			append(why->no_join, "touched memory keeps its numbering when it moves");
		else
			append(why->no_join, "%s", reasons[i].text);
		return;
	}
	append(why->no_join, "no call that was tried in the model joins them");
}

void why_pair(const struct findings *findings, size_t left, struct why *ret_why)
{
	struct why why = { .left = left, .causes = findings->pair[left] };
	bool loses;

	why.certain = !causes_hidden(findings->snapshot, &findings->policy, left);
	tell_detail(findings, &why);
	tell_happened(findings, &why);
	if (why.causes & SEAM_CAUSE(unseen))
		append(why.no_join, "that cannot be told as long as something is hidden");
	else if (!joining_calls(findings, left, why.join_by, sizeof(why.join_by), &loses))
		tell_no_join(findings, &why);
	else if (loses)
		append(why.join_by, "what is in it is lost");
	*ret_why = why;
}

static bool holds(const struct seam_area *area, uint64_t addr)
{
	return area->start <= addr && addr < area->end;
}

int why_find(const struct findings *findings, uint64_t addr, size_t *ret_left)
{
	const struct snapshot *snapshot = findings->snapshot;

	for (size_t i = 0; i < snapshot->nr_areas; i++) {
		const struct seam_area *area = &snapshot->areas[i].area;
		bool left_touches = i && findings->pair[i - 1] != NO_PAIR;
		bool right_touches = findings->pair[i] != NO_PAIR;

		if (!holds(area, addr))
			continue;
		if (left_touches && (area->start == addr || !right_touches))
			*ret_left = i - 1;
		else if (right_touches)
			*ret_left = i;
		else
			return -ENOENT;
		return 0;
	}
	return -ENOENT;
}
