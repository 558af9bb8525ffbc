/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam/ops.h - the calls that change an address space, answered by the space's policy.
 *
 * Each function takes what the system call takes and gives 0 or the errno that the kernel of the
 * space's policy would give, as a negative number, in the order in which that kernel tests. What a
 * failing call leaves behind (earlier areas of an mprotect, the first of two splits, a range that
 * MAP_FIXED has cleared) is left behind here too. -SEAM_EALLOC is ours alone and changes nothing.
 * A call that the policy's kernel did not have gives -SEAM_ENOSYS; a flag that it did not know is
 * ignored as it did.
 *
 * Costs: O(log n) plus the areas that the call touches. No call keeps a pointer it was given.
 */
#ifndef SEAM_OPS_H
#define SEAM_OPS_H

#include <stddef.h>
#include <stdint.h>

#include <seam/space.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SEAM_PROT_NONE 0x0u
#define SEAM_PROT_READ 0x1u
#define SEAM_PROT_WRITE 0x2u
#define SEAM_PROT_EXEC 0x4u
#define SEAM_PROT_SEM 0x8u
#define SEAM_PROT_GROWSDOWN 0x01000000u
#define SEAM_PROT_GROWSUP 0x02000000u

#define SEAM_MAP_SHARED 0x1u
#define SEAM_MAP_PRIVATE 0x2u
#define SEAM_MAP_SHARED_VALIDATE 0x3u
#define SEAM_MAP_DROPPABLE 0x8u
#define SEAM_MAP_TYPE 0xfu
#define SEAM_MAP_FIXED 0x10u
#define SEAM_MAP_ANONYMOUS 0x20u
#define SEAM_MAP_32BIT 0x40u
#define SEAM_MAP_ABOVE4G 0x80u
#define SEAM_MAP_GROWSDOWN 0x100u
#define SEAM_MAP_DENYWRITE 0x800u
#define SEAM_MAP_EXECUTABLE 0x1000u
#define SEAM_MAP_LOCKED 0x2000u
#define SEAM_MAP_NORESERVE 0x4000u
#define SEAM_MAP_POPULATE 0x8000u
#define SEAM_MAP_NONBLOCK 0x10000u
#define SEAM_MAP_STACK 0x20000u
#define SEAM_MAP_HUGETLB 0x40000u
#define SEAM_MAP_SYNC 0x80000u
#define SEAM_MAP_FIXED_NOREPLACE 0x100000u

#define SEAM_MREMAP_MAYMOVE 0x1u
#define SEAM_MREMAP_FIXED 0x2u
#define SEAM_MREMAP_DONTUNMAP 0x4u

#define SEAM_MADV_NORMAL 0
#define SEAM_MADV_RANDOM 1
#define SEAM_MADV_SEQUENTIAL 2
#define SEAM_MADV_WILLNEED 3
#define SEAM_MADV_DONTNEED 4
#define SEAM_MADV_FREE 8
#define SEAM_MADV_REMOVE 9
#define SEAM_MADV_DONTFORK 10
#define SEAM_MADV_DOFORK 11
#define SEAM_MADV_MERGEABLE 12
#define SEAM_MADV_UNMERGEABLE 13
#define SEAM_MADV_HUGEPAGE 14
#define SEAM_MADV_NOHUGEPAGE 15
#define SEAM_MADV_DONTDUMP 16
#define SEAM_MADV_DODUMP 17
#define SEAM_MADV_WIPEONFORK 18
#define SEAM_MADV_KEEPONFORK 19
#define SEAM_MADV_COLD 20
#define SEAM_MADV_PAGEOUT 21
#define SEAM_MADV_POPULATE_READ 22
#define SEAM_MADV_POPULATE_WRITE 23
#define SEAM_MADV_DONTNEED_LOCKED 24
#define SEAM_MADV_COLLAPSE 25
#define SEAM_MADV_HWPOISON 100
#define SEAM_MADV_SOFT_OFFLINE 101
#define SEAM_MADV_GUARD_INSTALL 102
#define SEAM_MADV_GUARD_REMOVE 103

#define SEAM_MLOCK_ONFAULT 0x1u
#define SEAM_MCL_CURRENT 0x1u
#define SEAM_MCL_FUTURE 0x2u
#define SEAM_MCL_ONFAULT 0x4u

