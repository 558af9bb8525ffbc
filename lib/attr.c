/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/attr.h"

#include <stdbool.h>
#include <string.h>

#include "lib/memory.h"

#define FIRST_ROOM 16

static uint32_t attr_hash(const struct attr *attr)
{
	uint64_t h = attr->flags ^ attr->file * UINT64_C(0xff51afd7ed558ccd);

	h ^= (attr->numa ^ ((uint64_t)attr->uffd << 32)) * UINT64_C(0xc4ceb9fe1a85ec53);
	h ^= (attr->name ^ ((uint64_t)attr->traits << 32)) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ (h >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32);
}

static bool attr_equal(const struct attr *a, const struct attr *b)
{
	return a->flags == b->flags && a->file == b->file && a->numa == b->numa &&
	       a->uffd == b->uffd && a->name == b->name && a->traits == b->traits;
}

static void list_idle(struct attrs *attrs, uint32_t id)
{
	struct attr_slot *slot = &attrs->slots[id];

	if (slot->listed)
		return;
	slot->listed = 1;
	slot->idle = attrs->idle_slots;
	attrs->idle_slots = id;
}

/* Twice the slots and as many buckets as slots; the chains are made anew. */
static bool grow(struct attrs *attrs, const struct seam_alloc *alloc)
{
	uint32_t room = attrs->room ? attrs->room * 2 : FIRST_ROOM;
	uint32_t *buckets = memory_zeroed(alloc, room * sizeof(*buckets));
	struct attr_slot *slots;

	if (!buckets)
		return false;
	slots = memory_resize(alloc, attrs->slots, attrs->room * sizeof(*slots),
			      room * sizeof(*slots));
	if (!slots) {
		memory_free(alloc, buckets, room * sizeof(*buckets));
		return false;
	}
	memory_free(alloc, attrs->buckets, attrs->nr_buckets * sizeof(*buckets));
	attrs->slots = slots;
	attrs->room = room;
	attrs->buckets = buckets;
	attrs->nr_buckets = room;
	if (!attrs->nr)
		attrs->nr = 1;
	/* only called with no free slot left, so each one is in use */
	for (uint32_t id = 1; id < attrs->nr; id++) {
		uint32_t *bucket = &buckets[attr_hash(&slots[id].attr) & (room - 1)];

		slots[id].next = *bucket;
		*bucket = id;
	}
	return true;
}

uint32_t attr_intern(struct attrs *attrs, const struct seam_alloc *alloc, const struct attr *attr)
{
	uint32_t hash = attr_hash(attr), id;
	uint32_t *bucket;

	if (attrs->nr_buckets) {
		id = attrs->buckets[hash & (attrs->nr_buckets - 1)];
		for (; id; id = attrs->slots[id].next)
			if (attr_equal(&attrs->slots[id].attr, attr))
				return id;
	}
	if (!attrs->free_slots && attrs->nr == attrs->room && !grow(attrs, alloc))
		return 0;
	if (attrs->free_slots) {
		id = attrs->free_slots;
		attrs->free_slots = attrs->slots[id].next;
	} else {
		id = attrs->nr++;
	}
	bucket = &attrs->buckets[hash & (attrs->nr_buckets - 1)];
	attrs->slots[id] = (struct attr_slot) { .attr = *attr, .next = *bucket };
	*bucket = id;
	list_idle(attrs, id);
	return id;
}

void attr_drop(struct attrs *attrs, uint32_t id)
{
	if (!--attrs->slots[id].refs)
		list_idle(attrs, id);
}

static void forget(struct attrs *attrs, uint32_t id)
{
	struct attr_slot *slots = attrs->slots;
	uint32_t *link = &attrs->buckets[attr_hash(&slots[id].attr) & (attrs->nr_buckets - 1)];

	while (*link != id)
		link = &slots[*link].next;
	*link = slots[id].next;
	slots[id].next = attrs->free_slots;
	attrs->free_slots = id;
}

void attr_sweep(struct attrs *attrs)
{
	while (attrs->idle_slots) {
		uint32_t id = attrs->idle_slots;

		attrs->idle_slots = attrs->slots[id].idle;
		attrs->slots[id].listed = 0;
		if (!attrs->slots[id].refs)
			forget(attrs, id);
	}
}

void attr_destroy(struct attrs *attrs, const struct seam_alloc *alloc)
{
	memory_free(alloc, attrs->slots, attrs->room * sizeof(*attrs->slots));
	memory_free(alloc, attrs->buckets, attrs->nr_buckets * sizeof(*attrs->buckets));
	memset(attrs, 0, sizeof(*attrs));
}
