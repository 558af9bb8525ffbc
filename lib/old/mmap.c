/* SPDX-License-Identifier: BSD-2-Clause */
/* mmap. Source: mm/mmap.c do_mmap (2.2), do_mmap_pgoff. */
#include "lib/old/old.h"

int old_check_total(const struct seam_space *space, uint64_t len)
{
	uint64_t limit = space->limit[SEAM_LIMIT_AS];

	return (space->mm.totals.total_pages << space->page_shift) + len > limit ? -SEAM_ENOMEM : 0;
}

int old_check_locked(const struct seam_space *space, uint64_t len)
{
	if (!rule(space, SEAM_RULE_lock_capable) && space->may & SEAM_MAY_IPC_LOCK)
		return 0;
	return (space->mm.totals.locked_pages << space->page_shift) + len >
			       space->limit[SEAM_LIMIT_MEMLOCK]
		       ? -SEAM_EAGAIN
		       : 0;
}

int old_check_memory(const struct seam_space *space, uint64_t len)
{
	return !space->overcommit && pages_of(space, len) > space->commit_limit_pages ? -SEAM_ENOMEM
										      : 0;
}

static unsigned int args_of(const struct seam_space *space)
{
	return rule(space, SEAM_RULE_mmap_args);
}

/* The length in whole pages; *ret_nothing: there is nothing to map, which counts as success. */
static int check_length(const struct seam_space *space, const struct seam_mmap *args,
			uint64_t *ret_len, bool *ret_nothing)
{
	uint64_t len = round_up(space, args->len), end = space->user_end;

	*ret_len = len;
	switch (args_of(space)) {
	case MMAP_2_6_24:
		if (!args->len)
			return -SEAM_EINVAL;
		return !len || len > end ? -SEAM_ENOMEM : 0;
	case MMAP_2_6_0:
		*ret_nothing = !args->len;
		return args->len && (!len || len > end) ? -SEAM_EINVAL : 0;
	case MMAP_2_4_10:
		*ret_nothing = !len;
		return len > end ? -SEAM_EINVAL : 0;
	default:
		*ret_nothing = !len;
		return len && (len > end || args->addr > end - len) ? -SEAM_EINVAL : 0;
	}
}

/* The offset must not wrap: as bytes in 2.2, in pages later. */
static int check_offset(const struct seam_space *space, const struct seam_mmap *args, uint64_t len)
{
	uint64_t off = args->pgoff, size = pages_of(space, len);

	if (rule(space, SEAM_RULE_byte_offsets)) {
		off = word(space, off << space->page_shift);
		size = len;
	}
	if (word(space, off + size) >= word(space, off))
		return 0;
	return args_of(space) == MMAP_2_6_24 ? -SEAM_EOVERFLOW : -SEAM_EINVAL;
}

/* Where a new area goes, and what is known of the place. */
struct free_place {
	bool searched;	  /* it is free ... */
	struct cursor at; /* ... and this is what index_seek finds for its start */
};

static int choose_place(struct seam_space *space, const struct seam_mmap *args, uint64_t len,
			uint64_t *ret_addr, struct free_place *ret_place)
{
	ret_place->searched = false;
	if (args->flags & SEAM_MAP_FIXED) {
		if (args->addr > space->user_end - len)
			return args_of(space) >= MMAP_2_6_0 ? -SEAM_ENOMEM : -SEAM_EINVAL;
		if (args->addr & (page_size(space) - 1))
			return -SEAM_EINVAL;
		*ret_addr = args->addr;
		return 0;
	}
	if (args->place) {
		if (args->at & (page_size(space) - 1) || args->at > space->user_end - len)
			return -SEAM_EINVAL;
		*ret_addr = args->at;
		return 0;
	}
	ret_place->searched = true;
	return place_search(space, args->addr, len, ret_addr, &ret_place->at);
}

static int check_lock(const struct seam_space *space, const struct seam_mmap *args, uint64_t len,
		      uint64_t *flags)
{
	if (args->flags & SEAM_MAP_LOCKED && rule(space, SEAM_RULE_map_locked)) {
		if (!old_may_lock(space))
			return -SEAM_EPERM;
		*flags |= SEAM_VM_LOCKED;
	}
	return *flags & SEAM_VM_LOCKED ? old_check_locked(space, len) : 0;
}

