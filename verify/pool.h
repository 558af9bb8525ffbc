/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/pool.h - memory for a model that lives in the very process whose map it keeps: one mapping
 * made beforehand, so that the model's own needs never change the map.
 */
#ifndef VERIFY_POOL_H
#define VERIFY_POOL_H

#include <stddef.h>

#include <seam/space.h>

#define POOL_CLASSES 48

struct pool {
	char *at, *end; /* of what has not been taken yet; the pool itself lies at the beginning */
	void *freed[POOL_CLASSES]; /* free blocks by size: powers of two */
};

/* Maps @size bytes, of which only what is used takes memory. NULL with errno. */
struct pool *pool_create(size_t size);
/*
 * Makes the pool's memory shared with later children by fork; its addresses stay. -errno.
 */
int pool_share(struct pool *pool);
/* An allocator for spaces; it lasts as long as the pool. */
struct seam_alloc pool_alloc(struct pool *pool);
/* @size bytes that are never given back; NULL when the pool is used up. */
void *pool_take(struct pool *pool, size_t size);

#endif
