/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/kernel_anon.h"

#define MAX_COMPARED 64 /* areas of one range */

const struct seam_area *kernel_anon_find(const struct snapshot *snapshot,
					 const struct seam_area *area)
{
	size_t low = 0, high = snapshot->nr_areas;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (snapshot->areas[middle].area.start < area->start)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == snapshot->nr_areas || snapshot->areas[low].area.start != area->start ||
	    snapshot->areas[low].area.end != area->end)
		return NULL;
	return &snapshot->areas[low].area;
}

/* Areas of both sides that lie alike. */
struct pairs {
	unsigned int nr;
	struct {
		uint32_t model, kernel; /* anon_vma */
	} pair[MAX_COMPARED];
};

static bool fits_in(const struct pairs *pairs, uint32_t model, uint32_t kernel)
{
	if (!model != !kernel)
		return false;
	for (unsigned int i = 0; model && i < pairs->nr; i++)
		if ((pairs->pair[i].model == model) != (pairs->pair[i].kernel == kernel))
			return false;
	return true;
}

bool kernel_anon_agrees(const struct seam_space *space, const struct snapshot *snapshot,
			const struct reach *reach)
{
	struct pairs pairs = { 0 };
	struct seam_area area;

	for (unsigned int i = 0; i < reach->nr; i++) {
		uint64_t at = reach_below(&reach->range[i]);

		while (reach_next(&reach->range[i], space, &at, &area)) {
			const struct seam_area *like = kernel_anon_find(snapshot, &area);

			if (!like || pairs.nr == MAX_COMPARED)
				continue;
			if (!fits_in(&pairs, area.anon_vma, like->anon_vma))
				return false;
			pairs.pair[pairs.nr].model = area.anon_vma;
			pairs.pair[pairs.nr++].kernel = like->anon_vma;
		}
	}
	return true;
}

int kernel_anon_take(struct seam_space *space, const struct snapshot *snapshot, uint32_t *next_anon)
{
	uint32_t highest = 0;
	struct seam_area area;
	uint64_t at = 0;

	while (seam_area_next(space, &at, &area)) {
		const struct seam_area *like = kernel_anon_find(snapshot, &area);

		if (!like || (!area.anon_vma && !like->anon_vma))
			continue;
		area.anon_vma = like->anon_vma ? *next_anon + like->anon_vma : 0;
		area.anon_chain = like->anon_chain;
		if (!area.file && snapshot->sees & SEES_ANON_OFFSET)
			area.pgoff = like->pgoff;
		if (like->anon_vma > highest)
			highest = like->anon_vma;
		if (seam_space_adopt(space, &area) == -SEAM_EALLOC)
			return -SEAM_EALLOC;
	}
	*next_anon += highest;
	return 0;
}
