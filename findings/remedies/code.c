/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program can do in its own code. Confirmed: a program that does so was run beside the one
 * that does not, and had the areas that are computed here.
 */
#include "findings/remedies/remedies.h"

#include <string.h>

/* What the past leaves between equal neighbours. */
#define HISTORY (SEAM_CAUSE(anon_vma) | SEAM_CAUSE(fork))
/* What the protection at birth and overcommit leave between a guard and its stack. */
#define BIRTH_FLAGS (SEAM_VM_ACCOUNT | SEAM_VM_NORESERVE | SEAM_VM_NOHUGEPAGE)
/* Closed pieces are often left out of dumps as well. */
#define CLOSED_FLAGS (BIRTH_FLAGS | SEAM_VM_DONTDUMP)
/* Advice that has an opposite, and advice that has not. */
#define UNDOABLE                                                                                   \
	(SEAM_VM_DONTDUMP | SEAM_VM_DONTCOPY | SEAM_VM_WIPEONFORK | SEAM_VM_MERGEABLE |            \
	 SEAM_VM_SEQ_READ | SEAM_VM_RAND_READ)
#define HUGE_ADVICE (SEAM_VM_HUGEPAGE | SEAM_VM_NOHUGEPAGE)
#define LOCKS (SEAM_VM_LOCKED | SEAM_VM_LOCKONFAULT)

/* Whether one file was opened again for each mapping: only the kernel's own truth tells. */
static bool sees_open_files(const struct findings *findings, const struct group_row *row)
{
	return findings->snapshot->sees & SEES_FILE;
}

static bool has_huge_advice(const struct findings *findings, const struct group_row *row)
{
	return row->flags & HUGE_ADVICE;
}

static bool has_undoable_advice(const struct findings *findings, const struct group_row *row)
{
	return row->flags & UNDOABLE;
}

/* Windows of different parts, which could stand in the order of the file. */
static bool shows_parts(const struct findings *findings, const struct group_row *row)
{
	return repeated_windows(findings, row) * 2 < row->areas;
}

/* The JVM closes the ends of its threads' stacks by itself, whatever libc does. */
static bool libc_guards(const struct findings *findings, const struct group_row *row)
{
	return !maps_file(findings->snapshot, "/libjvm.so");
}

/* SysV segments are always shared. */
static bool may_be_private(const struct findings *findings, const struct group_row *row)
{
	return strncmp(findings->snapshot->areas[row->example].name, "/SYSV", 5) != 0;
}

static bool is_ruled_out(const struct findings *findings, const struct group_row *row)
{
	return findings->pair[row->example] & SEAM_CAUSE(rule);
}

