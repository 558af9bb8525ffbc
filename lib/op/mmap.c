/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/compiler.h"
#include "lib/op/fault.h"
#include "lib/op/file_op.h"
#include "lib/op/join_new.h"
#include "lib/op/ksm.h"
#include "lib/op/limits.h"
#include "lib/op/op.h"
#include "lib/op/placement.h"
#include "lib/op/unmap.h"
#include "lib/scratch.h"
#include "lib/steps/steps.h"

/* MAP_HUGE_2MB and MAP_HUGE_1GB */
#define HUGE_SIZES 0x7c000000u

/* What MAP_SHARED_VALIDATE knows: all before it, without what came later. */
#define LEGACY_FLAGS                                                                               \
	(SEAM_MAP_SHARED | SEAM_MAP_PRIVATE | SEAM_MAP_FIXED | SEAM_MAP_ANONYMOUS |                \
	 SEAM_MAP_DENYWRITE | SEAM_MAP_EXECUTABLE | SEAM_MAP_GROWSDOWN | SEAM_MAP_LOCKED |         \
	 SEAM_MAP_NORESERVE | SEAM_MAP_POPULATE | SEAM_MAP_NONBLOCK | SEAM_MAP_STACK |             \
	 SEAM_MAP_HUGETLB | SEAM_MAP_32BIT | SEAM_MAP_ABOVE4G | HUGE_SIZES)

/* MAP_HUGETLB maps a file that nobody has opened (6.18 mm/mmap.c ksys_mmap_pgoff). */
static const struct seam_file huge_memory = {
	.traits = SEAM_FILE_READ | SEAM_FILE_WRITE | SEAM_FILE_HUGETLB,
};

static bool is_noexec(const struct seam_file *file)
{
	return file->traits & (SEAM_FILE_NOEXEC | SEAM_FILE_SECRET);
}

/* What is given as arguments alone (6.18 mm/mmap.c ksys_mmap_pgoff, do_mmap). */
/*
 * The huge page that begins behind the hint; up to 6.13 the one that it lies in, also the one at address
 * 0, by a search of its own that knows no MAP_32BIT (6.12 arch/x86/mm/hugetlbpage.c).
 */
static void round_huge_hint(const struct seam_space *space, struct mapping *map)
{
	uint64_t hint = map->addr;

	if (rule(space, SEAM_RULE_huge_hint)) {
		map->addr = huge_up(space, hint);
		return;
	}
	map->addr = huge_down(space, hint);
	map->map_flags &= ~SEAM_MAP_32BIT;
	if (hint && !map->addr && place_is_free(space, 0, map->len))
		map->map_flags |= SEAM_MAP_FIXED;
}

static int check_arguments(const struct seam_space *space, const struct seam_mmap *args,
			   struct mapping *map)
{
	*map = (struct mapping) {
		.addr = args->addr,
		.len = args->len,
		.pgoff = args->pgoff,
		.prot = args->prot,
		.map_flags = args->flags,
		.tag = args->tag,
		.refused = args->refused,
	};
	if (!(args->flags & SEAM_MAP_ANONYMOUS)) {
		if (!args->file)
			return -SEAM_EBADF;
		map->file = args->file;
		if (args->flags & SEAM_MAP_HUGETLB && !is_hugetlb(map))
			return -SEAM_EINVAL;
	} else if (WITH_KERNELS && args->flags & SEAM_MAP_HUGETLB) {
		map->file = &huge_memory;
	}
	if (is_hugetlb(map))
		map->len = huge_up(space, map->len);
	if (!map->len)
		return -SEAM_EINVAL;
	if (WITH_KERNELS && map->prot & SEAM_PROT_READ &&
	    space->flags & SEAM_SPACE_READ_IMPLIES_EXEC && !(map->file && is_noexec(map->file)))
		map->prot |= SEAM_PROT_EXEC;
	if (map->map_flags & SEAM_MAP_FIXED_NOREPLACE)
		map->map_flags |= SEAM_MAP_FIXED;
	if (!(map->map_flags & SEAM_MAP_FIXED))
		map->addr = place_round_hint(space, map->addr);
	if (!(map->map_flags & SEAM_MAP_FIXED) && is_hugetlb(map))
		round_huge_hint(space, map);
	map->len = page_up(space, map->len);
	if (!map->len)
		return -SEAM_ENOMEM;
	if (map->pgoff + pages_of(space, map->len) < map->pgoff)
		return -SEAM_EOVERFLOW;
	return 0;
}

