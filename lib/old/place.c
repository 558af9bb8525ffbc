/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a new area goes when the caller leaves it to the kernel.
 * Source: 2.2.13 mm/mmap.c get_unmapped_area; 2.4.10 and later arch_get_unmapped_area; 2.6.12
 * arch_get_unmapped_area_topdown, arch_unmap_area_topdown.
 */
#include "lib/old/old.h"

/* Downward placement is i386's; an address space of 64 bits is filled upward by every policy. */
static bool downward(const struct seam_space *space)
{
	return rule(space, SEAM_RULE_old_search) >= SEARCH_DOWN &&
	       space->arch == arch_at(SEAM_ARCH_I386) && !(space->flags & SEAM_SPACE_BOTTOM_UP);
}

static bool knows_holes(const struct seam_space *space)
{
	return rule(space, SEAM_RULE_old_search) == SEARCH_HOLE;
}

static uint64_t search_base(const struct seam_space *space)
{
	return downward(space) ? space->mmap_base : space->legacy_base;
}

/* Where the last search ended. A fresh space has none: 0 stands for the base. */
static uint64_t cache_of(const struct seam_space *space)
{
	uint64_t cache = space->mm.free_area_cache;

	return cache ? cache : search_base(space);
}

/* [addr, addr + len) ends in user space. */
static bool fits(const struct seam_space *space, uint64_t addr, uint64_t len)
{
	return len <= space->user_end && addr <= space->user_end - len;
}

/* Is the hint, taken to the letter, free? */
static bool hint_is_free(struct seam_space *space, uint64_t hint, uint64_t len,
			 struct cursor *ret_next)
{
	struct spot spot;
	bool found = spot_look_up(space, hint, &spot);

	*ret_next = spot.cursor;
	return fits(space, hint, len) && (!found || hint + len <= spot.area.start);
}

/*
 * What a walk over areas remembers of the holes between them: the largest. Before the first it holds
 * the highest number there is; added to an address that wraps, so the first hole, or touching pair,
 * takes its place (2.6.24 mm/mmap.c arch_get_unmapped_area).
 */
static void note_holes(struct seam_space *space, const struct cursor *first,
		       const struct cursor *last, uint64_t from)
{
	uint64_t largest = index_largest_gap(&space->index, first, last, from);
	uint64_t *known = &space->mm.cached_hole_size;

	if (*known == SEAM_NO_LIMIT || largest > *known)
		*known = largest;
}

/*
 * The first free range from @from on. The old kernels walked from area to area: how far is reckoned
 * afterwards from where the walk began and ended.
 */
static bool first_fit(struct seam_space *space, uint64_t from, uint64_t len, uint64_t *ret_addr,
		      struct cursor *ret_next)
{
	struct gap gap = { .start = from };
	struct spot first, last;
	uint64_t passed;
	bool found, more = spot_look_up(space, from, &first);

	if (!fits(space, from, len)) {
		steps_placement(space, 1);
		return false;
	}
	found = index_gap_lowest_from(&space->index, &first.cursor, len, from, space->user_end,
				      &gap);
	*ret_addr = gap.start;
	*ret_next = gap.above;
	if (!space->steps && !knows_holes(space))
		return found;
	/* the area behind the range; if there is none, the walk ended behind the last that fits */
	last.cursor = gap.above;
	if (!found)
		spot_find(space, space->user_end - len, &last);
	if (!found)
		index_step(&space->index, &last.cursor);
	passed = index_between(&space->index, &first.cursor, &last.cursor);
	steps_placement(space, passed + 1);
	/* an area around the place where the walk begins has no hole below it */
	if (knows_holes(space) && passed > (more && first.area.start < from))
		note_holes(space, &first.cursor, &last.cursor, from);
	return found;
}

/* 2.6: from where the last search ended, and then once from the base. */
static int upward_from_cache(struct seam_space *space, uint64_t cache, uint64_t len,
			     uint64_t *ret_addr, struct cursor *ret_next)
{
	uint64_t from = cache;

	if (knows_holes(space) && len <= space->mm.cached_hole_size) {
		from = space->legacy_base;
		space->mm.cached_hole_size = 0;
	}
	if (!first_fit(space, from, len, ret_addr, ret_next)) {
		if (from == space->legacy_base)
			return -SEAM_ENOMEM;
		if (knows_holes(space))
			space->mm.cached_hole_size = 0;
		if (!first_fit(space, space->legacy_base, len, ret_addr, ret_next))
			return -SEAM_ENOMEM;
	}
	space->mm.free_area_cache = *ret_addr + len;
	return 0;
}

