/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/arch/arch.h - address-space layouts as data. */
#ifndef LIB_ARCH_H
#define LIB_ARCH_H

#include <stdint.h>

#include <seam/space.h>

struct arch {
	const char *name;
	unsigned int page_shift;
	unsigned int huge_shift; /* size of a huge page */
	uint64_t user_end;	 /* TASK_SIZE */
	uint64_t mmap_base;	 /* top-down search ends here, without randomisation */
	uint64_t legacy_base;	 /* bottom-up search begins here */
	uint64_t
		top_of_offsets; /* page offsets wrap here: 1 << bits of unsigned long - page_shift */
};

/* NULL when there is none. */
const struct arch *arch_at(enum seam_arch arch);

#endif
