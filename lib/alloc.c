/* SPDX-License-Identifier: BSD-2-Clause */
/* The hosted allocator; left out of freestanding builds. */
#include <stdlib.h>

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

SEAM_EXPORT const struct seam_alloc seam_alloc_malloc = {
	.alloc = malloc_alloc,
	.free = malloc_free,
	.realloc = malloc_realloc,
};
