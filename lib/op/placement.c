/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/op/placement.h"

#include "lib/compiler.h"
#include "lib/steps/steps.h"

#define LOW_BEGIN UINT64_C(0x40000000) /* MAP_32BIT searches from here ... */
#define LOW_END UINT64_C(0x80000000)   /* ... to here */
#define ABOVE_4G (UINT64_C(1) << 32)

uint64_t place_round_hint(const struct seam_space *space, uint64_t addr)
{
	addr = page_down(space, addr);
	if (addr && addr < space->min_addr)
		return page_up(space, space->min_addr);
	return addr;
}

uint64_t place_start_with_gap(const struct seam_space *space, const struct area *area)
{
	if (!WITH_KERNELS || !(area_flags(space, area) & SEAM_VM_GROWSDOWN))
		return area->start;
	return area->start > space->stack_gap ? area->start - space->stack_gap : 0;
}

/* The first area that ends behind @addr: what comes next where that is free. */
static bool area_behind(const struct seam_space *space, uint64_t addr, struct place_found *found,
			struct area *ret_area)
{
	found->has_next = index_seek(&space->index, addr, &found->next);
	if (found->has_next)
		index_load(&space->index, &found->next, ret_area);
	return found->has_next;
}

static bool is_free(const struct seam_space *space, uint64_t start, uint64_t end,
		    struct place_found *ret_found)
{
	struct area area;

	ret_found->addr = start;
	return !area_behind(space, start, ret_found, &area) || area.start >= end;
}

bool place_is_free(const struct seam_space *space, uint64_t start, uint64_t end)
{
	struct place_found found;

	return is_free(space, start, end, &found);
}

/* The range lies free below the gap of what comes next. */
static bool usable(const struct seam_space *space, uint64_t addr, uint64_t len,
		   struct place_found *ret_found)
{
	struct area area;
	bool more = area_behind(space, addr, ret_found, &area);

	steps_find(space, addr, &ret_found->next);
	ret_found->addr = addr;
	return !more || addr + len <= place_start_with_gap(space, &area);
}

/* Where the area above a gap keeps memory free from; what is above is noted. */
static uint64_t kept_free(const struct seam_space *space, const struct gap *gap,
			  struct place_found *ret_found)
{
	struct area above;

	ret_found->next = gap->above;
	ret_found->has_next = index_on_area(&space->index, &gap->above);
	if (!ret_found->has_next)
		return UINT64_MAX;
	index_load(&space->index, &gap->above, &above);
	return place_start_with_gap(space, &above);
}

static uint64_t lowest_allowed(const struct seam_space *space, uint64_t lo)
{
	return lo < space->min_addr ? page_up(space, space->min_addr) : lo;
}

/*
 * At the top of the highest gap in [lo, hi) that holds @len and, with @align, room to align.
 * Source: 6.18 mm/vma.c unmapped_area_topdown.
 */
static noinline_for_stack bool search_down(const struct seam_space *space, uint64_t len,
					   uint64_t align, uint64_t lo, uint64_t hi,
					   struct place_found *ret_found)
{
	uint64_t room = len + (align ? align - page_size(space) : 0);
	struct gap gap;

	lo = lowest_allowed(space, lo);
	steps_gap_search(space, room, lo, hi, true);
	while (index_gap_highest(&space->index, room, lo, hi, &gap)) {
		uint64_t addr = gap.end - len, limit = kept_free(space, &gap, ret_found);

		if (limit < gap.end) {
			/* from 6.1 on nothing at all is put within the gap, not only in this hole */
			hi = limit;
			if (hi < gap.start && !rule(space, SEAM_RULE_stack_shadow))
				hi = gap.start;
			continue;
		}
		ret_found->addr = align ? addr & ~(align - 1) : addr;
		return true;
	}
	return false;
}

/* At the bottom of the lowest gap (6.18 mm/vma.c unmapped_area). */
static noinline_for_stack bool search_up(const struct seam_space *space, uint64_t len,
					 uint64_t align, uint64_t lo, uint64_t hi,
					 struct place_found *ret_found)
{
	uint64_t room = len + (align ? align - page_size(space) : 0);
	struct gap gap;

	lo = lowest_allowed(space, lo);
	steps_gap_search(space, room, lo, hi, false);
	while (index_gap_lowest(&space->index, room, lo, hi, &gap)) {
		uint64_t addr = align ? (gap.start + align - 1) & ~(align - 1) : gap.start;

		if (kept_free(space, &gap, ret_found) < addr + room) {
			struct area above;

			index_load(&space->index, &gap.above, &above);
			lo = above.end;
			continue;
		}
		ret_found->addr = addr;
		return true;
	}
	return false;
}

