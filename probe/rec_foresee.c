/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Half of what a recorded call costs is the stop at its exit. Where nobody else changes the map, its
 * outcome can be seen at the task's next stop as well, if it is known at the entry where to look:
 * ground that is free or mapped then and was not before proves the result. Where a mapping will lie is
 * guessed, the highest gap that fits (6.18 mm/mmap.c generic_get_unmapped_area_topdown), and only after
 * guesses have been right; the proof is the kernel's. A wrong guess is made good by the whole map: what
 * is new in it is what the call has made, nothing new means that it failed. The calls that are let go
 * like this fail with one errno unless a security module has its own, so that is told as inferred.
 */
#include <errno.h>
#include <string.h>

#include <seam/ops.h>

#include "probe/rec.h"

#define PAGE UINT64_C(4096)
#define HUGE (UINT64_C(2) << 20)
#define MAX_LEN (UINT64_C(1) << 40)
#define ENOUGH_RIGHT 3
#define MAX_GAPS 64	 /* looked at for one call */
#define MAX_GROUNDS 1024 /* of a fragmented map keeping them costs more than a stop */

static uint64_t page_up(uint64_t addr)
{
	return (addr + PAGE - 1) & ~(PAGE - 1);
}

/* ---- the ground that is mapped ---- */

static void forget(struct rec *rec, struct rec_foresight *sight)
{
	rec_ranges_free(rec, &sight->mapped);
	sight->is_known = false;
}

/* Touching grounds are one. */
static void add_ground(struct rec *rec, struct rec_foresight *sight, uint64_t start, uint64_t end)
{
	struct rec_ranges *mapped = &sight->mapped;
	struct rec_range ground = { start, end, NULL };
	size_t at;

	if (start >= end)
		return;
	rec_ranges_cut(rec, mapped, start, end);
	at = rec_ranges_find(mapped, start ? start - 1 : 0);
	if (at < mapped->nr && mapped->list[at].end == start) {
		ground.start = mapped->list[at].start;
		rec_ranges_cut(rec, mapped, ground.start, start);
	}
	if (at < mapped->nr && mapped->list[at].start == end) {
		ground.end = mapped->list[at].end;
		rec_ranges_cut(rec, mapped, end, ground.end);
	}
	if (mapped->nr >= MAX_GROUNDS || rec_ranges_insert(mapped, &ground))
		forget(rec, sight);
}

void rec_foresight_begin(struct rec *rec, struct rec_space *space, const struct seam_area *areas,
			 size_t nr)
{
	struct rec_foresight *sight = &space->foresight;

	if (rec->all_calls || rec->options->exits || space->nr_calling)
		return;
	forget(rec, sight);
	sight->is_known = true;
	for (size_t i = 0; i < nr && sight->is_known; i++)
		add_ground(rec, sight, areas[i].start, areas[i].end);
}

void rec_foresight_copy(struct rec_space *child, const struct rec_space *parent)
{
	child->foresight.top = parent->foresight.top;
	child->foresight.brk = parent->foresight.brk;
	memcpy(child->foresight.nr_right, parent->foresight.nr_right,
	       sizeof(child->foresight.nr_right));
}

void rec_foresight_forget(struct rec *rec, struct rec_space *space)
{
	forget(rec, &space->foresight);
}

bool rec_foresight_differs(const struct rec_space *space, const struct seam_area *areas, size_t nr)
{
	const struct rec_range *ground = space->foresight.mapped.list;
	const struct rec_range *last = ground + space->foresight.mapped.nr;
	size_t i = 0;

	if (!space->foresight.is_known || space->foresight.is_off)
		return false;
	for (; i < nr && ground < last; ground++) {
		uint64_t start = areas[i].start, end = areas[i].end;

		while (++i < nr && areas[i].start == end)
			end = areas[i].end;
		if (end != ground->end || (start != ground->start && end != space->stack_end))
			return true;
	}
	return i < nr || ground < last;
}

static bool highest_gap(const struct rec_foresight *sight, uint64_t len, uint64_t *ret_start)
{
	const struct rec_range *list = sight->mapped.list;
	size_t at = rec_ranges_find(&sight->mapped, sight->top);
	uint64_t end = sight->top;

	if (at < sight->mapped.nr && list[at].start < end)
		end = list[at].start;
	for (unsigned int i = 0; at && i < MAX_GAPS; i++) {
		if (end - list[at - 1].end >= len) {
			*ret_start = end - len;
			return true;
		}
		end = list[--at].start;
	}
	return false;
}

/*
 * Whole huge pages are aligned: the kernel looks for one page more and takes the part of it that is
 * (6.18 mm/huge_memory.c __thp_get_unmapped_area).
 */
enum mapping_size {
	SMALL,
	HUGE_PAGES,
	LARGE,
};

static enum mapping_size size_of(uint64_t len)
{
	if (len < HUGE)
		return SMALL;
	return len % HUGE ? LARGE : HUGE_PAGES;
}