static int file_flags(const struct seam_mmap *args, uint64_t *flags)
{
	uint32_t traits = args->file->traits;

	switch (args->flags & SEAM_MAP_TYPE) {
	case SEAM_MAP_SHARED:
		if (args->prot & SEAM_PROT_WRITE && !(traits & SEAM_FILE_WRITE))
			return -SEAM_EACCES;
		if (traits & SEAM_FILE_APPEND && traits & SEAM_FILE_WRITE)
			return -SEAM_EACCES;
		*flags |= SEAM_VM_SHARED | SEAM_VM_MAYSHARE;
		if (!(traits & SEAM_FILE_WRITE))
			*flags &= ~(SEAM_VM_MAYWRITE | SEAM_VM_SHARED);
		break;
	case SEAM_MAP_PRIVATE:
		break;
	default:
		return -SEAM_EINVAL;
	}
	return traits & SEAM_FILE_READ ? 0 : -SEAM_EACCES;
}

static int anon_flags(const struct seam_space *space, const struct seam_mmap *args, uint64_t *flags)
{
	unsigned int type = args->flags & SEAM_MAP_TYPE, types = rule(space, SEAM_RULE_anon_types);
	bool shared = type == SEAM_MAP_SHARED;

	/* 2.4.2 looks at the one bit and never at the type */
	if (types == TYPES_ANY)
		shared = type & SEAM_MAP_SHARED;
	else if (type != SEAM_MAP_PRIVATE && (types == TYPES_PRIVATE || !shared))
		return -SEAM_EINVAL;
	if (shared)
		*flags |= SEAM_VM_SHARED | SEAM_VM_MAYSHARE;
	return 0;
}

static uint64_t protection_flags(const struct seam_mmap *args)
{
	uint64_t flags = args->prot & SEAM_VM_RWX;

	flags |= args->flags & SEAM_MAP_GROWSDOWN;
	if (args->kernel)
		flags |= args->flags & (SEAM_MAP_DENYWRITE | SEAM_MAP_EXECUTABLE);
	return flags | OLD_VM_MAY;
}

/* Everything that can be refused before the range is cleared. */
static int prepare(struct seam_space *space, const struct seam_mmap *args,
		   const struct seam_file *file, uint64_t len, struct area *range,
		   uint64_t *ret_flags, struct free_place *ret_place)
{
	uint64_t flags = protection_flags(args) | space->mm.def_flags;
	bool place_first = args_of(space) >= MMAP_2_4_10;
	int err = 0;

	if (place_first)
		err = choose_place(space, args, len, &range->start, ret_place);
	if (!err)
		err = check_lock(space, args, len, &flags);
	if (!err)
		err = file ? file_flags(args, &flags) : anon_flags(space, args, &flags);
	if (!err && !place_first)
		err = choose_place(space, args, len, &range->start, ret_place);
	range->end = range->start + len;
	*ret_flags = flags;
	return err;
}

/* The old contents go, whatever comes of the new ones. */
static int clear(struct seam_space *space, const struct area *range, struct free_place *place)
{
	int err = 0;

	if (!place->searched)
		index_seek(&space->index, range->start, &place->at);
	/* 2.4.10 and later look first for what overlaps */
	if (place->searched || args_of(space) >= MMAP_2_4_10)
		steps_insert(space, range->start, &place->at);
	if (place->searched)
		return 0;
	if (args_of(space) < MMAP_2_4_10 || old_range_taken(space, range->start, range->end))
		err = old_unmap(space, range->start, range->end - range->start);
	index_seek(&space->index, range->start, &place->at);
	return err ? -SEAM_ENOMEM : 0;
}