/* Nothing below the base: once upward, then downward from the base again. */
static int upward_instead(struct seam_space *space, uint64_t len, uint64_t *ret_addr,
			  struct cursor *ret_next)
{
	int err;

	if (knows_holes(space))
		space->mm.cached_hole_size = SEAM_NO_LIMIT;
	err = upward_from_cache(space, space->legacy_base, len, ret_addr, ret_next);
	space->mm.free_area_cache = space->mmap_base;
	if (knows_holes(space))
		space->mm.cached_hole_size = SEAM_NO_LIMIT;
	return err;
}

/* Right below the cached place, else downward from the base; 2.6.24 measures what it passes over. */
static int down_from_cache(struct seam_space *space, uint64_t len, uint64_t *ret_addr,
			   struct cursor *ret_next)
{
	bool holes = knows_holes(space);
	uint64_t addr;
	struct spot spot;

	if (holes && len <= space->mm.cached_hole_size) {
		space->mm.cached_hole_size = 0;
		space->mm.free_area_cache = space->mmap_base;
	}
	addr = cache_of(space);
	if (addr >= len + holes) {
		steps_placement(space, 1);
		if (!spot_look_up(space, addr - len, &spot) || addr <= spot.area.start) {
			*ret_addr = space->mm.free_area_cache = addr - len;
			*ret_next = spot.cursor;
			return 0;
		}
	}
	if (space->mmap_base < len)
		return upward_instead(space, len, ret_addr, ret_next);
	addr = space->mmap_base - len;
	do {
		steps_placement(space, 1);
		if (!spot_look_up(space, addr, &spot) || addr + len <= spot.area.start) {
			*ret_addr = space->mm.free_area_cache = addr;
			*ret_next = spot.cursor;
			return 0;
		}
		if (holes && addr + space->mm.cached_hole_size < spot.area.start)
			space->mm.cached_hole_size = spot.area.start - addr;
		addr = spot.area.start - len;
	} while (spot.area.start >= len + holes);
	return upward_instead(space, len, ret_addr, ret_next);
}

int place_search(struct seam_space *space, uint64_t hint, uint64_t len, uint64_t *ret_addr,
		 struct cursor *ret_next)
{
	unsigned int search = rule(space, SEAM_RULE_old_search);
	uint64_t addr = round_up(space, hint);

	if (len > space->user_end)
		return -SEAM_ENOMEM;
	if (search == SEARCH_HINT)
		return first_fit(space, addr ? addr : space->legacy_base, len, ret_addr, ret_next)
			       ? 0
			       : -SEAM_ENOMEM;
	if (hint && hint_is_free(space, addr, len, ret_next)) {
		*ret_addr = addr;
		return 0;
	}
	if (search == SEARCH_BASE)
		return first_fit(space, space->legacy_base, len, ret_addr, ret_next) ? 0
										     : -SEAM_ENOMEM;
	if (!downward(space))
		return upward_from_cache(space, cache_of(space), len, ret_addr, ret_next);
	return down_from_cache(space, len, ret_addr, ret_next);
}

void place_freed(struct seam_space *space, uint64_t start, uint64_t end)
{
	uint64_t cache = cache_of(space);

	if (rule(space, SEAM_RULE_old_search) < SEARCH_CACHE || knows_holes(space))
		return;
	if (downward(space)) {
		if (end > cache)
			space->mm.free_area_cache = end < space->mmap_base ? end : space->mmap_base;
	} else if (start >= space->legacy_base && start < cache) {
		space->mm.free_area_cache = start;
	}
}

void place_hole(struct seam_space *space, const struct cursor *above)
{
	uint64_t cache = cache_of(space), addr;
	struct spot spot = { .cursor = *above };

	if (!knows_holes(space))
		return;
	if (downward(space)) {
		addr = spot_load(space, &spot) ? spot.area.start : space->mmap_base;
		if (addr > cache)
			space->mm.free_area_cache = addr;
		if (cache_of(space) > space->mmap_base)
			space->mm.free_area_cache = space->mmap_base;
		return;
	}
	addr = spot_below(space, &spot, &spot) ? spot.area.end : space->legacy_base;
	if (addr >= space->legacy_base && addr < cache) {
		space->mm.free_area_cache = addr;
		space->mm.cached_hole_size = SEAM_NO_LIMIT;
	}
}

void place_fork(struct seam_space *child)
{
	child->mm.free_area_cache = 0;
	child->mm.cached_hole_size = knows_holes(child) ? SEAM_NO_LIMIT : 0;
}
