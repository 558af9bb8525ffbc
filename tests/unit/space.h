/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/space.h - small maps for tests: made by page number, read back as one line.
 *
 *	"0-3rw:1 3-4r- 6-8rws"	pages 0 to 3 readable and writable, first anon_vma of the line; ...
 *
 * Behind the pages: r w x; s shared; then letters: L locked, A accounted, N noreserve, H nohugepage,
 * G growing, C kept from children, W wiped in children, S sealed, D droppable, U userfaultfd,
 * M mergeable; then ":" and the number of the anon_vma in order of appearance, "f" behind it for a
 * fork child. What is not asked for with SHOW_* stays out.
 */
#ifndef TESTS_UNIT_SPACE_H
#define TESTS_UNIT_SPACE_H

#include <stdlib.h>
#include <string.h>

#include <seam/seam.h>

#include "tests/tap.h"

#define PAGE UINT64_C(4096)
#define BASE UINT64_C(0x10000000000)
#define AT(page) (BASE + (page)*PAGE)

#define RW (SEAM_PROT_READ | SEAM_PROT_WRITE)
#define R SEAM_PROT_READ
#define NONE SEAM_PROT_NONE
#define ANON (SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS)
#define FIXED SEAM_MAP_FIXED

#define SHOW_ACCOUNT SEAM_VM_ACCOUNT

/* Options that tests may change before space_new(). */
__attribute__((unused)) static struct seam_space_options space_options(const char *policy)
{
	return (struct seam_space_options) {
		.size = sizeof(struct seam_space_options),
		.policy = seam_policy_find(policy),
		.flags = SEAM_SPACE_THP,
		.may = SEAM_MAY_RAWIO | SEAM_MAY_IPC_LOCK | SEAM_MAY_ADMIN,
		.min_addr = 0x10000,
		.min_addr_sysctl = 0x1000,
	};
}

__attribute__((unused)) static struct seam_space *space_new(
	const struct seam_space_options *options)
{
	struct seam_space *space;

	if (!options->policy || seam_space_create(options, &space))
		exit(1);
	return space;
}

__attribute__((unused)) static struct seam_space *space_of(const char *policy)
{
	struct seam_space_options options = space_options(policy);

	return space_new(&options);
}

/* mmap MAP_FIXED of private anonymous memory; @flags may add to or replace this. 0 or -errno. */
__attribute__((unused)) static int map(struct seam_space *space, uint64_t page, uint64_t pages,
				       uint32_t prot, uint32_t flags)
{
	struct seam_mmap args = {
		.addr = AT(page),
		.len = pages * PAGE,
		.prot = prot,
		.flags = flags & SEAM_MAP_TYPE ? flags | FIXED : flags | ANON | FIXED,
	};
	uint64_t addr;

	return seam_space_mmap(space, &args, &addr);
}

/* mmap MAP_FIXED of @file from its page @pgoff on; @flags: private or shared. 0 or -errno. */
__attribute__((unused)) static int map_file(struct seam_space *space, const struct seam_file *file,
					    uint64_t page, uint64_t pages, uint32_t prot,
					    uint32_t flags, uint64_t pgoff)
{
	struct seam_mmap args = {
		.addr = AT(page),
		.len = pages * PAGE,
		.prot = prot,
		.flags = flags | FIXED,
		.file = file,
		.pgoff = pgoff,
	};
	uint64_t addr;

	return seam_space_mmap(space, &args, &addr);
}

/* A search by the space's layout: the address, or the errno as a negative number. */
__attribute__((unused)) static int64_t map_anywhere(struct seam_space *space, uint64_t hint,
						    uint64_t len, uint32_t flags)
{
	struct seam_mmap args = { .addr = hint, .len = len, .prot = RW, .flags = flags | ANON };
	uint64_t addr;
	int err = seam_space_mmap(space, &args, &addr);

	return err ? err : (int64_t)addr;
}

__attribute__((unused)) static int unmap(struct seam_space *space, uint64_t page, uint64_t pages)
{
	return seam_space_munmap(space, AT(page), pages * PAGE);
}

__attribute__((unused)) static int protect(struct seam_space *space, uint64_t page, uint64_t pages,
					   uint32_t prot)
{
	return seam_space_mprotect(space, AT(page), pages * PAGE, prot, -1);
}

