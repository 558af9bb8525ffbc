/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/index/search.h"
#include "lib/index/tree.h"

/*
 * What is needed of a leaf is asked for at once, so that no line waits for another: all of it by an
 * edit, the ranges by a lookup, which then needs one line of the rest. More would hold up other
 * lookups, which go on meanwhile.
 */
#define EDIT_BYTES sizeof(struct leaf)
#define LOOKUP_BYTES offsetof(struct leaf, ids)

static inline void prefetch_leaf(const struct index_node *leaf, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += LINE_SIZE)
		__builtin_prefetch((const char *)leaf + at);
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
#define DEFINE_SEEK(name, target, count32, count64, bytes)                                         \
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
				prefetch_leaf(node, bytes);                                        \
		}                                                                                  \
		leaf = (const struct leaf *)node;                                                  \
		ret_cursor->node = (void *)leaf;                                                   \
		ret_cursor->slot = LEAF_SLOT(leaf, page, count32);                                 \
		return true;                                                                       \
	}

DEFINE_SEEK(seek_simd, , simd_count32, simd_count64, EDIT_BYTES)
DEFINE_SEEK(look_up_simd, , simd_count32, simd_count64, LOOKUP_BYTES)
#ifdef SEARCH_X86
DEFINE_SEEK(seek_avx2, TARGET_AVX2, avx2_count32, avx2_count64, EDIT_BYTES)
DEFINE_SEEK(look_up_avx2, TARGET_AVX2, avx2_count32, avx2_count64, LOOKUP_BYTES)
DEFINE_SEEK(seek_avx512, TARGET_AVX512, avx512_count32, avx512_count64, EDIT_BYTES)
DEFINE_SEEK(look_up_avx512, TARGET_AVX512, avx512_count32, avx512_count64, LOOKUP_BYTES)
#endif

/* Past the end of all areas there is nothing to look for. */
static inline bool is_behind_all(const struct index *index, uint64_t page,
				 struct cursor *ret_cursor)
{
	const struct leaf *last = index->last;

	if (last && page < last->last_end)
		return false;
	*ret_cursor = (struct cursor) { .node = (void *)last, .slot = last ? last->node.nr : 0 };
	return true;
}

#ifdef SEARCH_X86
#define DISPATCH(what, index, page, ret_cursor)                                                    \
	((index)->search == SEARCH_AVX512 ? what##_avx512(index, page, ret_cursor)                 \
	 : (index)->search == SEARCH_AVX2 ? what##_avx2(index, page, ret_cursor)                   \
					  : what##_simd(index, page, ret_cursor))
#else
#define DISPATCH(what, index, page, ret_cursor) what##_simd(index, page, ret_cursor)
#endif

bool index_seek(const struct index *index, uint64_t addr, struct cursor *ret_cursor)
{
	uint64_t page = addr >> index->page_shift;

	return !is_behind_all(index, page, ret_cursor) && DISPATCH(seek, index, page, ret_cursor);
}

bool index_look_up(const struct index *index, uint64_t addr, struct cursor *ret_cursor)
{
	uint64_t page = addr >> index->page_shift;

	return !is_behind_all(index, page, ret_cursor) &&
	       DISPATCH(look_up, index, page, ret_cursor);
}

bool index_last(const struct index *index, struct cursor *ret_cursor)
{
	ret_cursor->node = index->last;
	ret_cursor->slot = index->last ? index->last->node.nr - 1u : 0;
	return index->last;
}
