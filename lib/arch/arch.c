/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/arch/arch.h"

#include <stddef.h>

#define GIB (UINT64_C(1) << 30)

static const struct arch arches[] = {
	[SEAM_ARCH_X86_64] = {
		.name = "x86-64",
		.page_shift = 12,
		.huge_shift = 21,
		.user_end = (UINT64_C(1) << 47) - 4096,
		/* arch/x86/mm/mmap.c mmap_base: 8 MiB of stack, 16 GiB of its randomisation, gap */
		.mmap_base = UINT64_C(0x7ffbff6ff000),
		.legacy_base = UINT64_C(0x2aaaaaaab000),
		.top_of_offsets = UINT64_C(1) << 52,
	},
	[SEAM_ARCH_I386] = {
		.name = "i386",
		.page_shift = 12,
		.huge_shift = 22,
		.user_end = 3 * GIB,
		/* 2.6.9-: 128 MiB kept for the stack */
		.mmap_base = 3 * GIB - (UINT64_C(128) << 20),
		.legacy_base = GIB,
		.top_of_offsets = UINT64_C(1) << 20,
	},
};

const struct arch *arch_at(enum seam_arch arch)
{
	if ((unsigned int)arch >= sizeof(arches) / sizeof(arches[0]))
		return NULL;
	return &arches[arch];
}
