/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/index/search.h - how many keys of a node are no greater than a key: the inner loop of every
 * lookup. All keys are compared at once and the bits counted, or in plain C the half taken that has
 * the answer, so there is no branch to mispredict and independent lookups overlap.
 *
 * Variants: AVX-512, AVX2 and SSE2 on x86-64 (chosen by cpuid, asked once), NEON on aarch64, and
 * plain C everywhere. -Os: SSE2 alone on x86-64. -DSEAM_PLAIN_SEARCH leaves only plain C: for
 * ThreadSanitizer, and for counts of instructions that repeat on every machine.
 */
#ifndef LIB_INDEX_SEARCH_H
#define LIB_INDEX_SEARCH_H

#include <stdint.h>

#include "lib/index/btree.h"
#include "lib/shared.h"

#if defined(__x86_64__) && !defined(SEAM_PLAIN_SEARCH)
#define SEARCH_SSE2 1
#ifndef __OPTIMIZE_SIZE__
#define SEARCH_X86 1
#endif
#elif defined(__aarch64__) && !defined(SEAM_PLAIN_SEARCH)
#define SEARCH_NEON 1
#endif

enum search_kind { SEARCH_PLAIN, SEARCH_SIMD, SEARCH_AVX2, SEARCH_AVX512 };

/* Keys may change while they are looked at. */
#ifdef SEAM_TSAN
#define SEARCH_KEY(key) READ_ONCE(key)
#else
#define SEARCH_KEY(key) (key)
#endif

#define SEARCH_INLINE static inline __attribute__((always_inline))

/* Keys stand in order: halves are taken without a branch, each time the same number of steps. */
#define PLAIN_COUNT(keys, key, slots)                                                              \
	unsigned int nr = 0, left = (slots);                                                       \
                                                                                                   \
	while (left > 1) {                                                                         \
		unsigned int half = left / 2;                                                      \
                                                                                                   \
		nr += SEARCH_KEY((keys)[nr + half - 1]) <= (key) ? half : 0;                       \
		left -= half;                                                                      \
	}                                                                                          \
	return nr + (SEARCH_KEY((keys)[nr]) <= (key))

SEARCH_INLINE unsigned int plain_count32(const uint32_t *keys, uint32_t key)
{
	PLAIN_COUNT(keys, key, LEAF_SLOTS);
}

SEARCH_INLINE unsigned int plain_count64(const uint64_t *keys, uint64_t key)
{
	PLAIN_COUNT(keys, key, INNER_SLOTS);
}

#ifdef SEARCH_SSE2
#include <immintrin.h>

#define TARGET_AVX2 __attribute__((target("avx2,popcnt")))
#define TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,popcnt")))

/* SSE2 compares signed: both sides are moved by half the range. */
SEARCH_INLINE unsigned int simd_count32(const uint32_t *keys, uint32_t key)
{
	const __m128i half = _mm_set1_epi32((int)0x80000000);
	__m128i sought = _mm_xor_si128(_mm_set1_epi32((int)key), half);
	__m128i above = _mm_setzero_si128();

	for (unsigned int i = 0; i < LEAF_SLOTS; i += 4) {
		__m128i at = _mm_loadu_si128((const __m128i *)(keys + i));

		above = _mm_sub_epi32(above, _mm_cmpgt_epi32(_mm_xor_si128(at, half), sought));
	}
	above = _mm_add_epi32(above, _mm_shuffle_epi32(above, 0x4e));
	above = _mm_add_epi32(above, _mm_shuffle_epi32(above, 0xb1));
	return LEAF_SLOTS - (unsigned int)_mm_cvtsi128_si32(above);
}

/* There is no 64-bit compare in SSE2. */
SEARCH_INLINE unsigned int simd_count64(const uint64_t *keys, uint64_t key)
{
	return plain_count64(keys, key);
}

#ifdef SEARCH_X86
SEARCH_INLINE TARGET_AVX2 unsigned int avx2_count32(const uint32_t *keys, uint32_t key)
{
	__m256i sought = _mm256_set1_epi32((int)key);
	unsigned int nr = 0;

	for (unsigned int i = 0; i + 8 <= LEAF_SLOTS; i += 8) {
		__m256i at = _mm256_loadu_si256((const __m256i *)(keys + i));
		__m256i is = _mm256_cmpeq_epi32(_mm256_max_epu32(at, sought), sought);

		nr += (unsigned int)__builtin_popcount(
			(unsigned int)_mm256_movemask_ps(_mm256_castsi256_ps(is)));
	}
	for (unsigned int i = LEAF_SLOTS / 8 * 8; i < LEAF_SLOTS; i += 4) {
		__m128i at = _mm_loadu_si128((const __m128i *)(keys + i));
		__m128i most = _mm256_castsi256_si128(sought);
		__m128i is = _mm_cmpeq_epi32(_mm_max_epu32(at, most), most);

		nr += (unsigned int)__builtin_popcount(
			(unsigned int)_mm_movemask_ps(_mm_castsi128_ps(is)));
	}
	return nr;
}