/* calc_vm_prot_bits, calc_vm_flag_bits */
static uint64_t first_flags(const struct seam_space *space, const struct mapping *map)
{
	uint64_t flags = map->prot & SEAM_VM_RWX;

	flags |= SEAM_VM_MAYREAD | SEAM_VM_MAYWRITE | SEAM_VM_MAYEXEC | space->mm.def_flags;
	if (WITH_KERNELS && map->prot == SEAM_PROT_EXEC)
		flags |= (uint64_t)space->exec_only_pkey << SEAM_VM_PKEY_SHIFT;
	if (map->map_flags & SEAM_MAP_GROWSDOWN)
		flags |= SEAM_VM_GROWSDOWN;
	if (map->map_flags & SEAM_MAP_LOCKED)
		flags |= SEAM_VM_LOCKED;
	if (map->map_flags & SEAM_MAP_SYNC)
		flags |= SEAM_VM_SYNC;
	if (map->map_flags & SEAM_MAP_STACK && rule(space, SEAM_RULE_stack_nh) &&
	    space->flags & SEAM_SPACE_THP)
		flags |= SEAM_VM_NOHUGEPAGE;
	return flags;
}

static uint64_t alignment(const struct seam_space *space, const struct mapping *map)
{
	return is_hugetlb(map) ? huge_size(space) : 0;
}

static int check_fixed(const struct seam_space *space, const struct mapping *map)
{
	int err = place_fixed(space, map->addr, map->len, alignment(space, map));

	if (!err && map->map_flags & SEAM_MAP_FIXED_NOREPLACE &&
	    !place_is_free(space, map->addr, map->addr + map->len))
		return -SEAM_EEXIST;
	return err;
}

/* Where it goes; *ret_old: what is known of the range then. */
static noinline_for_stack int choose_address(const struct seam_space *space,
					     const struct seam_mmap *args, struct mapping *map,
					     struct unmap *ret_old)
{
	struct place place = {
		.addr = map->addr,
		.len = map->len,
		.pgoff = map->pgoff,
		.align = alignment(space, map),
		.flags = map->map_flags,
		.file = map->file || map->map_flags & SEAM_MAP_SHARED,
		.aligning_file = map->file && map->file->traits & SEAM_FILE_THP_ALIGN,
		.plain_file = map->file && !(map->file->traits & SEAM_FILE_SHMEM),
		.given = args->place,
		.at = args->at,
	};
	struct place_found found;
	int err = place_find(space, &place, &found);

	if (err)
		return err;
	map->addr = found.addr;
	*ret_old = (struct unmap) {
		.start = map->addr,
		.end = map->addr + map->len,
		.found = found.has_next,
		.at = found.next,
	};
	return 0;
}

static int check_shared_file(struct mapping *map)
{
	uint32_t traits = map->file->traits;

	if (map->prot & SEAM_PROT_WRITE && !(traits & SEAM_FILE_WRITE))
		return -SEAM_EACCES;
	if (traits & SEAM_FILE_APPEND && traits & SEAM_FILE_WRITE)
		return -SEAM_EACCES;
	map->flags |= SEAM_VM_SHARED | SEAM_VM_MAYSHARE;
	if (!(traits & SEAM_FILE_WRITE))
		map->flags &= ~(SEAM_VM_MAYWRITE | SEAM_VM_SHARED);
	return 0;
}

