/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam/area.h - one area: a range of an address space and what the kernel knows of it.
 *
 * An area is what Linux calls a VMA. Addresses are bytes, ranges are half open [start, end) and
 * page aligned; offsets (pgoff) and totals named _pages are in pages of the space they belong to.
 *
 * Identities (file, anon_vma, numa, uffd, name) are numbers: two areas have the same one exactly
 * when the numbers are equal, 0 means "none". The library never looks behind a number.
 */
#ifndef SEAM_AREA_H
#define SEAM_AREA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Flag bits, in the layout of Linux 6.18 on x86-64 (include/linux/mm.h). Policies up to 2.6.24 keep
 * the bits of their own release; what differs there is named in docs/glossary.md.
 */
#define SEAM_VM_READ UINT64_C(0x1)
#define SEAM_VM_WRITE UINT64_C(0x2)
#define SEAM_VM_EXEC UINT64_C(0x4)
#define SEAM_VM_SHARED UINT64_C(0x8)
#define SEAM_VM_MAYREAD UINT64_C(0x10)
#define SEAM_VM_MAYWRITE UINT64_C(0x20)
#define SEAM_VM_MAYEXEC UINT64_C(0x40)
#define SEAM_VM_MAYSHARE UINT64_C(0x80)
#define SEAM_VM_GROWSDOWN UINT64_C(0x100)
#define SEAM_VM_UFFD_MISSING UINT64_C(0x200)
#define SEAM_VM_PFNMAP UINT64_C(0x400)
#define SEAM_VM_MAYBE_GUARD UINT64_C(0x800)
#define SEAM_VM_UFFD_WP UINT64_C(0x1000)
#define SEAM_VM_LOCKED UINT64_C(0x2000)
#define SEAM_VM_IO UINT64_C(0x4000)
#define SEAM_VM_SEQ_READ UINT64_C(0x8000)
#define SEAM_VM_RAND_READ UINT64_C(0x10000)
#define SEAM_VM_DONTCOPY UINT64_C(0x20000)
#define SEAM_VM_DONTEXPAND UINT64_C(0x40000)
#define SEAM_VM_LOCKONFAULT UINT64_C(0x80000)
#define SEAM_VM_ACCOUNT UINT64_C(0x100000)
#define SEAM_VM_NORESERVE UINT64_C(0x200000)
#define SEAM_VM_HUGETLB UINT64_C(0x400000)
#define SEAM_VM_SYNC UINT64_C(0x800000)
#define SEAM_VM_ARCH_1 UINT64_C(0x1000000)
#define SEAM_VM_WIPEONFORK UINT64_C(0x2000000)
#define SEAM_VM_DONTDUMP UINT64_C(0x4000000)
#define SEAM_VM_SOFTDIRTY UINT64_C(0x8000000)
#define SEAM_VM_MIXEDMAP UINT64_C(0x10000000)
#define SEAM_VM_HUGEPAGE UINT64_C(0x20000000)
#define SEAM_VM_NOHUGEPAGE UINT64_C(0x40000000)
#define SEAM_VM_MERGEABLE UINT64_C(0x80000000)
#define SEAM_VM_PKEY UINT64_C(0xf00000000)
#define SEAM_VM_PKEY_SHIFT 32
#define SEAM_VM_SHADOW_STACK (UINT64_C(1) << 37)
#define SEAM_VM_ALLOW_ANY_UNCACHED (UINT64_C(1) << 39)
#define SEAM_VM_DROPPABLE (UINT64_C(1) << 40)
#define SEAM_VM_UFFD_MINOR (UINT64_C(1) << 41)
#define SEAM_VM_SEALED (UINT64_C(1) << 42)

#define SEAM_VM_RWX (SEAM_VM_READ | SEAM_VM_WRITE | SEAM_VM_EXEC)
/* An area with any of these never joins (6.18 mm/vma.c, VM_SPECIAL). */
#define SEAM_VM_SPECIAL (SEAM_VM_IO | SEAM_VM_DONTEXPAND | SEAM_VM_PFNMAP | SEAM_VM_MIXEDMAP)

/* What the driver behind an area demands (struct seam_area, traits). */
#define SEAM_TRAIT_CLOSE 0x1u	   /* it has a close operation: see SEAM_CAUSE_CLOSE */
#define SEAM_TRAIT_NO_SPLIT 0x2u   /* it refuses to be split: vdso, vvar */
#define SEAM_TRAIT_SHMEM 0x4u	   /* memory of tmpfs kind: memfd, shared anonymous, SysV */
#define SEAM_TRAIT_GATE 0x8u	   /* [vsyscall]: shown by the kernel, not counted by it */
#define SEAM_TRAIT_THP_ALIGN 0x10u /* its file system aligns large maps */
#define SEAM_TRAIT_SECRET 0x20u	   /* of memfd_secret: no call brings it in or locks it */

struct seam_area {
	uint64_t start;	     /* first byte */
	uint64_t end;	     /* first byte behind it */
	uint64_t flags;	     /* SEAM_VM_* */
	uint64_t pgoff;	     /* page offset in the file; anonymous memory: the kernel's numbering */
	uint64_t file;	     /* the open file description (not the inode) */
	uint64_t tag;	     /* the embedder's own (seam/payload.h) */
	uint32_t anon_vma;   /* 0: never faulted as anonymous memory */
	uint32_t anon_chain; /* length of the anon_vma chain; over 1: inherited through fork */
	uint32_t numa;	     /* memory policy, by value */
	uint32_t uffd;	     /* userfaultfd context */
	uint32_t name;	     /* PR_SET_VMA_ANON_NAME, by text */
	uint32_t traits;     /* SEAM_TRAIT_* */
	/*
	 * Private memory of a file, moved after it was touched: by how many pages downward, modulo
	 * 2^64 (kept where the policy has the rule moved_files); else 0.
	 */
	uint64_t moved_pages;
};

#ifdef __cplusplus
}
#endif
#endif
