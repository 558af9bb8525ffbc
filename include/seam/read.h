/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam/read.h - looking at a space while its writer works: from other threads, from a signal
 * handler, in the child of a fork.
 *
 * For spaces that were made with SEAM_SPACE_READERS. Any number of readers beside one writer; they
 * take no lock, write nothing that others read, and are not known to anybody. The writer never
 * waits for them, nor they for it, stopped in the middle of a call or not.
 *
 * A reader sees each call whole or not at all: all its lookups between two seam_read_begin are of
 * one state of the space, that between two calls. The state is kept for a while: about 60 nodes
 * that the writer changes (a node has up to 28 areas; most calls change one or two). After that
 * lookups give -SEAM_EAGAIN, and the reader begins anew.
 *
 *	struct seam_read read;
 *	do {
 *		uint64_t at = start;
 *		seam_read_begin(&read, space);
 *		while ((found = seam_read_next(&read, &at, &area)) == 1 && area.start < end)
 *			...
 *	} while (found == -SEAM_EAGAIN);
 *
 * Threads: the space must not end while anybody reads it. A space is handed to a reader's thread as
 *   any other memory is (a lock, thread creation, a release store).
 * Signals: every function here but seam_read_area may be called in a handler, also in one that has
 *   interrupted a call on the same space in its own thread: it sees the state before the call.
 * Tags that are pointers (seam/payload.h): what stands behind one may have been released since; a
 *   reader has the number, not a hold on the payload.
 * Costs: a lookup is that of seam_area_find, and two loads when nothing has changed meanwhile. Each
 *   call of the writer copies the nodes it changes (512 bytes each; docs/performance.md). When
 *   there is no memory for that, or a call changes millions of areas, readers wait for its end.
 */
#ifndef SEAM_READ_H
#define SEAM_READ_H

#include <stddef.h>
#include <stdint.h>

#include <seam/space.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A state of a space, on the reader's stack. Its fields are the library's own. */
struct seam_read {
	const struct seam_space *space;
	size_t state, attrs, anons;
};

/*
 * Takes the state after the last finished call. O(1).
 *  -SEAM_EINVAL  the space was made without SEAM_SPACE_READERS
 */
int seam_read_begin(struct seam_read *read, const struct seam_space *space);

/*
 * The first area that ends behind @addr in that state: 1 and *ret_area, or 0 when there is none.
 * O(log n).
 *  -SEAM_EAGAIN  the state is gone; *ret_area is as it was
 */
int seam_read_find(const struct seam_read *read, uint64_t addr, struct seam_area *ret_area);

/* The areas of that state in address order, as seam_area_next; errors as seam_read_find. */
static inline int seam_read_next(const struct seam_read *read, uint64_t *at,
				 struct seam_area *ret_area)
{
	int found = seam_read_find(read, *at, ret_area);

	if (found == 1)
		*at = ret_area->end;
	return found;
}

/*
 * One lookup with a few tries, each in the newest state: as seam_read_find. Bounded: for handlers.
 *  -SEAM_EAGAIN  the state was gone each time: the writer is very fast, or has no memory for copies
 *  -SEAM_EINVAL  as seam_read_begin
 */
int seam_read_try(const struct seam_space *space, uint64_t addr, struct seam_area *ret_area);

/* The same with as many tries as it takes; not for handlers. */
static inline int seam_read_area(const struct seam_space *space, uint64_t addr,
				 struct seam_area *ret_area)
{
	int found;

	do
		found = seam_read_try(space, addr, ret_area);
	while (found == -SEAM_EAGAIN);
	return found;
}

/*
 * To be called in the child of a fork for each space that it goes on using, before any other call:
 * another thread, or the code that a handler interrupted, may have been in the middle of one. The
 * space becomes what it was before that call, an ask that was pending for it is forgotten; a space
 * that was at rest stays as it is. What the call had just taken from the allocator is lost. Retains
 * and releases of payloads that belong to the call may be missing, or made for nothing: a fork does
 * not stop between the embedder's own counts. O(areas) if there is anything to do.
 *  -SEAM_EINVAL  the space was made without SEAM_SPACE_READERS
 *  -SEAM_EALLOC  the state before the call had been given up for want of memory: the space cannot
 *		  be used any more, nor ended
 */
int seam_space_after_fork(struct seam_space *space);

#ifdef __cplusplus
}
#endif
#endif
