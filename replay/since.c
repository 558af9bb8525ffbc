/* SPDX-License-Identifier: BSD-2-Clause */
/* Which kernels had which call. What the library itself refuses is not repeated here. */
#include <stdlib.h>
#include <string.h>

#include "replay/lane.h"

#define V(major, minor, patch) ((major) << 16 | (minor) << 8 | (patch))

static const struct {
	int answer; /* before */
	uint32_t since;
} newer_calls[TRACE_NR_CALLS] = {
	[TRACE_CALL_mbind] = { -SEAM_ENOSYS, V(2, 6, 7) },
	[TRACE_CALL_uffd_ioctl] = { -SEAM_EBADF, V(4, 3, 0) },
	[TRACE_CALL_mlock2] = { -SEAM_ENOSYS, V(4, 4, 0) },
	[TRACE_CALL_pkey_mprotect] = { -SEAM_ENOSYS, V(4, 9, 0) },
	[TRACE_CALL_prctl] = { -SEAM_EINVAL, V(5, 17, 0) }, /* PR_SET_VMA */
	[TRACE_CALL_map_shadow_stack] = { -SEAM_ENOSYS, V(6, 6, 0) },
	[TRACE_CALL_mseal] = { -SEAM_ENOSYS, V(6, 10, 0) },
};

uint32_t version_of(const char *name)
{
	uint32_t version = 0;
	char *end;

	name = strchr(name, '-');
	if (!name || name[1] < '0' || name[1] > '9')
		return UINT32_MAX;
	for (int shift = 16; shift >= 0; shift -= 8) {
		version |= (uint32_t)(strtoul(name + 1, &end, 10) & 0xff) << shift;
		if (*end != '.')
			break;
		name = end;
	}
	return version;
}

int call_missing(const struct lane *lane, const struct event *event)
{
	return lane->version < newer_calls[event->call].since ? newer_calls[event->call].answer : 0;
}
