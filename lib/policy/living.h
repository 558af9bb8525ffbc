/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/policy/living.h - the vectors from which those of the living kernels differ by a few rules.
 */
#ifndef LIB_POLICY_LIVING_H
#define LIB_POLICY_LIVING_H

#include "lib/policy/policy.h"

/* clang-format off */

/* A red-black tree with gaps; what every living kernel compares. */
#define RULES_4_18			\
	RULE(anon_vma, 2),		\
	RULE(account, 1),		\
	RULE(offset, 2),		\
	RULE(file, 1),			\
	RULE(numa, 1),			\
	RULE(uffd, 1),			\
	RULE(close, 1),			\
	RULE(special, 1),		\
	RULE(clear_first, 1),		\
	RULE(onfault_access, 1),	\
	RULE(remove_writable, 1),	\
	RULE(memfd_seals, 1),		\
	RULE(uffd_cut_apart, 1),	\
	RULE(uffd_low, 1),		\
	RULE(area_tree, 3)

/* DONTUNMAP, for private anonymous memory. */
#define RULES_5_10			\
	RULES_4_18,			\
	RULE(dontunmap_keeps, 1),	\
	RULE(dontunmap_marks, 1),	\
	RULE(dontunmap, 1),		\
	RULE(mremap_room, 1),		\
	RULE(advices, 1)

/* The maple tree; names; mremap that grows joins. */
#define RULES_6_1			\
	RULES_4_18,			\
	RULE(name, 1),			\
	RULE(fill_right, 1),		\
	RULE(grow_join, 1),		\
	RULE(brk_own, 1),		\
	RULE(thp_align, 1),		\
	RULE(stack_shadow, 1),		\
	RULE(dontunmap, 2),		\
	RULE(populate_holes, 1),	\
	RULE(onfault_access, 0),	\
	RULE(remove_writable, 0),	\
	RULE(memfd_seals, 2),		\
	RULE(memfd_secret, 1),		\
	RULE(mremap_room, 1),		\
	RULE(mremap_checks, 1),		\
	RULE(advices, 4),		\
	RULE(advice_again, 1),		\
	RULE(area_tree, 4)

/* The left side first again; MAP_FIXED looks at its limits before it clears. */
#define RULES_6_12			\
	RULES_6_1,			\
	RULE(account, 2),		\
	RULE(close, 2),			\
	RULE(fill_right, 0),		\
	RULE(clear_first, 0),		\
	RULE(uffd_cut_apart, 0),	\
	RULE(stack_nh, 1),		\
	RULE(thp_align, 4),		\
	RULE(droppable, 1),		\
	RULE(uffd_droppable, 1),	\
	RULE(above4g, 1),		\
	RULE(ksm, 1),			\
	RULE(populate_holes, 0),	\
	RULE(mseal, 1)

/*
 * What DONTUNMAP left is told apart; seals are looked at before anything is cleared; memory of
 * memfd_secret is not locked.
 */
#define RULES_6_12_117			\
	RULES_6_12,			\
	RULE(dontunmap_anew, 1),	\
	RULE(dontunmap_apart, 2),	\
	RULE(droppable, 2),		\
	RULE(uffd_low, 0),		\
	RULE(memfd_seals, 4),		\
	RULE(memfd_secret, 2)

/* Faulted memory joins unfaulted memory; what DONTUNMAP copies is counted as locked. */
#define RULES_6_16			\
	RULES_6_12,			\
	RULE(anon_vma, 3),		\
	RULE(dontunmap_locked, 1),	\
	RULE(huge_hint, 1),		\
	RULE(thp_align, 3),		\
	RULE(shrink_charge, 1),		\
	RULE(mremap_checks, 2),		\
	RULE(memfd_seals, 4),		\
	RULE(memfd_secret, 3),		\
	RULE(advices, 6)

/* mremap moves several areas, and checks all before it does anything. */
#define RULES_6_17			\
	RULES_6_16,			\
	RULE(ksm, 2),			\
	RULE(mremap_checks, 3),		\
	RULE(uffd_own, 1),		\
	RULE(uffd_droppable, 0),	\
	RULE(mseal_end, 1),		\
	RULE(mremap_many, 1)

/* The guard flag is sticky; MCL_FUTURE leaves droppable memory alone; DOFORK for ordinary memory only. */
#define RULES_7_0			\
	RULES_6_17,			\
	RULE(droppable, 2),		\
	RULE(uffd_low, 0),		\
	RULE(mseal_end, 0),		\
	RULE(sticky, 1),		\
	RULE(dofork_special, 1)

/* Every mremap asks for room beforehand. */
#define RULES_7_1			\
	RULES_7_0,			\
	RULE(mremap_room, 2)

/* What DONTUNMAP leaves untouched is numbered anew. */
#define RULES_7_2			\
	RULES_7_1,			\
	RULE(dontunmap_anew, 1),	\
	RULE(memfd_secret, 4)

/* What DONTUNMAP copies keeps apart from its source. */
#define RULES_7_2_13			\
	RULES_7_2,			\
	RULE(dontunmap_apart, 2),	\
	RULE(mremap_room, 3)

/* clang-format on */

#endif
