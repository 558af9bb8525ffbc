/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/memory.h - taking memory from a space's allocator. */
#ifndef LIB_MEMORY_H
#define LIB_MEMORY_H

#include <string.h>

#include <seam/space.h>

static inline void memory_free(const struct seam_alloc *alloc, void *ptr, size_t size)
{
	if (ptr)
		alloc->free(alloc->ctx, ptr, size);
}

static inline void *memory_zeroed(const struct seam_alloc *alloc, size_t size)
{
	void *ptr = alloc->alloc(alloc->ctx, size);

	if (ptr)
		memset(ptr, 0, size);
	return ptr;
}

/* As realloc: NULL on failure, and @ptr stays. New bytes are not set. */
static inline void *memory_resize(const struct seam_alloc *alloc, void *ptr, size_t old_size,
				  size_t size)
{
	void *fresh;

	if (ptr && alloc->realloc)
		return alloc->realloc(alloc->ctx, ptr, old_size, size);
	fresh = alloc->alloc(alloc->ctx, size);
	if (fresh && ptr) {
		memcpy(fresh, ptr, old_size < size ? old_size : size);
		alloc->free(alloc->ctx, ptr, old_size);
	}
	return fresh;
}

#endif
