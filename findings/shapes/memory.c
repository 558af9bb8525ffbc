/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that was one and was cut: by protection, advice, locks, policies, moves, forks. */
#include "findings/shapes/shapes.h"

void shape_guard_marker(struct shapes *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->areas[i].guard_pages && shapes_mark(s, i))
			s->row.units += s->areas[i].guard_pages;
}

/*
 * Code made at run time: what is executable and has no file, and what lies between such pieces.
 *	r-x | --- | rw- | --- | r-x
 */
void shape_jit_wx(struct shapes *s)
{
	size_t last = SIZE_MAX; /* marked before the areas being looked at */

	for (size_t i = 0; i < s->nr; i++) {
		if (!is_anonymous(&s->areas[i]) || !(access_of(&s->areas[i]) & SEAM_VM_EXEC))
			continue;
		shapes_mark(s, i);
		if (i && is_anonymous_pair(s, i - 1))
			shapes_mark(s, i - 1);
		if (i + 1 < s->nr && is_anonymous_pair(s, i))
			shapes_mark(s, i + 1);
	}
	for (size_t i = 0; i < s->nr; i++) {
		if (i && !is_anonymous_pair(s, i - 1))
			last = SIZE_MAX;
		if (!s->marked[i])
			continue;
		for (size_t between = last + 1; last != SIZE_MAX && i - last <= 3 && between < i;
		     between++)
			shapes_mark(s, between);
		last = i;
	}
}

/*
 * A large reserve, used from one end:  used (rw-) | reserve (---, at least 256 KiB) up to a round
 * address, or the other way round.
 */
void shape_reserve_commit(struct shapes *s)
{
	for (size_t i = 0; i + 1 < s->nr; i++) {
		const struct snapshot_area *l = &s->areas[i], *r = &s->areas[i + 1];
		bool up = access_of(l) && !access_of(r), down = !access_of(l) && access_of(r);

		if (!is_anonymous_pair(s, i) || (!up && !down))
			continue;
		if (bytes_of(up ? r : l) < KIB(256) ||
		    (l->area.start % MIB(1) && r->area.end % MIB(1)))
			continue;
		if (is_free(s, i) && is_free(s, i + 1)) {
			s->row.units += !s->marked[i] || !s->marked[i + 1];
			shapes_mark(s, i);
			shapes_mark(s, i + 1);
		}
	}
}

/* A collector that learns of writes by faults: pages of one memory that differ in W alone. */
void shape_write_barrier(struct shapes *s)
{
	const uint32_t allowed = SEAM_CAUSE(prot) | SEAM_CAUSE(flags) | HISTORY;

	for (size_t i = 0; i + 1 < s->nr; i++) {
		const struct seam_area *l = &s->areas[i].area, *r = &s->areas[i + 1].area;
		uint64_t differ = seam_explain_flags(&s->findings->policy, l, r);

		if (!is_data_pair(s, i) || !(s->pair[i] & SEAM_CAUSE(prot)) ||
		    s->pair[i] & ~allowed || differ & ~(SEAM_VM_WRITE | SEAM_VM_ACCOUNT))
			continue;
		if (l->flags & r->flags & SEAM_VM_READ && is_free(s, i) && is_free(s, i + 1)) {
			shapes_mark(s, i);
			shapes_mark(s, i + 1);
		}
	}
	shapes_grow(s);
}

/* Accessible and closed pieces in turn. */
void shape_decommit(struct shapes *s)
{
	for (size_t i = 0; i + 1 < s->nr; i++) {
		const struct snapshot_area *l = &s->areas[i], *r = &s->areas[i + 1];

		if (!is_anonymous_pair(s, i) || !access_of(l) == !access_of(r) || !is_free(s, i) ||
		    !is_free(s, i + 1))
			continue;
		shapes_mark(s, i);
		shapes_mark(s, i + 1);
	}
	shapes_grow(s);
}

#define ADVICE                                                                                     \
	(SEAM_VM_DONTDUMP | SEAM_VM_DONTCOPY | SEAM_VM_WIPEONFORK | SEAM_VM_HUGEPAGE |             \
	 SEAM_VM_NOHUGEPAGE | SEAM_VM_MERGEABLE | SEAM_VM_SEQ_READ | SEAM_VM_RAND_READ)

void shape_advice_stripes(struct shapes *s)
{
	shapes_mark_flag_pairs(s, ADVICE);
}

void shape_lock_stripes(struct shapes *s)
{
	shapes_mark_flag_pairs(s, SEAM_VM_LOCKED | SEAM_VM_LOCKONFAULT);
}

void shape_uffd_stripes(struct shapes *s)
{
	shapes_mark_flag_pairs(s, SEAM_VM_UFFD_MISSING | SEAM_VM_UFFD_WP | SEAM_VM_UFFD_MINOR);
	shapes_mark_pairs(s, SEAM_CAUSE(uffd));
	shapes_grow(s);
}

void shape_numa_stripes(struct shapes *s)
{
	shapes_mark_pairs(s, SEAM_CAUSE(numa));
	shapes_grow(s);
}

void shape_pkey_stripes(struct shapes *s)
{
	shapes_mark_pairs(s, SEAM_CAUSE(pkey));
	shapes_grow(s);
}

/* Anonymous memory numbers its pages where it is mapped, and keeps the numbers when it moves. */
void shape_moved(struct shapes *s)
{
	for (size_t i = 0; i + 1 < s->nr; i++) {
		if (!is_anonymous_pair(s, i) || !(s->pair[i] & SEAM_CAUSE(offset)) ||
		    s->pair[i] & ~(SEAM_CAUSE(offset) | HISTORY) || !is_free(s, i) ||
		    !is_free(s, i + 1))
			continue;
		shapes_mark(s, i);
		shapes_mark(s, i + 1);
	}
}

void shape_fork_leftover(struct shapes *s)
{
	shapes_mark_pairs(s, SEAM_CAUSE(fork));
}

void shape_touched_apart(struct shapes *s)
{
	shapes_mark_pairs(s, SEAM_CAUSE(anon_vma));
}
