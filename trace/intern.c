/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/intern.h"

#include <stdlib.h>
#include <string.h>

struct intern_entry {
	uint64_t hash;
	void *bytes;
	size_t size;
};

static uint64_t hash_bytes(const uint8_t *p, size_t size)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ size; /* FNV-1a, eight bytes at a time */
	uint64_t word;

	for (; size >= 8; size -= 8, p += 8) {
		memcpy(&word, p, 8);
		hash = (hash ^ word) * UINT64_C(0x100000001b3);
		hash ^= hash >> 29;
	}
	for (; size; size--, p++)
		hash = (hash ^ *p) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

static int grow_slots(struct intern *intern)
{
	uint32_t nr_slots = intern->slots ? (intern->slot_mask + 1) * 2 : 256;
	uint32_t *slots = calloc(nr_slots, sizeof(*slots));

	if (!slots)
		return -1;
	for (uint32_t number = 1; number <= intern->nr_entries; number++) {
		uint64_t at = intern->entries[number - 1].hash;

		while (slots[at & (nr_slots - 1)])
			at++;
		slots[at & (nr_slots - 1)] = number;
	}
	free(intern->slots);
	intern->slots = slots;
	intern->slot_mask = nr_slots - 1;
	return 0;
}

static int grow_entries(struct intern *intern)
{
	uint32_t room = intern->entries_room ? intern->entries_room * 2 : 64;
	struct intern_entry *entries = reallocarray(intern->entries, room, sizeof(*entries));

	if (!entries)
		return -1;
	intern->entries = entries;
	intern->entries_room = room;
	return 0;
}

static int add_entry(struct intern *intern, const void *bytes, size_t size, uint64_t hash)
{
	struct intern_entry *entry;
	void *copy;

	if (intern->nr_entries == intern->entries_room && grow_entries(intern))
		return -1;
	copy = malloc(size + 1);
	if (!copy)
		return -1;
	memcpy(copy, bytes, size);
	((char *)copy)[size] = '\0';
	entry = &intern->entries[intern->nr_entries++];
	*entry = (struct intern_entry) { .hash = hash, .bytes = copy, .size = size };
	return 0;
}

/* The slot that has the number of @bytes, or the free one where it would stand. */
static uint32_t *find_slot(const struct intern *intern, const void *bytes, size_t size,
			   uint64_t hash)
{
	for (uint64_t at = hash;; at++) {
		uint32_t *slot = &intern->slots[at & intern->slot_mask];
		const struct intern_entry *entry;

		if (!*slot)
			return slot;
		entry = &intern->entries[*slot - 1];
		if (entry->hash == hash && entry->size == size &&
		    !memcmp(entry->bytes, bytes, size))
			return slot;
	}
}

uint32_t intern_find(const struct intern *intern, const void *bytes, size_t size)
{
	return intern->slots ? *find_slot(intern, bytes, size, hash_bytes(bytes, size)) : 0;
}

uint32_t intern_number(struct intern *intern, const void *bytes, size_t size, uint32_t max,
		       bool *ret_new)
{
	uint64_t hash = hash_bytes(bytes, size);
	uint32_t *slot;

	*ret_new = false;
	if ((!intern->slots || intern->nr_entries > intern->slot_mask / 2) && grow_slots(intern))
		return 0;
	slot = find_slot(intern, bytes, size, hash);
	if (*slot)
		return *slot;
	if (intern->nr_entries >= max || add_entry(intern, bytes, size, hash))
		return 0;
	*slot = intern->nr_entries;
	*ret_new = true;
	return intern->nr_entries;
}

const char *intern_text(const struct intern *intern, uint32_t number)
{
	return number && number <= intern->nr_entries ? intern->entries[number - 1].bytes : NULL;
}

void intern_free(struct intern *intern)
{
	for (uint32_t i = 0; i < intern->nr_entries; i++)
		free(intern->entries[i].bytes);
	free(intern->entries);
	free(intern->slots);
	*intern = (struct intern) { 0 };
}
