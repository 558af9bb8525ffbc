/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/join.h - the one predicate: may two touching areas be one? Joining, explaining and what-if
 * all ask it.
 */
#ifndef LIB_JOIN_H
#define LIB_JOIN_H

#include "lib/space.h"

/* Which of the two is there already; the other is proposed beside it, or changed to fit it. */
enum join_neighbour { NEIGHBOUR_LEFT, NEIGHBOUR_RIGHT };

/*
 * The causes that keep them apart, as a set of SEAM_CAUSE(); 0: they join. Looks at the pair alone;
 * whether joining removes an area with a close operation is for the caller (join_close_forbids).
 * Source: 6.18 mm/vma.c is_mergeable_vma, is_mergeable_anon_vma.
 */
uint32_t join_causes(const struct seam_policy *policy, unsigned int page_shift,
		     const struct seam_area *left, const struct seam_area *right,
		     enum join_neighbour neighbour);

/*
 * @area may vanish in a join: since 6.4 a close operation forbids just that (6.18 mm/vma.c
 * can_merge_remove_vma); before, it forbids every join of a neighbour that has one.
 */
bool join_removable(const struct seam_space *space, const struct area *area);

/*
 * Two areas with a range between them that both of them fit: all three may be one if the two have
 * no different anonymous memory (6.18 mm/vma.c can_vma_merge_right).
 */
bool join_bridged(const struct seam_space *space, const struct area *left,
		  const struct area *right);

/*
 * The area that a join leaves takes over those of @flags that every join keeps (6.19 VM_STICKY).
 * False: no memory.
 */
bool join_keep_sticky(struct seam_space *space, struct area *survivor, uint64_t flags);

/*
 * How a call of an old kernel joins (rules *_join). Living kernels have one way, JOIN_CASES.
 */
enum join_style {
	JOIN_NONE,
	JOIN_CASES, /* 2.6.7 -: both sides, files too, borders move */
	JOIN_BELOW, /* 2.4.3: anonymous private memory, with the area below */
	JOIN_ANON,  /* 2.4.10: anonymous private memory, with both */
	JOIN_FILES, /* 2.6.0: files too, but not shared anonymous memory */
	JOIN_SCAN,  /* 2.2: afterwards, any touching pair */
};

/* Does a call of this style ever join memory of this kind? */
bool join_takes(enum join_style style, uint64_t flags, uint64_t file);

/*
 * Would this kernel keep the two apart even if the right one were mapped anew beside the left,
 * equal in all? (the cause "rule")
 */
bool join_never(const struct seam_policy *policy, const struct seam_area *left,
		const struct seam_area *right);

/* Flag bits of today (SEAM_VM_*) as the policy's kernel would have them. */
uint64_t join_flags_then(const struct seam_policy *policy, uint64_t flags);

/* The flag bits that the policy compares and in which the two differ. */
uint64_t join_flags(const struct seam_policy *policy, uint64_t left, uint64_t right);

/* The same for areas of a space: in the common case one compare of numbers and one of offsets. */
bool join_check(const struct seam_space *space, const struct area *left, const struct area *right,
		enum join_neighbour neighbour);

#endif