/* How an open file behaves (struct seam_file, traits). */
#define SEAM_FILE_READ 0x1u	  /* open for reading */
#define SEAM_FILE_WRITE 0x2u	  /* open for writing */
#define SEAM_FILE_CLOSE 0x4u	  /* its areas have a close operation */
#define SEAM_FILE_SHMEM 0x8u	  /* tmpfs kind: memfd, /dev/shm, SysV */
#define SEAM_FILE_HUGETLB 0x10u	  /* hugetlbfs */
#define SEAM_FILE_NO_MMAP 0x20u	  /* cannot be mapped: ENODEV (directories, /proc files) */
#define SEAM_FILE_NOEXEC 0x40u	  /* on a noexec mount */
#define SEAM_FILE_THP_ALIGN 0x80u /* its file system aligns large maps: ext4, xfs, btrfs */
#define SEAM_FILE_APPEND 0x100u	  /* append-only inode */
#define SEAM_FILE_SYNC 0x200u	  /* its file system knows MAP_SYNC: ext4, xfs */
#define SEAM_FILE_SECRET 0x400u	  /* memfd_secret, which implies NOEXEC */

/* An open file description. id is the caller's and not 0; ids with the top bit set are ours. */
struct seam_file {
	uint64_t id;
	uint32_t traits; /* SEAM_FILE_* */
	uint32_t seals;	 /* F_SEAL_* of a memfd, as they are at the call */
};
#define SEAM_FILE_OWN (UINT64_C(1) << 63) /* objects behind shared anonymous memory */

struct seam_mmap {
	uint64_t addr; /* hint, or the place with SEAM_MAP_FIXED */
	uint64_t len;
	uint32_t prot;	/* SEAM_PROT_* */
	uint32_t flags; /* SEAM_MAP_* */
	uint64_t pgoff;
	const struct seam_file *file; /* NULL: none given (-1); EBADF unless anonymous */
	uint32_t kernel; /* 1: made by the program loader, so DENYWRITE and EXECUTABLE count */
	uint32_t place;	 /* 1: the answer to the search is given in at (a recorded address) */
	uint64_t at;
	uint64_t tag; /* of the new memory (seam/payload.h) */
	/*
	 * 0, or the -errno with which the file's own map operation refuses: too few huge pages, a driver,
	 * MAP_SYNC without such a device. No policy knows; the caller has seen it. All that the kernel
	 * tests before comes before; then the call gives this, and what it would have replaced is gone.
	 * Private memory without a file has no such operation.
	 */
	int refused;
};

/*
 * The map call. *ret_addr is where it landed; it stays as it was on an error.
 *  -SEAM_EINVAL  no length, no type among the flags, a fixed address that is not page aligned, or
 *		  flags that do not go together
 *  -SEAM_ENOMEM  no room, a limit (areas, RLIMIT_AS, RLIMIT_DATA), memory cannot be charged
 *  -SEAM_EEXIST  MAP_FIXED_NOREPLACE, and there is something
 *  -SEAM_EBADF   no file, and not anonymous
 *  -SEAM_EACCES  the file is not open for this protection
 *  -SEAM_EPERM   sealed memory is in the way; below vm.mmap_min_addr; a noexec mount; not allowed
 *		  to lock
 *  -SEAM_ENODEV  a file that cannot be mapped
 *  -SEAM_EAGAIN  more locked memory than RLIMIT_MEMLOCK
 *  -SEAM_EOVERFLOW  the file's offsets wrap
 *  -SEAM_EOPNOTSUPP  MAP_SHARED_VALIDATE with a flag that it does not know
 * a fixed address from -4095 on comes back as the error that it looks like, as in the kernel;
 * and what @args->refused says. An error that comes from the file itself (also -SEAM_EINVAL and
 * -SEAM_EAGAIN of memfd_secret, -SEAM_ENOMEM of shared memory that cannot be charged) leaves a hole.
 * Source: 6.18 mm/mmap.c ksys_mmap_pgoff, do_mmap; mm/vma.c mmap_region.
 */
int seam_space_mmap(struct seam_space *space, const struct seam_mmap *args, uint64_t *ret_addr);

