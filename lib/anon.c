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
	family->nr = family->nr_branches = 1;
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
	if (WITH_KERNELS) {
		table_free(&alloc, family->links);
		table_free(&alloc, family->branches);
	}
	memory_free(&alloc, family, sizeof(*family));
}

static void list_idle(struct family *family, uint32_t id)
{
	struct anon_link *link = &family->links[id];

	if (link->next != ANON_UNLISTED)
		return;
	link->next = family->idle_links;
	family->idle_links = id;
}

/* A table grows by half: the doubled half of a large one would lie idle. */
static uint32_t larger(uint32_t room)
{
	return room ? room + room / 2 : FIRST_ROOM;
}

/* A plain link that nobody has yet; 0: no memory. */
static uint32_t link_new(struct family *family)
{
	uint32_t id = family->free_links;

	if (id) {
		family->free_links = family->links[id].next;
		table_reuse(&family->reused);
	} else {
		if (family->nr >= family->room) {
			uint32_t room = larger(family->room);
			struct anon_link *links = table_grow(&family->alloc, family->links,
							     room * sizeof(*links), family->shared);

			if (!links)
				return 0;
			WRITE_RELEASE(family->links, links);
			family->room = room;
		}
		id = family->nr++;
	}
	WRITE_ONCE(family->links[id].mark, 0);
	family->links[id].refs = 0;
	family->links[id].next = ANON_UNLISTED;
	list_idle(family, id);
	return id;
}

/* The number of a branch that is not in use; 0: no memory. */
static uint32_t branch_new(struct family *family)
{
	uint32_t id = family->free_branches;

	if (id) {
		family->free_branches = family->branches[id].up;
		table_reuse(&family->reused);
		return id;
	}
	if (family->nr_branches >= family->branch_room) {
		uint32_t room = larger(family->branch_room);
		struct anon_branch *branches = table_grow(&family->alloc, family->branches,
							  room * sizeof(*branches), family->shared);

		if (!branches)
			return 0;
		WRITE_RELEASE(family->branches, branches);
		family->branch_room = room;
	}
	return family->nr_branches++;
}

/* The link is plain no longer; to the outside nothing changes. False: no memory. */
static bool give_branch(struct family *family, uint32_t link)
{
	struct anon_branch *branch;
	uint32_t id;

	if (anon_branch_of(family, link))
		return true;
	id = branch_new(family);
	if (!id)
		return false;
	branch = &family->branches[id];
	branch->link = branch->parent = link;
	branch->up = 0;
	branch->children = 1; /* itself */
	branch->active = family->links[link].refs;
	WRITE_RELEASE(branch->vma, link);
	WRITE_ONCE(branch->length, 1);
	WRITE_ONCE(branch->serial, family->links[link].mark);
	WRITE_RELEASE(family->links[link].mark, ANON_BRANCH | id);
	return true;
}

/* From 1 on; after 2^31 anon_vmas begun anew, by when the first are long gone. */
static uint32_t serial_new(struct family *family)
{
	family->next_serial = family->next_serial % (ANON_BRANCH - 1) + 1;
	return family->next_serial;
}

uint32_t anon_new(struct family *family)
{
	uint32_t id = WITH_KERNELS ? link_new(family) : 0, serial;

	if (id) {
		serial = serial_new(family);
		WRITE_ONCE(family->links[id].mark, serial);
	}
	return id;
}

uint32_t anon_adopted(struct family *family, uint32_t length)
{
	uint32_t id = anon_new(family);

	if (id && length > 1) {
		if (!give_branch(family, id))
			return 0;
		WRITE_ONCE(anon_branch_at(family, id)->length, length);
	}
	return id;
}

/* The first anon_vma of the chain, from its head, that a child may take over; 0 none. */
static uint32_t reusable(const struct family *family, uint32_t link)
{
	const struct anon_branch *branch;

	/* a plain link has an area, its own */
	while (link && (branch = anon_branch_of(family, link))) {
		const struct anon_branch *vma = anon_branch_of(family, branch->vma);

		if (vma && !vma->active && vma->children < 2)
			return branch->vma;
		link = branch->up;
	}
	return 0;
}

uint32_t anon_fork(struct family *family, uint32_t link)
{
	uint32_t again = reusable(family, link), id, serial;
	struct anon_branch *child, *parent, *vma;

	if (!give_branch(family, link))
		return 0;
	id = link_new(family);
	if (!id || !give_branch(family, id))
		return 0;
	child = anon_branch_at(family, id);
	parent = anon_branch_at(family, link);
	child->children = 0; /* not a root */
	/*
	 * Counted first, then held: when a fork keeps what is done up to here, dropping what is held
	 * takes no count that another has.
	 */
	WRITE_ONCE(family->links[link].refs, family->links[link].refs + 1);
	WRITE_RELEASE(child->up, link);
	WRITE_ONCE(child->length, parent->length + !again);
	if (again) {
		WRITE_ONCE(family->links[again].refs, family->links[again].refs + 1);
		WRITE_RELEASE(child->vma, again);
	} else {
		serial = serial_new(family);
		WRITE_ONCE(child->serial, serial);
		vma = anon_branch_at(family, parent->vma);
		WRITE_ONCE(vma->children, vma->children + 1);
		WRITE_RELEASE(child->parent, parent->vma);
	}
	return id;
}

