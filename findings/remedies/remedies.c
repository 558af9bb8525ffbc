/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/remedies/remedies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "findings/causes.h"

/* A group that makes up so much of a map is what the map is about. */
#define MAJOR_SHARE 0.5
/* Once a map is about something, what makes this share of it is worth a line too. */
#define MINOR_SHARE 0.125

static const struct remedy *const tables[] = {
	remedies_of_code,  remedies_of_glibc,	 remedies_of_jemalloc,
	remedies_of_libgc, remedies_of_mimalloc,
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
	struct seam_area last = { 0 };
	bool last_in = false;

	if (remedy->newer_kernel)
		policy = findings_newest_policy();
	row->exact = true;
	for (size_t i = 0; i < snapshot->nr_areas; i++) {
		struct seam_area area = area_as_seen(snapshot, i);
		bool in = findings->group_of[i] == remedy->group;

		if (in && remedy->drops_areas)
			continue;
		if (in && last_in && last.end == area.start) {
			struct seam_area even = evened(findings, remedy, &last, i);

			if (!seam_explain_pair(policy, shift, &last, &even)) {
				if (!remedy->anew &&
				    causes_hidden(snapshot, policy, i - 1) & ~remedy->drops)
					row->exact = false;
				join(&last, &even);
				continue;
			}
		}
		last = area;
		last_in = in;
		row->areas_after++;
	}
}

static int add_row(struct findings *findings, const struct remedy_row *row)
{
	struct remedy_row *rows =
		realloc(findings->remedies, (findings->nr_remedies + 1) * sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	rows[findings->nr_remedies++] = *row;
	findings->remedies = rows;
	return 0;
}

static bool is_offered(const struct findings *findings, const struct remedy *remedy,
		       const struct group_row *group, double least_share)
{
	bool presses = findings->pressure >= PRESSURE_FELT;

	if (!presses &&
	    (remedy->for_pressure || group->areas < least_share * findings->snapshot->nr_areas))
		return false;
	if (remedy->only_flags && group->flags & ~remedy->only_flags)
		return false;
	return !remedy->fits || remedy->fits(findings, group);
}

/* Offers all remedies for groups of at least this share of the map, or any when it presses. */
static int offer(struct findings *findings, double least_share)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (const struct remedy *remedy = tables[t]; remedy->name; remedy++) {
			const struct group_row *group = findings_group(findings, remedy->group);
			struct remedy_row row = { .remedy = remedy, .group = remedy->group };
			int r;

			if (!group || !is_offered(findings, remedy, group, least_share))
				continue;
			count_after(findings, remedy, &row);
			if (!remedy->for_pressure &&
			    row.areas_after + GROUP_AREAS > findings->snapshot->nr_areas)
				continue;
			r = add_row(findings, &row);
			if (r)
				return r;
		}
	}
	return 0;
}

static int fewer_left(const void *left, const void *right)
{
	const struct remedy_row *l = left, *r = right;

	if (l->areas_after != r->areas_after)
		return l->areas_after < r->areas_after ? -1 : 1;
	return strcmp(l->remedy->what, r->remedy->what);
}

int remedies_find(struct findings *findings)
{
	int r = offer(findings, MAJOR_SHARE);

	if (!r && findings->nr_remedies) {
		findings->nr_remedies = 0;
		r = offer(findings, MINOR_SHARE);
	}
	if (!r && findings->nr_remedies)
		qsort(findings->remedies, findings->nr_remedies, sizeof(*findings->remedies),
		      fewer_left);
	return r;
}