/* Of MAP_SHARED_VALIDATE. Whether MAP_SYNC is possible the file's own operation says, at last. */
static uint32_t known_flags(const struct mapping *map)
{
	return LEGACY_FLAGS | (map->file->traits & SEAM_FILE_SYNC ? SEAM_MAP_SYNC : 0);
}

static int check_file(const struct seam_space *space, struct mapping *map)
{
	uint32_t traits = map->file->traits;
	int err;

	if (map->pgoff + pages_of(space, map->len) > UINT64_C(1) << (63 - space->page_shift))
		return -SEAM_EOVERFLOW;
	switch (map->map_flags & SEAM_MAP_TYPE) {
	case SEAM_MAP_SHARED_VALIDATE:
		if (map->map_flags & ~known_flags(map))
			return -SEAM_EOPNOTSUPP;
		__attribute__((fallthrough));
	case SEAM_MAP_SHARED:
		err = check_shared_file(map);
		if (err)
			return err;
		break;
	case SEAM_MAP_PRIVATE:
		break;
	default:
		return -SEAM_EINVAL;
	}
	if (!(traits & SEAM_FILE_READ))
		return -SEAM_EACCES;
	if (is_noexec(map->file)) {
		if (map->flags & SEAM_VM_EXEC)
			return -SEAM_EPERM;
		map->flags &= ~SEAM_VM_MAYEXEC;
	}
	if (traits & SEAM_FILE_NO_MMAP)
		return -SEAM_ENODEV;
	if (map->flags & SEAM_VM_GROWSDOWN)
		return -SEAM_EINVAL;
	return file_check_seals(space, map);
}

static int check_droppable(const struct seam_space *space, struct mapping *map)
{
	if (!rule(space, SEAM_RULE_droppable))
		return -SEAM_EINVAL;
	if (map->map_flags & SEAM_MAP_LOCKED || map->flags & SEAM_VM_GROWSDOWN)
		return -SEAM_EINVAL;
	map->flags |= SEAM_VM_DROPPABLE | SEAM_VM_NORESERVE | SEAM_VM_WIPEONFORK | SEAM_VM_DONTDUMP;
	return 0;
}

static int check_anonymous(const struct seam_space *space, struct mapping *map)
{
	int err;

	switch (map->map_flags & SEAM_MAP_TYPE) {
	case SEAM_MAP_SHARED:
		if (map->flags & SEAM_VM_GROWSDOWN)
			return -SEAM_EINVAL;
		map->pgoff = 0;
		map->flags |= SEAM_VM_SHARED | SEAM_VM_MAYSHARE;
		return 0;
	case SEAM_MAP_DROPPABLE:
		err = check_droppable(space, map);
		if (err)
			return err;
		break;
	case SEAM_MAP_PRIVATE:
		break;
	default:
		return -SEAM_EINVAL;
	}
	map->pgoff = pages_of(space, map->addr);
	return 0;
}

static int check_locking(const struct seam_space *space, const struct mapping *map)
{
	if (map->map_flags & SEAM_MAP_LOCKED && !limit_may_lock(space))
		return -SEAM_EPERM;
	if (!limit_lock_fits(space, map->flags, pages_of(space, map->len)))
		return -SEAM_EAGAIN;
	return 0;
}

/* PR_SET_MDWE: writable memory is not executable (include/linux/mman.h map_deny_write_exec). */
static bool denied_write_exec(const struct seam_space *space, uint64_t flags)
{
	return WITH_KERNELS && space->flags & SEAM_SPACE_MDWE && flags & SEAM_VM_EXEC &&
	       flags & SEAM_VM_WRITE;
}

