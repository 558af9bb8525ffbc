/* SPDX-License-Identifier: BSD-2-Clause */
/* mremap. Source: mm/mremap.c do_mremap, move_vma; mm/mmap.c copy_vma (2.6.6-). */
#include "lib/compiler.h"
#include "lib/old/old.h"
#include "lib/scratch.h"

static unsigned int args_of(const struct seam_space *space)
{
	return rule(space, SEAM_RULE_mremap_args);
}

static int check_args(const struct seam_space *space, const struct seam_mremap *args,
		      struct old_remap *remap)
{
	uint64_t mask = page_size(space) - 1;

	*remap = (struct old_remap) {
		.addr = args->old_addr,
		.old_len = round_up(space, args->old_len),
		.new_len = round_up(space, args->new_len),
		.new_addr = args->new_addr,
		.may_move = args->flags & SEAM_MREMAP_MAYMOVE,
		.fixed = args->flags & SEAM_MREMAP_FIXED && args_of(space) != MREMAP_2_2,
	};
	if (args->flags & ~(SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED) &&
	    args_of(space) != MREMAP_2_2)
		return -SEAM_EINVAL;
	if (remap->addr & mask || (!remap->new_len && args_of(space) >= MREMAP_2_6_6))
		return -SEAM_EINVAL;
	return 0;
}

/* [start, start + new_len) lies in user space and keeps clear of the source. */
static bool may_be_target(const struct seam_space *space, const struct old_remap *remap,
			  uint64_t start)
{
	uint64_t len = remap->new_len, end = space->user_end;

	if (start & (page_size(space) - 1) || len > end || start > end - len)
		return false;
	return (start > remap->addr || start + len <= remap->addr) &&
	       (remap->addr > start || remap->addr + remap->old_len <= start);
}

/* MREMAP_FIXED: the target is cleared first, whatever becomes of the rest. */
static int clear_target(struct seam_space *space, struct old_remap *remap)
{
	uint64_t start = remap->new_addr, len = remap->new_len;
	int err;

	if (!remap->may_move || !may_be_target(space, remap, start))
		return -SEAM_EINVAL;
	err = old_unmap(space, start, len);
	if (err == -SEAM_EALLOC || (err && rule(space, SEAM_RULE_move_limit)))
		return err;
	remap->target_taken = err == -SEAM_ENOMEM;
	return 0;
}

/* What is behind the new end goes. *ret_done: nothing is left to do. */
static int shrink(struct seam_space *space, struct old_remap *remap, bool *ret_done)
{
	int err = old_unmap(space, remap->addr + remap->new_len, remap->old_len - remap->new_len);

	if (err == -SEAM_EALLOC)
		return err;
	if (err && args_of(space) >= MREMAP_2_6_6 && remap->old_len != remap->new_len)
		return err;
	*ret_done = !remap->fixed || remap->new_addr == remap->addr;
	/* 2.4 goes on with the old length, which the area no longer has: EFAULT */
	if (args_of(space) >= MREMAP_2_6_0)
		remap->old_len = remap->new_len;
	return 0;
}

static int check_area(const struct seam_space *space, const struct old_remap *remap,
		      const struct spot *spot)
{
	uint64_t flags = area_flags(space, &spot->area);
	uint64_t more = remap->new_len - remap->old_len;
	int err = 0;

	if (remap->old_len > spot->area.end - remap->addr)
		return -SEAM_EFAULT;
	if (flags & SEAM_VM_DONTEXPAND && remap->new_len > remap->old_len &&
	    args_of(space) != MREMAP_2_2)
		return -SEAM_EFAULT;
	if (flags & SEAM_VM_LOCKED)
		err = old_check_locked(space, more);
	if (!err)
		err = old_check_total(space, more);
	if (!err && (flags & (SEAM_VM_WRITE | SEAM_VM_SHARED)) == SEAM_VM_WRITE)
		err = old_check_memory(space, more);
	return err;
}

/* Can the area grow where it is? It then never joins what it comes to touch. */
static noinline_for_stack bool has_room(const struct seam_space *space,
					const struct old_remap *remap, const struct spot *spot)
{
	uint64_t end = space->user_end;
	struct spot above;

	if (remap->old_len != spot->area.end - remap->addr ||
	    (remap->fixed && remap->addr != remap->new_addr) ||
	    (remap->old_len == remap->new_len && remap->may_move))
		return false;
	if (spot_above(space, spot, &above))
		end = above.area.start;
	return end - remap->addr >= remap->new_len;
}

static noinline_for_stack int grow_in_place(struct seam_space *space, const struct old_remap *remap,
					    const struct spot *spot)
{
	struct cursor at = spot->cursor;
	struct area grown = spot->area;
	int err;

	grown.end = remap->addr + remap->new_len;
	err = area_store(space, &at, &grown);
	if (!err && area_flags(space, &grown) & SEAM_VM_LOCKED &&
	    old_fault_in(space, remap->addr) == -SEAM_EALLOC)
		err = -SEAM_EALLOC;
	return err;
}

