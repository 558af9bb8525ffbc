/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/attr.h"

#include <stdbool.h>
#include <string.h>

#include "lib/compiler.h"
#include "lib/table.h"

#define FIRST_ROOM 16

static uint32_t attr_hash(const struct attr *attr)
{
	uint64_t h = attr->flags ^ attr->file * UINT64_C(0xff51afd7ed558ccd);

	h ^= (attr->numa ^ ((uint64_t)attr->uffd << 32)) * UINT64_C(0xc4ceb9fe1a85ec53);
	h ^= (attr->name ^ ((uint64_t)attr->traits << 32)) * UINT64_C(0xbf58476d1ce4e5b9);
	h ^= attr->moved_pages * UINT64_C(0xd1342543de82ef95);
	h = (h ^ (h >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32);
}

static bool attr_equal(const struct attr *a, const struct attr *b)
{
	return a->flags == b->flags && a->file == b->file && a->numa == b->numa &&
	       a->uffd == b->uffd && a->name == b->name && a->traits == b->traits &&
	       a->moved_pages == b->moved_pages;
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
	uint32_t *buckets = table_new(alloc, room * sizeof(*buckets));
	uint32_t *old_buckets;
	struct attr_slot *slots;

	if (!buckets)
		return false;
	slots = table_grow(alloc, attrs->slots, room * sizeof(*slots), attrs->shared);
	if (!slots) {
		table_free(alloc, buckets);
		return false;
	}
	WRITE_RELEASE(attrs->slots, slots);
	attrs->room = room;
	if (!attrs->nr)
		attrs->nr = 1;
	/* only called with no free slot left, so each one is in use */
	for (uint32_t id = 1; id < attrs->nr; id++) {
		uint32_t *bucket = &buckets[attr_hash(&slots[id].attr) & (room - 1)];

		slots[id].next = *bucket;
		*bucket = id;
	}
	old_buckets = attrs->buckets;
	WRITE_RELEASE(attrs->buckets, buckets);
	attrs->nr_buckets = room;
	table_free(alloc, old_buckets);
	return true;
}

static void write_attr(struct attr *to, const struct attr *from)
{
	WRITE_ONCE(to->flags, from->flags);
	WRITE_ONCE(to->file, from->file);
	WRITE_ONCE(to->numa, from->numa);
	WRITE_ONCE(to->uffd, from->uffd);
	WRITE_ONCE(to->name, from->name);
	WRITE_ONCE(to->traits, from->traits);
	WRITE_ONCE(to->moved_pages, from->moved_pages);
}

static noinline_for_stack uint32_t intern(struct attrs *attrs, const struct seam_alloc *alloc,
					  const struct attr *attr)
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
		table_reuse(&attrs->reused);
	} else {
		id = attrs->nr++;
	}
	bucket = &attrs->buckets[hash & (attrs->nr_buckets - 1)];
	write_attr(&attrs->slots[id].attr, attr);
	attrs->slots[id].refs = attrs->slots[id].listed = 0;
	attrs->slots[id].next = *bucket;
	*bucket = id;
	list_idle(attrs, id);
	return id;
}

/*
 * The hash is a function's of its own: worked out here, it would be begun before it is known to be
 * needed, with loads of what has only just been stored in halves, which wait.
 */
uint32_t attr_intern(struct attrs *attrs, const struct seam_alloc *alloc, const struct attr *attr)
{
	uint32_t *recent = &attrs->recent[attr->flags & (NR_RECENT - 1)];

	if (!*recent || !attr_equal(&attrs->slots[*recent].attr, attr))
		*recent = intern(attrs, alloc, attr);
	return *recent;
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
	for (unsigned int i = 0; i < NR_RECENT; i++)
		if (attrs->recent[i] == id)
			attrs->recent[i] = 0;
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
	table_free(alloc, attrs->slots);
	table_free(alloc, attrs->buckets);
	memset(attrs, 0, sizeof(*attrs));
}

bool attr_copy(struct attrs *to, const struct attrs *from, const struct seam_alloc *alloc)
{
	bool shared = to->shared;

	*to = *from;
	to->shared = shared;
	to->buckets = NULL;
	return table_copy(alloc, (void **)&to->slots, from->slots) &&
	       table_copy(alloc, (void **)&to->buckets, from->buckets);
}

void attr_recount_begin(struct attrs *attrs)
{
	attrs->nr_buckets = (uint32_t)(table_bytes(attrs->buckets) / sizeof(*attrs->buckets));
	attrs->room = (uint32_t)(table_bytes(attrs->slots) / sizeof(*attrs->slots));
	memset(attrs->recent, 0, sizeof(attrs->recent));
	if (!attrs->buckets)
		attrs->nr = attrs->room = 0; /* cut short at its first set: as if it were new */
	for (uint32_t id = 1; id < attrs->nr; id++)
		attrs->slots[id].refs = attrs->slots[id].listed = 0;
}

void attr_recount_end(struct attrs *attrs)
{
	attrs->free_slots = attrs->idle_slots = 0;
	/* they may be some that no area has */
	memset(attrs->recent, 0, sizeof(attrs->recent));
	memset(attrs->buckets, 0, attrs->nr_buckets * sizeof(*attrs->buckets));
	for (uint32_t id = 1; id < attrs->nr; id++) {
		struct attr_slot *slot = &attrs->slots[id];
		uint32_t *list = &attrs->free_slots;

		slot->listed = 0; /* what came and went while it was counted was listed */
		if (slot->refs)
			list = &attrs->buckets[attr_hash(&slot->attr) & (attrs->nr_buckets - 1)];
		slot->next = *list;
		*list = id;
	}
}