__attribute__((unused)) static int touch(struct seam_space *space, uint64_t page, uint64_t pages)
{
	return seam_space_touch(space, AT(page), pages * PAGE, 1, NULL);
}

/* mremap by page numbers; @target is used where @flags ask for one. */
__attribute__((unused)) static int remap(struct seam_space *space, uint64_t page, uint64_t pages,
					 uint64_t new_pages, uint32_t flags, uint64_t target)
{
	struct seam_mremap args = {
		.old_addr = AT(page),
		.old_len = pages * PAGE,
		.new_len = new_pages * PAGE,
		.flags = flags,
		.new_addr = AT(target),
	};
	uint64_t addr;

	return seam_space_mremap(space, &args, &addr);
}

#define MAX_ANON 64

struct shape {
	char text[4096];
	size_t len;
	uint32_t anon[MAX_ANON];
	unsigned int nr_anon;
};

__attribute__((format(printf, 2, 3))) static void shape_add(struct shape *shape, const char *format,
							    ...)
{
	va_list args;

	va_start(args, format);
	shape->len += (size_t)vsnprintf(shape->text + shape->len, sizeof(shape->text) - shape->len,
					format, args);
	va_end(args);
	if (shape->len >= sizeof(shape->text))
		exit(1);
}

static unsigned int shape_anon(struct shape *shape, uint32_t anon)
{
	unsigned int i = 0;

	while (i < shape->nr_anon && shape->anon[i] != anon)
		i++;
	if (i == MAX_ANON)
		exit(1);
	if (i == shape->nr_anon)
		shape->anon[shape->nr_anon++] = anon;
	return i + 1;
}

static void shape_area(struct shape *shape, const struct seam_area *area, uint64_t hidden)
{
	static const struct {
		uint64_t flag;
		char letter;
	} letters[] = {
		{ SEAM_VM_LOCKED, 'L' },     { SEAM_VM_ACCOUNT, 'A' },	 { SEAM_VM_NORESERVE, 'N' },
		{ SEAM_VM_NOHUGEPAGE, 'H' }, { SEAM_VM_GROWSDOWN, 'G' }, { SEAM_VM_DONTCOPY, 'C' },
		{ SEAM_VM_WIPEONFORK, 'W' }, { SEAM_VM_SEALED, 'S' },	 { SEAM_VM_DROPPABLE, 'D' },
		{ SEAM_VM_MERGEABLE, 'M' },
	};

	shape_add(shape, "%s%lld-%lld", shape->len ? " " : "",
		  (long long)(area->start - BASE) / (long long)PAGE,
		  (long long)(area->end - BASE) / (long long)PAGE);
	shape_add(shape, "%s%s%s%s", area->flags & SEAM_VM_READ ? "r" : "-",
		  area->flags & SEAM_VM_WRITE ? "w" : "-", area->flags & SEAM_VM_EXEC ? "x" : "",
		  area->flags & SEAM_VM_MAYSHARE ? "s" : "");
	for (unsigned int i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (area->flags & letters[i].flag & ~hidden)
			shape_add(shape, "%c", letters[i].letter);
	if (area->uffd)
		shape_add(shape, "U");
	if (area->anon_vma)
		shape_add(shape, ":%u%s", shape_anon(shape, area->anon_vma),
			  area->anon_chain > 1 ? "f" : "");
}

/* The map as one line, in a buffer that the next call uses again. */
__attribute__((unused)) static const char *shape_of(const struct seam_space *space, uint64_t show)
{
	static struct shape shape;
	struct seam_area area;
	uint64_t at = 0;

	memset(&shape, 0, sizeof(shape));
	while (seam_area_next(space, &at, &area))
		shape_area(&shape, &area, SEAM_VM_ACCOUNT & ~show);
	return shape.text;
}

/* The space holds exactly these areas, and is sound. */
__attribute__((unused)) static bool holds(const struct seam_space *space, uint64_t show,
					  const char *expected, const char *what)
{
	const char *found = shape_of(space, show), *wrong = seam_space_check(space);
	bool good = !strcmp(found, expected) && !wrong;

	ok(good, "%s (%s)", what, seam_space_policy(space)->name);
	if (!good)
		printf("# expected: %s\n# found:    %s\n# check:    %s\n", expected, found,
		       wrong ? wrong : "well");
	return good;
}

#endif
