/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam/policy.h - the rules of a kernel generation, as data.
 *
 * A policy is a vector of named rules, each with a small number as its value (0 is "off"). What
 * each value means stands beside the rule below and in docs/rules/. Policies are constant; a
 * changed one ("what if the kernel did not compare anon_vma?") is a copy made by
 * seam_policy_parse().
 *
 * Threads: the table is constant; a struct seam_policy is the caller's.
 */
#ifndef SEAM_POLICY_H
#define SEAM_POLICY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Every rule once: X(name, "what it decides").
 * A name is what people write: linux-6.18,-anon_vma or linux-6.18,anon_vma=2.
 */
#define SEAM_RULES(X)                                                                              \
	/* joining */                                                                              \
	X(anon_vma,                                                                                \
	  "anon_vma compared: 1 none or equal; 2 and an unfaulted neighbour must be met "          \
	  "by a single chain (3.0-6.15); 3 fork children stay apart (6.16-)")                      \
	X(account, "VM_ACCOUNT is compared; what was writable once keeps it: 1 always, "           \
		   "2 but for unfaulted anonymous memory (6.7-)")                                  \
	X(offset, "page offsets must continue; 1 files only, 2 anonymous memory too")              \
	X(file, "the open file description is compared")                                           \
	X(moved_files, "private memory of files continues only what lies as far from where it "    \
		       "was touched (7.3-)")                                                       \
	X(numa, "memory policies are compared by value")                                           \
	X(uffd, "userfaultfd contexts are compared")                                               \
	X(uffd_copy_apart, "what a userfaultfd watches joins nothing when mremap moves it (7.3-)") \
	X(name, "anonymous names are compared by text")                                            \
	X(close, "a close operation forbids: 1 every join, 2 only being removed by one (6.4-)")    \
	X(special, "IO, DONTEXPAND, PFNMAP and MIXEDMAP areas never join")                         \
	X(sticky, "the guard flag is ignored by the comparison and kept by every join (6.19-)")    \
	X(fill_right, "a new mapping between two that do not fit each other joins the right one")  \
	X(grow_join, "mremap that grows in place joins the area above (5.18-)")                    \
	X(anon_lost, "untouched memory that a touched copy of mremap joins stays without an "      \
		     "anon_vma (6.16-6.18)")                                                       \
	X(dontunmap_apart,                                                                         \
	  "mremap DONTUNMAP unlocks only what it copies; the copy does not join its "              \
	  "source: 1 nor, beside it, anything (6.1.192), 2 but others (7.2-)")                     \
	X(dontunmap_anew, "what DONTUNMAP leaves untouched is numbered by its place (7.2-)")       \
	X(dontunmap_keeps, "what DONTUNMAP leaves untouched keeps its anon_vma (5.7-5.12)")        \
	X(dontunmap_account, "what DONTUNMAP leaves loses VM_ACCOUNT (6.16)")                      \
	X(dontunmap_marks,                                                                         \
	  "DONTUNMAP out of the middle marks the area behind with VM_ACCOUNT (-5.14)")             \
	X(dontunmap_locked, "what DONTUNMAP copies is counted as locked (6.16-)")                  \
	/* calls */                                                                                \
	X(clear_first, "MAP_FIXED has cleared the range when it cannot be charged (-6.11)")        \
	X(brk_own, "the heap joins only what is its own, above its start, and shrinks only where " \
		   "something is (6.1-)")                                                          \
	X(stack_nh, "MAP_STACK sets VM_NOHUGEPAGE (6.7-)")                                         \
	X(thp_align, "aligned to huge pages: 1 large files (5.18-6.6), 2 and large "               \
		     "anonymous mappings (6.7-6.11), 3 and these only if a multiple (6.14-), 4 "   \
		     "and so files that do not ask (6.12)")                                        \
	X(huge_hint, "a hint for huge pages is rounded up to one, not down (6.14-)")               \
	X(stack_shadow,                                                                            \
	  "no search ends within the gap below a stack, whatever lies between (6.1-)")             \
	X(droppable, "MAP_DROPPABLE is known, and by mlockall(MCL_FUTURE): 1 locked (6.11-6.19), " \
		     "2 not (7.0-)")                                                               \
	X(above4g, "MAP_ABOVE4G is known (6.6-)")                                                  \
	X(ksm,                                                                                     \
	  "PR_SET_MEMORY_MERGE marks: 1 new areas after joining (6.4-6.16), 2 before (6.17-)")     \
	X(dontunmap, "mremap DONTUNMAP: 1 private anonymous memory (5.7-5.12), 2 any (5.13-)")     \
	X(uffd_own, "only the userfaultfd that watches memory can let go of it (6.17-)")           \
	X(uffd_cut_apart,                                                                          \
	  "what a userfaultfd cuts off an area's end does not join what follows (-6.3)")           \
	X(uffd_droppable, "a userfaultfd can watch MAP_DROPPABLE memory (6.11-6.16)")              \
	X(uffd_low, "a userfaultfd watches nothing below mmap_min_addr (-6.19)")                   \
	X(memfd_seals, "shared maps of a memfd sealed against writing: 1 the file refuses at "     \
		       "last, F_SEAL_WRITE readers too (-6.6); 2 readers may, F_SEAL_WRITE "       \
		       "refuses at first (6.1.170), 3 at last (6.7-6.12), 4 all at first (6.14-)") \
	X(memfd_secret, "memory of memfd_secret, asked after joining: 1 is locked (5.14-6.15), "   \
			"2 is not (6.12.117); before: 3 is (6.16-7.1), 4 is not (7.2-)")           \
	X(populate_holes, "MADV_POPULATE passes over holes (-6.8)")                                \
	X(uffd_wp_stays, "registering anew without write protection: EBUSY (7.3-)")                \
	X(onfault_access, "mlock2 ONFAULT fails where no access is allowed (-5.17)")               \
	X(mremap_room, "mremap near the area limit: 1 FIXED and DONTUNMAP fail early (5.1-), "     \
		       "2 every call that finds no four areas free (7.1-), 3 five for DONTUNMAP "  \
		       "(7.2.13-)")                                                                \
	X(mremap_checks,                                                                           \
	  "mremap: 1 there must be a source (5.16-), 2 the target's start and room "               \
	  "for it are looked at first (6.15-), 3 all is before the target is "                     \
	  "cleared (6.17-)")                                                                       \
	X(shrink_charge,                                                                           \
	  "mremap that shrinks and moves is charged for what it gives up (6.15-7.2)")              \
	X(mremap_many, "mremap FIXED of the same size moves several areas (6.17-)")                \
	X(advices, "advices of 4.14, and 1 of 5.4, 2 of 5.14, 3 of 5.18, 4 of 6.1, 5 guard "       \
		   "markers (6.13), 6 in files too (6.15)")                                        \
	X(advice_again, "madvise says EAGAIN where the area limit stops it, not ENOMEM (5.17-)")   \
	X(remove_writable, "MADV_REMOVE takes memory that is writable only, not all that may be "  \
			   "made so (-6.6)")                                                       \
	X(dofork_special,                                                                          \
	  "MADV_DOFORK is refused for every special kind, not for IO alone (7.0-)")                \
	X(mseal, "memory can be sealed (6.10-)")                                                   \
	X(mseal_end,                                                                               \
	  "when mseal has joined what lay above, the next area of its range joins nothing "        \
	  "(6.17-6.19.6)")                                                                         \
	X(area_tree, "areas are looked up in: 1 a list, an AVL tree above 32 (-2.4.9); 2 a "       \
		     "red-black tree (-3.7); 3 one with gaps (-6.0); 4 a maple tree (6.1-)")       \
	/* joining up to 2.6.24: 0 none; 1 all cases, files and borders too (2.6.7-); */           \
	/* anonymous private memory: 2 with the area below, 3 with both (2.4.10); */               \
	/* 4 as 3 and files (2.6.0); 5 any touching pair, by a scan afterwards (2.2) */            \
	X(mmap_join, "up to 2.6.24, how a new mapping joins")                                      \
	X(brk_join, "up to 2.6.24, how a growing heap joins")                                      \
	X(mprotect_join, "up to 2.6.24, how a change of protection joins")                         \
	X(mlock_join, "up to 2.6.24, how locking and unlocking join")                              \
	X(madvise_join, "up to 2.6.24, how advice joins")                                          \
	X(mremap_join, "up to 2.6.24, how moved memory joins")                                     \
	X(border_anon, "an anon_vma goes along when the border of two areas moves (2.6.8-)")       \
	X(read_anon, "a read fault of anonymous memory attaches an anon_vma (2.6.24)")             \
	X(anon_pgoff, "offsets of anonymous memory, up to 2.6.24: 0 the caller's, 1 kept right "   \
		      "by downward joins (2.6.0), 2 the address (2.6.7-)")                         \
	/* up to 2.6.24: placement, limits, flags, errors */                                       \
	X(old_search, "search for free memory, up to 2.6.24: 0 upward from the hint; 1 the hint "  \
		      "or upward from the base (2.4.10); 2 from where the last ended (2.6.0); 3 "  \
		      "so downward (2.6.12); 4 and the largest hole known (2.6.24)")               \
	X(cut_limit, "up to 2.6.24, at the area limit: 0 only munmap of an area's middle is "      \
		     "refused; 1 every cut (2.6.0-)")                                              \
	X(move_limit, "up to 2.6.24, mremap looks at the area limit before it moves (2.6.6-)")     \
	X(mmap_args, "up to 2.6.24, errors of mmap: 0 of 2.2-2.4.9, 1 of 2.4.10, 2 of 2.6.0, 3 "   \
		     "of 2.6.24")                                                                  \
	X(mprotect_args, "up to 2.6.24, errors of mprotect: 0 of 2.2-2.4, 1 of 2.6.0, 2 of "       \
			 "2.6.6, 3 of 2.6.24")                                                     \
	X(mremap_args, "up to 2.6.24, arguments of mremap: 0 flags are ignored (2.2), 1 of 2.4, "  \
		       "2 of 2.6.0, 3 of 2.6.6")                                                   \
	X(madvise_args, "up to 2.6.24, madvise: 0 no such call (2.2), 1 of 2.4, 2 of 2.6.0, 3 of " \
			"2.6.12, 4 of 2.6.24")                                                     \
	X(byte_offsets, "offsets of files are kept in bytes and wrap as such (2.2)")               \
	X(brk_unbound, "a heap may grow beyond user space (2.4.10-2.4.22)")                        \
	X(munmap_empty, "up to 2.6.24, munmap of nothing is EINVAL (2.4-)")                        \
	X(anon_types, "up to 2.6.24, types of anonymous maps: 0 private (2.2), 1 any (2.4.2), 2 "  \
		      "private and shared (2.4.3-)")                                               \
	X(grows_file, "files may be mapped with MAP_GROWSDOWN (-2.4.9)")                           \
	X(heap_exec, "heap and stack are executable (-2.6.7)")                                     \
	X(map_locked, "MAP_LOCKED is honoured (2.6.0-)")                                           \
	X(lock_faults, "locking memory that cannot be read is EFAULT, and locks it (2.6.0-)")      \
	X(lock_capable, "locking: 1 takes CAP_IPC_LOCK and obeys RLIMIT_MEMLOCK too (-2.6.7)")     \
	X(future_only, "mlockall(MCL_FUTURE) leaves what is mapped alone (2.6.12-)")               \
	X(data_start, "RLIMIT_DATA counts from start_data, not from end_code (2.4-)")              \
	X(nonlinear, "file areas carry CAN_NONLINEAR (2.6.24)")

