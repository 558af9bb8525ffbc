/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/vmflags.h - the two letters by which smaps (VmFlags:) and people call flag bits. One table
 * for reading and for writing. Source: 6.18 fs/proc/task_mmu.c show_smap_vma_flags.
 */
#ifndef TRACE_VMFLAGS_H
#define TRACE_VMFLAGS_H

#include <stdint.h>

#define VMFLAGS_TEXT_SIZE 160

/* The bit behind two letters, or 0 when they are not known. */
uint64_t vmflags_bit(const char letters[2]);
/*
 * "ac nr dd": the set bits in the order of smaps, a protection key as "pkey", bits without letters
 * in hex. Returns @buf, which has VMFLAGS_TEXT_SIZE bytes.
 */
char *vmflags_text(char *buf, uint64_t flags);
/* What a bit means, for people: "dd" is "left out of core dumps". NULL when there are no words. */
const char *vmflags_meaning(uint64_t bit);

#endif
