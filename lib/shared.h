/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/shared.h - memory that the writer changes while readers look at it.
 *
 * A reader may see a node half changed; it finds out afterwards (lib/index/history.h). Until then
 * it must not crash, so what it follows is loaded and stored in one piece: pointers, and whatever
 * fits a word. Wider numbers may be torn on a 32-bit host: no host needs 64-bit atomics for this.
 *
 * ThreadSanitizer sees neither fences nor that a torn value is thrown away: under it every access is
 * a relaxed atomic, arrays are moved number by number, and the search is plain C.
 */
#ifndef LIB_SHARED_H
#define LIB_SHARED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__)
#define SEAM_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SEAM_TSAN 1
#endif
#endif

#if defined(SEAM_TSAN) && !defined(SEAM_PLAIN_SEARCH)
#define SEAM_PLAIN_SEARCH 1
#endif

#define FITS_WORD(x) (sizeof(x) <= sizeof(void *))
#define READ_ONCE(x)                                                                               \
	__builtin_choose_expr(FITS_WORD(x), __atomic_load_n(&(x), __ATOMIC_RELAXED), (x))
#define WRITE_ONCE(x, value)                                                                       \
	__builtin_choose_expr(FITS_WORD(x), __atomic_store_n(&(x), (value), __ATOMIC_RELAXED),     \
			      (void)((x) = (value)))
#define READ_ACQUIRE(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define WRITE_RELEASE(x, value) __atomic_store_n(&(x), (value), __ATOMIC_RELEASE)

/* All that was loaded before comes first, and all that was stored. */
static inline void shared_fence(void)
{
#pragma GCC diagnostic push
#if defined(SEAM_TSAN) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif
	__atomic_thread_fence(__ATOMIC_ACQ_REL);
#pragma GCC diagnostic pop
}

#ifdef SEAM_TSAN
static inline void shared_move32(uint32_t *to, const uint32_t *from, unsigned int nr)
{
	if (to <= from)
		for (unsigned int i = 0; i < nr; i++)
			WRITE_ONCE(to[i], READ_ONCE(from[i]));
	else
		while (nr--)
			WRITE_ONCE(to[nr], READ_ONCE(from[nr]));
}

static inline void shared_move64(uint64_t *to, const uint64_t *from, unsigned int nr)
{
	if (to <= from)
		for (unsigned int i = 0; i < nr; i++)
			WRITE_ONCE(to[i], READ_ONCE(from[i]));
	else
		while (nr--)
			WRITE_ONCE(to[nr], READ_ONCE(from[nr]));
}
#else
static inline void shared_move32(uint32_t *to, const uint32_t *from, unsigned int nr)
{
	memmove(to, from, nr * sizeof(*to));
}

static inline void shared_move64(uint64_t *to, const uint64_t *from, unsigned int nr)
{
	memmove(to, from, nr * sizeof(*to));
}
#endif

static inline void shared_fill32(uint32_t *to, uint32_t value, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		WRITE_ONCE(to[i], value);
}

static inline void shared_fill64(uint64_t *to, uint64_t value, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		WRITE_ONCE(to[i], value);
}

#endif