enum seam_rule {
#define SEAM_RULE_ENUM(name, text) SEAM_RULE_##name,
	SEAM_RULES(SEAM_RULE_ENUM)
#undef SEAM_RULE_ENUM
		SEAM_NR_RULES
};

struct seam_calls; /* how the calls of a generation are carried out; internal */

struct seam_policy {
	char name[120];			/* as written: "linux-6.18", "linux-6.18,-anon_vma" */
	const char *source;		/* what the vector was checked against */
	const struct seam_calls *calls; /* internal */
	uint8_t rule[SEAM_NR_RULES];
	uint8_t checked; /* 1: held against that kernel running, or against its own code */
	uint8_t old;	 /* 1: a generation up to 2.6.24 */
};

/* The named policies, oldest first; NULL when @n is past the last. O(1). */
const struct seam_policy *seam_policy_at(unsigned int n);

/* The named policy, or NULL. "linux-2.6.12-rc1" is accepted for "linux-2.6.12". O(policies). */
const struct seam_policy *seam_policy_find(const char *name);

/*
 * Reads "NAME[,-RULE|,RULE|,RULE=VALUE]...". "linux-host" is not known here: finding it takes
 * system calls, which this library does not make.
 *  -EINVAL: no such policy, rule, or value; *ret_bad (may be NULL) points at the offending word
 */
int seam_policy_parse(const char *spec, struct seam_policy *ret_policy, const char **ret_bad);

/*
 * Applies "-RULE|RULE|RULE=VALUE[,...]" to a policy and adds the words to its name.
 *  -EINVAL: no such rule or value, or the name grows too long; *policy is as it was, *ret_bad (may
 *   be NULL) points at the offending word
 */
int seam_policy_change(struct seam_policy *policy, const char *words, const char **ret_bad);

/*
 * The name of a rule, and what it decides. NULL when @rule is out of range. In a build with one
 * policy (lib/policy/list.h) the texts are empty.
 */
const char *seam_rule_name(unsigned int rule);
const char *seam_rule_text(unsigned int rule);

/*
 * The vector's id, of the rules that are not 0 by name and value and of the generation: equal for equal
 * vectors, also where another version of this library knows more rules.
 */
uint32_t seam_policy_vector(const struct seam_policy *policy);

#ifdef __cplusplus
}
#endif
#endif
