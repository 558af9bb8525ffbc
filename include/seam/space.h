/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam/space.h - one address space: its life, its limits, its areas.
 *
 * A space is what Linux calls an mm. It keeps an ordered set of areas that never overlap, and
 * answers the calls of seam/ops.h by the rules of one policy.
 *
 * Units: addresses and lengths in bytes, *_pages in pages of 1 << page_shift bytes.
 * Errors: int functions give 0 or a negative number: Linux's own errno values, whatever system
 *   this runs on (SEAM_E*), or -SEAM_EALLOC when the space's allocator failed; then the space is as
 *   it was before the call. A modelled failure (-SEAM_ENOMEM at the area limit, say) leaves what
 *   the kernel leaves, and the call's comment says what that is.
 * Threads: one writer at a time for a space *and all spaces that fork made from it* (they share the
 *   identities of their anonymous memory), and nobody else beside it but readers by seam/read.h.
 *   Different families may be used at the same time: they share nothing.
 * Memory: only through the space's allocator.
 */
#ifndef SEAM_SPACE_H
#define SEAM_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include <seam/area.h>
#include <seam/payload.h>
#include <seam/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SEAM_EPERM 1
#define SEAM_EINTR 4
#define SEAM_EIO 5
#define SEAM_EBADF 9
#define SEAM_EAGAIN 11
#define SEAM_ENOMEM 12
#define SEAM_EACCES 13
#define SEAM_EFAULT 14
#define SEAM_EBUSY 16
#define SEAM_EEXIST 17
#define SEAM_ENODEV 19
#define SEAM_EINVAL 22
#define SEAM_ETXTBSY 26
#define SEAM_ENOSYS 38
#define SEAM_EOVERFLOW 75
#define SEAM_EOPNOTSUPP 95
#define SEAM_EALLOC 5001 /* the space's allocator failed; nothing was changed */
#define SEAM_EBUG 5002	 /* the modelled kernel would have stopped itself with an assertion here */

struct seam_space;
struct seam_step_sink; /* seam/steps.h */

/*
 * Where a space takes its memory. alloc may return NULL. free gets the size that was asked for.
 * realloc may be NULL (then alloc, copy, free). ctx is handed through.
 * discard may be NULL: what memory of alloc holds is not needed any more, but it stays allocated;
 * its whole pages may be given back to the system. They read as zeroes afterwards or as they were.
 * It is called in runs of 64 KiB and more, only for spaces with readers (seam/read.h): others free.
 */
struct seam_alloc {
	void *(*alloc)(void *ctx, size_t size);
	void (*free)(void *ctx, void *ptr, size_t size);
	void *(*realloc)(void *ctx, void *ptr, size_t old_size, size_t size);
	void *ctx;
	void (*discard)(void *ctx, void *ptr, size_t size);
};

/* malloc and free; on Linux with discard. Not in freestanding builds. */
extern const struct seam_alloc seam_alloc_malloc;

/* Address-space layouts known by name (lib/arch/). */
enum seam_arch {
	SEAM_ARCH_X86_64, /* 47 bits, 4 KiB pages */
	SEAM_ARCH_I386,	  /* 3 GiB of user space, search base 0x40000000 */
};

#define SEAM_NO_LIMIT UINT64_MAX

/* What the caller may do (struct seam_space_options, may). */
#define SEAM_MAY_IPC_LOCK 0x1u /* CAP_IPC_LOCK: no RLIMIT_MEMLOCK */
#define SEAM_MAY_RAWIO 0x2u    /* CAP_SYS_RAWIO: map below vm.mmap_min_addr */
#define SEAM_MAY_ADMIN 0x4u    /* CAP_SYS_ADMIN: the admin reserve */

/* Properties of the kernel and the process (flags). */
#define SEAM_SPACE_BOTTOM_UP 0x1u	  /* legacy layout: search upward */
#define SEAM_SPACE_THP 0x2u		  /* transparent huge pages built in: MAP_STACK sets nh */
#define SEAM_SPACE_COUNT_STEPS 0x4u	  /* count steps in the kernel's own structures (slower) */
#define SEAM_SPACE_READ_IMPLIES_EXEC 0x8u /* personality READ_IMPLIES_EXEC */
#define SEAM_SPACE_MERGE_ANY 0x10u	  /* PR_SET_MEMORY_MERGE */
#define SEAM_SPACE_MDWE 0x20u		  /* PR_SET_MDWE */
#define SEAM_SPACE_THP_ALWAYS 0x40u	  /* huge pages come unasked (enabled: always) */
#define SEAM_SPACE_THP_NEVER 0x80u	  /* huge pages do not come, asked or not (never) */
#define SEAM_SPACE_READERS 0x100u	  /* may be read beside its writer (seam/read.h) */