void anon_hold(struct family *family, uint32_t link)
{
	struct anon_branch *branch;

	if (!WITH_KERNELS || !link)
		return;
	family->links[link].refs++;
	branch = anon_branch_of(family, link);
	if (branch)
		anon_branch_at(family, branch->vma)->active++;
}

static void unref(struct family *family, uint32_t link)
{
	if (!--family->links[link].refs)
		list_idle(family, link);
}

void anon_drop(struct family *family, uint32_t link)
{
	struct anon_branch *branch;

	if (!WITH_KERNELS || !link)
		return;
	branch = anon_branch_of(family, link);
	if (branch)
		anon_branch_at(family, branch->vma)->active--;
	unref(family, link);
}

static void forget(struct family *family, uint32_t id)
{
	struct anon_branch *held = anon_branch_of(family, id), branch;

	family->links[id].next = family->free_links;
	family->free_links = id;
	if (!held)
		return;
	branch = *held;
	held->up = family->free_branches;
	family->free_branches = (uint32_t)(held - family->branches);
	if (branch.vma != id)
		unref(family, branch.vma);
	else if (branch.parent != id)
		anon_branch_at(family, branch.parent)->children--;
	if (branch.up)
		unref(family, branch.up);
}

/* The first idle link, taken off their list; 0 none. */
static uint32_t next_idle(struct family *family)
{
	uint32_t id = family->idle_links;

	if (id) {
		family->idle_links = family->links[id].next;
		family->links[id].next = ANON_UNLISTED;
	}
	return id;
}

void anon_sweep(struct family *family)
{
	uint32_t id;

	while (WITH_KERNELS && (id = next_idle(family)))
		if (!family->links[id].refs)
			forget(family, id);
}

uint64_t anon_holds(const struct family *family)
{
	uint64_t nr = 0;

	for (uint32_t id = 1; id < family->nr; id++) {
		const struct anon_branch *branch =
			family->links[id].refs ? anon_branch_of(family, id) : NULL;

		if (branch)
			nr += (branch->up != 0) + (branch->vma != id);
	}
	return nr;
}

void anon_recount_begin(struct family *family)
{
	if (!WITH_KERNELS)
		return;
	family->room = (uint32_t)(table_bytes(family->links) / sizeof(*family->links));
	family->branch_room = (uint32_t)(table_bytes(family->branches) / sizeof(*family->branches));
	family->idle_links = family->free_links = family->free_branches = 0;
	for (uint32_t id = 1; id < family->nr; id++) {
		family->links[id].refs = 0;
		family->links[id].next = ANON_UNLISTED;
	}
	for (uint32_t id = 1; id < family->nr_branches; id++)
		family->branches[id].active = family->branches[id].children = 0;
}

/* What is counted for the first time waits in the list of idle links for what it holds itself. */
static void recount_link(struct family *family, uint32_t id)
{
	if (!family->links[id].refs++)
		list_idle(family, id);
}

void anon_recount(struct family *family, uint32_t link)
{
	const struct anon_branch *branch;

	if (!WITH_KERNELS || !link)
		return;
	recount_link(family, link);
	branch = anon_branch_of(family, link);
	if (branch)
		anon_branch_at(family, branch->vma)->active++;
}

static bool branch_in_use(const struct family *family, uint32_t id)
{
	const struct anon_link *link = &family->links[family->branches[id].link];

	return link->refs && link->mark == (ANON_BRANCH | id);
}

void anon_recount_end(struct family *family)
{
	uint32_t id;

	if (!WITH_KERNELS)
		return;
	while ((id = next_idle(family))) {
		const struct anon_branch *branch = anon_branch_of(family, id);

		if (!branch)
			continue;
		if (branch->up)
			recount_link(family, branch->up);
		if (branch->vma != id)
			recount_link(family, branch->vma);
		else
			anon_branch_at(family, branch->parent)->children++;
	}
	for (id = 1; id < family->nr_branches; id++) {
		if (branch_in_use(family, id))
			continue;
		family->branches[id].up = family->free_branches;
		family->free_branches = id;
	}
	for (id = 1; id < family->nr; id++) {
		if (family->links[id].refs)
			continue;
		family->links[id].next = family->free_links;
		family->free_links = id;
	}
}
