/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's maple tree as a peer, with what it wants of the kernel: compiled by bench/kernel/build
 * from the sources of linux-source-6.12, which are not part of this tree. The result links those (GPL)
 * and stays in the build folder.
 *
 * The tree is at its best: no RCU (nodes are changed in place and freed at once), no lock, no debug
 * checks, and its nodes come from a list of free ones. For readers beside a writer it is as the kernel
 * has it, with RCU, which liburcu does here.
 */
#include "shared.h"

#include <pthread.h>
#include <stdlib.h>

#include <linux/init.h>
#include <linux/slab.h>

struct kmem_cache {
	unsigned int size, align;
	void *free;		 /* chained by their first word */
	pthread_spinlock_t lock; /* RCU gives back nodes in a thread of its own */
};

struct kmem_cache *kmem_cache_create(const char *name, unsigned int size, unsigned int align,
				     unsigned int flags, void (*ctor)(void *))
{
	struct kmem_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		abort();
	cache->size = size;
	cache->align = align;
	pthread_spin_init(&cache->lock, PTHREAD_PROCESS_PRIVATE);
	return cache;
}

static bool with_rcu;

static void *take_free(struct kmem_cache *cache)
{
	void *ptr;

	if (with_rcu)
		pthread_spin_lock(&cache->lock);
	ptr = cache->free;
	if (ptr)
		cache->free = *(void **)ptr;
	if (with_rcu)
		pthread_spin_unlock(&cache->lock);
	return ptr;
}

void *kmem_cache_alloc_lru(struct kmem_cache *cache, struct list_lru *lru, int gfp)
{
	void *ptr = take_free(cache);

	if (!ptr && posix_memalign(&ptr, cache->align, cache->size))
		abort();
	if (gfp & __GFP_ZERO)
		memset(ptr, 0, cache->size);
	return ptr;
}

void kmem_cache_free(struct kmem_cache *cache, void *ptr)
{
	if (with_rcu)
		pthread_spin_lock(&cache->lock);
	*(void **)ptr = cache->free;
	cache->free = ptr;
	if (with_rcu)
		pthread_spin_unlock(&cache->lock);
}

int kmem_cache_alloc_bulk(struct kmem_cache *cache, gfp_t gfp, size_t nr, void **list)
{
	for (size_t i = 0; i < nr; i++)
		list[i] = kmem_cache_alloc_lru(cache, NULL, (int)gfp);
	return (int)nr;
}

void kmem_cache_free_bulk(struct kmem_cache *cache, size_t nr, void **list)
{
	for (size_t i = 0; i < nr; i++)
		kmem_cache_free(cache, list[i]);
}

void *kmalloc(size_t size, gfp_t gfp)
{
	return gfp & __GFP_ZERO ? calloc(1, size) : malloc(size);
}

void kfree(void *ptr)
{
	free(ptr);
}

/* A tree that ended gives its nodes back, so that bytes are those of the trees that are. */
static void give_back(struct kmem_cache *cache)
{
	void *ptr;

	while ((ptr = take_free(cache)))
		free(ptr);
}

#include "lib/maple_tree.c"

#include "bench/bench.h"

static void *create(void)
{
	struct maple_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		abort();
	if (!maple_node_cache)
		maple_tree_init();
	mt_init_flags(tree, MT_FLAGS_ALLOC_RANGE | MT_FLAGS_LOCK_EXTERN);
	return tree;
}

static void destroy(void *map)
{
	if (with_rcu)
		rcu_barrier();
	with_rcu = false;
	mt_clear_in_rcu(map);
	__mt_destroy(map);
	free(map);
	give_back(maple_node_cache);
}

static void *create_rcu(void)
{
	void *map = create();

	with_rcu = true;
	mt_set_in_rcu(map);
	return map;
}

static pthread_key_t reader_key;
static pthread_once_t reader_once = PTHREAD_ONCE_INIT;
static _Thread_local bool registered;

static void end_reader(void *unused)
{
	rcu_unregister_thread();
}

static void make_key(void)
{
	if (pthread_key_create(&reader_key, end_reader))
		abort();
}

static void register_reader(void)
{
	pthread_once(&reader_once, make_key);
	rcu_register_thread();
	pthread_setspecific(reader_key, &reader_key);
	registered = true;
}

static void store(void *map, uint64_t start, uint64_t last, void *entry)
{
	MA_STATE(mas, map, start, last);

	if (mas_store_gfp(&mas, entry, GFP_KERNEL))
		abort();
}

/* The tree itself cuts what sticks out; joining is looking at both sides and storing the whole. */
static void set(void *map, uint64_t start, uint64_t end, uint32_t value)
{
	MA_STATE(mas, map, start - 1, start - 1);
	void *entry = xa_mk_value(value);
	void *found = mas_walk(&mas);
	uint64_t last = end - 1;

	if (found == entry) {
		if (mas.last >= last)
			return;
		start = mas.index;
	}
	while (mas.last < end)
		found = mas_next_range(&mas, ULONG_MAX);
	if (found == entry)
		last = mas.last;
	store(map, start, last, entry);
}

static void clear(void *map, uint64_t start, uint64_t end)
{
	store(map, start, end - 1, NULL);
}

static uint64_t find(const void *map, uint64_t addr, uint64_t *ret_end)
{
	MA_STATE(mas, (struct maple_tree *)map, addr, addr);

	if (!mas_find(&mas, ULONG_MAX))
		return NO_RANGE;
	*ret_end = mas.last + 1;
	return mas.index;
}

static uint64_t read_beside(const void *map, uint64_t addr, uint64_t *ret_end)
{
	uint64_t start;

	if (!registered)
		register_reader();
	rcu_read_lock();
	start = find(map, addr, ret_end);
	rcu_read_unlock();
	return start;
}

static uint64_t gap(const void *map, uint64_t len, uint64_t hi)
{
	MA_STATE(mas, (struct maple_tree *)map, 0, 0);

	if (mas_empty_area_rev(&mas, 0, hi - 1, len))
		return NO_RANGE;
	return mas.last + 1 - len;
}

static size_t count(const void *map)
{
	MA_STATE(mas, (struct maple_tree *)map, 0, 0);
	size_t nr = 0;
	void *entry;

	mas_for_each(&mas, entry, ULONG_MAX) nr++;
	return nr;
}

const struct impl kernel_maple = {
	.name = "Linux maple tree",
	.create = create,
	.destroy = destroy,
	.set = set,
	.clear = clear,
	.change = set,
	.find = find,
	.gap = gap,
	.count = count,
};

const struct impl kernel_maple_rcu = {
	.name = "Linux maple tree",
	.create = create_rcu,
	.destroy = destroy,
	.set = set,
	.clear = clear,
	.change = set,
	.find = find,
	.count = count,
	.read = read_beside,
};
