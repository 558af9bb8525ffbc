/* SPDX-License-Identifier: BSD-2-Clause */
/* Each way of searching a node against plain C: random keys, few of them, and the edges. */
#include <string.h>

#include "lib/index/search.h"
#include "tests/random.h"
#include "tests/tap.h"

struct sample {
	uint32_t keys32[LEAF_SLOTS], key32;
	uint64_t keys64[INNER_SLOTS], key64;
};

/* Ascending keys with unused ones behind them, and a key that is often one of them or beside it. */
static void fill(struct sample *sample)
{
	unsigned int nr32 = random_bits() % (LEAF_SLOTS + 1);
	unsigned int nr64 = random_bits() % (INNER_SLOTS + 1);
	uint64_t at = 0;

	memset(sample, 0xff, sizeof(*sample));
	for (unsigned int i = 0; i < nr32; i++)
		sample->keys32[i] = (uint32_t)(at += random_bits() % (UINT32_MAX / LEAF_SLOTS));
	at = random_bits() % 2 ? UINT64_C(1) << 45 : 0;
	for (unsigned int i = 0; i < nr64; i++)
		sample->keys64[i] = at += random_bits() % (UINT64_C(1) << 45);
	sample->key32 =
		sample->keys32[random_bits() % LEAF_SLOTS] + (uint32_t)(random_bits() % 3) - 1;
	if (sample->key32 == UINT32_MAX)
		sample->key32--;
	sample->key64 = (sample->keys64[random_bits() % INNER_SLOTS] + random_bits() % 3 - 1) &
			((UINT64_C(1) << 52) - 1);
}

#define SAMPLES 100000

#define DEFINE_COMPARE(name, target, count32, count64)                                             \
	target static unsigned int name(void)                                                      \
	{                                                                                          \
		struct sample s;                                                                   \
		unsigned int differ = 0;                                                           \
                                                                                                   \
		for (unsigned int i = 0; i < SAMPLES; i++) {                                       \
			fill(&s);                                                                  \
			differ += count32(s.keys32, s.key32) != plain_count32(s.keys32, s.key32);  \
			differ += count64(s.keys64, s.key64) != plain_count64(s.keys64, s.key64);  \
		}                                                                                  \
		return differ;                                                                     \
	}

DEFINE_COMPARE(compare_simd, , simd_count32, simd_count64)
#ifdef SEARCH_X86
DEFINE_COMPARE(compare_avx2, TARGET_AVX2, avx2_count32, avx2_count64)
DEFINE_COMPARE(compare_avx512, TARGET_AVX512, avx512_count32, avx512_count64)
#endif

int main(void)
{
	ok(!compare_simd(), "the search that every such processor has");
#ifdef SEARCH_X86
	if (search_detect() >= SEARCH_AVX2)
		ok(!compare_avx2(), "AVX2");
	else
		ok(true, "AVX2 # SKIP this processor has none");
	if (search_detect() >= SEARCH_AVX512)
		ok(!compare_avx512(), "AVX-512");
	else
		ok(true, "AVX-512 # SKIP this processor has none");
#endif
	return tap_done();
}
