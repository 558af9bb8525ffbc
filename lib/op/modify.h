/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/op/modify.h - part of an area gets other attributes: the way of mprotect, madvise, mlock,
 * mseal, mbind, names and userfaultfd.
 */
#ifndef LIB_OP_MODIFY_H
#define LIB_OP_MODIFY_H

#include "lib/area.h"

/*
 * What becomes of the range, decided before anything is changed. Above and below the range lie the
 * rests of its area, or, where it reaches that area's edge, the neighbours:
 *
 *	prev | [below  range  above] | next
 */
struct outcome {
	struct area area, range; /* the area as it is; the range as it will be */
	struct area prev, next;
	bool has_prev, has_next; /* compared with, and they fit */
	bool whole;		 /* the range is the area, which a join removes */
	bool starts_apart;	 /* not compared with prev */
	bool ends_apart;	 /* not compared with next */
};

/*
 * [start, end), which lies within the area under the cursor, gets the attribute set @attr. When it
 * then fits a neighbour, the border between the two moves, or areas vanish; else the area is cut.
 * The cursor ends on the area that holds the range.
 *  -SEAM_ENOMEM  a cut at the area limit; the first of two cuts stays
 *  -SEAM_EINVAL  its driver forbids cuts
 * Source: 6.18 mm/vma.c vma_modify, vma_merge_existing_range.
 */
int modify_range(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
		 const struct attr *attr);

/* The same for what a userfaultfd watches: the rule uffd_cut_apart. */
int modify_watched(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
		   const struct attr *attr);

/* The same for the embedder's tag. */
int modify_tag(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
	       uint64_t tag);

/* The same, with only the flags changed. */
int modify_flags(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
		 uint64_t flags);

/* The same; @apart: what it fits is not looked at. */
int modify_flags_apart(struct seam_space *space, struct cursor *cursor, uint64_t start,
		       uint64_t end, uint64_t flags, bool apart);

/*
 * Calls @visit for the part of each area that lies in [start, end), in order, the cursor on the
 * area; stops at its first error. HOLES_STOP: what is above a hole is not visited. HOLES_PASS: a
 * hole is passed over and told at the end. HOLES_FORGIVE: and is no error.
 *  -SEAM_ENOMEM  a hole
 */
enum holes { HOLES_STOP, HOLES_PASS, HOLES_FORGIVE };
typedef int visit_fn(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
		     void *ctx);
int walk_range(struct seam_space *space, uint64_t start, uint64_t end, enum holes holes,
	       visit_fn *visit, void *ctx);

/* True when a part of [start, end) belongs to no area. */
bool range_has_hole(const struct seam_space *space, uint64_t start, uint64_t end);

/*
 * The end of a page-aligned range as madvise, mseal, mbind and names take it.
 *  -SEAM_EINVAL  @start is not aligned, or the range wraps
 */
int range_end(const struct seam_space *space, uint64_t start, uint64_t len, uint64_t *ret_end);

#endif
