/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of the calls that a trace can hold. */
#include "trace/event.h"

#include <string.h>

static const struct {
	const char *name;
	int nr_args;
} calls[TRACE_NR_CALLS] = {
#define CALL(name, args) { #name, args },
	TRACE_CALLS(CALL)
#undef CALL
};

const char *trace_call_name(unsigned int call)
{
	return call < TRACE_NR_CALLS ? calls[call].name : NULL;
}

int trace_call_args(unsigned int call)
{
	return call < TRACE_NR_CALLS ? calls[call].nr_args : -1;
}

int trace_call_by_name(const char *name, size_t len)
{
	for (int call = 0; call < TRACE_NR_CALLS; call++)
		if (strlen(calls[call].name) == len && !memcmp(calls[call].name, name, len))
			return call;
	return -1;
}

bool trace_call_counts(unsigned int call)
{
	return call < TRACE_CALL_kmmap && call != TRACE_CALL_prlimit &&
	       call != TRACE_CALL_personality;
}

bool trace_call_gives_address(unsigned int call)
{
	return call == TRACE_CALL_mmap || call == TRACE_CALL_mremap || call == TRACE_CALL_brk ||
	       call == TRACE_CALL_shmat || call == TRACE_CALL_map_shadow_stack ||
	       call == TRACE_CALL_kmmap;
}

bool trace_call_names_range(unsigned int call)
{
	switch (call) {
	case TRACE_CALL_munmap:
	case TRACE_CALL_mprotect:
	case TRACE_CALL_pkey_mprotect:
	case TRACE_CALL_madvise:
	case TRACE_CALL_mlock:
	case TRACE_CALL_mlock2:
	case TRACE_CALL_munlock:
	case TRACE_CALL_mseal:
	case TRACE_CALL_mbind:
		return true;
	default:
		return false;
	}
}
