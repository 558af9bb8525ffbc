/* SPDX-License-Identifier: BSD-2-Clause */
/* The hosted allocator; left out of freestanding builds. */
#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <seam/space.h>

#include "lib/export.h"

static void *malloc_alloc(void *ctx, size_t size)
{
	return malloc(size);
}

static void malloc_free(void *ctx, void *ptr, size_t size)
{
	free(ptr);
}

static void *malloc_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
	return realloc(ptr, size);
}

#ifdef __linux__
/* The whole pages within. */
static void malloc_discard(void *ctx, void *ptr, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = ((uintptr_t)ptr + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)ptr + size) & ~(page - 1);

	if (start < end)
		madvise((void *)start, end - start, MADV_DONTNEED);
}
#else
#define malloc_discard NULL
#endif

SEAM_EXPORT const struct seam_alloc seam_alloc_malloc = {
	.alloc = malloc_alloc,
	.free = malloc_free,
	.realloc = malloc_realloc,
	.discard = malloc_discard,
};