/*
 * Nothing of the range stays mapped; holes in it are passed over. @len is rounded up to pages.
 *  -SEAM_EINVAL  @addr is not page aligned, no length, beyond user space, or within memory that
 *		  cannot be cut (a vdso, a huge page)
 *  -SEAM_ENOMEM  an area would be left on both sides, and the area limit is reached
 *  -SEAM_EPERM   sealed memory
 * Source: 6.18 mm/vma.c do_vmi_align_munmap.
 */
int seam_space_munmap(struct seam_space *space, uint64_t addr, uint64_t len);

/*
 * @prot for each page of the range, area by area upward, joined or cut as they fit. @pkey: -1 for
 * mprotect, 0 to 15 for pkey_mprotect. What lies below the place of an error has been changed.
 *  -SEAM_EINVAL  @addr is not page aligned, a protection or key that is none
 *  -SEAM_ENOMEM  a hole, a cut at the area limit, or memory made writable cannot be charged
 *  -SEAM_EACCES  the file was not opened for that, or PR_SET_MDWE forbids it
 *  -SEAM_EPERM   sealed memory
 * Source: 6.18 mm/mprotect.c do_mprotect_pkey.
 */
int seam_space_mprotect(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t prot,
			int pkey);

struct seam_mremap {
	uint64_t old_addr, old_len, new_len;
	uint32_t flags; /* SEAM_MREMAP_* */
	uint32_t place; /* as in struct seam_mmap */
	uint64_t new_addr;
	uint64_t at;
};
/*
 * *ret_addr is where the memory lies then; it stays as it was on an error. Lengths are rounded up to
 * pages.
 *  -SEAM_EINVAL  @old_addr or @new_addr is not page aligned, no new length, flags that do not go
 *		  together, source and target overlap, or memory that cannot be cut
 *  -SEAM_EFAULT  no memory at @old_addr, or the range has not one area alone
 *  -SEAM_ENOMEM  no room and it may not move, a limit, memory cannot be charged
 *  -SEAM_EAGAIN  more locked memory than RLIMIT_MEMLOCK
 *  -SEAM_EPERM   sealed memory
 * Source: 6.18 mm/mremap.c do_mremap.
 */
int seam_space_mremap(struct seam_space *space, const struct seam_mremap *args, uint64_t *ret_addr);

/*
 * @advice: SEAM_MADV_*. Those that say nothing of areas change nothing.
 *  -SEAM_EINVAL  @addr is not page aligned, the range wraps, no such advice, or not for such memory
 *  -SEAM_ENOMEM  a hole; what lies behind it is advised all the same
 *  -SEAM_EAGAIN  a cut at the area limit
 *  -SEAM_EFAULT  populating memory that allows no access
 *  -SEAM_EACCES  SEAM_MADV_REMOVE of memory that is not shared and writable
 *  -SEAM_EPERM   sealed memory that would be discarded
 * Source: 6.18 mm/madvise.c do_madvise.
 */
int seam_space_madvise(struct seam_space *space, uint64_t addr, uint64_t len, int advice);

/*
 * mlock, and mlock2 with @flags SEAM_MLOCK_ONFAULT. What is locked is faulted in, as far as it goes.
 * Ranges are widened to pages.
 *  -SEAM_EINVAL  another flag, or the range wraps
 *  -SEAM_ENOMEM  a hole, over RLIMIT_MEMLOCK, a cut at the area limit, or no access to the memory
 *  -SEAM_EPERM   RLIMIT_MEMLOCK is 0 and the caller may not
 * Source: 6.18 mm/mlock.c do_mlock.
 */
int seam_space_mlock(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t flags);
int seam_space_munlock(struct seam_space *space, uint64_t addr, uint64_t len);
/*
 * @flags: SEAM_MCL_*. O(areas).
 *  -SEAM_EINVAL  no flag, another one, or SEAM_MCL_ONFAULT alone
 *  -SEAM_ENOMEM  over RLIMIT_MEMLOCK
 *  -SEAM_EPERM   as mlock
 */
int seam_space_mlockall(struct seam_space *space, uint32_t flags);
int seam_space_munlockall(struct seam_space *space);

/*
 * The range can be changed no more.
 *  -SEAM_EINVAL  @flags is not 0, @addr is not page aligned, or the range wraps
 *  -SEAM_ENOMEM  a hole (nothing is sealed), or a cut at the area limit
 * Source: 6.18 mm/mseal.c do_mseal.
 */
