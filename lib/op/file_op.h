/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/op/file_op.h - what the file behind a mapping has to say to it: its own map operation, which
 * is asked when the range has been cleared already, and may then still refuse.
 */
#ifndef LIB_OP_FILE_OP_H
#define LIB_OP_FILE_OP_H

#include "lib/area.h"

/* A call of mmap on its way: the arguments as they are worked out. */
struct mapping {
	const struct seam_file *file; /* NULL: anonymous */
	uint64_t addr, len, pgoff;
	uint32_t prot, map_flags;
	uint64_t flags; /* of the area */
	uint32_t traits;
	uint64_t object; /* identity of the file or of the shared memory's object */
	uint64_t tag;
	int refused; /* by the file, as the caller knows */
};

static inline bool is_hugetlb(const struct mapping *map)
{
	return WITH_KERNELS && map->file && map->file->traits & SEAM_FILE_HUGETLB;
}

static inline bool is_secret(const struct seam_space *space, const struct mapping *map)
{
	return rule(space, SEAM_RULE_memfd_secret) && map->file &&
	       map->file->traits & SEAM_FILE_SECRET;
}

/*
 * A memfd that is sealed against writing, looked at with the other arguments: nothing is cleared
 * yet. Which kernel does it only later is the rule memfd_seals.
 *  -SEAM_EPERM  shared memory that would be written
 */
int file_check_seals(const struct seam_space *space, struct mapping *map);

/* What it is known to say, whatever the kernel finds: 0, or the error. */
static inline int file_refuses(const struct mapping *map)
{
	return map->file || map->flags & SEAM_VM_MAYSHARE ? map->refused : 0;
}

/* Whether the file is asked before the neighbours are looked at, not when none of them joins. */
bool file_is_asked_first(const struct seam_space *space, const struct mapping *map);

/*
 * The map operation. It may change the flags.
 *  -SEAM_ENOMEM  a new object of shared memory cannot be charged
 *  -SEAM_EINVAL  an offset within a huge page, or secret memory that is private
 *  -SEAM_EAGAIN  secret memory that would be locked beyond RLIMIT_MEMLOCK
 *  -SEAM_EPERM   sealed
 * and whatever the caller said that it gives (struct seam_mmap, refused).
 */
int file_map(struct seam_space *space, struct mapping *map);

#endif
