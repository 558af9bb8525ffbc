/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/attr.h - attribute sets, each distinct one kept once.
 *
 * Most areas of a space share a handful of sets, so an area carries a number, and in the common
 * case "may these two join" compares two numbers. Numbers begin at 1.
 *
 * Sets are counted by the areas that have them. One that falls to no area stays until the call
 * ends, so that an edit can be undone.
 */
#ifndef LIB_ATTR_H
#define LIB_ATTR_H

#include <stdbool.h>
#include <stdint.h>

#include <seam/space.h>

struct attr {
	uint64_t flags;
	uint64_t file;
	uint32_t numa, uffd, name, traits;
	uint64_t moved_pages;
};

/* Flags that come and go together: what userfaultfd is told of, and what is locked. */
#define UFFD_BITS (SEAM_VM_UFFD_MISSING | SEAM_VM_UFFD_WP | SEAM_VM_UFFD_MINOR)
#define LOCK_BITS (SEAM_VM_LOCKED | SEAM_VM_LOCKONFAULT)

/* No userfaultfd watches it any more. False: none did. */
static inline bool attr_drop_uffd(struct attr *attr)
{
	if (!attr->uffd)
		return false;
	attr->uffd = 0;
	attr->flags &= ~UFFD_BITS;
	return true;
}

struct attr_slot {
	struct attr attr;
	uint32_t refs;
	uint32_t next;	 /* in its bucket, or in the list of free slots */
	uint32_t idle;	 /* in the list of sets without an area */
	uint32_t listed; /* stands in that list */
};

#define NR_RECENT 8

struct attrs {
	struct attr_slot *slots; /* [0] unused */
	uint32_t *buckets;
	uint32_t nr, room; /* slots in use or free, slots allocated */
	uint32_t nr_buckets;
	uint32_t free_slots, idle_slots; /* heads of lists; 0 ends them */
	uint32_t recent[NR_RECENT]; /* asked for last, by rwx, and often asked for again; 0 none */
	bool shared;		    /* readers look at the sets beside the writer */
	size_t reused;		    /* how often a slot was given to another set */
};

/* The number of the set, made when it is new. 0: no memory. It is not yet counted by any area. */
uint32_t attr_intern(struct attrs *attrs, const struct seam_alloc *alloc, const struct attr *attr);

static inline const struct attr *attr_at(const struct attrs *attrs, uint32_t id)
{
	return &attrs->slots[id].attr;
}

static inline void attr_hold(struct attrs *attrs, uint32_t id)
{
	attrs->slots[id].refs++;
}

/* One area less has it. */
void attr_drop(struct attrs *attrs, uint32_t id);
/* Forgets the sets that no area has. At the end of a call. */
void attr_sweep(struct attrs *attrs);
/* The same sets with the same numbers and counts. False: no memory; fit to be destroyed. */
bool attr_copy(struct attrs *to, const struct attrs *from, const struct seam_alloc *alloc);
/* Counting anew whose areas are known: begin, attr_hold for each area, end. */
void attr_recount_begin(struct attrs *attrs);
void attr_recount_end(struct attrs *attrs);
void attr_destroy(struct attrs *attrs, const struct seam_alloc *alloc);

#endif