/*
 * All fields but size may be 0: they then take the value of the layout, or of user_end where that
 * lies lower (mmap_base the same, legacy_base a third of it). A field that is not known to an older
 * library is ignored by its size. Addresses are multiples of a page.
 */
struct seam_space_options {
	size_t size;			  /* sizeof(struct seam_space_options) */
	const struct seam_policy *policy; /* NULL: plain, or the only one. Copied. */
	const struct seam_alloc *alloc;	  /* NULL: seam_alloc_malloc. Copied. */
	enum seam_arch arch;
	uint32_t flags;		  /* SEAM_SPACE_* */
	uint32_t may;		  /* SEAM_MAY_* */
	uint32_t overcommit;	  /* vm.overcommit_memory: 0, 1, 2 */
	uint64_t user_end;	  /* TASK_SIZE: first byte that user memory cannot have */
	uint64_t mmap_base;	  /* top-down search ends here */
	uint64_t legacy_base;	  /* bottom-up search begins here */
	uint64_t min_addr;	  /* effective mmap_min_addr: hints and searches */
	uint64_t min_addr_sysctl; /* vm.mmap_min_addr: the permission test */
	uint64_t stack_gap;	  /* bytes kept free below a growing stack; layout: 1 MiB */
	uint64_t max_areas;	  /* vm.max_map_count; layout: 65530, old kernels 65536 */
	uint64_t limit_as, limit_data, limit_stack, limit_memlock; /* bytes; 0: no limit */
	uint64_t commit_limit_pages; /* what one call may charge (mode 0) or all may (mode 2) */
	uint32_t page_shift;	     /* 12 to 16: pages of 4 KiB to 64 KiB */
	uint32_t host_page_shift; /* page_shift to 30: granules (seam/granule.h); 0: page_shift */
	const struct seam_payload *payload; /* NULL: tags are numbers. Copied. */
	/*
	 * The protection key that the kernel gives by itself to memory which may be executed alone, the
	 * lowest that the process has not allocated; 0: a processor without keys, or none is left.
	 */
	uint32_t exec_only_pkey;
	/* With SEAM_SPACE_COUNT_STEPS: where it notes them (seam/steps.h). Outlives its spaces. */
	struct seam_step_sink *step_sink;
};

/* Steps taken in the modelled kernel's own structures, by what they are for. */
struct seam_steps {
	uint64_t find;	    /* looking up the area of an address, for any caller */
	uint64_t placement; /* searching a free range */
	uint64_t insert;    /* finding where a new area goes */
};

/* Counters of a space since it was created or forked. */
struct seam_stats {
	uint64_t calls;	     /* calls of seam/ops.h that the kernel would count as a system call */
	uint64_t failed;     /* of these, calls that gave an error */
	uint64_t join_tries; /* neighbours that the kernel's code compared (docs/glossary.md) */
	uint64_t joins;	     /* each one area less */
	uint64_t splits;     /* each one area more */
	uint64_t peak_areas; /* most areas after any call */
	struct seam_steps steps; /* with SEAM_SPACE_COUNT_STEPS, and no sink that has them */
};

/* What the kernel keeps in the mm, in pages. */
struct seam_totals {
	uint64_t total_pages, locked_pages, data_pages, stack_pages, exec_pages;
};

/*
 * Makes an empty space.
 *  -SEAM_EINVAL  an option is out of its range
 *  -SEAM_EALLOC  no memory
 */
int seam_space_create(const struct seam_space_options *options, struct seam_space **ret_space);

/* Ends a space and gives back all its memory. NULL is allowed. O(areas). */
void seam_space_destroy(struct seam_space *space);

/*
 * A child as fork makes it: areas marked DONTCOPY left out, locks dropped, anonymous memory marked
 * as inherited. The child uses its parent's policy and allocator. O(areas).
 *  -SEAM_ENOMEM  the child's private memory cannot be charged
 *  -SEAM_EALLOC  no memory
 * Source: 6.18 mm/mmap.c dup_mmap, mm/rmap.c anon_vma_fork.
 */