/* The area at its new place, joined with what it comes to touch. */
static noinline_for_stack int copy_area(struct seam_space *space, const struct old_remap *remap,
					const struct spot *spot)
{
	enum join_style style = rule(space, SEAM_RULE_mremap_join);
	struct area *copy = &scratch_of(space)->fresh;
	struct cursor at;

	*copy = spot->area;
	copy->pgoff = area_offset_at(space, &spot->area, remap->addr);
	copy->start = remap->new_addr;
	copy->end = remap->new_addr + remap->new_len;
	/* memory never touched takes the numbers of its new place, to fit in there */
	if (rule(space, SEAM_RULE_anon_pgoff) == PGOFF_ADDRESS && !copy->anon &&
	    !file_of(space, copy))
		copy->pgoff = pages_of(space, copy->start);
	index_seek(&space->index, copy->start, &at);
	steps_insert(space, copy->start, &at);
	return merge_fresh(space, style, style == JOIN_FILES, copy, &at);
}

static noinline_for_stack int set_account(struct seam_space *space, const struct spot *spot,
					  bool on)
{
	uint64_t flags = area_flags(space, &spot->area);
	struct cursor at = spot->cursor;

	flags = on ? flags | SEAM_VM_ACCOUNT : flags & ~SEAM_VM_ACCOUNT;
	return area_set_flags(space, &at, flags);
}

/*
 * The old place goes. The accounting bit is taken off the source meanwhile and given back to what
 * remains of it. That goes wrong when the unmapping fails (above all for an old length of 0):
 * 2.6.0 - 2.6.5 give the bit to the area behind a source whose middle was to go, 2.6.6 and later
 * give it back to nobody.
 */
static noinline_for_stack int drop_source(struct seam_space *space, const struct old_remap *remap,
					  bool accounted)
{
	struct spot *other = &scratch_of(space)->old_spot;
	uint64_t source;
	bool middle;
	int err;

	spot_find(space, remap->addr, other);
	source = other->area.start;
	middle = remap->addr > source && remap->addr + remap->old_len < other->area.end;
	err = old_unmap(space, remap->addr, remap->old_len);
	if (!err || err == -SEAM_EALLOC || !accounted)
		return err == -SEAM_EALLOC ? err : 0;
	spot_find(space, remap->addr, other);
	if (args_of(space) >= MREMAP_2_6_6)
		return set_account(space, other, false);
	if (middle && other->area.start == source && spot_above(space, other, other))
		return set_account(space, other, true);
	return 0;
}

static noinline_for_stack int move(struct seam_space *space, const struct old_remap *remap,
				   const struct spot *spot)
{
	uint64_t flags = area_flags(space, &spot->area);
	int err;

	if (rule(space, SEAM_RULE_move_limit) &&
	    index_count(&space->index) + 3 >= space->limit[SEAM_LIMIT_AREAS])
		return -SEAM_ENOMEM;
	/*
	 * Areas that overlap, or one without length (both lengths 0; CAN-2003-0985): the kernel stops
	 * itself, or goes on with a broken map.
	 */
	if (remap->target_taken || !remap->new_len)
		return -SEAM_EBUG;
	err = copy_area(space, remap, spot);
	if (!err)
		err = drop_source(space, remap,
				  rule(space, SEAM_RULE_account) && flags & SEAM_VM_ACCOUNT);
	if (!err && flags & SEAM_VM_LOCKED && remap->new_len > remap->old_len &&
	    old_fault_in(space, remap->new_addr) == -SEAM_EALLOC)
		err = -SEAM_EALLOC;
	return err;
}

/* A place that was recorded: what this map still has there is in its way. */
static noinline_for_stack int take_recorded(struct seam_space *space, uint64_t at,
					    struct old_remap *remap)
{
	if (!may_be_target(space, remap, at))
		return -SEAM_EINVAL;
	remap->new_addr = at;
	return old_range_taken(space, at, at + remap->new_len)
		       ? old_unmap(space, at, remap->new_len)
		       : 0;
}

static noinline_for_stack int relocate(struct seam_space *space, const struct seam_mremap *args,
				       struct old_remap *remap, uint64_t *ret_addr)
{
	struct spot *source = &scratch_of(space)->old_spot;
	struct cursor next;
	int err = 0;

	if (!remap->may_move)
		return -SEAM_ENOMEM;
	if (!remap->fixed && args->place)
		err = take_recorded(space, args->at, remap);
	else if (!remap->fixed)
		err = place_search(space, args_of(space) == MREMAP_2_2 ? remap->addr : 0,
				   remap->new_len, &remap->new_addr, &next);
	if (err)
		return err;
	spot_find(space, remap->addr, source);
	err = move(space, remap, source);
	if (!err)
		*ret_addr = remap->new_addr;
	return err;
}

int old_mremap(struct seam_space *space, const struct seam_mremap *args, uint64_t *ret_addr)
{
	struct old_remap *remap = &scratch_of(space)->old_remap;
	struct spot *spot = &scratch_of(space)->old_spot;
	bool done = false;
	int err = check_args(space, args, remap);

	if (!err && remap->fixed)
		err = clear_target(space, remap);
	if (!err && remap->old_len >= remap->new_len)
		err = shrink(space, remap, &done);
	if (err)
		return err;
	*ret_addr = remap->addr;
	if (done)
		return 0;
	if (!spot_look_up(space, remap->addr, spot) || spot->area.start > remap->addr)
		return -SEAM_EFAULT;
	err = check_area(space, remap, spot);
	if (err)
		return err;
	if (has_room(space, remap, spot))
		return grow_in_place(space, remap, spot);
	return relocate(space, args, remap, ret_addr);
}
