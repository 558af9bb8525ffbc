/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Since 4.0 this is a mapping anew of the same file, over a range that one run of equal areas of it
 * covers (6.18 mm/mmap.c remap_file_pages).
 */
#include "lib/compiler.h"
#include "lib/op/op.h"
#include "lib/scratch.h"

/* Whether areas of the same file and flags reach from @first to @end without a hole. */
static bool covered(const struct seam_space *space, struct cursor cursor, const struct area *first,
		    uint64_t end)
{
	const struct attr *attr = area_attr(space, first);
	struct area area = *first;
	uint64_t reached;

	while (area.end < end) {
		reached = area.end;
		if (!area_next(space, &cursor, &area))
			return false;
		if (area.start != reached || area_attr(space, &area)->file != attr->file ||
		    area_flags(space, &area) != attr->flags)
			return false;
	}
	return true;
}

/* Only a seal takes MAYWRITE from what is open for writing: F_SEAL_FUTURE_WRITE, or one like it. */
#define SEAL_OF_READERS 0x10u

/* The open file behind shared memory, as far as the memory tells. */
static struct seam_file file_behind(const struct attr *attr)
{
	static const struct {
		uint32_t trait, file;
	} traits[] = {
		{ SEAM_TRAIT_CLOSE, SEAM_FILE_CLOSE },
		{ SEAM_TRAIT_SHMEM, SEAM_FILE_SHMEM },
		{ SEAM_TRAIT_THP_ALIGN, SEAM_FILE_THP_ALIGN },
		{ SEAM_TRAIT_SECRET, SEAM_FILE_SECRET },
	};
	/* VM_SHARED stands only where it was opened for writing */
	struct seam_file file = { .id = attr->file, .traits = SEAM_FILE_READ | SEAM_FILE_WRITE };

	for (unsigned int i = 0; i < sizeof(traits) / sizeof(traits[0]); i++)
		if (attr->traits & traits[i].trait)
			file.traits |= traits[i].file;
	if (attr->flags & SEAM_VM_HUGETLB)
		file.traits |= SEAM_FILE_HUGETLB;
	if (!(attr->flags & SEAM_VM_MAYEXEC))
		file.traits |= SEAM_FILE_NOEXEC;
	if (!(attr->flags & SEAM_VM_MAYWRITE))
		file.seals = SEAL_OF_READERS;
	return file;
}

/* The call that maps [start, end) anew. -SEAM_EINVAL: no such memory covers it */
static noinline_for_stack int describe(struct seam_space *space, uint64_t start, uint64_t end,
				       struct mapped_anew *ret)
{
	struct cursor cursor;
	struct area area;
	uint64_t had;

	if (!area_seek(space, start, &cursor, &area))
		return -SEAM_EINVAL;
	had = area_flags(space, &area);
	if (area.start > start || !(had & SEAM_VM_SHARED) || !covered(space, cursor, &area, end))
		return -SEAM_EINVAL;
	ret->file = file_behind(area_attr(space, &area));
	ret->mmap = (struct seam_mmap) {
		.addr = start,
		.len = end - start,
		.file = &ret->file,
		.tag = area.tag,
		.prot = (uint32_t)(had & SEAM_VM_RWX),
		.flags = had & SEAM_VM_LOCKED ? SEAM_MAP_LOCKED : 0,
	};
	return 0;
}

/* mmap takes whole huge pages where a part of one is asked for; this call does not. */
static int check_huge(const struct seam_space *space, const struct mapped_anew *anew)
{
	if (!(anew->file.traits & SEAM_FILE_HUGETLB) || is_huge_aligned(space, anew->mmap.len))
		return 0;
	return index_count(&space->index) > space->limit[SEAM_LIMIT_AREAS] ? -SEAM_ENOMEM
									   : -SEAM_EINVAL;
}

int linux_remap_file_pages(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t prot,
			   uint64_t pgoff, uint32_t flags)
{
	uint64_t start = page_down(space, addr), size = page_down(space, len), at;
	struct mapped_anew *anew = &scratch_of(space)->anew;
	int err;

	if (prot || start + size <= start || pgoff + pages_of(space, size) < pgoff)
		return -SEAM_EINVAL;
	err = describe(space, start, start + size, anew);
	if (!err)
		err = check_huge(space, anew);
	if (err)
		return err;
	anew->mmap.pgoff = pgoff;
	anew->mmap.flags |= SEAM_MAP_SHARED | SEAM_MAP_FIXED | SEAM_MAP_POPULATE |
			    (flags & SEAM_MAP_NONBLOCK);
	return linux_mmap(space, &anew->mmap, &at);
}
