/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/remedies/remedies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "findings/causes.h"

/*
 * What is worth saying. An ordinary program has 40 to 850 areas, of which a few stacks or reserves
 * could be fewer, and nobody would notice. So a remedy is offered
 *  - when it leaves at least GROUP_AREAS fewer,
 *  - for a group that makes MINOR_SHARE of the map, or whose remedy saves MUCH by itself,
 *  - when the groups with remedies together make MAJOR_SHARE of the map, so that it is about them,
 *    or one saves MUCH, or the count presses upon its limit (PRESSURE_FELT),
 *  - and never for a process with less than SMALL_MAP areas: an empty C program has 23.
 */
#define MINOR_SHARE 0.125
#define MAJOR_SHARE 0.5
#define MUCH 1024 /* a 64th of the usual limit */
#define SMALL_MAP 32

static const struct remedy *const tables[] = {
	remedies_of_code, remedies_of_glibc, remedies_of_jemalloc,
	remedies_of_jvm,  remedies_of_libgc, remedies_of_mimalloc,
};

bool maps_file(const struct snapshot *snapshot, const char *name)
{
	for (size_t i = 0; i < snapshot->nr_areas; i++)
		if (snapshot->areas[i].name[0] == '/' && strstr(snapshot->areas[i].name, name))
			return true;
	return false;
}

static bool is_one_file(const struct snapshot_area *left, const struct snapshot_area *right)
{
	return left->inode && left->inode == right->inode && left->dev_major == right->dev_major &&
	       left->dev_minor == right->dev_minor;
}

/*
 * Area @index with everything that the remedy evens out taken over from @left, which its left
 * neighbour has been joined into.
 */
static struct seam_area evened(const struct findings *findings, const struct remedy *remedy,
			       const struct seam_area *left, size_t index)
{
	const struct snapshot_area *seen = &findings->snapshot->areas[index];
	unsigned int page_shift = snapshot_page_shift(findings->snapshot);
	struct seam_area area = area_as_seen(findings->snapshot, index);
	uint64_t flags = 0;

	if (remedy->drops & SEAM_CAUSE(prot))
		flags |= SEAM_VM_RWX;
	if (remedy->drops & SEAM_CAUSE(shared))
		flags |= SEAM_VM_SHARED | SEAM_VM_MAYSHARE;
	if (remedy->drops & SEAM_CAUSE(pkey))
		flags |= SEAM_VM_PKEY;
	if (remedy->drops & SEAM_CAUSE(flags))
		flags |= remedy->drops_flags ? remedy->drops_flags
					     : ~(SEAM_VM_RWX | SEAM_VM_SHARED | SEAM_VM_PKEY);
	area.flags = (area.flags & ~flags) | (left->flags & flags);
	if (remedy->drops & SEAM_CAUSE(file) && (!remedy->one_file || is_one_file(seen - 1, seen)))
		area.file = left->file;
	if (remedy->drops & SEAM_CAUSE(offset))
		area.pgoff = left->pgoff + ((left->end - left->start) >> page_shift);
	if (remedy->drops & (SEAM_CAUSE(anon_vma) | SEAM_CAUSE(fork))) {
		area.anon_vma = left->anon_vma;
		area.anon_chain = left->anon_chain;
	}
	if (remedy->drops & SEAM_CAUSE(numa))
		area.numa = left->numa;
	if (remedy->drops & SEAM_CAUSE(uffd))
		area.uffd = left->uffd;
	if (remedy->drops & SEAM_CAUSE(name))
		area.name = left->name;
	if (remedy->drops & SEAM_CAUSE(close))
		area.traits &= ~SEAM_TRAIT_CLOSE;
	return area;
}

/* @left takes in @right; an anon_vma that either has is kept. */
static void join(struct seam_area *left, const struct seam_area *right)
{
	left->end = right->end;
	if (!left->anon_vma) {
		left->anon_vma = right->anon_vma;
		left->anon_chain = right->anon_chain;
	}
}

static void count_after(const struct findings *findings, const struct remedy *remedy,
			struct remedy_row *row)
{
	const struct snapshot *snapshot = findings->snapshot;
	const struct seam_policy *policy = &findings->policy;
	unsigned int shift = snapshot_page_shift(snapshot);
	uint32_t mends = remedy->drops;
	struct seam_area last = { 0 };
	bool last_in = false;

