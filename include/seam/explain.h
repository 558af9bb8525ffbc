/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam/explain.h - why two neighbours are not one area.
 *
 * The predicate is the one that joining itself uses (lib/join.c): an empty set of causes means that
 * a call which tries would join the two.
 */
#ifndef SEAM_EXPLAIN_H
#define SEAM_EXPLAIN_H

#include <seam/area.h>
#include <seam/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every cause once, in the order in which they are listed: X(name, "for people"). */
#define SEAM_CAUSES(X)                                                                             \
	X(rule, "this kernel never joins such areas")                                              \
	X(prot, "different protection")                                                            \
	X(shared, "one is shared, one is private")                                                 \
	X(flags, "different flags")                                                                \
	X(special, "an area of a kind that never joins")                                           \
	X(file, "different open files")                                                            \
	X(offset, "page offsets do not continue")                                                  \
	X(anon_vma, "touched apart: different anon_vma")                                           \
	X(fork, "inherited through fork")                                                          \
	X(numa, "different memory policies")                                                       \
	X(uffd, "different userfaultfd contexts")                                                  \
	X(name, "different names")                                                                 \
	X(pkey, "different protection keys")                                                       \
	X(close, "the driver's close operation forbids it")                                        \
	X(untried, "no call has tried to join them since")                                         \
	X(unseen, "equal as far as this source shows")

enum seam_cause_bit {
#define SEAM_CAUSE_ENUM(name, text) SEAM_CAUSE_BIT_##name,
	SEAM_CAUSES(SEAM_CAUSE_ENUM)
#undef SEAM_CAUSE_ENUM
		SEAM_NR_CAUSES
};
#define SEAM_CAUSE(name) (1u << SEAM_CAUSE_BIT_##name)

/* The name of one cause (its bit number), and what to say to people. NULL out of range. */
const char *seam_cause_name(unsigned int bit);
const char *seam_cause_text(unsigned int bit);

/*
 * The causes that keep @left and @right apart under @policy, as a set of SEAM_CAUSE(); 0 when a
 * call that tried would join them. They must touch: left->end == right->start. What a source could
 * not see is given as equal; the caller then says "unseen" for an empty set.
 * @page_shift: 12 for 4 KiB pages.
 * Two calls could join a pair (the right area made anew beside the left, or the left beside the
 * right); the answer is the smaller set of the two. O(1).
 * Source: 6.18 mm/vma.c is_mergeable_vma, is_mergeable_anon_vma, can_vma_merge_left/right.
 */
uint32_t seam_explain_pair(const struct seam_policy *policy, unsigned int page_shift,
			   const struct seam_area *left, const struct seam_area *right);

/* The flag bits that @policy compares and in which the two differ (what "flags" is about). O(1). */
uint64_t seam_explain_flags(const struct seam_policy *policy, const struct seam_area *left,
			    const struct seam_area *right);

#ifdef __cplusplus
}
#endif
#endif
