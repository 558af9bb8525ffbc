/* SPDX-License-Identifier: BSD-2-Clause */
#include "replay/layout.h"

#include <string.h>

#define FOUR_GIB (UINT64_C(1) << 32)
#define THREE_GIB (UINT64_C(3) << 30)
/* A 32-bit program on a 64-bit kernel: arch/x86 IA32_PAGE_OFFSET, and 128 MiB for the stack. */
#define COMPAT_END UINT64_C(0xffffe000)
#define COMPAT_BASE UINT64_C(0xf7ffe000)

/* From the end of the highest memory. */
static struct space_layout layout_for(uint64_t highest)
{
	if (highest > FOUR_GIB)
		return (struct space_layout) { .arch = SEAM_ARCH_X86_64, .wide = true };
	if (highest > THREE_GIB)
		return (struct space_layout) {
			.arch = SEAM_ARCH_I386,
			.user_end = COMPAT_END,
			.mmap_base = COMPAT_BASE,
		};
	return (struct space_layout) { .arch = SEAM_ARCH_I386 };
}

/* The end of memory that an event names; 0: none. A hint or a failed call says nothing. */
static uint64_t named_end(const struct event *event)
{
	uint64_t addr = event->arg[0];

	if (event->kind != EVENT_CALL || event->flags & EVENT_NO_RESULT || event->result < 0)
		return 0;
	switch (event->call) {
	case TRACE_CALL_mmap:
		return (uint64_t)event->result + event->arg[1];
	case TRACE_CALL_shmat:
		return (uint64_t)event->result + event->arg[3];
	case TRACE_CALL_mremap:
		return (uint64_t)event->result + event->arg[2];
	case TRACE_CALL_brk:
		return (uint64_t)event->result;
	default:
		if (!trace_call_names_range(event->call) || addr + event->arg[1] < addr)
			return 0;
		return addr + event->arg[1];
	}
}

/* Ends as soon as an address beyond 32 bits is seen. */
static int look_ahead(struct layouts *layouts, struct source *source,
		      const struct replay_options *options, struct trace_error *ret_error)
{
	struct trace *trace;
	struct event event;
	int r = trace_open(source, &options->trace, &trace, ret_error);

	if (r)
		return r;
	while (layouts->highest <= FOUR_GIB && (r = trace_next(trace, &event)) > 0) {
		uint64_t end = named_end(&event);

		if (end > layouts->highest)
			layouts->highest = end;
	}
	if (r < 0)
		*ret_error = *trace_last_error(trace);
	trace_close(trace);
	layouts->looked = true;
	return r < 0 ? r : 0;
}

/* Where the search of the recorded kernel began: right below it lies what exec mapped first. */
static uint64_t find_base(const struct event *event)
{
	uint64_t stack = 0, base = 0;

	for (size_t i = 0; i < event->nr_areas; i++)
		if (event->areas[i].flags & SEAM_VM_GROWSDOWN)
			stack = event->areas[i].start;
	for (size_t i = 0; i < event->nr_areas && event->areas[i].end <= stack; i++)
		base = event->areas[i].end;
	/* a heap or a program far below is no sign of it */
	return base > stack / 2 ? base : 0;
}

int layout_of_space(struct layouts *layouts, struct source *source,
		    const struct replay_options *options, const struct event *event,
		    const struct trace_facts *facts, struct space_layout *ret_layout,
		    struct trace_error *ret_error)
{
	uint64_t base;
	int r;

	if (options->layout != LAYOUT_DEFAULT) {
		*ret_layout = layout_for(options->layout == LAYOUT_I386 ? 0 : UINT64_MAX);
		return 0;
	}
	if (event->nr_areas) {
		uint64_t highest = 0;

		for (size_t i = 0; i < event->nr_areas; i++)
			if (!(event->areas[i].traits & SEAM_TRAIT_GATE))
				highest = event->areas[i].end;
		*ret_layout = layout_for(highest);
		base = find_base(event);
		if (base)
			ret_layout->mmap_base = base;
		return 0;
	}
	if (event->flags & EVENT_COMPAT) {
		*ret_layout = layout_for(FOUR_GIB);
		return 0;
	}
	if (facts->host.address_bits > 32) {
		*ret_layout = layout_for(UINT64_MAX);
		return 0;
	}
	if (!layouts->looked) {
		r = look_ahead(layouts, source, options, ret_error);
		if (r)
			return r;
	}
	*ret_layout = layout_for(layouts->highest ? layouts->highest : UINT64_MAX);
	return 0;
}

void layout_of_script(enum replay_layout wanted, const struct seam_policy *policy,
		      struct space_layout *ret_layout)
{
	if (wanted == LAYOUT_DEFAULT)
		wanted = policy->old ? LAYOUT_I386 : LAYOUT_X86_64;
	*ret_layout = layout_for(wanted == LAYOUT_I386 ? 0 : UINT64_MAX);
}