	if (remedy->newer_kernel) {
		policy = findings_newest_policy();
		mends |= SEAM_CAUSE(rule);
	}
	row->exact = true;
	for (size_t i = 0; i < snapshot->nr_areas; i++) {
		struct seam_area area = area_as_seen(snapshot, i);
		bool in = findings->group_of[i] == remedy->group;

		if (in && remedy->drops_areas) {
			row->mended++;
			continue;
		}
		if (in && last_in && last.end == area.start) {
			struct seam_area even = evened(findings, remedy, &last, i);

			if (!seam_explain_pair(policy, shift, &last, &even)) {
				if (!remedy->anew &&
				    causes_hidden(snapshot, policy, i - 1) & ~remedy->drops)
					row->exact = false;
				row->mended += (findings->pair[i - 1] & mends) != 0;
				join(&last, &even);
				continue;
			}
		}
		last = area;
		last_in = in;
		row->areas_after++;
	}
}

static void count_fewer(const struct findings *findings, const struct group_row *group,
			struct remedy_row *row)
{
	row->mended = row->remedy->fewer(findings, group);
	row->areas_after = findings->snapshot->nr_areas - row->mended;
	row->exact = true;
}

static int add_row(struct findings *findings, const struct remedy_row *row)
{
	struct remedy_row *rows =
		realloc(findings->remedies, (findings->nr_remedies + 1) * sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	rows[findings->nr_remedies] = *row;
	rows[findings->nr_remedies].rank = findings->nr_remedies;
	findings->nr_remedies++;
	findings->remedies = rows;
	return 0;
}

static bool presses(const struct findings *findings)
{
	return findings->pressure >= PRESSURE_FELT;
}

static uint64_t saved(const struct findings *findings, const struct remedy_row *row)
{
	return findings->snapshot->nr_areas - row->areas_after;
}

static bool fits(const struct findings *findings, const struct remedy *remedy,
		 const struct group_row *group)
{
	if (remedy->for_pressure && !presses(findings))
		return false;
	return !remedy->fits || remedy->fits(findings, group);
}

static bool is_offered(const struct findings *findings, const struct remedy_row *row,
		       const struct group_row *group)
{
	if (row->remedy->for_pressure)
		return true;
	/* what a source hides might join as it is, and needs no remedy then */
	if (saved(findings, row) < GROUP_AREAS || row->mended < GROUP_AREAS / 2)
		return false;
	return presses(findings) || saved(findings, row) >= MUCH ||
	       (double)group->areas >= MINOR_SHARE * (double)findings->snapshot->nr_areas;
}

static int offer(struct findings *findings)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (const struct remedy *remedy = tables[t]; remedy->name; remedy++) {
			const struct group_row *group = findings_group(findings, remedy->group);
			struct remedy_row row = { .remedy = remedy, .group = remedy->group };
			int r;

			if (!group || !fits(findings, remedy, group))
				continue;
			if (remedy->fewer)
				count_fewer(findings, group, &row);
			else
				count_after(findings, remedy, &row);
			if (!is_offered(findings, &row, group))
				continue;
			r = add_row(findings, &row);
			if (r)
				return r;
		}
	}
	return 0;
}

/* Whether the map is about what the offered remedies are for. */
static bool is_worth_saying(const struct findings *findings)
{
	bool counted[NR_GROUPS] = { false };
	uint64_t areas = 0;

	if (presses(findings))
		return true;
	/* a text may be a piece of a map */
	if (findings->snapshot->nr_areas < SMALL_MAP && findings->snapshot->pid > 0)
		return false;
	for (size_t i = 0; i < findings->nr_remedies; i++) {
		const struct remedy_row *row = &findings->remedies[i];

		if (saved(findings, row) >= MUCH)
			return true;
		if (!counted[row->group])
			areas += findings_group(findings, row->group)->areas;
		counted[row->group] = true;
	}
	return (double)areas >= MAJOR_SHARE * (double)findings->snapshot->nr_areas;
}

static int fewer_left(const void *left, const void *right)
{
	const struct remedy_row *l = left, *r = right;

	if (l->areas_after != r->areas_after)
		return l->areas_after < r->areas_after ? -1 : 1;
	if (l->exact != r->exact)
		return l->exact ? -1 : 1;
	/* of equals the one that stands first in its table */
	return l->rank < r->rank ? -1 : 1;
}

int remedies_find(struct findings *findings)
{
	int r = offer(findings);

	if (!r && !is_worth_saying(findings))
		findings->nr_remedies = 0;
	if (!r && findings->nr_remedies)
		qsort(findings->remedies, findings->nr_remedies, sizeof(*findings->remedies),
		      fewer_left);
	return r;
}
