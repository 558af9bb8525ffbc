/* SPDX-License-Identifier: BSD-2-Clause */
/* The public calls: each one frames what the policy's generation does. */
#include "lib/calls.h"

#include "lib/changes.h"
#include "lib/export.h"
#include "lib/space.h"

static int end_counted(struct seam_space *space, int result)
{
	call_count(space, result);
	return call_end(space, result);
}

#define CALL(space, member, ...)                                                                   \
	do {                                                                                       \
		if (space_busy(space))                                                             \
			return -SEAM_EBUSY;                                                        \
		call_begin(space);                                                                 \
		if (!calls_of(space)->member)                                                      \
			return end_counted(space, -SEAM_ENOSYS);                                   \
		return end_counted(space, calls_of(space)->member(space, __VA_ARGS__));            \
	} while (0)

SEAM_EXPORT int seam_space_mmap(struct seam_space *space, const struct seam_mmap *args,
				uint64_t *ret_addr)
{
	CALL(space, mmap, args, ret_addr);
}

SEAM_EXPORT int seam_space_munmap(struct seam_space *space, uint64_t addr, uint64_t len)
{
	CALL(space, munmap, addr, len);
}

SEAM_EXPORT int seam_space_mprotect(struct seam_space *space, uint64_t addr, uint64_t len,
				    uint32_t prot, int pkey)
{
	CALL(space, mprotect, addr, len, prot, pkey);
}

SEAM_EXPORT int seam_space_mremap(struct seam_space *space, const struct seam_mremap *args,
				  uint64_t *ret_addr)
{
	int result;

	if (space_busy(space))
		return -SEAM_EBUSY;
	call_begin(space);
	result = calls_of(space)->mremap(space, args, ret_addr);
	changes_note_move(space, args, result, result ? 0 : *ret_addr);
	return end_counted(space, result);
}

SEAM_EXPORT int seam_space_madvise(struct seam_space *space, uint64_t addr, uint64_t len,
				   int advice)
{
	CALL(space, madvise, addr, len, advice);
}

SEAM_EXPORT int seam_space_mlock(struct seam_space *space, uint64_t addr, uint64_t len,
				 uint32_t flags)
{
	CALL(space, mlock, addr, len, flags);
}

SEAM_EXPORT int seam_space_munlock(struct seam_space *space, uint64_t addr, uint64_t len)
{
	CALL(space, munlock, addr, len);
}

SEAM_EXPORT int seam_space_mlockall(struct seam_space *space, uint32_t flags)
{
	CALL(space, mlockall, flags);
}

SEAM_EXPORT int seam_space_munlockall(struct seam_space *space)
{
	if (space_busy(space))
		return -SEAM_EBUSY;
	call_begin(space);
	if (!calls_of(space)->munlockall)
		return end_counted(space, -SEAM_ENOSYS);
	return end_counted(space, calls_of(space)->munlockall(space));
}

SEAM_EXPORT int seam_space_mseal(struct seam_space *space, uint64_t addr, uint64_t len,
				 uint64_t flags)
{
	CALL(space, mseal, addr, len, flags);
}

SEAM_EXPORT int seam_space_brk(struct seam_space *space, uint64_t addr, uint64_t *ret_brk)
{
	CALL(space, brk, addr, ret_brk);
}

/* The next two are no system calls. */
SEAM_EXPORT int seam_space_touch(struct seam_space *space, uint64_t addr, uint64_t len, int write,
				 uint64_t *ret_done)
{
	uint64_t done;

	if (space_busy(space))
		return -SEAM_EBUSY;
	call_begin(space);
	if (!calls_of(space)->touch)
		return call_end(space, -SEAM_ENOSYS);
	return call_end(space, calls_of(space)->touch(space, addr, len, write,
						      ret_done ? ret_done : &done));
}

SEAM_EXPORT int seam_space_stack(struct seam_space *space, uint64_t start, uint64_t len)
{
	if (space_busy(space))
		return -SEAM_EBUSY;
	call_begin(space);
	if (!calls_of(space)->stack)
		return call_end(space, -SEAM_ENOSYS);
	return call_end(space, calls_of(space)->stack(space, start, len));
}

SEAM_EXPORT int seam_space_mbind(struct seam_space *space, uint64_t addr, uint64_t len,
				 uint32_t numa)
{
	CALL(space, mbind, addr, len, numa);
}

SEAM_EXPORT int seam_space_uffd_register(struct seam_space *space, uint64_t addr, uint64_t len,
					 uint32_t uffd, uint64_t flags)
{
	CALL(space, uffd_register, addr, len, uffd, flags);
}

SEAM_EXPORT int seam_space_uffd_unregister(struct seam_space *space, uint64_t addr, uint64_t len,
					   uint32_t uffd)
{
	CALL(space, uffd_unregister, addr, len, uffd);
}

SEAM_EXPORT int seam_space_remap_file_pages(struct seam_space *space, uint64_t addr, uint64_t len,
					    uint32_t prot, uint64_t pgoff, uint32_t flags)
{
	CALL(space, remap_file_pages, addr, len, prot, pgoff, flags);
}

SEAM_EXPORT int seam_space_set_bound(struct seam_space *space, enum seam_bound bound, uint64_t addr)
{
	CALL(space, set_bound, bound, addr);
}

static int set_memory_merge(struct seam_space *space, int on)
{
	CALL(space, memory_merge, on);
}

SEAM_EXPORT int seam_space_set_memory_merge(struct seam_space *space, int on)
{
	int err = set_memory_merge(space, on);

	/* no part of what a failed call takes back */
	if (!err && on)
		space->flags |= SEAM_SPACE_MERGE_ANY;
	else if (!err)
		space->flags &= ~SEAM_SPACE_MERGE_ANY;
	return err;
}

SEAM_EXPORT int seam_space_set_name(struct seam_space *space, uint64_t addr, uint64_t len,
				    uint32_t name)
{
	CALL(space, set_name, addr, len, name);
}

SEAM_EXPORT int seam_space_set_tag(struct seam_space *space, uint64_t addr, uint64_t len,
				   uint64_t tag)
{
	CALL(space, set_tag, addr, len, tag);
}