SEARCH_INLINE TARGET_AVX2 unsigned int avx2_count64(const uint64_t *keys, uint64_t key)
{
	/* pages have at most 52 bits, and unused keys all 64: as signed numbers, below all */
	__m256i sought = _mm256_set1_epi64x((long long)key);
	__m256i none = _mm256_setzero_si256(), above = none;

	for (unsigned int i = 0; i < INNER_SLOTS; i += 4) {
		__m256i at = _mm256_loadu_si256((const __m256i *)(keys + i));
		__m256i is = _mm256_or_si256(_mm256_cmpgt_epi64(at, sought),
					     _mm256_cmpgt_epi64(none, at));

		above = _mm256_sub_epi64(above, is);
	}
	return INNER_SLOTS -
	       (unsigned int)(_mm256_extract_epi64(above, 0) + _mm256_extract_epi64(above, 1) +
			      _mm256_extract_epi64(above, 2) + _mm256_extract_epi64(above, 3));
}

SEARCH_INLINE TARGET_AVX512 unsigned int avx512_count32(const uint32_t *keys, uint32_t key)
{
	__m512i sought = _mm512_set1_epi32((int)key);
	__mmask16 low = _mm512_cmple_epu32_mask(_mm512_loadu_si512(keys), sought);
	__mmask16 high = _mm512_mask_cmple_epu32_mask(
		(1u << (LEAF_SLOTS - 16)) - 1,
		_mm512_maskz_loadu_epi32((1u << (LEAF_SLOTS - 16)) - 1, keys + 16), sought);

	return (unsigned int)__builtin_popcount(low | (unsigned int)high << 16);
}

SEARCH_INLINE TARGET_AVX512 __mmask16 avx512_less16(const uint64_t *keys, __m512i sought)
{
	return _mm512_kunpackb(_mm512_cmple_epu64_mask(_mm512_loadu_si512(keys + 8), sought),
			       _mm512_cmple_epu64_mask(_mm512_loadu_si512(keys), sought));
}

SEARCH_INLINE TARGET_AVX512 __mmask32 avx512_less32(const uint64_t *keys, __m512i sought)
{
	return _mm512_kunpackw(avx512_less16(keys + 16, sought), avx512_less16(keys, sought));
}

SEARCH_INLINE TARGET_AVX512 unsigned int avx512_count64(const uint64_t *keys, uint64_t key)
{
	__m512i sought = _mm512_set1_epi64((long long)key);

	return (unsigned int)__builtin_popcountll(
		_mm512_kunpackd(avx512_less32(keys + 32, sought), avx512_less32(keys, sought)));
}

SEARCH_INLINE void cpuid(uint32_t leaf, uint32_t sub, uint32_t regs[4])
{
	__asm__("cpuid"
		: "=a"(regs[0]), "=b"(regs[1]), "=c"(regs[2]), "=d"(regs[3])
		: "a"(leaf), "c"(sub));
}

/* What the processor has and the system saves (Intel SDM vol. 1, 13.2 and 14.7.1). */
static inline enum search_kind search_detect(void)
{
	uint32_t regs[4], low, high;

	cpuid(0, 0, regs);
	if (regs[0] < 7)
		return SEARCH_SIMD;
	cpuid(1, 0, regs);
	if (!(regs[2] & 1u << 27) || !(regs[2] & 1u << 23)) /* OSXSAVE, POPCNT */
		return SEARCH_SIMD;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	if ((low & 0x6) != 0x6) /* XMM and YMM state */
		return SEARCH_SIMD;
	cpuid(7, 0, regs);
	if ((low & 0xe6) == 0xe6 && !(~regs[1] & (1u << 16 | 1u << 30 | 1u << 31))) /* F, BW, VL */
		return SEARCH_AVX512;
	return regs[1] & 1u << 5 ? SEARCH_AVX2 : SEARCH_SIMD;
}
#else
static inline enum search_kind search_detect(void)
{
	return SEARCH_SIMD;
}
#endif

#elif defined(SEARCH_NEON)
#include <arm_neon.h>

SEARCH_INLINE unsigned int simd_count32(const uint32_t *keys, uint32_t key)
{
	uint32x4_t sought = vdupq_n_u32(key), nr = vdupq_n_u32(0);

	for (unsigned int i = 0; i < LEAF_SLOTS; i += 4)
		nr = vsubq_u32(nr, vcleq_u32(vld1q_u32(keys + i), sought));
	return vaddvq_u32(nr);
}

SEARCH_INLINE unsigned int simd_count64(const uint64_t *keys, uint64_t key)
{
	uint64x2_t sought = vdupq_n_u64(key), nr = vdupq_n_u64(0);

	for (unsigned int i = 0; i < INNER_SLOTS; i += 2)
		nr = vsubq_u64(nr, vcleq_u64(vld1q_u64(keys + i), sought));
	return (unsigned int)vaddvq_u64(nr);
}

static inline enum search_kind search_detect(void)
{
	return SEARCH_SIMD;
}

#else
#define simd_count32 plain_count32
#define simd_count64 plain_count64

static inline enum search_kind search_detect(void)
{
	return SEARCH_PLAIN;
}
#endif

#endif
