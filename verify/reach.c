/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/reach.h"

#include <seam/ops.h>

#include "probe/uapi.h"

static void add(struct reach *reach, const struct seam_space *space, uint64_t start, uint64_t len)
{
	const uint64_t mask = (UINT64_C(1) << seam_space_page_shift(space)) - 1;
	uint64_t end = (start + len + mask) & ~mask;

	start &= ~mask;
	if (start >= end)
		return; /* empty, or it wraps: no such call changes a map */
	reach->range[reach->nr++] = (struct range) { start, end };
}

static bool has_place(const struct event *call)
{
	return !(call->flags & EVENT_NO_RESULT) && call->result > 0;
}

/* A mapping of @len bytes: where it came to lie, or where a fixed address wants it. */
static void add_new(struct reach *reach, const struct seam_space *space, const struct event *call,
		    uint64_t len, bool fixed, uint64_t fixed_at)
{
	if (has_place(call))
		add(reach, space, (uint64_t)call->result, len);
	else if (fixed)
		add(reach, space, fixed_at, len);
}

/* From the old break to the new one. */
static void add_heap(struct reach *reach, const struct seam_space *space, uint64_t wanted)
{
	uint64_t brk = seam_space_get_brk(space);

	if (wanted > brk)
		add(reach, space, brk, wanted - brk);
	else if (wanted)
		add(reach, space, wanted, brk - wanted);
}

/* From @addr to the end of the segment that is attached there, with what lies in its holes. */
static void add_segment(struct reach *reach, const struct seam_space *space, uint64_t addr)
{
	const uint32_t attached = SEAM_TRAIT_CLOSE | SEAM_TRAIT_SHMEM;
	unsigned int shift = seam_space_page_shift(space);
	struct seam_area area;
	uint64_t at = addr, end = addr + 1, file = 0;

	while (seam_area_find(space, at, &area)) {
		at = area.end;
		if ((area.traits & attached) != attached || area.start < addr ||
		    (area.start - addr) >> shift != area.pgoff || (file && area.file != file))
			continue;
		file = area.file;
		end = area.end;
	}
	add(reach, space, addr, end - addr);
}

void reach_of(const struct event *call, const struct seam_space *space, struct reach *ret)
{
	const uint32_t fixed = SEAM_MAP_FIXED | SEAM_MAP_FIXED_NOREPLACE;
	const uint64_t *arg = call->arg;

	*ret = (struct reach) { 0 };
	switch (call->call) {
	case TRACE_CALL_mmap:
		add_new(ret, space, call, arg[1], arg[3] & fixed, arg[0]);
		break;
	case TRACE_CALL_shmat:
		add_new(ret, space, call, arg[3] ? arg[3] : 1, false, 0);
		break;
	case TRACE_CALL_mremap:
		add(ret, space, arg[0], arg[1]);
		add_new(ret, space, call, arg[2], arg[3] & SEAM_MREMAP_FIXED, arg[4]);
		break;
	case TRACE_CALL_remap_file_pages:
		add(ret, space, arg[0], arg[1]);
		break;
	case TRACE_CALL_uffd_ioctl:
		add(ret, space, arg[2], arg[3]);
		break;
	case TRACE_CALL_prctl:
		if (arg[0] == PR_SET_VMA)
			add(ret, space, arg[2], arg[3]);
		else
			ret->all = true;
		break;
	case TRACE_CALL_brk:
		add_heap(ret, space, arg[0]);
		break;
	case TRACE_CALL_shmdt:
		add_segment(ret, space, arg[0]);
		break;
	case TRACE_CALL_mlockall:
	case TRACE_CALL_munlockall:
		ret->all = true;
		break;
	default:
		if (trace_call_names_range(call->call))
			add(ret, space, arg[0], arg[1]);
	}
}
