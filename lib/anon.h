/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/anon.h - the identities of anonymous memory, shared by all spaces that fork made from one.
 *
 * An area's anon number names a *link*: an anon_vma and the chain that reaches it. A first write
 * makes a link whose chain has one element. Fork gives the child's area a link whose chain is the
 * parent's and its own anon_vma behind it, or, where an ancestor's anon_vma has no area left and
 * less than two children, that one again (6.18 mm/rmap.c anon_vma_clone, anon_vma_fork).
 * Numbers begin at 1; 0 is "never faulted". As with attributes, a link that falls to no area stays
 * until the call ends.
 */
#ifndef LIB_ANON_H
#define LIB_ANON_H

#include <stdbool.h>
#include <stdint.h>

#include <seam/ops.h>

#include "lib/built.h"

/*
 * Most links are plain: an anon_vma of their own, a chain of one, nothing that fork made of them.
 * Those need no more than this; any other has a branch.
 */
struct anon_link {
	uint32_t refs; /* areas that have it, links that have it as up or as vma */
	uint32_t mark; /* plain: the anon_vma's serial; else ANON_BRANCH and the branch's number */
	uint32_t next; /* in the list of free links, or of idle ones; ANON_UNLISTED in neither */
};

#define ANON_BRANCH UINT32_C(0x80000000)
#define ANON_UNLISTED UINT32_MAX

struct anon_branch {
	uint32_t link;	 /* whose branch it is */
	uint32_t vma;	 /* its anon_vma: the number of the link that made it */
	uint32_t up;	 /* the chain above: the link of the parent's area; 0 none */
	uint32_t length; /* of the chain */
	/* of the anon_vma, where vma is the link's own number */
	uint32_t parent;   /* anon_vma whose child it is; itself at the root */
	uint32_t children; /* with itself at the root, as the kernel counts */
	uint32_t active;   /* areas whose anon_vma it is */
	uint32_t serial;   /* its name for the outside: that of no other */
};

struct family {
	struct seam_alloc alloc; /* the first space's */
	uint32_t spaces;
	bool shared;		    /* readers look at links beside the writer */
	bool foreign;		    /* it counts areas of spaces that it has not: a snapshot's */
	size_t reused;		    /* how often a link was given another meaning */
	struct seam_space *members; /* the spaces, by their next_in_family */
	struct seam_space *in_hand; /* one that is being made or ended; else NULL */
	struct anon_link *links;    /* [0] unused */
	uint32_t nr, room;
	uint32_t free_links, idle_links;
	struct anon_branch *branches; /* [0] unused */
	uint32_t nr_branches, branch_room;
	uint32_t free_branches; /* chained by up */
	uint32_t next_serial;
	uint64_t next_object; /* of shared anonymous memory */
};

/*
 * A new object behind shared anonymous memory. Its number tells its size, which never changes:
 * memory that mremap lets reach further has no pages there.
 */
uint64_t object_new(struct family *family, uint64_t pages);
/* The size of an object in pages; for files of the caller, whose size is not known, all. */
uint64_t object_pages(uint64_t file);

/* @shared: there may be readers beside the writer. NULL: no memory. */
struct family *family_new(const struct seam_alloc *alloc, bool shared);
void family_hold(struct family *family);
void family_drop(struct family *family);

/* A fresh anon_vma with a chain of one. 0: no memory. Not yet counted by any area. */
uint32_t anon_new(struct family *family);
/* A link for a caller's anon_vma whose chain has @length elements (adopted maps). 0: no memory. */
uint32_t anon_adopted(struct family *family, uint32_t length);
/* The link of a fork child's copy of an area that has @link. 0: no memory. */
uint32_t anon_fork(struct family *family, uint32_t link);

/* Of a link that is known not to be plain. */
static inline struct anon_branch *anon_branch_at(const struct family *family, uint32_t link)
{
	return &family->branches[family->links[link].mark & ~ANON_BRANCH];
}

/* NULL: the link is plain. */
static inline struct anon_branch *anon_branch_of(const struct family *family, uint32_t link)
{
	uint32_t mark = family->links[link].mark;

	return mark & ANON_BRANCH ? &family->branches[mark & ~ANON_BRANCH] : NULL;
}

static inline uint32_t anon_vma_of(const struct family *family, uint32_t link)
{
	const struct anon_branch *branch = WITH_KERNELS && link ? anon_branch_of(family, link)
								: NULL;

	return branch ? branch->vma : link;
}

/* The anon_vma's name for the outside; 0 none. */
static inline uint32_t anon_serial_of(const struct family *family, uint32_t link)
{
	uint32_t vma = WITH_KERNELS ? anon_vma_of(family, link) : 0;
	const struct anon_branch *branch = vma ? anon_branch_of(family, vma) : NULL;

	if (branch)
		return branch->serial;
	return vma ? family->links[vma].mark : 0;
}

static inline uint32_t anon_length(const struct family *family, uint32_t link)
{
	const struct anon_branch *branch = WITH_KERNELS && link ? anon_branch_of(family, link)
								: NULL;

	return branch ? branch->length : link != 0;
}

/* An area takes the link, or lets go of it. 0 is allowed. */
void anon_hold(struct family *family, uint32_t link);
void anon_drop(struct family *family, uint32_t link);
/* Forgets the links that no area has. At the end of a call. */
void anon_sweep(struct family *family);

/* All that holds a link beside areas and what is adopted: the links below, in a chain. */
uint64_t anon_holds(const struct family *family);

/* After a fork in mid-call: begin, anon_recount for each area of each space, end. */
void anon_recount_begin(struct family *family);
void anon_recount(struct family *family, uint32_t link);
void anon_recount_end(struct family *family);

#endif
