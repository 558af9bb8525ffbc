/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/vmflags.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <seam/area.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const struct vmflag {
	char letters[3];
	uint64_t bit;
	const char *meaning;
} vmflags[] = {
	{ "rd", SEAM_VM_READ, "readable" },
	{ "wr", SEAM_VM_WRITE, "writable" },
	{ "ex", SEAM_VM_EXEC, "executable" },
	{ "sh", SEAM_VM_SHARED, "shared" },
	{ "mr", SEAM_VM_MAYREAD, "may become readable" },
	{ "mw", SEAM_VM_MAYWRITE, "may become writable" },
	{ "me", SEAM_VM_MAYEXEC, "may become executable" },
	{ "ms", SEAM_VM_MAYSHARE, "mapped MAP_SHARED" },
	{ "gd", SEAM_VM_GROWSDOWN, "a stack that grows down" },
	{ "pf", SEAM_VM_PFNMAP, "memory without struct pages (a driver's)" },
	{ "lo", SEAM_VM_LOCKED, "locked in memory (mlock)" },
	{ "io", SEAM_VM_IO, "device memory" },
	{ "sr", SEAM_VM_SEQ_READ, "read in sequence (MADV_SEQUENTIAL)" },
	{ "rr", SEAM_VM_RAND_READ, "read at random (MADV_RANDOM)" },
	{ "dc", SEAM_VM_DONTCOPY, "left out by fork (MADV_DONTFORK)" },
	{ "de", SEAM_VM_DONTEXPAND, "may not grow" },
	{ "lf", SEAM_VM_LOCKONFAULT, "locked as it is touched (MLOCK_ONFAULT)" },
	{ "ac", SEAM_VM_ACCOUNT, "counted against the commit limit" },
	{ "nr", SEAM_VM_NORESERVE, "mapped MAP_NORESERVE" },
	{ "ht", SEAM_VM_HUGETLB, "hugetlb pages" },
	{ "sf", SEAM_VM_SYNC, "mapped MAP_SYNC" },
	{ "ar", SEAM_VM_ARCH_1, "a flag of the architecture" },
	{ "wf", SEAM_VM_WIPEONFORK, "empty after fork (MADV_WIPEONFORK)" },
	{ "dd", SEAM_VM_DONTDUMP, "left out of core dumps (MADV_DONTDUMP)" },
	{ "sd", SEAM_VM_SOFTDIRTY, "soft-dirty" },
	{ "mm", SEAM_VM_MIXEDMAP, "pages of mixed kind (a driver's)" },
	{ "hg", SEAM_VM_HUGEPAGE, "huge pages wanted (MADV_HUGEPAGE)" },
	{ "nh", SEAM_VM_NOHUGEPAGE, "no huge pages (MADV_NOHUGEPAGE, MAP_STACK)" },
	{ "mg", SEAM_VM_MERGEABLE, "for KSM (MADV_MERGEABLE)" },
	{ "um", SEAM_VM_UFFD_MISSING, "userfaultfd, missing pages" },
	{ "uw", SEAM_VM_UFFD_WP, "userfaultfd, write-protect" },
	{ "ui", SEAM_VM_UFFD_MINOR, "userfaultfd, minor faults" },
	{ "ss", SEAM_VM_SHADOW_STACK, "a shadow stack" },
	{ "sl", SEAM_VM_SEALED, "sealed (mseal)" },
	{ "dp", SEAM_VM_DROPPABLE, "droppable (MAP_DROPPABLE)" },
	{ "gu", SEAM_VM_MAYBE_GUARD, "has or had guard markers" },
};

uint64_t vmflags_bit(const char letters[2])
{
	for (size_t i = 0; i < ARRAY_SIZE(vmflags); i++)
		if (!memcmp(vmflags[i].letters, letters, 2))
			return vmflags[i].bit;
	return 0;
}

const char *vmflags_meaning(uint64_t bit)
{
	for (size_t i = 0; i < ARRAY_SIZE(vmflags); i++)
		if (vmflags[i].bit == bit)
			return vmflags[i].meaning;
	return NULL;
}

char *vmflags_text(char *buf, uint64_t flags)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(vmflags); i++) {
		if (!(flags & vmflags[i].bit))
			continue;
		flags &= ~vmflags[i].bit;
		len += (size_t)snprintf(buf + len, VMFLAGS_TEXT_SIZE - len, "%s%s", len ? " " : "",
					vmflags[i].letters);
	}
	if (flags & SEAM_VM_PKEY)
		len += (size_t)snprintf(buf + len, VMFLAGS_TEXT_SIZE - len, "%spkey",
					len ? " " : "");
	flags &= ~SEAM_VM_PKEY;
	if (flags)
		snprintf(buf + len, VMFLAGS_TEXT_SIZE - len, "%s0x%" PRIx64, len ? " " : "", flags);
	return buf;
}
