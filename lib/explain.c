/* SPDX-License-Identifier: BSD-2-Clause */
#include <seam/explain.h>

#include <stddef.h>

#include "lib/export.h"
#include "lib/join.h"

static const char *const cause_names[] = {
#define CAUSE_NAME(name, text) #name,
	SEAM_CAUSES(CAUSE_NAME)
#undef CAUSE_NAME
};

static const char *const cause_texts[] = {
#define CAUSE_TEXT(name, text) text,
	SEAM_CAUSES(CAUSE_TEXT)
#undef CAUSE_TEXT
};

SEAM_EXPORT const char *seam_cause_name(unsigned int bit)
{
	return bit < SEAM_NR_CAUSES ? cause_names[bit] : NULL;
}

SEAM_EXPORT const char *seam_cause_text(unsigned int bit)
{
	return bit < SEAM_NR_CAUSES ? cause_texts[bit] : NULL;
}

static unsigned int count_causes(uint32_t causes)
{
	unsigned int nr = 0;

	for (; causes; causes &= causes - 1)
		nr++;
	return nr;
}

SEAM_EXPORT uint32_t seam_explain_pair(const struct seam_policy *policy, unsigned int page_shift,
				       const struct seam_area *left, const struct seam_area *right)
{
	struct seam_area l = *left, r = *right;
	uint32_t beside_left, beside_right;

	if (join_never(policy, left, right))
		return SEAM_CAUSE(rule);
	l.flags = join_flags_then(policy, left->flags);
	r.flags = join_flags_then(policy, right->flags);
	beside_left = join_causes(policy, page_shift, &l, &r, NEIGHBOUR_LEFT);
	beside_right = join_causes(policy, page_shift, &l, &r, NEIGHBOUR_RIGHT);
	return count_causes(beside_right) < count_causes(beside_left) ? beside_right : beside_left;
}

SEAM_EXPORT uint64_t seam_explain_flags(const struct seam_policy *policy,
					const struct seam_area *left, const struct seam_area *right)
{
	return join_flags(policy, join_flags_then(policy, left->flags),
			  join_flags_then(policy, right->flags));
}