/* What the driver adds: hugetlb areas are of a special kind, other files have their traits. */
static void apply_file(struct seam_space *space, struct mapping *map)
{
	bool shared = map->flags & SEAM_VM_MAYSHARE;

	if (map->file && map->file != &huge_memory) {
		map->object = map->file->id;
		if (map->file->traits & SEAM_FILE_CLOSE)
			map->traits |= SEAM_TRAIT_CLOSE;
		if (map->file->traits & SEAM_FILE_SHMEM)
			map->traits |= SEAM_TRAIT_SHMEM;
		if (map->file->traits & SEAM_FILE_THP_ALIGN)
			map->traits |= SEAM_TRAIT_THP_ALIGN;
		if (is_secret(space, map))
			map->traits |= SEAM_TRAIT_SECRET;
	} else if (map->file || shared) {
		map->object = object_new(space->family, pages_of(space, map->len));
		if (!map->file)
			map->traits |= SEAM_TRAIT_SHMEM;
	}
	if (is_hugetlb(map)) {
		map->flags |= SEAM_VM_HUGETLB | SEAM_VM_DONTEXPAND;
		map->traits |= SEAM_TRAIT_CLOSE;
	}
}

/* insert() clears the range and fills it in one; a small build does one after the other. */
static bool is_due(const struct unmap *old)
{
	return FOR_SPEED && old->due;
}

/* Whether the limits allow the new memory where the range holds some already (6.1 mmap_region). */
static noinline_for_stack bool may_expand_over(const struct seam_space *space,
					       const struct mapping *map)
{
	uint64_t pages = pages_of(space, map->len), end = map->addr + map->len;
	struct cursor cursor;
	struct area area;

	if (limit_may_expand(space, map->flags, pages))
		return true;
	for_each_area(space, map->addr, &cursor, &area) {
		if (area.start >= end)
			break;
		pages -= pages_of(space, (area.end < end ? area.end : end) -
						 (area.start > map->addr ? area.start : map->addr));
	}
	return limit_may_expand(space, map->flags, pages);
}

/* Makes room, and takes what the new memory is charged (6.18 mm/vma.c __mmap_prepare). */
static int make_room(struct seam_space *space, struct mapping *map, struct unmap *old)
{
	uint64_t pages = pages_of(space, map->len);
	bool charged = commit_wanted(map->flags), first = rule(space, SEAM_RULE_clear_first);
	int err = 0;

	/* what was searched for is free */
	if (!(map->map_flags & SEAM_MAP_FIXED))
		steps_find(space, map->addr, &old->at);
	else if (first && !may_expand_over(space, map))
		err = -SEAM_ENOMEM; /* before anything is cut */
	else
		err = unmap_check(space, map->addr, map->addr + map->len, old);
	/* up to 6.11 whatever cannot be cleared was said to lack memory */
	if (err)
		return first && err != -SEAM_EALLOC ? -SEAM_ENOMEM : err;
	if (!limit_may_expand(space, map->flags, pages - old->pages))
		err = -SEAM_ENOMEM;
	if (!err && first && old->pages)
		err = unmap_carry_out(space, old);
	/* what the old memory was charged goes over to the new one */
	if (!err && charged && (first || pages > old->charged))
		err = commit_charge(space, first ? pages : pages - old->charged);
	if (err)
		return !first && unmap_leave_cuts(space, old) ? -SEAM_EALLOC : err;
	if (charged)
		map->flags |= SEAM_VM_ACCOUNT;
	if (first || !old->pages)
		return 0;
	if (charged)
		space->mm.committed_pages += old->charged;
	/* steps are told of what is cleared before the new memory looks for its place */
	old->due = !space->steps;
	return is_due(old) ? 0 : unmap_carry_out(space, old);
}

