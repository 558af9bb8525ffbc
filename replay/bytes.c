/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a kernel's own structures for the areas of a process take: the area itself with its share
 * of the tree, what links it to an anon_vma, and the anon_vmas.
 *
 * Sizes for 6.18 are measured (slab objects: 192 + 64 + 104 bytes, and 20.6 bytes of maple nodes an
 * area); those of other kernels are estimated from the fields of their structures.
 */
#include <stdlib.h>

#include "replay/lane.h"

struct sizes {
	uint32_t since; /* as of version_of */
	uint16_t area, tree, chain, anon_vma;
};

/* Linked lists and AVL or red-black links are part of the area. Oldest first. */
static const struct sizes sizes_64[] = {
	{ 0x020000, 128, 0, 0, 0 }, /* 2.2, 2.4 with AVL: 112, 128, aligned to a cache line */
	{ 0x02040a, 192, 0, 0, 0 }, /* 136 with red-black links, aligned */
	{ 0x020600, 128, 0, 0, 0 },
	{ 0x020607, 176, 0, 0, 24 }, /* anon_vma: a lock and a list */
	{ 0x020618, 168, 0, 0, 24 },
	{ 0x020622, 176, 0, 64, 64 }, /* 2.6.34: anon_vma_chain */
	{ 0x050000, 200, 0, 64, 88 },
	{ 0x060100, 152, 21, 64, 104 }, /* maple tree */
	{ 0x060400, 184, 21, 64, 104 }, /* a lock in each area */
	{ 0x060f00, 192, 21, 64, 104 },
};
static const struct sizes sizes_32[] = {
	{ 0x020000, 64, 0, 0, 0 },    { 0x02040a, 96, 0, 0, 0 },   { 0x020600, 64, 0, 0, 0 },
	{ 0x020607, 88, 0, 0, 12 },   { 0x020622, 88, 0, 32, 32 }, { 0x050000, 104, 0, 32, 48 },
	{ 0x060100, 80, 12, 32, 56 },
};

static const struct sizes *find_sizes(const struct sizes *table, size_t nr, uint32_t version)
{
	const struct sizes *found = &table[0];

	for (size_t i = 0; i < nr; i++)
		if (table[i].since <= version)
			found = &table[i];
	return found;
}

static int by_number(const void *left, const void *right)
{
	uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;

	return l < r ? -1 : l > r;
}

static uint64_t count_distinct(uint32_t *numbers, size_t nr)
{
	uint64_t distinct = 0;

	qsort(numbers, nr, sizeof(*numbers), by_number);
	for (size_t i = 0; i < nr; i++)
		distinct += !i || numbers[i] != numbers[i - 1];
	return distinct;
}

uint64_t kernel_bytes(const struct lane *lane, const struct seam_space *space, bool wide)
{
	const struct sizes *sizes =
		wide ? find_sizes(sizes_64, sizeof(sizes_64) / sizeof(sizes_64[0]), lane->version)
		     : find_sizes(sizes_32, sizeof(sizes_32) / sizeof(sizes_32[0]), lane->version);
	uint64_t nr = seam_space_areas(space), chains = 0, at = 0, bytes;
	struct seam_area area;
	uint32_t *anon_vmas;
	size_t nr_faulted = 0;

	bytes = nr * (sizes->area + sizes->tree);
	if (!sizes->anon_vma)
		return bytes;
	anon_vmas = calloc(nr ? nr : 1, sizeof(*anon_vmas));
	while (seam_area_next(space, &at, &area)) {
		if (!area.anon_vma)
			continue;
		chains += area.anon_chain;
		if (anon_vmas && nr_faulted < nr)
			anon_vmas[nr_faulted++] = area.anon_vma;
	}
	bytes += chains * sizes->chain;
	if (anon_vmas)
		bytes += count_distinct(anon_vmas, nr_faulted) * sizes->anon_vma;
	free(anon_vmas);
	return bytes;
}
