/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose memory shares an anon_vma, of a process that was not seen from its begin. No file of /proc
 * tells; BPF does, with CAP_BPF and CAP_PERFMON. Without it pagemap says what has memory of its own
 * (rec_touch.c); which areas share an anon_vma shows when a call joins them or leaves them apart, so
 * the map is looked at after each call that is about such an area.
 */
#include <seam/ops.h>

#include "probe/iter.h"
#include "probe/rec.h"

void rec_open_anon(struct rec *rec)
{
	char why[ITER_WHY_SIZE];

	if (iter_open(&rec->iter, why))
		rec->iter = NULL;
}

void rec_close_anon(struct rec *rec)
{
	if (rec->iter)
		iter_close(rec->iter);
}

/* Both were read of a space that stands still, and have all areas. */
static bool are_same(const struct snapshot *snapshot, const struct seam_area *areas, size_t nr)
{
	if (snapshot->nr_areas != nr)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (snapshot->areas[i].area.start != areas[i].start ||
		    snapshot->areas[i].area.end != areas[i].end)
			return false;
	return true;
}

uint32_t rec_add_anon(struct rec *rec, const struct rec_task *task, struct seam_area *areas,
		      size_t nr)
{
	const uint32_t wanted = SEES_ANON_VMA | SEES_ANON_OFFSET;
	struct snapshot snapshot;
	char why[ITER_WHY_SIZE];
	uint32_t sees = 0;

	if (!rec->iter || iter_read(rec->iter, task->tid, &snapshot, why))
		return 0;
	if ((snapshot.sees & wanted) == wanted && are_same(&snapshot, areas, nr)) {
		for (size_t i = 0; i < nr; i++) {
			areas[i].anon_vma = snapshot.areas[i].area.anon_vma;
			areas[i].anon_chain = snapshot.areas[i].area.anon_chain;
			areas[i].pgoff = snapshot.areas[i].area.pgoff;
		}
		sees = wanted;
	}
	snapshot_free(&snapshot);
	return sees;
}

void rec_mark_unknown(struct rec_space *space, const struct seam_area *areas, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct rec_range range = { areas[i].start, areas[i].end, NULL };

		if (!(areas[i].flags & SEAM_VM_MAYSHARE))
			rec_ranges_insert(&space->unknown, &range);
	}
}

static bool meets_unknown(const struct rec_space *space, uint64_t start, uint64_t len)
{
	return rec_ranges_meet(&space->unknown, start ? start - 1 : 0, start + len + 1);
}

void rec_doubt(struct rec *rec, struct rec_space *space, const struct rec_call *call,
	       int64_t result)
{
	bool moves = call->call == TRACE_CALL_mremap;

	space->in_doubt = false;
	if (!space->unknown.nr || result < 0 || call->kind != REC_CALL)
		return;
	if (call->call == TRACE_CALL_brk)
		space->in_doubt = true;
	if (trace_call_names_range(call->call) || moves)
		space->in_doubt = meets_unknown(space, call->arg[0], call->arg[1]);
	if (call->call == TRACE_CALL_mmap || moves)
		space->in_doubt |= meets_unknown(space, (uint64_t)result, call->arg[moves ? 2 : 1]);
	space->nr_doubts += space->in_doubt;
	rec_move_ranges(rec, &space->unknown, call, result);
}