/* Private memory that may be written is accounted (2.6: the area remembers it). */
static int account(const struct seam_space *space, const struct seam_mmap *args, uint64_t len,
		   uint64_t *flags)
{
	if ((*flags & (SEAM_VM_WRITE | SEAM_VM_SHARED)) != SEAM_VM_WRITE ||
	    args->flags & SEAM_MAP_NORESERVE)
		return 0;
	if (rule(space, SEAM_RULE_account))
		*flags |= SEAM_VM_ACCOUNT;
	return old_check_memory(space, len);
}

static int describe(struct seam_space *space, const struct seam_file *file, uint64_t flags,
		    struct area *range)
{
	struct attr attr = { .flags = flags };

	if (file) {
		attr.file = file->id;
		if (file->traits & SEAM_FILE_CLOSE)
			attr.traits |= SEAM_TRAIT_CLOSE;
		if (file->traits & SEAM_FILE_SHMEM)
			attr.traits |= SEAM_TRAIT_SHMEM;
		/* set by the generic file operation; drivers have their own */
		if (rule(space, SEAM_RULE_nonlinear) && !(file->traits & SEAM_FILE_CLOSE))
			attr.flags |= OLD_VM_CAN_NONLINEAR;
	} else if (flags & SEAM_VM_SHARED) {
		attr.file = object_new(space->family, pages_of(space, range->end - range->start));
		attr.traits = SEAM_TRAIT_SHMEM;
	} else if (rule(space, SEAM_RULE_anon_pgoff) == PGOFF_ADDRESS) {
		range->pgoff = pages_of(space, range->start);
	}
	range->attr = area_intern(space, &attr);
	return range->attr ? 0 : -SEAM_EALLOC;
}

static int insert(struct seam_space *space, const struct area *range, const struct cursor *at)
{
	enum join_style style = rule(space, SEAM_RULE_mmap_join);

	/* an object behind shared anonymous memory is always a new one */
	if (style == JOIN_CASES && file_of(space, range) & SEAM_FILE_OWN)
		style = JOIN_NONE;
	return merge_fresh(space, style, rule(space, SEAM_RULE_anon_pgoff) >= PGOFF_KEPT, range,
			   at);
}

static int map(struct seam_space *space, const struct seam_mmap *args, const struct seam_file *file,
	       uint64_t len, uint64_t *ret_addr)
{
	struct area range = { .pgoff = args->pgoff & space->offset_mask, .tag = args->tag };
	struct free_place place;
	uint64_t flags;
	int err = prepare(space, args, file, len, &range, &flags, &place);

	if (!err)
		err = clear(space, &range, &place);
	if (!err)
		err = old_check_total(space, len);
	if (!err)
		err = account(space, args, len, &flags);
	if (!err && file && flags & SEAM_VM_GROWSDOWN && !rule(space, SEAM_RULE_grows_file))
		err = -SEAM_EINVAL;
	/* by the file's own operation, for which the range is clear already */
	if (!err && (file || flags & SEAM_VM_SHARED))
		err = args->refused;
	if (!err)
		err = describe(space, file, flags, &range);
	if (!err)
		err = insert(space, &range, &place.at);
	if (err)
		return err;
	*ret_addr = range.start;
	if (flags & SEAM_VM_LOCKED && old_fault_in(space, range.start) == -SEAM_EALLOC)
		return -SEAM_EALLOC;
	return 0;
}

int old_mmap(struct seam_space *space, const struct seam_mmap *args, uint64_t *ret_addr)
{
	const struct seam_file *file = args->flags & SEAM_MAP_ANONYMOUS ? NULL : args->file;
	bool nothing = false;
	uint64_t len;
	int err;

	if (!file && !(args->flags & SEAM_MAP_ANONYMOUS))
		return -SEAM_EBADF;
	if (file && file->traits & SEAM_FILE_NO_MMAP)
		return -SEAM_ENODEV;
	err = check_length(space, args, &len, &nothing);
	if (err)
		return err;
	if (nothing) {
		*ret_addr = args->addr;
		return 0;
	}
	err = check_offset(space, args, len);
	if (err)
		return err;
	if (index_count(&space->index) > space->limit[SEAM_LIMIT_AREAS])
		return -SEAM_ENOMEM;
	return map(space, args, file, len, ret_addr);
}