static bool guess(const struct rec_foresight *sight, uint64_t len, uint64_t *ret_start)
{
	if (size_of(len) != HUGE_PAGES)
		return highest_gap(sight, len, ret_start);
	if (!highest_gap(sight, len + HUGE, ret_start))
		return false;
	*ret_start = (*ret_start | (HUGE - 1)) + 1;
	return true;
}

/* ---- at the entry ---- */

/* Memory that is refused for one reason only, ENOMEM, and lies in the highest gap. */
static bool is_plain_mmap(const struct rec_call *call)
{
	static const uint64_t wanted = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS;
	static const uint64_t harmless = SEAM_MAP_NORESERVE | SEAM_MAP_STACK;

	return call->kind == REC_CALL && call->call == TRACE_CALL_mmap && !call->arg[0] &&
	       call->arg[1] && call->arg[1] < MAX_LEN &&
	       !(call->arg[2] & ~(uint64_t)(SEAM_PROT_READ | SEAM_PROT_WRITE)) &&
	       (call->arg[3] & ~harmless) == wanted && !call->arg[5];
}

static void foresee_mmap(struct rec *rec, const struct rec_task *task, struct rec_call *call)
{
	const struct rec_foresight *sight = &task->space->foresight;
	uint64_t len = page_up(call->arg[1]), start;

	if (!is_plain_mmap(call) || !sight->is_known || !guess(sight, len, &start))
		return;
	call->foreseen = (struct rec_foreseen) {
		.start = start, .end = start + len, .is_mapped = true, .result = (int64_t)start
	};
	call->exit_unseen = sight->nr_right[size_of(len)] >= ENOUGH_RIGHT &&
			    rec_ask_room(rec, task, start, start + len);
}

/* A brk that fails gives the old one. */
static void foresee_brk(const struct rec_task *task, struct rec_call *call)
{
	uint64_t brk = task->space->foresight.brk, old = page_up(brk);
	uint64_t new = call->arg[0] ? page_up(call->arg[0]) : old;
	bool grows = new > old;

	if (!brk || (call->arg[0] && new == old))
		return;
	if (new != old && rec_is_free(task, grows ? old : new, grows ? new : old) != grows)
		return;
	call->foreseen = (struct rec_foreseen) {
		.start = grows ? old : new,
		.end = grows ? new : old,
		.is_mapped = grows,
		.result = (int64_t)(call->arg[0] ? call->arg[0] : brk),
	};
	call->exit_unseen = true;
}

void rec_foresee(struct rec *rec, const struct rec_task *task, struct rec_call *call)
{
	if (call->kind != REC_CALL || call->flags & EVENT_COMPAT || rec->no_touches ||
	    !rec_is_alone(rec, task) || task->space->foresight.is_off)
		return;
	if (call->call == TRACE_CALL_mmap)
		foresee_mmap(rec, task, call);
	else if (call->call == TRACE_CALL_brk)
		foresee_brk(task, call);
}

/* ---- once it is done ---- */

static bool is_mapped(const struct rec_task *task, uint64_t start, uint64_t end)
{
	struct procmap_area area;

	return rec_find_area(task, start, &area) == 1 && area.start <= start && area.end >= end;
}

bool rec_is_proved(const struct rec_task *task)
{
	const struct rec_foreseen *foreseen = &task->pending.foreseen;

	if (!task->pending.exit_unseen)
		return false;
	if (foreseen->is_mapped) /* the kernel has reported an area there, where it was free */
		return task->pending.exit_ns || is_mapped(task, foreseen->start, foreseen->end);
	return foreseen->start == foreseen->end ||
	       rec_is_free(task, foreseen->start, foreseen->end);
}

/*
 * What @areas, in order, have beyond the ground that was mapped: 0 nothing, 1 one range, 2 more, or
 * less than there was.
 */
static int find_new(const struct rec_foresight *sight, const struct seam_area *areas, size_t nr,
		    struct rec_range *ret_new)
{
	const struct rec_range *old = sight->mapped.list, *last = old + sight->mapped.nr;
	int found = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t at = areas[i].start;

		while (at < areas[i].end) {
			uint64_t end = areas[i].end;

			while (old < last && old->end <= at)
				old++;
			if (old < last && old->start <= at) {
				at = old->end;
				continue;
			}
			if (old < last && old->start < end)
				end = old->start;
			if (found && ret_new->end != at)
				return 2;
			*ret_new = (struct rec_range) { found ? ret_new->start : at, end, NULL };
			found = 1;
			at = end;
		}
	}
	return found;
}

