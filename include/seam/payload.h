/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam/payload.h - what an embedder hangs on areas: a tag of 64 bits each, a number or a pointer.
 *
 * New memory gets its tag from struct seam_mmap, a growing heap that of the area it grows; a range
 * is given another by seam_space_set_tag. The pieces of a split area all have its tag, moved memory
 * and a fork's copy keep theirs. Areas join only when their tags are equal, or when the embedder's
 * own compare says so; the tag of the area that lives on then stays (struct seam_change, after).
 * The compare comes last: what the policy keeps apart, it is not asked about.
 *
 * Tags that are pointers are counted by the areas that have them, through retain and release:
 * one retain for each area that comes to have the tag, one release for each that no longer has it
 * (a pair for one that a call makes and takes away again), none for areas that stay as they are or
 * only change their range. Tag 0 is none and never counted.
 * They are called when a call is carried out, never by an ask: first each retain, then the hook
 * (seam/ask.h), then each release, so that the hook still finds every payload alive. A call that
 * fails for want of memory calls neither. seam_space_destroy releases what is left.
 *
 * The functions may look at the space; calls that would change it give -SEAM_EBUSY.
 */
#ifndef SEAM_PAYLOAD_H
#define SEAM_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include <seam/area.h>

#ifdef __cplusplus
extern "C" {
#endif

struct seam_space;

/* Of a space for its whole life: struct seam_space_options, payload. Copied; inherited by forks. */
struct seam_payload {
	size_t size; /* sizeof(struct seam_payload) */
	/* NULL: tags are numbers, and not counted. Both or neither. */
	void (*retain)(void *ctx, uint64_t tag);
	void (*release)(void *ctx, uint64_t tag);
	/*
	 * May these two, which touch and which the policy would join, be one? 1 or 0. NULL: when
	 * their tags are equal. Asked also when they are, unless both are 0. The answer must depend
	 * on the two areas alone.
	 */
	int (*may_join)(void *ctx, const struct seam_area *left, const struct seam_area *right);
	void *ctx;
};

/*
 * Gives the memory in the range a tag. Splits and joins as a change of protection does. Holes are
 * passed over. O(log n) plus the areas touched.
 *  -SEAM_EINVAL  @addr is not page aligned, or the range wraps
 *  -SEAM_ENOMEM  a split at the area limit (what lies below has the tag); or there was a hole
 *  -SEAM_ENOSYS  the policy is one of up to 2.6.24
 */
int seam_space_set_tag(struct seam_space *space, uint64_t addr, uint64_t len, uint64_t tag);

#ifdef __cplusplus
}
#endif
#endif
