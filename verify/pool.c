/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/pool.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define SMALLEST_SHIFT 4

static unsigned int class_of(size_t size)
{
	unsigned int class = SMALLEST_SHIFT;

	while (((size_t)1 << class) < size)
		class ++;
	return class;
}

struct pool *pool_create(size_t size)
{
	struct pool *pool = mmap(NULL, size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (pool == MAP_FAILED)
		return NULL;
	pool->end = (char *)pool + size;
	pool->at = (char *)(pool + 1);
	return pool;
}

int pool_share(struct pool *pool)
{
	size_t used = (size_t)(pool->at - (char *)pool), size = (size_t)(pool->end - (char *)pool);
	char *shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (shared == MAP_FAILED)
		return -errno;
	memcpy(shared, pool, used);
	/* the old memory goes as the new comes to lie in its place */
	if (mremap(shared, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, pool) == MAP_FAILED)
		return -errno;
	return 0;
}

void *pool_take(struct pool *pool, size_t size)
{
	char *p = pool->at;

	size = (size + 15) & ~(size_t)15;
	if (size > (size_t)(pool->end - pool->at))
		return NULL;
	pool->at += size;
	return p;
}

static void *take_block(void *ctx, size_t size)
{
	struct pool *pool = ctx;
	unsigned int class = class_of(size);
	void **block = pool->freed[class];

	if (!block)
		return pool_take(pool, (size_t)1 << class);
	pool->freed[class] = *block;
	return block;
}

static void free_block(void *ctx, void *ptr, size_t size)
{
	struct pool *pool = ctx;
	unsigned int class = class_of(size);

	*(void **)ptr = pool->freed[class];
	pool->freed[class] = ptr;
}

struct seam_alloc pool_alloc(struct pool *pool)
{
	return (struct seam_alloc) { .alloc = take_block, .free = free_block, .ctx = pool };
}
