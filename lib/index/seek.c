/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/index/search.h"
#include "lib/index/tree.h"

/* All of a leaf at once, or what a search of an inner node needs. */
static inline void prefetch_node(const struct index_node *node)
{
	for (unsigned int line = 0; line <= 8; line++)
		__builtin_prefetch((const char *)node + line * LINE_SIZE);
}

/* The first slot that ends behind @page; there is one. @count: plain_count32 or a faster one. */
#define LEAF_SLOT(leaf, page, count)                                                               \
	((page) - (leaf)->base <= LEAF_REACH                                                       \
		 ? count((leaf)->end, (uint32_t)((page) - (leaf)->base))                           \
	 : (page) < (leaf)->base ? 0                                                               \
				 : (leaf)->node.nr - 1u)

/* Down to the area that ends behind @page; there is one. One such function a kind of search. */
#define DEFINE_DESCEND(name, target, count32, count64)                                             \
	target static void name(const struct index_node *node, uint64_t page,                      \
				struct cursor *ret_cursor)                                         \
	{                                                                                          \
		const struct leaf *leaf;                                                           \
                                                                                                   \
		while (node->level) {                                                              \
			const struct inner *inner = (const struct inner *)node;                    \
                                                                                                   \
			node = inner->child[count64(inner->end, page)];                            \
			prefetch_node(node);                                                       \
		}                                                                                  \
		leaf = (const struct leaf *)node;                                                  \
		ret_cursor->node = (void *)leaf;                                                   \
		ret_cursor->slot = LEAF_SLOT(leaf, page, count32);                                 \
	}

DEFINE_DESCEND(descend_simd, , simd_count32, simd_count64)
#ifdef SEARCH_X86
DEFINE_DESCEND(descend_avx2, TARGET_AVX2, avx2_count32, avx2_count64)
DEFINE_DESCEND(descend_avx512, TARGET_AVX512, avx512_count32, avx512_count64)
#endif

static void descend(const struct index *index, const struct index_node *node, uint64_t page,
		    struct cursor *ret_cursor)
{
#ifdef SEARCH_X86
	if (index->search == SEARCH_AVX512)
		descend_avx512(node, page, ret_cursor);
	else if (index->search == SEARCH_AVX2)
		descend_avx2(node, page, ret_cursor);
	else
#endif
		descend_simd(node, page, ret_cursor);
}

bool index_seek(const struct index *index, uint64_t addr, struct cursor *ret_cursor)
{
	uint64_t page = addr >> index->page_shift;
	const struct leaf *last = index->last, *run = index->run;
	const struct index_node *node = index->root;

	/* calls come in runs: most often it is the leaf that was changed last */
	if (run && page - leaf_start(run, 0) < run->last_end - leaf_start(run, 0)) {
		node = &run->node;
	} else if (!last || page >= last->last_end) {
		*ret_cursor =
			(struct cursor) { .node = (void *)last, .slot = last ? last->node.nr : 0 };
		return false;
	}
	descend(index, node, page, ret_cursor);
	return true;
}

bool index_last(const struct index *index, struct cursor *ret_cursor)
{
	ret_cursor->node = index->last;
	ret_cursor->slot = index->last ? index->last->node.nr - 1u : 0;
	return index->last;
}