int seam_space_fork(struct seam_space *parent, struct seam_space **ret_child);

/*
 * A second space that is in all what @space is: areas with their numbers, counters, limits, policy,
 * payloads (each retained once more). The two then change apart; the copy belongs to no fork's
 * family but its own, and has no hook. O(areas), at the speed of memory (docs/performance.md).
 *  -SEAM_EBUSY   an ask is neither committed nor aborted
 *  -SEAM_EALLOC  no memory
 */
int seam_space_snapshot(const struct seam_space *space, struct seam_space **ret_copy);

/*
 * Takes over an area exactly as given, joining nothing: for maps that come from elsewhere. Nonzero
 * anon_vma numbers are the caller's: equal numbers stay equal, and mean one anon_vma. Memory that
 * is in the way is dropped first, silently. O(log n) + areas dropped.
 *  -SEAM_EINVAL  empty, not page aligned, or beyond user space
 *  -SEAM_EALLOC  no memory
 */
int seam_space_adopt(struct seam_space *space, const struct seam_area *area);

/* Removes all memory in the range as if it never was (no limits, no errors but these). */
int seam_space_forget(struct seam_space *space, uint64_t start, uint64_t end);

/* Sets the heap's bounds, as exec does. brk >= start_brk. No area is made. */
void seam_space_set_brk(struct seam_space *space, uint64_t start_brk, uint64_t brk);

/* The bounds of the program text and data that RLIMIT_DATA counts from (exec). */
void seam_space_set_code(struct seam_space *space, uint64_t end_code, uint64_t start_data,
			 uint64_t end_data);

/* Limits that may change in a life. Units as in the options. */
enum seam_limit {
	SEAM_LIMIT_AREAS, /* vm.max_map_count */
	SEAM_LIMIT_AS,
	SEAM_LIMIT_DATA,
	SEAM_LIMIT_STACK,
	SEAM_LIMIT_MEMLOCK,
};
void seam_space_set_limit(struct seam_space *space, enum seam_limit limit, uint64_t value);

/*
 * What a process may change of its own nature in its life: SEAM_SPACE_READ_IMPLIES_EXEC
 * (personality) and SEAM_SPACE_MDWE (PR_SET_MDWE). Other flags stay as they are. No area changes.
 */
void seam_space_set_flags(struct seam_space *space, uint32_t set, uint32_t clear);

/* SEAM_MAY_* of who calls from now on. */
void seam_space_set_may(struct seam_space *space, uint32_t may);

/* Number of areas, as the kernel's map_count. O(1). */
uint64_t seam_space_areas(const struct seam_space *space);
uint64_t seam_space_limit(const struct seam_space *space, enum seam_limit limit);
uint64_t seam_space_get_brk(const struct seam_space *space);
uint64_t seam_space_get_start_brk(const struct seam_space *space);
unsigned int seam_space_page_shift(const struct seam_space *space);
const struct seam_policy *seam_space_policy(const struct seam_space *space);
void seam_space_get_stats(const struct seam_space *space, struct seam_stats *ret_stats);
void seam_space_get_totals(const struct seam_space *space, struct seam_totals *ret_totals);

/*
 * The first area that ends behind @addr: the one that holds it, or else the next one up.
 * Returns 1 and fills *ret_area, or 0 when there is none. O(log n).
 */
int seam_area_find(const struct seam_space *space, uint64_t addr, struct seam_area *ret_area);

/* The last area that starts below @addr. Returns 1, or 0 when there is none. O(log n). */
int seam_area_find_below(const struct seam_space *space, uint64_t addr, struct seam_area *ret_area);

/*
 * All areas in address order:
 *	uint64_t at = 0;
 *	while (seam_area_next(space, &at, &area)) ...
 * Each step O(log n) or better.
 */
static inline int seam_area_next(const struct seam_space *space, uint64_t *at,
				 struct seam_area *ret_area)
{
	if (!seam_area_find(space, *at, ret_area))
		return 0;
	*at = ret_area->end;
	return 1;
}

/*
 * Walks the whole space and checks that every invariant holds (order, overlaps, counts, totals,
 * reference counts). NULL when all is well, else what is wrong. O(n). For tests.
 */
const char *seam_space_check(const struct seam_space *space);

/* "libseam 0.1.0" */
const char *seam_version(void);

#ifdef __cplusplus
}
#endif
#endif