static bool find_by_whole_map(struct rec *rec, struct rec_task *task, int64_t *ret_result)
{
	const struct rec_foreseen *foreseen = &task->pending.foreseen;
	struct rec_foresight *sight = &task->space->foresight;
	const struct seam_area *areas;
	struct rec_range added;
	size_t nr;
	int found;

	sight->nr_right[size_of(foreseen->end - foreseen->start)] = 0;
	if (!sight->is_known || rec_look(rec, task, REC_LOOK_MAPS, &areas, &nr))
		return false;
	found = find_new(sight, areas, nr, &added);
	if (found == 1 && added.end - added.start == foreseen->end - foreseen->start) {
		*ret_result = (int64_t)added.start;
	} else if (!found) {
		*ret_result = -ENOMEM;
		task->pending.flags |= EVENT_INFERRED;
	} else {
		return false;
	}
	return true;
}

bool rec_find_outcome(struct rec *rec, struct rec_task *task, int64_t *ret_result)
{
	const struct rec_call *call = &task->pending;

	if (!call->exit_unseen)
		return false;
	if (rec_is_proved(task))
		*ret_result = call->foreseen.result;
	else if (call->call == TRACE_CALL_brk)
		*ret_result = (int64_t)task->space->foresight.brk;
	else if (call->call == TRACE_CALL_mmap)
		return find_by_whole_map(rec, task, ret_result);
	else
		return false;
	return true;
}

/* ---- what calls do to the ground ---- */

static void cut_ground(struct rec *rec, struct rec_foresight *sight, uint64_t start, uint64_t len)
{
	if (sight->is_known)
		rec_ranges_cut(rec, &sight->mapped, start, start + page_up(len));
}

static void count_guess(unsigned int *nr_right, bool is_right)
{
	*nr_right = is_right ? *nr_right + 1 : 0;
}

static void after_mmap(struct rec *rec, struct rec_foresight *sight, const struct rec_call *call,
		       int64_t result)
{
	uint64_t start = (uint64_t)result, end = start + page_up(call->arg[1]);

	if (result < 0) {
		if (call->arg[3] & SEAM_MAP_FIXED)
			forget(rec, sight);
		return;
	}
	if (call->arg[3] & (SEAM_MAP_HUGETLB | SEAM_MAP_GROWSDOWN))
		sight->is_off = true; /* longer than was asked for, or will be */
	if (call->foreseen.is_mapped)
		count_guess(&sight->nr_right[size_of(end - start)],
			    call->foreseen.result == result);
	if (!call->arg[0] && end > sight->top)
		sight->top = end;
	if (sight->is_known)
		add_ground(rec, sight, start, end);
}

static void after_mremap(struct rec *rec, struct rec_foresight *sight, const struct rec_call *call,
			 int64_t result)
{
	const uint64_t *arg = call->arg;
	uint64_t to = (uint64_t)result;

	if (result < 0) {
		forget(rec, sight);
		return;
	}
	if (arg[1] && !(arg[3] & SEAM_MREMAP_DONTUNMAP))
		cut_ground(rec, sight, arg[0], arg[1]);
	if (sight->is_known)
		add_ground(rec, sight, to, to + page_up(arg[2]));
}

static void after_brk(struct rec *rec, struct rec_foresight *sight, const struct rec_call *call,
		      int64_t result)
{
	uint64_t brk = (uint64_t)result, old = page_up(sight->brk), new = page_up(brk);

	if (!sight->brk && call->arg[0])
		forget(rec, sight); /* where it was before is not known */
	else if (sight->brk && new < old)
		cut_ground(rec, sight, new, old - new);
	else if (sight->brk && sight->is_known)
		add_ground(rec, sight, old, new);
	sight->brk = brk;
}

void rec_foresight_after(struct rec *rec, struct rec_space *space, const struct rec_call *call,
			 int64_t result)
{
	struct rec_foresight *sight = &space->foresight;

	if (rec->all_calls || call->kind != REC_CALL)
		return;
	if (call->flags & EVENT_AMBIGUOUS)
		forget(rec, sight);
	switch (call->call) {
	case TRACE_CALL_mmap:
		after_mmap(rec, sight, call, result);
		break;
	case TRACE_CALL_munmap:
		if (result < 0)
			forget(rec, sight);
		else
			cut_ground(rec, sight, call->arg[0], call->arg[1]);
		break;
	case TRACE_CALL_mremap:
		after_mremap(rec, sight, call, result);
		break;
	case TRACE_CALL_brk:
		after_brk(rec, sight, call, result);
		break;
	case TRACE_CALL_mprotect:
	case TRACE_CALL_pkey_mprotect:
	case TRACE_CALL_madvise:
	case TRACE_CALL_mlock:
	case TRACE_CALL_mlock2:
	case TRACE_CALL_munlock:
	case TRACE_CALL_mbind:
	case TRACE_CALL_mseal:
	case TRACE_CALL_uffd_ioctl:
		break;
	case TRACE_CALL_prctl: /* PR_SET_MM moves the heap */
		sight->brk = 0;
		break;
	case TRACE_CALL_mlockall: /* with MCL_FUTURE there is another errno */
		sight->is_off = true;
		break;
	default: /* attached segments, rings of the kernel, shadow stacks */
		forget(rec, sight);
	}
}
