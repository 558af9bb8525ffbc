/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/index/search.h"
#include "lib/index/tree.h"

/* All of a leaf: an edit needs it, a lookup more than half of it, and none waits for another line. */
static inline void prefetch_leaf(const struct index_node *leaf)
{
	for (unsigned int line = 0; line < sizeof(struct leaf) / LINE_SIZE; line++)
		__builtin_prefetch((const char *)leaf + line * LINE_SIZE);
}

/* The leaf to look in first: calls come in runs, most often to the one that was changed last. */
static inline bool is_in_run(const struct index *index, uint64_t page)
{
	const struct leaf *run = index->run;

	return run && page - leaf_start(run, 0) < run->last_end - leaf_start(run, 0);
}

/* The first slot that ends behind @page; there is one. @count: plain_count32 or a faster one. */
#define LEAF_SLOT(leaf, page, count)                                                               \
	((page) - (leaf)->base <= LEAF_REACH                                                       \
		 ? count((leaf)->end, (uint32_t)((page) - (leaf)->base))                           \
	 : (page) < (leaf)->base ? 0                                                               \
				 : (leaf)->node.nr - 1u)

/* To the area that ends behind @page; there is one. One such function a kind of search. */
#define DEFINE_SEEK(name, target, count32, count64)                                                \
	target static bool name(const struct index *index, uint64_t page,                          \
				struct cursor *ret_cursor)                                         \
	{                                                                                          \
		const struct index_node *node = index->root;                                       \
		unsigned int level = index->height;                                                \
		const struct leaf *leaf;                                                           \
                                                                                                   \
		if (is_in_run(index, page)) {                                                      \
			node = &index->run->node;                                                  \
			level = 0;                                                                 \
		}                                                                                  \
		for (; level; level--) {                                                           \
			const struct inner *inner = (const struct inner *)node;                    \
                                                                                                   \
			if (level == 1)                                                            \
				for (int i = 0; i < 8; i++)                                        \
					__builtin_prefetch(inner->child + 8 * i);                  \
			node = inner->child[count64(inner->end, page)];                            \
			if (level == 1)                                                            \
				prefetch_leaf(node);                                               \
		}                                                                                  \
		leaf = (const struct leaf *)node;                                                  \
		ret_cursor->node = (void *)leaf;                                                   \
		ret_cursor->slot = LEAF_SLOT(leaf, page, count32);                                 \
		return true;                                                                       \
	}

DEFINE_SEEK(seek_simd, , simd_count32, simd_count64)
#ifdef SEARCH_X86
DEFINE_SEEK(seek_avx2, TARGET_AVX2, avx2_count32, avx2_count64)
DEFINE_SEEK(seek_avx512, TARGET_AVX512, avx512_count32, avx512_count64)
#endif

bool index_seek(const struct index *index, uint64_t addr, struct cursor *ret_cursor)
{
	uint64_t page = addr >> index->page_shift;
	const struct leaf *last = index->last;

	if (!last || page >= last->last_end) {
		*ret_cursor =
			(struct cursor) { .node = (void *)last, .slot = last ? last->node.nr : 0 };
		return false;
	}
#ifdef SEARCH_X86
	if (index->search == SEARCH_AVX512)
		return seek_avx512(index, page, ret_cursor);
	if (index->search == SEARCH_AVX2)
		return seek_avx2(index, page, ret_cursor);
#endif
	return seek_simd(index, page, ret_cursor);
}

bool index_last(const struct index *index, struct cursor *ret_cursor)
{
	ret_cursor->node = index->last;
	ret_cursor->slot = index->last ? index->last->node.nr - 1u : 0;
	return index->last;
}
