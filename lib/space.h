/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/space.h - a space from within.
 *
 * A call runs between call_begin and call_end. Everything it changes goes through the edits of
 * lib/area.h, which keep a journal, or is part of struct mm, of which call_begin keeps a copy. So a
 * call that runs out of memory half way is taken back as if it never was.
 */
#ifndef LIB_SPACE_H
#define LIB_SPACE_H

#include <stdbool.h>
#include <stddef.h>

#include <seam/ask.h>
#include <seam/seam.h>

#include "lib/anon.h"
#include "lib/arch/arch.h"
#include "lib/attr.h"
#include "lib/calls.h"
#include "lib/index/index.h"
#include "lib/policy/list.h"

#define NR_LIMITS (SEAM_LIMIT_MEMLOCK + 1)

/* What a call may change besides areas. */
struct mm {
	struct seam_totals totals;
	struct seam_stats stats;
	uint64_t start_brk, brk;
	uint64_t end_code, start_data, end_data;
	uint64_t def_flags;	   /* added to the flags of each new area (mlockall) */
	uint64_t free_area_cache;  /* 2.6.0 - 3.7: where the next search begins */
	uint64_t cached_hole_size; /* 2.6.13 - 3.7: largest hole below it */
	uint64_t committed_pages;
	uint64_t locked_lost_pages; /* counted as locked, though no area is: mremap DONTUNMAP */
};

enum edit_kind { EDIT_INSERT, EDIT_REMOVE, EDIT_STORE };

struct edit {
	enum edit_kind kind;
	struct area before, after;
};

#define JOURNAL_INLINE 8

struct journal {
	struct edit *edits;
	size_t nr, room;
	struct edit few[JOURNAL_INLINE];
};

/* Empty, without memory of its own. */
static inline void journal_init(struct journal *journal)
{
	journal->edits = journal->few;
	journal->nr = 0;
	journal->room = JOURNAL_INLINE;
}

struct steps;	/* lib/steps/ */
struct changes; /* lib/changes.h */

/* Caller's anon_vma numbers of adopted areas, and the links that stand for them. */
struct adopted {
	uint32_t number, length, link;
};

/* Memory on its way from one place to another; none when @len is 0. */
struct move {
	uint64_t from, to, len;
};

struct seam_space {
	struct seam_policy policy;
	struct seam_alloc alloc;
	struct seam_payload payload;
	/* what readers follow stands apart from what each call changes */
	struct history *history; /* the index's; NULL unless SEAM_SPACE_READERS */
	struct attrs attrs;
	struct family *family;
	struct seam_space *next_in_family;
	const struct arch *arch;
	unsigned int page_shift, host_page_shift;
	uint32_t flags, may, overcommit, exec_only_pkey;
	uint64_t user_end, mmap_base, legacy_base, min_addr, min_addr_sysctl, stack_gap;
	uint64_t commit_limit_pages;
	uint64_t offset_mask; /* page offsets wrap behind it */
	uint64_t limit[NR_LIMITS];

	struct index index;
	struct mm mm, mm_before, mm_after; /* after: of a call that is suspended */
	struct journal journal;
	bool no_memory;		 /* an allocation failed in this call */
	bool changing;		 /* a call is not finished (with readers only) */
	size_t began_at;	 /* history->committed when it began */
	struct move move;	 /* by the call, when it is mremap */
	bool pending;		 /* an ask waits for commit or abort: the journal is its plan */
	bool telling;		 /* the embedder is told what a call did, from its journal */
	struct changes *changes; /* NULL until an ask or a hook wants them */
	seam_hook *hook;
	void *hook_ctx;
	struct steps *steps; /* NULL unless SEAM_SPACE_COUNT_STEPS */
	struct seam_step_sink *step_sink;

	struct adopted *adopted; /* a hash table, open addressing */
	uint32_t nr_adopted, adopted_room;
};

#define MAX_PKEY 15

/* Memory with the key that nobody may read or write by (arch/x86/mm/pkeys.c). */
static inline bool has_exec_only_key(const struct seam_space *space, uint64_t flags)
{
	return WITH_KERNELS && space->exec_only_pkey &&
	       (flags & SEAM_VM_PKEY) >> SEAM_VM_PKEY_SHIFT == space->exec_only_pkey;
}

/* A constant to the compiler where the build has one policy. */
static inline const struct seam_policy *policy_of(const struct seam_space *space)
{
#ifdef SEAM_ONE_POLICY
	return &POLICY_OBJECT(SEAM_ONE_POLICY);
#else
	return &space->policy;
#endif
}

