/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/compare.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "probe/procfs.h"
#include "trace/vmflags.h"

#define PAGE_SHIFT 12
#define PAGE_SIZE 4096
#define AT_ONE_END 8 /* areas looked at from the start of a long range */
#define SHOWN 5

/* What the kernel would show of an area of the model. */
static struct seen as_seen(const struct seam_area *area)
{
	return (struct seen) {
		.start = area->start,
		.end = area->end,
		.flags = area->flags,
		.offset = area->file ? area->pgoff << PAGE_SHIFT : 0,
		.inode = area->file != 0,
	};
}

static bool same(const struct seen *model, const struct seen *kernel)
{
	return model->start == kernel->start && model->end == kernel->end &&
	       !((model->flags ^ kernel->flags) & kernel->known) &&
	       model->inode == (kernel->inode != 0) &&
	       (!kernel->inode || model->offset == kernel->offset);
}

/* Drivers' areas without a file count as anonymous here; [vdso] and the like have offset 0. */
static int model_find(const struct seam_space *space, uint64_t addr, struct seen *ret_seen)
{
	struct seam_area area;

	if (!seam_area_find(space, addr, &area))
		return 0;
	*ret_seen = as_seen(&area);
	return 1;
}

struct lines {
	char *buf;
	size_t len;
};

static void add_line(struct lines *lines, const struct seen *seen, uint64_t known)
{
	char flags[VMFLAGS_TEXT_SIZE] = "";
	int n;

	if (known & SEAM_VM_ACCOUNT)
		vmflags_text(flags, seen->flags & known);
	n = snprintf(
		lines->buf + lines->len, DIFFERENCE_SIZE - lines->len,
		"%" PRIx64 "-%" PRIx64 " %c%c%c%c %" PRIx64 " %s %s\n", seen->start, seen->end,
		seen->flags & SEAM_VM_READ ? 'r' : '-', seen->flags & SEAM_VM_WRITE ? 'w' : '-',
		seen->flags & SEAM_VM_EXEC ? 'x' : '-', seen->flags & SEAM_VM_MAYSHARE ? 's' : 'p',
		seen->offset, seen->inode ? "file" : "anonymous", flags);
	if (n > 0 && (size_t)n < DIFFERENCE_SIZE - lines->len)
		lines->len += (size_t)n;
	lines->buf[lines->len] = 0;
}

/* A few areas of each side from the one before @at on. */
static void show_both(const struct seam_space *space, struct look *look, uint64_t at,
		      struct difference *ret_difference)
{
	struct lines expected = { ret_difference->expected, 0 };
	struct lines found = { ret_difference->found, 0 };
	struct seam_area below;
	struct seen seen;
	uint64_t from = at;

	ret_difference->at = at;
	ret_difference->expected[0] = ret_difference->found[0] = 0;
	if (seam_area_find_below(space, at, &below))
		from = below.start;
	for (uint64_t p = from, i = 0; i < SHOWN && model_find(space, p, &seen); i++, p = seen.end)
		add_line(&expected, &seen, SEAM_VM_RWX);
	for (uint64_t p = from, i = 0; i < SHOWN && look_find(look, p, &seen) > 0;
	     i++, p = seen.end)
		add_line(&found, &seen, SEAM_VM_RWX);
}

/* Up to @max areas from @at to the first behind @end. *@at: how far it came; @end or more: done. */
static int walk(const struct seam_space *space, struct look *look, uint64_t *at, uint64_t end,
		unsigned int max, struct difference *ret_difference)
{
	struct seen model = { 0 }, kernel = { 0 };

	for (unsigned int i = 0; i < max && *at < end; i++) {
		int has_model = model_find(space, *at, &model);
		int has_kernel = look_find(look, *at, &kernel);

		if (has_kernel < 0)
			return has_kernel;
		if (has_model != has_kernel || (has_model && !same(&model, &kernel))) {
			show_both(space, look, *at, ret_difference);
			return 1;
		}
		/* the one behind the range has been looked at too */
		*at = has_model && model.start < end ? model.end : UINT64_MAX;
	}
	return 0;
}

int compare_near(const struct seam_space *space, struct look *look, uint64_t start, uint64_t end,
		 struct difference *ret_difference)
{
	uint64_t at = start ? start - 1 : 0;
	int r;

	look_again(look);
	end++;
	r = walk(space, look, &at, end, AT_ONE_END, ret_difference);
	if (r || at >= end)
		return r;
	at = end - PAGE_SIZE > at ? end - PAGE_SIZE : at;
	return walk(space, look, &at, end, AT_ONE_END, ret_difference);
}

int compare_range(const struct seam_space *space, struct look *look, uint64_t start, uint64_t end,
		  struct difference *ret_difference)
{
	uint64_t at = start;

	look_again(look);
	return walk(space, look, &at, end, UINT_MAX, ret_difference);
}

static void show_flags(const struct seen *model, const struct seen *kernel,
		       struct difference *ret_difference)
{
	struct lines expected = { ret_difference->expected, 0 };
	struct lines found = { ret_difference->found, 0 };

	ret_difference->at = kernel->start;
	ret_difference->expected[0] = ret_difference->found[0] = 0;
	if (model)
		add_line(&expected, model, kernel->known);
	add_line(&found, kernel, kernel->known);
}

void compare_show(const struct seam_area *area, char *ret_line)
{
	struct lines lines = { ret_line, 0 };
	struct seen seen;

	ret_line[0] = 0;
	if (!area)
		return;
	seen = as_seen(area);
	add_line(&lines, &seen, ~UINT64_C(0));
}

int compare_all(const struct seam_space *space, struct look *look,
		struct difference *ret_difference)
{
	struct seen model, kernel;
	uint64_t at = 0;
	int r;

	look_again(look);
	r = look_all_begin(look);
	if (r)
		return r;
	while ((r = look_all_next(look, &kernel)) > 0) {
		int has_model = model_find(space, at, &model);

		if (!has_model || !same(&model, &kernel)) {
			show_flags(has_model ? &model : NULL, &kernel, ret_difference);
			return 1;
		}
		at = model.end;
	}
	if (r < 0)
		return r;
	if (model_find(space, at, &model)) {
		show_both(space, look, model.start, ret_difference);
		return 1;
	}
	return 0;
}

int compare_totals(const struct seam_space *space, pid_t pid, struct difference *ret_difference)
{
	char text[4096];
	struct seam_totals totals;
	ssize_t n;
	struct {
		const char *key;
		uint64_t pages, kb;
	} t[4];

	seam_space_get_totals(space, &totals);
	n = pid ? procfs_read(text, sizeof(text), "/proc/%d/status", (int)pid)
		: procfs_read(text, sizeof(text), "/proc/self/status");
	if (n < 0)
		return (int)n;
	t[0].key = "VmSize", t[0].pages = totals.total_pages;
	t[1].key = "VmLck", t[1].pages = totals.locked_pages;
	t[2].key = "VmData", t[2].pages = totals.data_pages;
	t[3].key = "VmStk", t[3].pages = totals.stack_pages;
	for (int i = 0; i < 4; i++) {
		if (!procfs_field(text, t[i].key, &t[i].kb) || t[i].kb == t[i].pages * 4)
			continue;
		ret_difference->at = 0;
		snprintf(ret_difference->expected, DIFFERENCE_SIZE, "%s %" PRIu64 " kB\n", t[i].key,
			 t[i].pages * 4);
		snprintf(ret_difference->found, DIFFERENCE_SIZE, "%s %" PRIu64 " kB\n", t[i].key,
			 t[i].kb);
		return 1;
	}
	return 0;
}