int seam_space_mseal(struct seam_space *space, uint64_t addr, uint64_t len, uint64_t flags);

/* Always 0 (or -SEAM_EALLOC, -SEAM_EBUSY); *ret_brk is the break afterwards, as the system call returns it. */
int seam_space_brk(struct seam_space *space, uint64_t addr, uint64_t *ret_brk);

/*
 * A read (@write 0) or write access to every page of the range, as the fault handler sees it:
 * anonymous memory becomes faulted, a growing stack grows. *ret_done (may be NULL) is the first
 * page not reached.
 *  -SEAM_EFAULT  a page is not mapped or not allowed; earlier pages were touched
 */
int seam_space_touch(struct seam_space *space, uint64_t addr, uint64_t len, int write,
		     uint64_t *ret_done);

/*
 * Makes the stack area as exec leaves it: the policy's stack flags, faulted.
 *  -SEAM_EINVAL  not page aligned, empty, beyond user space
 *  -SEAM_EEXIST  there is memory
 *  -SEAM_ENOMEM  it cannot be charged
 */
int seam_space_stack(struct seam_space *space, uint64_t start, uint64_t len);

/*
 * Memory policy (@numa: by value, 0 default), userfaultfd and anonymous name of a range.
 *  -SEAM_EINVAL  @addr is not page aligned, the range wraps; uffd: none of @flags, or memory that
 *		  cannot be watched
 *  -SEAM_ENOMEM  a cut at the area limit; names: a hole, which is passed over
 *  -SEAM_EAGAIN  names: a cut at the area limit
 *  -SEAM_EFAULT  mbind: a hole
 *  -SEAM_EBUSY   uffd: another context watches it
 *  -SEAM_EPERM   uffd: memory that may not be written
 *  -SEAM_EBADF   names: memory of a file
 * Unregistering takes the context that is told to let go (@uffd), or 0: whichever watches. From 6.17
 * on memory of another context than @uffd is -SEAM_EINVAL, and nothing is unregistered.
 * Source: 6.18 mm/mempolicy.c do_mbind, mm/userfaultfd.c, mm/madvise.c madvise_set_anon_name.
 */
int seam_space_mbind(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t numa);
int seam_space_uffd_register(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t uffd,
			     uint64_t flags);
int seam_space_uffd_unregister(struct seam_space *space, uint64_t addr, uint64_t len,
			       uint32_t uffd);
int seam_space_set_name(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t name);

/*
 * Shows another part of a shared mapping's file, from page @pgoff on, in its place: a mapping anew.
 * What is known of the file is what its memory tells. O(log n).
 *  -SEAM_EINVAL  @prot is not 0; no shared memory, or not one run of equal areas of one file
 *  -SEAM_ENOSYS  a generation up to 2.6.24: nothing was mapped anew then
 * Source: 6.18 mm/mmap.c remap_file_pages.
 */
int seam_space_remap_file_pages(struct seam_space *space, uint64_t addr, uint64_t len,
				uint32_t prot, uint64_t pgoff, uint32_t flags);

/* Where the kernel takes a program's parts to be; numbered as PR_SET_MM_*. */
enum seam_bound {
	SEAM_BOUND_START_DATA = 3,
	SEAM_BOUND_END_DATA = 4,
	SEAM_BOUND_START_BRK = 6,
	SEAM_BOUND_BRK = 7,
};
/*
 * Moves one of them (PR_SET_MM): no area changes, but brk works from there. Whether the caller has
 * CAP_SYS_RESOURCE is his to know. O(1).
 *  -SEAM_EINVAL  no such bound, beyond user space or below mmap_min_addr, an end below its start, or
 *		  more than RLIMIT_DATA allows
 * Source: 6.18 kernel/sys.c prctl_set_mm, validate_prctl_map_addr.
 */
int seam_space_set_bound(struct seam_space *space, enum seam_bound bound, uint64_t addr);

/*
 * Same-page merging for all memory that can be merged, there and to come (@on), or for none
 * (PR_SET_MEMORY_MERGE): areas are marked, none is joined. O(areas).
 *  -SEAM_EINVAL  no such option (before 6.4)
 * Source: 6.18 mm/ksm.c ksm_enable_merge_any, ksm_disable_merge_any.
 */
int seam_space_set_memory_merge(struct seam_space *space, int on);

#ifdef __cplusplus
}
#endif
#endif
