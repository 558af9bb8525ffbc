/* SPDX-License-Identifier: BSD-2-Clause */
/* What the recognisers mark with. */
#include <stdlib.h>

#include "findings/shapes/shapes.h"

bool shapes_mark(struct shapes *s, size_t i)
{
	if (!is_free(s, i))
		return false;
	s->marked[i] = true;
	return true;
}

void shapes_grow(struct shapes *s)
{
	for (size_t i = 0; i + 1 < s->nr; i++)
		if (s->marked[i] && touches_next(s, i) && !(s->pair[i] & ~HISTORY))
			shapes_mark(s, i + 1);
	for (size_t i = s->nr; i-- > 1;)
		if (s->marked[i] && touches_next(s, i - 1) && !(s->pair[i - 1] & ~HISTORY))
			shapes_mark(s, i - 1);
}

void shapes_mark_pairs(struct shapes *s, uint32_t cause)
{
	for (size_t i = 0; i + 1 < s->nr; i++) {
		if (!is_data_pair(s, i) || !(s->pair[i] & cause) || s->pair[i] & ~(cause | HISTORY))
			continue;
		if (is_free(s, i) && is_free(s, i + 1)) {
			shapes_mark(s, i);
			shapes_mark(s, i + 1);
		}
	}
}

void shapes_mark_flag_pairs(struct shapes *s, uint64_t bits)
{
	const struct seam_policy *policy = &s->findings->policy;

	for (size_t i = 0; i + 1 < s->nr; i++) {
		uint64_t differ;

		if (!is_data_pair(s, i) || !(s->pair[i] & SEAM_CAUSE(flags)) ||
		    s->pair[i] & ~(SEAM_CAUSE(flags) | SEAM_CAUSE(uffd) | HISTORY))
			continue;
		differ = seam_explain_flags(policy, &s->areas[i].area, &s->areas[i + 1].area);
		if (differ & ~bits || !is_free(s, i) || !is_free(s, i + 1))
			continue;
		shapes_mark(s, i);
		shapes_mark(s, i + 1);
		s->row.flags |= differ;
	}
	shapes_grow(s);
}

/* What makes areas alike when nothing tells what they are for. */
struct likeness {
	uint64_t bytes, access;
	size_t index;
};

static int by_likeness(const void *left, const void *right)
{
	const struct likeness *l = left, *r = right;

	if (l->bytes != r->bytes)
		return l->bytes < r->bytes ? -1 : 1;
	if (l->access != r->access)
		return l->access < r->access ? -1 : 1;
	return l->index < r->index ? -1 : l->index > r->index;
}

void shapes_mark_commonest(struct shapes *s, bool (*fits)(const struct shapes *s, size_t i))
{
	struct likeness *all = malloc(s->nr * sizeof(*all));
	size_t nr = 0, best = 0, best_len = 0;

	if (!all)
		return;
	for (size_t i = 0; i < s->nr; i++)
		if (is_free(s, i) && fits(s, i))
			all[nr++] = (struct likeness) { bytes_of(&s->areas[i]),
							access_of(&s->areas[i]), i };
	qsort(all, nr, sizeof(*all), by_likeness);
	for (size_t i = 0, run = 0; i < nr; i++) {
		if (all[i].bytes != all[run].bytes || all[i].access != all[run].access)
			run = i;
		if (i - run + 1 > best_len) {
			best = run;
			best_len = i - run + 1;
		}
	}
	for (size_t i = best; i < best + best_len; i++)
		shapes_mark(s, all[i].index);
	if (best_len)
		s->row.unit_bytes = all[best].bytes;
	free(all);
}