/* A constant too, so that calls which a program does not make are left out of it. */
static inline const struct seam_calls *calls_of(const struct seam_space *space)
{
#ifdef SEAM_ONE_POLICY
	if (!WITH_KERNELS)
		return &calls_plain;
	return policy_of(space)->old ? &calls_old : &calls_linux;
#else
	return space->policy.calls;
#endif
}

static inline unsigned int rule(const struct seam_space *space, enum seam_rule rule)
{
	return policy_of(space)->rule[rule];
}

static inline uint64_t page_size(const struct seam_space *space)
{
	return UINT64_C(1) << space->page_shift;
}

static inline uint64_t page_down(const struct seam_space *space, uint64_t addr)
{
	return addr & ~(page_size(space) - 1);
}

/* Wraps to 0 near the top, as the kernel's PAGE_ALIGN does. */
static inline uint64_t page_up(const struct seam_space *space, uint64_t addr)
{
	return page_down(space, addr + page_size(space) - 1);
}

static inline uint64_t huge_size(const struct seam_space *space)
{
	return UINT64_C(1) << space->arch->huge_shift;
}

/* At the beginning of a huge page. */
static inline bool is_huge_aligned(const struct seam_space *space, uint64_t value)
{
	return !(value & (huge_size(space) - 1));
}

static inline uint64_t huge_down(const struct seam_space *space, uint64_t value)
{
	return value & ~(huge_size(space) - 1);
}

/* Wraps as page_up does. */
static inline uint64_t huge_up(const struct seam_space *space, uint64_t value)
{
	return huge_down(space, value + huge_size(space) - 1);
}

/* As an unsigned long of the architecture: addresses and lengths wrap there. */
static inline uint64_t word(const struct seam_space *space, uint64_t value)
{
	return value & ((space->arch->top_of_offsets << space->arch->page_shift) - 1);
}

static inline uint64_t pages_of(const struct seam_space *space, uint64_t bytes)
{
	return bytes >> space->page_shift;
}

static inline const struct attr *area_attr(const struct seam_space *space, const struct area *area)
{
	return attr_at(&space->attrs, area->attr);
}

static inline uint64_t area_flags(const struct seam_space *space, const struct area *area)
{
	return area_attr(space, area)->flags;
}

/* The first area that ends behind @addr, and the cursor on it. False: there is none. */
static inline bool area_seek(const struct seam_space *space, uint64_t addr,
			     struct cursor *ret_cursor, struct area *ret_area)
{
	if (!index_seek(&space->index, addr, ret_cursor))
		return false;
	index_load(&space->index, ret_cursor, ret_area);
	return true;
}

/* The one above. False, and both as they were, at the end. */
static inline bool area_next(const struct seam_space *space, struct cursor *cursor,
			     struct area *ret_area)
{
	if (!index_next(&space->index, cursor))
		return false;
	index_load(&space->index, cursor, ret_area);
	return true;
}

/* Upward from the first area that ends behind @addr. */
#define for_each_area(space, addr, cursor, area)                                                   \
	for (bool more_ = index_seek(&(space)->index, addr, cursor);                               \
	     more_ && (index_load(&(space)->index, cursor, area), true);                           \
	     more_ = index_next(&(space)->index, cursor))

/*
 * What @from is and how it stands, but for areas, identities and family, with no hook, and payloads
 * not counted until it is whole. NULL: no memory.
 */
struct seam_space *space_like(const struct seam_space *from);
/* The space is one of the family's, which counts it already. */
void space_join_family(struct seam_space *space, struct family *family);
/* The other way, if it is one of them. */
void space_unlink(struct family *family, const struct seam_space *space);
/* -SEAM_EALLOC */
int space_init_readers(struct seam_space *space);

/* No call may begin: it would make a new journal. */
static inline bool space_busy(const struct seam_space *space)
{
	return space->pending || space->telling;
}

/* An empty journal, and a copy of what a call may change besides areas. */
void call_begin(struct seam_space *space);
/* Of a system call: that it was made, and that it failed. */
static inline void call_count(struct seam_space *space, int result)
{
	space->mm.stats.calls++;
	if (result)
		space->mm.stats.failed++;
}

/* Keeps what the call did, or takes it back when memory ran out; the call's result either way. */
int call_end(struct seam_space *space, int result);
/* Takes back what the call did, keeping how: the journal and the state behind it. */
void call_suspend(struct seam_space *space);
/* Does it again, and ends the call. */
void call_resume(struct seam_space *space);
/* Tells the embedder what the call that has ended did. */
void call_tell(struct seam_space *space);

#endif