const struct remedy remedies_of_code[] = {
	{
		.name = "guard-markers",
		.group = GROUP_fiber_stack,
		.what = "guard the stacks by madvise(MADV_GUARD_INSTALL) instead of "
			"mprotect(PROT_NONE)",
		.needs = "Linux 6.13",
		.source = "madvise(2); measured here",
		.confirmed = true,
		.anew = true,
		.drops = SEAM_CAUSE(prot) | SEAM_CAUSE(flags) | HISTORY,
		.drops_flags = CLOSED_FLAGS,
	},
	{
		.name = "guard-markers",
		.group = GROUP_thread_stack,
		.what = "threads whose stacks are guarded by MADV_GUARD_INSTALL, as glibc 2.42 "
			"does by itself",
		.needs = "Linux 6.13 and glibc 2.42, or stacks of the program's own",
		.source = "glibc 2.42 NEWS; measured here with stacks of the program's own",
		.confirmed = true,
		.anew = true,
		.drops = SEAM_CAUSE(prot) | SEAM_CAUSE(flags) | HISTORY,
		.drops_flags = CLOSED_FLAGS,
		.fits = libc_guards,
	},
	{
		.name = "uffd-write-protect",
		.group = GROUP_write_barrier,
		.what = "learn of writes by userfaultfd write-protection instead of mprotect: it "
			"keeps one mapping",
		.needs = "Linux 5.7; 6.4 to catch first touches too",
		.source = "userfaultfd(2); measured here with a collector's write barrier",
		.confirmed = true,
		.anew = true,
		.drops = SEAM_CAUSE(prot) | SEAM_CAUSE(flags) | HISTORY,
		.drops_flags = SEAM_VM_ACCOUNT,
	},
	{
		.name = "dual-mapping",
		.group = GROUP_jit_wx,
		.what = "map the code twice from one memfd, once to write and once to run, instead "
			"of switching pages by mprotect",
		.source = "measured here: 200 ns a patch against 4,500",
		.confirmed = true,
		.anew = true,
		.drops = SEAM_CAUSE(prot) | SEAM_CAUSE(flags) | HISTORY,
		.drops_flags = BIRTH_FLAGS,
	},
	{
		.name = "reserve-first",
		.group = GROUP_jit_dual,
		.what = "make the view that is run executable once and whole, not piece by piece",
		.source = "the join predicate",
		.anew = true,
		.drops = SEAM_CAUSE(prot),
	},
	{
		.name = "map-once",
		.group = GROUP_jit_dual,
		.what = "map the file once to write and once to run, and keep no small windows on "
			"it",
		.source = "the join predicate",
		.anew = true,
		.drops = SEAM_CAUSE(prot) | SEAM_CAUSE(offset),
	},
	{
		.name = "reserve-first",
		.group = GROUP_decommit,
		.what = "map the region once, readable and writable, and give pages back by "
			"madvise(MADV_DONTNEED)",
		.source = "mmap(2), madvise(2); measured here",
		.confirmed = true,
		.anew = true,
		.drops = SEAM_CAUSE(prot) | SEAM_CAUSE(flags) | HISTORY,
		.drops_flags = CLOSED_FLAGS,
	},
	{
		.name = "undo-advice",
		.group = GROUP_advice_stripes,
		.what = "give the whole region the opposite advice (MADV_DODUMP, MADV_DOFORK, ...)",
		.source = "madvise(2); measured here",
		.confirmed = true,
		.drops = SEAM_CAUSE(flags),
		.drops_flags = UNDOABLE,
		.fits = has_undoable_advice,
	},
	{
		.name = "one-advice",
		.group = GROUP_advice_stripes,
		.what = "give the whole region one advice: MADV_HUGEPAGE or MADV_NOHUGEPAGE, which "
			"nothing takes back",
		.source = "madvise(2); measured here",
		.confirmed = true,
		.drops = SEAM_CAUSE(flags),
		.drops_flags = HUGE_ADVICE,
		.fits = has_huge_advice,
	},
	{
		.name = "touch-first",
		.group = GROUP_advice_stripes,
		.what = "touch the whole region (MADV_POPULATE_WRITE) before the first advice, and "
			"take the advice back",
		.needs = "Linux 5.14 for MADV_POPULATE_WRITE",
		.source = "measured here",
		.confirmed = true,
		.anew = true,
		.drops = SEAM_CAUSE(flags) | HISTORY,
		.drops_flags = UNDOABLE | HUGE_ADVICE,
	},
	{
		.name = "undo-advice",
		.group = GROUP_lock_stripes,
		.what = "munlock the pieces",
		.source = "mlock(2); measured here",
		.confirmed = true,
		.drops = SEAM_CAUSE(flags),
		.drops_flags = LOCKS,
	},
	{
		.name = "one-advice",
		.group = GROUP_lock_stripes,
		.what = "lock the region whole by one mlock, before it is touched piece by piece",
		.source = "mlock(2); measured here",
		.confirmed = true,
		.anew = true,
		.drops = SEAM_CAUSE(flags) | HISTORY,
		.drops_flags = LOCKS,
	},
	{
		.name = "one-policy",
		.group = GROUP_numa_stripes,
		.what = "give the whole range one policy by one mbind (MPOL_INTERLEAVE spreads "
			"pages within one mapping), before it is touched",
		.source = "mbind(2)",
		.anew = true,
		.drops = SEAM_CAUSE(numa) | HISTORY,
	},
	{
		.name = "map-private",
		.group = GROUP_shared_anon_per_map,
		.what = "map memory that no other process needs MAP_PRIVATE (Python: "
			"mmap.mmap(-1, n, flags=MAP_PRIVATE|MAP_ANONYMOUS))",
		.source = "mmap(2); measured here: 1,109 to 111 for 1,000 maps of Python",
		.confirmed = true,
		.anew = true,
		.drops = SEAM_CAUSE(shared) | SEAM_CAUSE(flags) | SEAM_CAUSE(file) |
			 SEAM_CAUSE(offset) | HISTORY,
		.fits = may_be_private,
	},
	{
		.name = "map-once",
		.group = GROUP_shared_anon_per_map,
		.what = "make one shared object (a memfd, one larger segment) and hand out pieces "
			"of it: each object keeps its mapping apart",
		.source = "the join predicate; measured here",
		.confirmed = true,
		.anew = true,
		.drops = SEAM_CAUSE(file) | SEAM_CAUSE(offset) | SEAM_CAUSE(close),
	},
	{
		.name = "map-in-order",
		.group = GROUP_file_windows,
		.what = "map the windows of a file so that offsets and addresses rise together",
		.source = "the join predicate",
		.anew = true,
		.drops = SEAM_CAUSE(offset),
		.fits = shows_parts,
	},
	{
		.name = "map-once",
		.group = GROUP_file_windows,
		.what = "map each part of the file once and keep it: the same part is mapped again "
			"and again, as when windows are never unmapped",
		.source = "measured here",
		.confirmed = true,
		.anew = true,
		.fewer = repeated_windows,
	},
	{
		.name = "map-once",
		.group = GROUP_file_windows,
		.what = "map the windows from one descriptor: each open of a file keeps its "
			"mappings apart",
		.source = "the join predicate",
		.anew = true,
		.drops = SEAM_CAUSE(file),
		.one_file = true,
		.fits = sees_open_files,
	},
	{
		.name = "reserve-first",
		.group = GROUP_moved,
		.what = "reserve room for growth, so that mremap need not move the memory",
		.source = "the join predicate",
		.anew = true,
		.drops = SEAM_CAUSE(offset) | HISTORY,
	},
	{
		.name = "reserve-first",
		.group = GROUP_fork_leftover,
		.what = "reserve and touch the heap before the fork, or exec in the child",
		.source = "measured here",
		.confirmed = true,
		.anew = true,
		.drops = HISTORY,
	},
	{
		.name = "touch-first",
		.group = GROUP_touched_apart,
		.what = "touch the region in one piece (MADV_POPULATE_WRITE) before it is split",
		.needs = "Linux 5.14 for MADV_POPULATE_WRITE",
		.source = "measured here",
		.confirmed = true,
		.anew = true,
		.drops = HISTORY,
	},
	{
		.name = "newer-kernel",
		.group = GROUP_one_page_maps,
		.what = "run it on a kernel that joins such mappings",
		.needs = "Linux 2.4.3",
		.source = "the rules of 2.4.3, held against its own code",
		.confirmed = true,
		.anew = true,
		.newer_kernel = true,
		.fits = is_ruled_out,
	},
	{
		.name = "raise-limit",
		.group = GROUP_file_per_map,
		.what = "raise vm.max_map_count: a file cannot share a mapping with another",
		.source = "sysctl vm.max_map_count",
		.for_pressure = true,
	},
	{
		.name = "raise-limit",
		.group = GROUP_aligned_chunks,
		.what = "raise vm.max_map_count: these mappings do not touch, so none can join",
		.source = "sysctl vm.max_map_count",
		.for_pressure = true,
	},
	{ .name = NULL },
};
