/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam/ask.h - calls in two steps, for embedders whose map must change together with something
 * else: a host's mappings, a guest's page table, a child that is traced.
 *
 *	seam_space_ask(space, &call, &answer);	   what would it do? nothing is changed
 *	... do it on the host, at answer.value ...
 *	seam_space_commit(space);		   or seam_space_abort(space)
 *
 * ask sets aside all memory that carrying the call out takes, so commit cannot fail. Between ask
 * and commit or abort no other call changes the space: they give -SEAM_EBUSY. What gives no error
 * and is set meanwhile (seam_space_set_brk, seam_space_set_code) may be undone by commit. The
 * embedder's lock must span both, or two threads' calls cross: that is how emulators have lost guest
 * memory.
 *
 * seam_space_apply is for maps that follow one that they do not rule: "the kernel did this and
 * returned that".
 */
#ifndef SEAM_ASK_H
#define SEAM_ASK_H

#include <stddef.h>
#include <stdint.h>

#include <seam/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

enum seam_op {
	SEAM_OP_MMAP,		 /* mmap */
	SEAM_OP_MUNMAP,		 /* addr, len */
	SEAM_OP_MPROTECT,	 /* addr, len, flags: the protection, pkey */
	SEAM_OP_MREMAP,		 /* mremap */
	SEAM_OP_MADVISE,	 /* addr, len, flags: the advice */
	SEAM_OP_MLOCK,		 /* addr, len, flags */
	SEAM_OP_MUNLOCK,	 /* addr, len */
	SEAM_OP_MLOCKALL,	 /* flags */
	SEAM_OP_MUNLOCKALL,	 /* */
	SEAM_OP_MSEAL,		 /* addr, len, flags */
	SEAM_OP_BRK,		 /* addr */
	SEAM_OP_TOUCH,		 /* addr, len, flags: 1 for a write */
	SEAM_OP_MBIND,		 /* addr, len, id: the policy */
	SEAM_OP_UFFD_REGISTER,	 /* addr, len, id: the context, flags */
	SEAM_OP_UFFD_UNREGISTER, /* addr, len, id: the context, 0 any */
	SEAM_OP_SET_NAME,	 /* addr, len, id: the name */
	SEAM_OP_SET_TAG,	 /* addr, len, flags: the tag */
};

/* A call as a value: the op says which fields count. */
struct seam_call {
	enum seam_op op;
	int pkey; /* -1: none */
	uint64_t addr, len, flags;
	uint32_t id;
	const struct seam_mmap *mmap;
	const struct seam_mremap *mremap;
};

struct seam_answer {
	int result;	   /* 0 or -errno, as the call itself would give */
	uint64_t value;	   /* mmap, mremap: address; brk: break; touch: first page not reached */
	uint64_t areas;	   /* how many there would be */
	size_t nr_changes; /* seam_space_change */
};

/*
 * What becomes of one area. A call's changes come in this order of kinds, and within a kind by
 * address: of the area before, for joined ones of the area after and then before, for created ones
 * of the area after. An embedder that follows them takes out every range "before", then puts in
 * every area "after" (the pieces of a split name one before, joined ones one after), and has the
 * map as it is now. But for one thing: mremap with DONTUNMAP may leave an area at the old place just
 * as it was; that it is still there, without its memory, no change tells.
 */
enum seam_change_kind {
	SEAM_CHANGE_REMOVED, /* before: it is gone, or another has its place; of an area that was
				moved and made shorter, the end */
	SEAM_CHANGE_MOVED,   /* before, after: mremap; before (an area, or the part of one that
				moved, where it was) has its memory in after now, alone or with
				neighbours; what is left at the old place, if anything, has none */
	SEAM_CHANGE_SPLIT,   /* before, after: one of the pieces */
	SEAM_CHANGE_JOINED,  /* before, after: before has become part of after */
	SEAM_CHANGE_CHANGED, /* before, after: another range or other attributes */
	SEAM_CHANGE_CREATED, /* after */
};

struct seam_change {
	enum seam_change_kind kind;
	struct seam_area before, after;
};

/*
 * What @call would do. The space is as it was, also for its readers, but for the counters' peak.
 *  -SEAM_EBUSY   an earlier ask is neither committed nor aborted
 *  -SEAM_EINVAL  @call is none
 *  -SEAM_EALLOC  no memory to carry it out; nothing is pending
 * A call that would fail is no error: the answer says so, and what it would leave behind.
 */
int seam_space_ask(struct seam_space *space, const struct seam_call *call,
		   struct seam_answer *ret_answer);

/* The @n-th change of what is pending. 1, or 0 when there are no more. */
int seam_space_change(const struct seam_space *space, size_t n, struct seam_change *ret_change);

/* Carries out what is pending; tells the hook. Cannot fail. Without anything pending, nothing. */
void seam_space_commit(struct seam_space *space);
/* Gives up what is pending. */
void seam_space_abort(struct seam_space *space);

/* The call at once: ask and commit. Errors as ask; else 0, the call's own result in the answer. */
int seam_space_call(struct seam_space *space, const struct seam_call *call,
		    struct seam_answer *ret_answer);

/*
 * The kernel made this call and it gave @result (0 or -errno) and @value (as in the answer). The
 * map adopts it. *ret_agrees is 1 when the policy would have answered the same; else the call is
 * made without limits at the place that the kernel chose, or, when the kernel refused it, not at
 * all.
 *  -SEAM_EINVAL  it cannot be made at all: the maps have parted; take over the kernel's
 *		  (seam_space_adopt). Nothing is changed.
 *  -SEAM_EBUSY, -SEAM_EALLOC  as ask
 */
int seam_space_apply(struct seam_space *space, const struct seam_call *call, int result,
		     uint64_t value, int *ret_agrees);

/*
 * Called for each change of each call, when it is carried out (by commit, or by the plain calls of
 * seam/ops.h), in the order told above, with the space as it is after the call. Payloads of areas
 * before are still held then, those of areas after already (seam/payload.h). It may look at the
 * space; calls that would change it give -SEAM_EBUSY. NULL takes the hook away. Calls of a space
 * that has one need memory for the list of changes, and fail with -SEAM_EALLOC, changing nothing,
 * when there is none.
 */
typedef void seam_hook(void *ctx, const struct seam_space *space, const struct seam_change *change);
void seam_space_set_hook(struct seam_space *space, seam_hook *hook, void *ctx);

#ifdef __cplusplus
}
#endif
#endif
