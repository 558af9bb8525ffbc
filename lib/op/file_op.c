/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/op/file_op.h"

#include "lib/op/limits.h"

/* linux/fcntl.h */
#define F_SEAL_WRITE 0x8u
#define F_SEAL_FUTURE_WRITE 0x10u

/* The rule memfd_seals. */
enum {
	SEALS_AT_LAST = 1,   /* by the operation alone; F_SEAL_WRITE forbids readers too */
	SEALS_WRITER_FIRST,  /* readers may; F_SEAL_WRITE is looked at first */
	SEALS_READERS_FIRST, /* readers may; writers are refused at last */
	SEALS_FIRST,
};

static bool is_sealed(const struct mapping *map)
{
	return map->file->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE) &&
	       map->flags & SEAM_VM_SHARED;
}

int file_check_seals(const struct seam_space *space, struct mapping *map)
{
	unsigned int seals = rule(space, SEAM_RULE_memfd_seals);

	if (seals <= SEALS_AT_LAST || !is_sealed(map))
		return 0;
	if (!(map->flags & SEAM_VM_WRITE)) {
		map->flags &= ~SEAM_VM_MAYWRITE;
		return 0;
	}
	/* 6.12 mm/mmap.c mmap_region: behind MDWE */
	if (seals == SEALS_WRITER_FIRST && limit_denies_exec(space, map->flags, map->flags))
		return -SEAM_EACCES;
	if (seals == SEALS_FIRST ||
	    (seals == SEALS_WRITER_FIRST && map->file->seals & F_SEAL_WRITE))
		return -SEAM_EPERM;
	return 0;
}

/* 5.10 mm/shmem.c shmem_mmap, and before it mapping_map_writable */
static int check_seals_at_last(const struct seam_space *space, struct mapping *map)
{
	unsigned int seals = rule(space, SEAM_RULE_memfd_seals);

	if (!seals || !map->file || !is_sealed(map))
		return 0;
	if (map->flags & SEAM_VM_WRITE ||
	    (seals == SEALS_AT_LAST && map->file->seals & F_SEAL_WRITE))
		return -SEAM_EPERM;
	map->flags &= ~SEAM_VM_MAYWRITE;
	return 0;
}

/* What a new object of shared memory is charged for as a whole (mm/shmem.c shmem_acct_size). */
static int charge_object(struct seam_space *space, const struct mapping *map)
{
	uint64_t pages = pages_of(space, map->len);
	int err;

	if (!WITH_KERNELS || map->file || !(map->flags & SEAM_VM_SHARED) ||
	    map->flags & SEAM_VM_NORESERVE)
		return 0;
	err = commit_charge(space, pages);
	if (!err)
		commit_release(space, pages);
	return err;
}

/* The rule memfd_secret: 1 and 3 lock it, 3 and 4 are asked first. */
static bool secret_is_locked(const struct seam_space *space)
{
	return rule(space, SEAM_RULE_memfd_secret) & 1;
}

/* 6.18 mm/secretmem.c secretmem_mmap_prepare */
static int map_secret(const struct seam_space *space, struct mapping *map)
{
	bool locked = secret_is_locked(space);

	if (!(map->flags & SEAM_VM_MAYSHARE))
		return -SEAM_EINVAL;
	if (locked &&
	    !limit_lock_fits(space, map->flags | SEAM_VM_LOCKED, pages_of(space, map->len)))
		return -SEAM_EAGAIN;
	map->flags |= SEAM_VM_DONTDUMP | (locked ? SEAM_VM_LOCKED : 0);
	return 0;
}

bool file_is_asked_first(const struct seam_space *space, const struct mapping *map)
{
	return is_secret(space, map) && rule(space, SEAM_RULE_memfd_secret) >= 3;
}

int file_map(struct seam_space *space, struct mapping *map)
{
	int err = charge_object(space, map);

	if (!err && is_hugetlb(map) && !is_huge_aligned(space, map->pgoff << space->page_shift))
		err = -SEAM_EINVAL;
	if (!err && is_secret(space, map))
		err = map_secret(space, map);
	if (!err)
		err = check_seals_at_last(space, map);
	return err ? err : file_refuses(map);
}