static int find_upward(const struct seam_space *space, const struct place *place, uint64_t len,
		       struct place_found *ret_found)
{
	bool low = WITH_KERNELS && place->flags & SEAM_MAP_32BIT && space->user_end > ABOVE_4G;
	uint64_t lo = low ? LOW_BEGIN : space->legacy_base;
	uint64_t hi = low ? LOW_END : space->user_end;
	uint64_t addr = place->addr;

	if (len > hi)
		return -SEAM_ENOMEM;
	if (addr && hi - len >= addr && usable(space, addr, len, ret_found))
		return 0;
	return search_up(space, len, place->align, lo, hi, ret_found) ? 0 : -SEAM_ENOMEM;
}

/* A free range of @len by the layout of the space, the hint first. */
static int find_plainly(const struct seam_space *space, const struct place *place, uint64_t len,
			struct place_found *ret_found)
{
	bool above_4g = place->flags & SEAM_MAP_ABOVE4G && rule(space, SEAM_RULE_above4g);
	uint64_t addr = place->addr;

	if (len > space->user_end)
		return -SEAM_ENOMEM;
	if (space->flags & SEAM_SPACE_BOTTOM_UP || place->flags & SEAM_MAP_32BIT)
		return find_upward(space, place, len, ret_found);
	if (addr && space->user_end - len >= addr && usable(space, addr, len, ret_found))
		return 0;
	if (search_down(space, len, place->align, above_4g ? ABOVE_4G : page_size(space),
			space->mmap_base, ret_found))
		return 0;
	return find_upward(space, place, len, ret_found);
}

/* Whether this mapping is to begin where its file offset has a huge page's boundary. */
static bool wants_huge(const struct seam_space *space, const struct place *place)
{
	unsigned int value = rule(space, SEAM_RULE_thp_align);

	if (!WITH_KERNELS || !(space->flags & SEAM_SPACE_THP) || space->user_end <= ABOVE_4G)
		return false;
	if (place->file &&
	    (value < 4 || !place->plain_file || place->align || place->aligning_file))
		return value && place->aligning_file;
	return value == 2 || (value >= 3 && !place->addr && is_huge_aligned(space, place->len));
}

/*
 * With a huge page of room more than needed, then moved up to the boundary: at the top of the
 * gap this leaves up to a huge page free (6.18 mm/huge_memory.c __thp_get_unmapped_area).
 */
static bool find_huge(const struct seam_space *space, const struct place *place,
		      struct place_found *ret_found)
{
	uint64_t huge = huge_size(space);
	uint64_t offset = place->file ? place->pgoff << space->page_shift : 0;
	uint64_t first = huge_up(space, offset);
	uint64_t padded = place->len + huge;
	uint64_t up;

	if (offset + place->len <= first || offset + place->len - first < huge)
		return false;
	if (padded < place->len || offset + padded < offset)
		return false;
	if (find_plainly(space, place, padded, ret_found))
		return false;
	if (ret_found->addr != place->addr) {
		up = (offset - ret_found->addr) & (huge - 1);
		if (!up && !(space->flags & SEAM_SPACE_BOTTOM_UP))
			up = huge;
		ret_found->addr += up;
	}
	return true;
}

static int search(const struct seam_space *space, const struct place *place,
		  struct place_found *ret_found)
{
	if (place->given)
		return is_free(space, place->at, place->at + place->len, ret_found) ? 0
										    : -SEAM_EINVAL;
	if (wants_huge(space, place) && find_huge(space, place, ret_found))
		return 0;
	return find_plainly(space, place, place->len, ret_found);
}

/* What holds of each address, given or found (6.18 mm/mmap.c __get_unmapped_area). */
static int check_place(const struct seam_space *space, uint64_t addr, uint64_t len)
{
	if (addr > space->user_end - len)
		return -SEAM_ENOMEM;
	if (addr & (page_size(space) - 1))
		return -SEAM_EINVAL;
	if (addr < space->min_addr_sysctl && !(space->may & SEAM_MAY_RAWIO))
		return -SEAM_EPERM;
	return 0;
}

/* The addresses behind it are the negative error numbers of a 64-bit kernel. */
#define LAST_NO_ERROR (-UINT64_C(4096))

int place_fixed(const struct seam_space *space, uint64_t addr, uint64_t len, uint64_t align)
{
	if (len > space->user_end)
		return -SEAM_ENOMEM;
	if (align && addr & (align - 1))
		return -SEAM_EINVAL;
	/* the kernel passes it on as it is, and then takes it for an error (IS_ERR_VALUE) */
	if (WITH_KERNELS && addr > LAST_NO_ERROR)
		return (int)(int64_t)addr;
	return check_place(space, addr, len);
}

int place_find(const struct seam_space *space, const struct place *place,
	       struct place_found *ret_found)
{
	int err;

	if (place->len > space->user_end)
		return -SEAM_ENOMEM;
	*ret_found = (struct place_found) { .addr = place->addr };
	err = search(space, place, ret_found);
	return err ? err : check_place(space, ret_found->addr, place->len);
}
