/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What has GROUP_AREAS areas of one shape becomes a group. The order of the table is the order of
 * asking: shapes that tell much come before those that tell little.
 */
#include "findings/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "findings/shapes/shapes.h"

static const char *const group_names[] = { "",
#define GROUP_NAME(name, json, text) json,
					   GROUPS(GROUP_NAME)
#undef GROUP_NAME
};

static const char *const group_texts[] = { "",
#define GROUP_TEXT(name, json, text) text,
					   GROUPS(GROUP_TEXT)
#undef GROUP_TEXT
};

const char *group_name(enum group group)
{
	return group_names[group];
}

const char *group_text(enum group group)
{
	return group_texts[group];
}

static const struct recogniser {
	enum group what;
	void (*find)(struct shapes *s);
} recognisers[] = {
	{ GROUP_elf_segments, shape_elf_segments },
	{ GROUP_jit_dual, shape_jit_dual },
	{ GROUP_jit_wx, shape_jit_wx },
	{ GROUP_thread_stack, shape_thread_stack },
	{ GROUP_fiber_stack, shape_fiber_stack },
	{ GROUP_reserve_commit, shape_reserve_commit },
	{ GROUP_write_barrier, shape_write_barrier },
	{ GROUP_decommit, shape_decommit },
	{ GROUP_uffd_stripes, shape_uffd_stripes },
	{ GROUP_numa_stripes, shape_numa_stripes },
	{ GROUP_pkey_stripes, shape_pkey_stripes },
	{ GROUP_lock_stripes, shape_lock_stripes },
	{ GROUP_advice_stripes, shape_advice_stripes },
	{ GROUP_shared_anon_per_map, shape_shared_anon_per_map },
	{ GROUP_file_per_map, shape_file_per_map },
	{ GROUP_file_windows, shape_file_windows },
	{ GROUP_moved, shape_moved },
	{ GROUP_one_page_maps, shape_one_page_maps },
	{ GROUP_fork_leftover, shape_fork_leftover },
	{ GROUP_touched_apart, shape_touched_apart },
	/* markers cost no area: they tell what areas are for when nothing tells why they are apart */
	{ GROUP_guard_marker, shape_guard_marker },
	{ GROUP_aligned_chunks, shape_aligned_chunks },
	{ GROUP_other, shape_other },
};

/* Makes a group of what is marked, if it is enough. */
static void settle(struct shapes *s, enum group what)
{
	struct findings *findings = s->findings;
	struct group_row row = s->row;

	row.what = what;
	row.example = SIZE_MAX;
	for (size_t i = 0; i < s->nr; i++) {
		if (!s->marked[i])
			continue;
		if (row.example == SIZE_MAX)
			row.example = i;
		row.areas++;
		row.bytes += bytes_of(&s->areas[i]);
	}
	if (row.areas < GROUP_AREAS)
		return;
	for (size_t i = 0; i < s->nr; i++)
		if (s->marked[i])
			s->group_of[i] = (uint8_t)what;
	findings->groups[findings->nr_groups++] = row;
}

static int more_areas(const void *left, const void *right)
{
	const struct group_row *l = left, *r = right;

	if (l->areas != r->areas)
		return l->areas < r->areas ? 1 : -1;
	return l->what < r->what ? -1 : l->what > r->what;
}

int groups_find(struct findings *findings)
{
	struct shapes s = {
		.findings = findings,
		.areas = findings->snapshot->areas,
		.nr = findings->snapshot->nr_areas,
		.pair = findings->pair,
		.group_of = findings->group_of,
	};
	int r = shapes_find_files(&s);

	s.marked = malloc((s.nr + 1) * sizeof(*s.marked));
	if (!s.marked)
		r = -ENOMEM;
	for (size_t i = 0; !r && i < sizeof(recognisers) / sizeof(recognisers[0]); i++) {
		memset(s.marked, 0, s.nr * sizeof(*s.marked));
		memset(&s.row, 0, sizeof(s.row));
		recognisers[i].find(&s);
		settle(&s, recognisers[i].what);
	}
	qsort(findings->groups, findings->nr_groups, sizeof(findings->groups[0]), more_areas);
	free(s.marked);
	free(s.file_of);
	free(s.files);
	return r;
}
