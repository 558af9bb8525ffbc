/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/iter_areas.h - what the BPF program writes about areas (probe/bpf/record.h), made a snapshot;
 * for probe/iter.c.
 */
#ifndef PROBE_ITER_AREAS_H
#define PROBE_ITER_AREAS_H

#include "probe/bpf/record.h"
#include "trace/intern.h"
#include "trace/snapshot.h"

#define ITER_END 1

/* Numbers for the kernel's pointers, and for policies by value. */
struct iter_identities {
	struct intern anon, file, policy, uffd;
	const char **paths; /* by file number */
	size_t paths_room;
	bool no_memory;
};

/* A snapshot on its way. */
struct iter_areas {
	struct snapshot snapshot;
	size_t room; /* areas */
	struct iter_identities ids;
	struct mm_record mm; /* the last one met; kind 0: none */
};

/*
 * Takes what one read gave, whole records. @ctx: struct iter_areas, zero at first. 0; ITER_END when
 * the areas begin anew; -ENOMEM.
 */
int iter_areas_take(const char *data, size_t size, void *ctx);
/* Hands the snapshot over; @ns: the time that reading took. */
void iter_areas_finish(struct iter_areas *building, uint64_t ns, struct snapshot *ret_snapshot);
void iter_areas_drop(struct iter_areas *building);

#endif
