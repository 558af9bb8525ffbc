/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cut-pages.so - what if a program asked for its memory page by page, as the compilers of 2001 did?
 *
 * Preloaded (LD_PRELOAD), it takes each mmap of new private memory that a program makes, and makes
 * it again as one mmap per page:
 *
 *	CUT_PAGES=cut    pages that are all alike, so that the kernel joins them again
 *	CUT_PAGES=apart  every second page with MAP_NORESERVE, which the program never notices, but
 *	                 which keeps the kernel from joining: one area a page
 *	CUT_PAGES_IN=cc1plus  only in the program of this name
 *
 * The two make the same number of calls, so that what they differ in is the price of areas alone.
 * (With vm.overcommit_memory=2 the kernel ignores MAP_NORESERVE and joins them all.)
 */
#undef _FILE_OFFSET_BITS /* it would make one name of mmap and mmap64, and both are wanted */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum mode { AS_IT_IS, CUT, APART };

static enum mode mode;
static size_t page_size;

static __attribute__((constructor)) void read_wishes(void)
{
	const char *wish = getenv("CUT_PAGES"), *name = getenv("CUT_PAGES_IN");

	page_size = (size_t)sysconf(_SC_PAGESIZE);
	if (!wish || (name && strcmp(name, program_invocation_short_name) != 0))
		return;
	mode = !strcmp(wish, "cut") ? CUT : !strcmp(wish, "apart") ? APART : AS_IT_IS;
}

static void *map(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	/* as the library's own does: an error is errno and MAP_FAILED */
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset); // NOLINT
}

static bool is_new_memory(size_t len, int prot, int flags)
{
	return flags == (MAP_PRIVATE | MAP_ANONYMOUS) && prot == (PROT_READ | PROT_WRITE) &&
	       len > page_size;
}

/* From the top down, as the kernel itself places one map after another. */
static void *map_by_pages(size_t len, int prot, int flags)
{
	char *base = map(NULL, len, PROT_NONE, flags | MAP_NORESERVE, -1, 0);
	size_t at = (len + page_size - 1) / page_size * page_size;

	if (base == MAP_FAILED)
		return base;
	while (at) {
		int apart = mode == APART && at / page_size % 2 ? MAP_NORESERVE : 0;

		at -= page_size;
		if (map(base + at, page_size, prot, flags | apart | MAP_FIXED, -1, 0) ==
		    MAP_FAILED) {
			int err = errno;

			munmap(base, len);
			errno = err;
			return MAP_FAILED;
		}
	}
	return base;
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (mode == AS_IT_IS || !is_new_memory(len, prot, flags))
		return map(addr, len, prot, flags, fd, offset);
	return map_by_pages(len, prot, flags);
}

void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
	__attribute__((alias("mmap")));
