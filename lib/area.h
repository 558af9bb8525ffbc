/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/area.h - the edits that a call is made of. Each keeps the journal, the reference counts, the
 * totals; each gives 0 or -SEAM_EALLOC, after which the whole call is taken back.
 */
#ifndef LIB_AREA_H
#define LIB_AREA_H

#include "lib/space.h"

/* Puts in an area; *ret_cursor (may be NULL) on it. Its range must be free. */
int area_insert(struct seam_space *space, const struct area *area, struct cursor *ret_cursor);
/* The same where the cursor stands already at what index_seek finds for the area's start. */
int area_insert_at(struct seam_space *space, struct cursor *cursor, const struct area *area);
/* Takes out the area under the cursor, which moves to the next. */
int area_remove(struct seam_space *space, struct cursor *cursor);
/* The area under the cursor, which stays on it, becomes *area; see index_store. */
int area_store(struct seam_space *space, struct cursor *cursor, const struct area *area);

/* The kernel puts an area in and takes it out again, since it joins: only steps are told. */
int area_pass(struct seam_space *space, const struct area *area);

#define MOST_EXCHANGED 3
#define NEW_AREA (-1)

/* Areas that lie side by side become others, which begin and end between the same neighbours. */
struct exchange {
	unsigned int nr_old; /* at most MOST_EXCHANGED */
	struct area areas[MOST_EXCHANGED];
	unsigned int nr; /* the same; not beside nr_old: both would be loaded as one, and wait */
	int of[MOST_EXCHANGED];		 /* which of the old ones it is, changed; or NEW_AREA */
	struct area old[MOST_EXCHANGED]; /* filled in by area_exchange */
};

static inline void exchange_init(struct exchange *exchange, unsigned int nr_old)
{
	exchange->nr_old = nr_old;
	exchange->nr = 0;
}

/* The next of the new ones begins as a copy of @area; it is returned. */
static inline struct area *exchange_add(struct exchange *exchange, const struct area *area, int of)
{
	exchange->areas[exchange->nr] = *area;
	exchange->of[exchange->nr] = of;
	return &exchange->areas[exchange->nr++];
}

/*
 * The first of the old ones is under the cursor, which ends on the first of the new ones; without
 * any on what comes next.
 */
int area_exchange(struct seam_space *space, struct cursor *cursor, struct exchange *exchange);

/*
 * Cuts the area under the cursor in two at @at, which lies inside it:
 *	[start    at    end)  ->  [start at)[at end)
 * The cursor stays on the lower part. No limit is looked at.
 */
int area_split(struct seam_space *space, struct cursor *cursor, uint64_t at);

/* The area under the cursor gets another attribute set, equal but for @flags. */
int area_set_flags(struct seam_space *space, struct cursor *cursor, uint64_t flags);
/* The number of an attribute set; 0 and no_memory set when there is no memory. */
uint32_t area_intern(struct seam_space *space, const struct attr *attr);
/* The number of a fresh anon_vma; 0 and no_memory set when there is no memory. */
uint32_t area_new_anon(struct seam_space *space);

/* The areas [start, end) without any trace that they were there; splits at the edges. */
int area_clear(struct seam_space *space, uint64_t start, uint64_t end);

/* An area for the outside: for those who do it often, and for the others. */
static inline void area_show(const struct seam_space *space, const struct area *area,
			     struct seam_area *ret_area)
{
	const struct attr *attr = area_attr(space, area);

	*ret_area = (struct seam_area) {
		.start = area->start,
		.end = area->end,
		.flags = attr->flags,
		.pgoff = area->pgoff,
		.file = attr->file,
		.tag = area->tag,
		.anon_vma = anon_serial_of(space->family, area->anon),
		.anon_chain = anon_length(space->family, area->anon),
		.numa = attr->numa,
		.uffd = attr->uffd,
		.name = attr->name,
		.traits = attr->traits,
		.moved_pages = attr->moved_pages,
	};
}
void area_export(const struct seam_space *space, const struct area *area,
		 struct seam_area *ret_area);

/* What one area adds to the totals (6.18 mm/mmap.c vm_stat_account). */
void area_count(const struct seam_space *space, const struct area *area, struct seam_totals *totals,
		int sign);

/* The tag of the heap that ends at @end: what grows is the same memory to the embedder. */
uint64_t area_heap_tag(const struct seam_space *space, uint64_t end);

/* page offset of @addr, also below the area, in the area's numbering */
static inline uint64_t area_offset_at(const struct seam_space *space, const struct area *area,
				      uint64_t addr)
{
	if (addr < area->start)
		return (area->pgoff - pages_of(space, area->start - addr)) & space->offset_mask;
	return (area->pgoff + pages_of(space, addr - area->start)) & space->offset_mask;
}

#endif
