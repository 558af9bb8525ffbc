/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/anon.h"

#include "lib/table.h"

#define FIRST_ROOM 16

/* An object's number: the top bit, 27 bits of its own, 36 bits of size in pages. */
#define SIZE_BITS 36
#define SIZE_MASK ((UINT64_C(1) << SIZE_BITS) - 1)

struct family *family_new(const struct seam_alloc *alloc, bool shared)
{
	struct family *family = memory_zeroed(alloc, sizeof(*family));

	if (!family)
		return NULL;
	family->alloc = *alloc;
	family->spaces = 1;
	family->shared = shared;
	family->nr = 1;
	return family;
}

uint64_t object_new(struct family *family, uint64_t pages)
{
	uint64_t serial = ++family->next_object << SIZE_BITS & ~SEAM_FILE_OWN;

	return SEAM_FILE_OWN | serial | (pages < SIZE_MASK ? pages : SIZE_MASK);
}

uint64_t object_pages(uint64_t file)
{
	return file & SEAM_FILE_OWN ? file & SIZE_MASK : UINT64_MAX;
}

void family_hold(struct family *family)
{
	family->spaces++;
}

void family_drop(struct family *family)
{
	struct seam_alloc alloc = family->alloc;

	if (--family->spaces)
		return;
	table_free(&alloc, family->links);
	memory_free(&alloc, family, sizeof(*family));
}

static void list_idle(struct family *family, uint32_t id)
{
	struct anon_link *link = &family->links[id];

	if (link->listed)
		return;
	link->listed = 1;
	link->next = family->idle_links;
	family->idle_links = id;
}

/* A link that nobody has yet, with an anon_vma of its own. */
static void write_link(struct anon_link *link, uint32_t id, uint32_t length)
{
	WRITE_ONCE(link->vma, id);
	WRITE_ONCE(link->length, length);
	WRITE_ONCE(link->serial, 0);
	link->refs = link->up = link->parent = link->children = link->active = 0;
	link->next = link->listed = 0;
}

static uint32_t link_new(struct family *family)
{
	uint32_t id = family->free_links;

	if (id) {
		family->free_links = family->links[id].next;
		table_reuse(&family->reused);
	} else {
		if (family->nr >= family->room) {
			uint32_t room = family->room ? family->room * 2 : FIRST_ROOM;
			struct anon_link *links = table_grow(&family->alloc, family->links,
							     room * sizeof(*links), family->shared);

			if (!links)
				return 0;
			WRITE_RELEASE(family->links, links);
			family->room = room;
		}
		id = family->nr++;
	}
	write_link(&family->links[id], id, 1);
	list_idle(family, id);
	return id;
}

uint32_t anon_new(struct family *family)
{
	uint32_t id = link_new(family);

	if (id) {
		family->links[id].parent = id;
		family->links[id].children = 1; /* itself */
		WRITE_ONCE(family->links[id].serial, ++family->next_serial);
	}
	return id;
}

uint32_t anon_adopted(struct family *family, uint32_t length)
{
	uint32_t id = anon_new(family);

	if (id)
		WRITE_ONCE(family->links[id].length, length ? length : 1);
	return id;
}

/* The first anon_vma of the chain, from its head, that a child may take over; 0 none. */
static uint32_t reusable(const struct family *family, uint32_t link)
{
	for (; link; link = family->links[link].up) {
		uint32_t vma = family->links[link].vma;

		if (!family->links[vma].active && family->links[vma].children < 2)
			return vma;
	}
	return 0;
}

uint32_t anon_fork(struct family *family, uint32_t link)
{
	uint32_t again = reusable(family, link);
	uint32_t id = link_new(family);
	struct anon_link *child;

	if (!id)
		return 0;
	child = &family->links[id];
	child->up = link;
	family->links[link].refs++;
	WRITE_ONCE(child->length, family->links[link].length + !again);
	if (again) {
		WRITE_ONCE(child->vma, again);
		family->links[again].refs++;
	} else {
		WRITE_ONCE(child->serial, ++family->next_serial);
		child->parent = family->links[link].vma;
		family->links[child->parent].children++;
	}
	return id;
}

void anon_hold(struct family *family, uint32_t link)
{
	if (!link)
		return;
	family->links[link].refs++;
	family->links[family->links[link].vma].active++;
}

static void unref(struct family *family, uint32_t link)
{
	if (!--family->links[link].refs)
		list_idle(family, link);
}

void anon_drop(struct family *family, uint32_t link)
{
	if (!link)
		return;
	family->links[family->links[link].vma].active--;
	unref(family, link);
}

static void forget(struct family *family, uint32_t id)
{
	struct anon_link link = family->links[id];

	family->links[id].next = family->free_links;
	family->free_links = id;
	if (link.vma != id)
		unref(family, link.vma);
	else if (link.parent != id)
		family->links[link.parent].children--;
	if (link.up)
		unref(family, link.up);
}

void anon_sweep(struct family *family)
{
	while (family->idle_links) {
		uint32_t id = family->idle_links;

		family->idle_links = family->links[id].next;
		family->links[id].listed = 0;
		if (!family->links[id].refs)
			forget(family, id);
	}
}

void anon_recount_begin(struct family *family)
{
	family->room = (uint32_t)(table_bytes(family->links) / sizeof(*family->links));
	family->idle_links = family->free_links = 0;
	for (uint32_t id = 1; id < family->nr; id++) {
		struct anon_link *link = &family->links[id];

		link->refs = link->active = link->children = link->listed = 0;
	}
}

/* What is counted for the first time waits in the list of idle links for what it holds itself. */
static void recount_link(struct family *family, uint32_t id)
{
	if (!family->links[id].refs++)
		list_idle(family, id);
}

void anon_recount(struct family *family, uint32_t link)
{
	if (!link)
		return;
	recount_link(family, link);
	family->links[family->links[link].vma].active++;
}

void anon_recount_end(struct family *family)
{
	while (family->idle_links) {
		uint32_t id = family->idle_links;
		const struct anon_link *link = &family->links[id];

		family->idle_links = link->next;
		if (link->up)
			recount_link(family, link->up);
		if (link->vma != id)
			recount_link(family, link->vma);
		else
			family->links[link->parent].children++;
	}
	for (uint32_t id = 1; id < family->nr; id++) {
		family->links[id].listed = 0;
		if (family->links[id].refs)
			continue;
		family->links[id].next = family->free_links;
		family->free_links = id;
	}
}