/* What will be beside the new memory when @exchange has cleared its range. */
static noinline_for_stack void look_beside(const struct seam_space *space, const struct unmap *old,
					   const struct exchange *exchange, struct join_new *join)
{
	const struct index *index = &space->index;
	struct cursor below = old->at, above = old->at;

	join->beside = true;
	join->has_prev = old->cuts_head || index_prev(index, &below);
	if (old->cuts_head)
		join->prev = exchange->areas[0];
	else if (join->has_prev)
		index_load(index, &below, &join->prev);
	join->has_next = true;
	for (unsigned int i = 0; i < exchange->nr_old && join->has_next; i++)
		join->has_next = index_next(index, &above);
	if (old->cuts_tail)
		join->next = exchange->areas[exchange->nr - 1];
	else if (join->has_next)
		index_load(index, &above, &join->next);
	join->has_next |= old->cuts_tail;
}

/* Clears the range and puts in the new memory, as one edit: [head)[area)[tail). */
static int replace(struct seam_space *space, const struct unmap *old, struct exchange *exchange,
		   const struct area *area, struct cursor *ret_cursor)
{
	unsigned int at = old->cuts_head;
	int err;

	if (at < exchange->nr) {
		exchange->areas[at + 1] = exchange->areas[at];
		exchange->of[at + 1] = exchange->of[at];
	}
	exchange->areas[at] = *area;
	exchange->of[at] = NEW_AREA;
	exchange->nr++;
	*ret_cursor = old->at;
	err = area_exchange(space, ret_cursor, exchange);
	if (!err && old->cuts_head)
		index_step(&space->index, ret_cursor);
	return err;
}

/* Which neighbours it will join, with the flags that it has now and @ksm_flag. */
static noinline_for_stack int decide(struct seam_space *space, const struct mapping *map,
				     const struct unmap *old, uint64_t ksm_flag)
{
	struct join_new *join = &scratch_of(space)->join;
	struct attr *attr = &scratch_of(space)->attr;

	*attr = (struct attr) {
		.flags = map->flags | ksm_flag,
		.file = map->object,
		.traits = map->traits,
	};
	join_new_init(join, &(struct area) {
				    .start = map->addr,
				    .end = map->addr + map->len,
				    .pgoff = map->pgoff,
				    .tag = map->tag,
				    .attr = area_intern(space, attr),
			    });
	if (!join->area.attr)
		return -SEAM_EALLOC;
	join->right_first = rule(space, SEAM_RULE_fill_right);
	join->sought = true;
	join->has_next = old->found;
	join->next_at = old->at;
	if (is_due(old))
		look_beside(space, old, &scratch_of(space)->exchange, join);
	join_new_decide(space, join);
	return 0;
}

/*
 * A file's own map operation is asked when nothing joins, and once more for neighbours when it has
 * changed the flags (6.1 mm/mmap.c mmap_region); where it is asked first, it is before all that.
 */
static int ask_file(struct seam_space *space, struct mapping *map, const struct unmap *old,
		    uint64_t ksm_flag)
{
	const struct join_new *join = &scratch_of(space)->join;
	bool first = WITH_KERNELS && file_is_asked_first(space, map);
	uint64_t flags;
	int err = first ? file_map(space, map) : file_refuses(map);

	if (!err)
		err = decide(space, map, old, ksm_flag);
	if (!WITH_KERNELS || err || first || join->joins_left || join->joins_right)
		return err;
	flags = map->flags;
	err = file_map(space, map);
	return err || map->flags == flags ? err : decide(space, map, old, ksm_flag);
}

/* The range is cleared; the new memory joins what is beside it, or comes to lie there alone. */
static int put_in(struct seam_space *space, struct unmap *old, struct join_new *join,
		  struct cursor *ret_cursor)
{
	struct exchange *exchange = &scratch_of(space)->exchange;
	bool joins = join->joins_left || join->joins_right;
	int err;

	if (is_due(old)) {
		/* what a cut leaves above is there before the new memory is */
		if (!joins && !old->cuts_middle)
			return replace(space, old, exchange, &join->area, ret_cursor);
		err = unmap_finish(space, old, exchange);
		if (err)
			return err;
		join->next_at = join->prev_at = old->at;
		index_prev(&space->index, &join->prev_at);
	}
	return join_new_commit(space, join, ret_cursor);
}

