/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings/findings.h - from the areas of a snapshot to what a person needs to know: why neighbours
 * are apart, which areas are alike, and what would remain if a cause were mended. No printing.
 *
 *	findings_make(&snapshot, &policy, pressure, &findings);
 *	... findings.causes, findings.groups, findings.remedies ...
 *	findings_free(&findings);
 */
#ifndef FINDINGS_FINDINGS_H
#define FINDINGS_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/explain.h>
#include <seam/policy.h>

#include "trace/snapshot.h"

/* The closed list of groups: X(name, "name in JSON", "for people, many of them"). */
#define GROUPS(X)                                                                                  \
	X(thread_stack, "thread-stack", "thread stacks and their guards")                          \
	X(fiber_stack, "fiber-stack", "fiber stacks and their guards")                             \
	X(guard_marker, "guard-marker", "mappings with guard markers")                             \
	X(write_barrier, "write-barrier", "pages behind a write barrier")                          \
	X(jit_wx, "jit-wx", "code switched between writable and executable")                       \
	X(jit_dual, "jit-dual", "code mapped twice, to write and to run")                          \
	X(file_per_map, "file-per-map", "one mapping for each file")                               \
	X(file_windows, "file-windows", "windows on files")                                        \
	X(shared_anon_per_map, "shared-anon-per-map", "shared memory, an object for each mapping") \
	X(elf_segments, "elf-segments", "segments of programs and libraries")                      \
	X(reserve_commit, "reserve-commit", "reserved regions, used from one end")                 \
	X(decommit, "decommit", "pieces given back by protection or remapping")                    \
	X(advice_stripes, "advice-stripes", "stripes of madvise flags")                            \
	X(lock_stripes, "lock-stripes", "stripes of locked memory")                                \
	X(numa_stripes, "numa-stripes", "stripes of memory policy")                                \
	X(uffd_stripes, "uffd-stripes", "stripes of userfaultfd registration")                     \
	X(pkey_stripes, "pkey-stripes", "stripes of protection keys")                              \
	X(moved, "moved", "memory moved by mremap")                                                \
	X(fork_leftover, "fork-leftover", "memory added beside what fork left")                    \
	X(touched_apart, "touched-apart", "equal neighbours that were touched apart")              \
	X(one_page_maps, "one-page-maps", "mappings of one page")                                  \
	X(aligned_chunks, "aligned-chunks", "chunks of one size with holes between")               \
	X(other, "other", "like mappings of no known shape")

enum group {
	GROUP_NONE,
#define GROUP_ENUM(name, json, text) GROUP_##name,
	GROUPS(GROUP_ENUM)
#undef GROUP_ENUM
		NR_GROUPS
};

/* As JSON has it, and for people. */
const char *group_name(enum group group);
const char *group_text(enum group group);

#define DETAIL_SIZE 160
#define NO_PAIR UINT32_MAX
/* A group has at least so many areas. */
#define GROUP_AREAS 8

struct cause_row {
	uint32_t causes; /* a set of SEAM_CAUSE() */
	uint64_t pairs;
	uint64_t flags; /* the bits in which any of these pairs differ */
	size_t example; /* the left area of the first such pair */
	char detail[DETAIL_SIZE];
};

struct group_row {
	enum group what;
	uint64_t areas, bytes;
	size_t example;	      /* the first area */
	uint64_t units;	      /* stacks, files, guard pages; 0 where only areas count */
	uint64_t unit_bytes;  /* a stack with its guard, a chunk; 0 when they differ */
	uint64_t guard_bytes; /* of one stack */
	uint64_t flags;	      /* the bits in which stripes differ */
};

/* One thing that a person can do about a group (findings/remedies/). */
struct remedy;

struct remedy_row {
	const struct remedy *remedy;
	enum group group;
	uint64_t areas_after;
	uint64_t mended; /* joins of pairs that showed what the remedy takes away */
	size_t rank;	 /* in the order of the tables */
	bool exact;	 /* false: what the source hides may keep some more apart */
};

struct findings {
	const struct snapshot *snapshot; /* the caller's */
	struct seam_policy policy;
	uint32_t *pair;	   /* per area: causes between it and the next one, or NO_PAIR */
	uint8_t *group_of; /* per area: enum group */
	double pressure;   /* what share of its limit the count is; 0: not known */
	uint64_t touching_pairs, holes;
	uint64_t guard_pages, guarded_areas; /* guard markers, where the source sees them */
	struct cause_row *causes;	     /* most pairs first */
	size_t nr_causes;
	struct group_row groups[NR_GROUPS]; /* most areas first */
	size_t nr_groups;
	struct remedy_row *remedies; /* fewest areas left first */
	size_t nr_remedies;
};

/*
 * How much the count presses: what share of its limit it is, 0 to 1 (0 for a file). Remedies are
 * offered for what makes most of a map, or when it presses.
 */
#define PRESSURE_FELT 0.5

/* -ENOMEM. The snapshot must outlive the findings. O(areas). */
int findings_make(const struct snapshot *snapshot, const struct seam_policy *policy,
		  double pressure, struct findings *ret_findings);
void findings_free(struct findings *findings);

/* The number of pairs that have @cause (one SEAM_CAUSE() bit) among theirs. */
uint64_t findings_pairs_with(const struct findings *findings, uint32_t cause);

/* The newest living kernel that is known: for texts that do not tell where they are from. */
const struct seam_policy *findings_newest_policy(void);

/* The row of a group, or NULL. */
const struct group_row *findings_group(const struct findings *findings, enum group what);

#endif
