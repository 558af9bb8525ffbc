/* SPDX-License-Identifier: BSD-2-Clause */
/* Areas that are alike in size, of which nothing more is told. */
#include <string.h>

#include "findings/causes.h"
#include "findings/shapes/shapes.h"

/* The report of 2001: one page at a time, each equal to the one before as far as can be seen. */
void shape_one_page_maps(struct shapes *s)
{
	const uint64_t page = UINT64_C(1) << snapshot_page_shift(s->findings->snapshot);
	const uint32_t equal = SEAM_CAUSE(rule) | SEAM_CAUSE(untried) | SEAM_CAUSE(unseen);

	for (size_t i = 0; i + 1 < s->nr; i++) {
		if (!is_anonymous_pair(s, i) || s->pair[i] & ~equal ||
		    bytes_of(&s->areas[i]) != page || bytes_of(&s->areas[i + 1]) != page)
			continue;
		shapes_mark(s, i);
		shapes_mark(s, i + 1);
	}
}

static bool stands_alone(const struct shapes *s, size_t i)
{
	return !touches_next(s, i) && (!i || !touches_next(s, i - 1));
}

static bool is_chunk(const struct shapes *s, size_t i)
{
	return is_anonymous(&s->areas[i]) && stands_alone(s, i) &&
	       !(s->areas[i].area.start % KIB(64)) && bytes_of(&s->areas[i]) >= KIB(64);
}

void shape_aligned_chunks(struct shapes *s)
{
	shapes_mark_commonest(s, is_chunk);
}

static bool is_unnamed(const struct shapes *s, size_t i)
{
	return !s->areas[i].name[0];
}

/* Neighbours with nothing between them that can be seen; else what is alike in size and access. */
void shape_other(struct shapes *s)
{
	size_t nr = 0;

	for (size_t i = 0; i + 1 < s->nr; i++) {
		if (!is_anonymous_pair(s, i) || s->pair[i] & ~HISTORY)
			continue;
		nr += shapes_mark(s, i);
		nr += shapes_mark(s, i + 1);
	}
	if (nr >= GROUP_AREAS)
		return;
	memset(s->marked, 0, s->nr * sizeof(*s->marked));
	shapes_mark_commonest(s, is_unnamed);
}