/* The file has refused: the range is cleared all the same. */
static int clear_only(struct seam_space *space, struct unmap *old, int err)
{
	if (is_due(old) && unmap_finish(space, old, &scratch_of(space)->exchange))
		return -SEAM_EALLOC;
	return err;
}

/* Droppable memory could be locked by mlockall(MCL_FUTURE) at first. */
static bool never_locked(const struct seam_space *space, uint64_t flags)
{
	return flags & SEAM_VM_HUGETLB ||
	       (flags & SEAM_VM_DROPPABLE && rule(space, SEAM_RULE_droppable) > 1);
}

static noinline_for_stack int insert(struct seam_space *space, struct mapping *map,
				     struct unmap *old, struct cursor *ret_cursor)
{
	struct join_new *join = &scratch_of(space)->join;
	uint64_t ksm_flag = ksm_flag_before(space, map->flags);
	uint64_t flags, before;
	int err = is_due(old) ? unmap_prepare(space, old, &scratch_of(space)->exchange) : 0;

	if (err)
		return err;
	err = ask_file(space, map, old, ksm_flag);
	if (err)
		return clear_only(space, old, err);
	err = put_in(space, old, join, ret_cursor);
	if (err || join->joins_left || join->joins_right)
		return err;
	before = flags = map->flags | ksm_flag;
	flags |= ksm_flag_after(space, map->flags);
	/* what cannot be locked loses the flag that mlockall gives, after the joining */
	if (WITH_KERNELS && never_locked(space, map->flags))
		flags &= ~LOCK_BITS;
	return flags == before ? 0 : area_set_flags(space, ret_cursor, flags);
}

/* When the file refuses, what was to be replaced is gone, and the charge is given back. */
static int insert_or_give_up(struct seam_space *space, struct mapping *map, struct unmap *old,
			     struct cursor *ret_cursor)
{
	int err = insert(space, map, old, ret_cursor);

	if (err && err != -SEAM_EALLOC && map->flags & SEAM_VM_ACCOUNT)
		commit_release(space, pages_of(space, map->len));
	return err;
}

/* The pages of MAP_POPULATE and of locked memory; errors here do not fail the call. */
static int populate(struct seam_space *space, const struct mapping *map)
{
	bool asked = (map->map_flags & (SEAM_MAP_POPULATE | SEAM_MAP_NONBLOCK)) ==
		     SEAM_MAP_POPULATE;

	if (!WITH_KERNELS || (!asked && !(map->flags & SEAM_VM_LOCKED)))
		return 0;
	return fault_populate_all(space, map->addr, map->addr + map->len);
}

int linux_mmap(struct seam_space *space, const struct seam_mmap *args, uint64_t *ret_addr)
{
	struct unmap *old = &scratch_of(space)->unmap;
	struct cursor cursor;
	struct mapping map;
	int err = check_arguments(space, args, &map);

	if (err)
		return err;
	if (index_count(&space->index) > space->limit[SEAM_LIMIT_AREAS])
		return -SEAM_ENOMEM;
	map.flags = first_flags(space, &map);
	if (map.map_flags & SEAM_MAP_FIXED)
		err = check_fixed(space, &map);
	else
		err = choose_address(space, args, &map, old);
	if (!err)
		err = check_locking(space, &map);
	if (!err)
		err = map.file ? check_file(space, &map) : check_anonymous(space, &map);
	if (err)
		return err;
	if (map.map_flags & SEAM_MAP_NORESERVE && (space->overcommit != 2 || is_hugetlb(&map)))
		map.flags |= SEAM_VM_NORESERVE;
	if (denied_write_exec(space, map.flags))
		return -SEAM_EACCES;
	apply_file(space, &map);
	err = make_room(space, &map, old);
	if (!err)
		err = insert_or_give_up(space, &map, old, &cursor);
	if (!err)
		err = populate(space, &map);
	if (!err)
		*ret_addr = map.addr;
	return err;
}
