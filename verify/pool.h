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
	char *at, *end;
	void *freed[POOL_CLASSES]; /* free blocks by size: powers of two */
};

/* Maps @size bytes, of which only what is used takes memory. -errno. */
int pool_create(struct pool *pool, size_t size);
/* An allocator for spaces; it lasts as long as the pool. */
struct seam_alloc pool_alloc(struct pool *pool);
/* @size bytes that are never given back; NULL when the pool is used up. */
void *pool_take(struct pool *pool, size_t size);

#endif
