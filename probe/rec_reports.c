/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own reports of new mappings, held against the calls that were recorded. They are taken
 * at each stop of a call, so that a call's reports come before it ends; those that come while their
 * thread is in no call are changes that no call shows. What did not fit is seen by the next checkpoint.
 */
#include <seam/ops.h>

#include "probe/procmap.h"
#include "probe/rec.h"
#include "probe/rec_side.h"

static bool is_explained(const struct rec *rec, const struct rec_task *task,
			 const struct side_map *map)
{
	return task->in_exec || map->time_ns <= task->space->born_ns ||
	       map->time_ns <= rec->reports_ns ||
	       (task->in_call && !task->pending.exit_unseen &&
		map->time_ns >= task->pending.entry_ns);
}

/*
 * While a task is between a call whose exit is not seen and its next stop, the call's own report tells
 * when it ended. Anything else is looked at when the call is written.
 */
static bool is_of_unseen(struct rec_task *task, const struct side_map *map)
{
	struct rec_call *call = &task->pending;

	if (!task->in_call || !call->exit_unseen || map->time_ns < call->entry_ns)
		return false;
	if (call->foreseen.is_mapped && map->start <= call->foreseen.start &&
	    map->end >= call->foreseen.end && !call->exit_ns) {
		call->exit_ns = map->time_ns;
		return true;
	}
	call->has_more |= call->has_also;
	call->has_also = true;
	call->also_start = map->start;
	call->also_end = map->end;
	return true;
}

/* Stacks grow often; the lowest start is written with the next call. */
static bool is_growth(const struct rec_space *space, const struct side_map *map)
{
	return map->end == space->stack_end && map->start < space->stack;
}

static const struct seam_area *area_at(const struct seam_area *areas, size_t nr, uint64_t addr)
{
	for (size_t i = 0; i < nr; i++)
		if (areas[i].start <= addr && addr < areas[i].end)
			return &areas[i];
	return NULL;
}

/* Another stack that grows (MAP_GROWSDOWN), else something whose maker is not known. */
static void write_unexplained(struct rec *rec, const struct rec_task *task,
			      const struct side_map *map)
{
	struct event touch = { .kind = EVENT_CALL,
			       .call = TRACE_CALL_touch,
			       .arg = { map->start, 1 } };
	const struct seam_area *areas, *area;
	size_t nr;

	if (rec_look(rec, task, REC_LOOK_FLAGS, &areas, &nr))
		return;
	area = area_at(areas, nr, map->start);
	if (!area)
		return; /* gone since */
	if (area->flags & SEAM_VM_GROWSDOWN)
		rec_write(rec, task, &touch);
	else
		rec_write_change(rec, task, NULL);
}

/* The only area that ends there, but for a stack that the program itself has cut. */
static void ask_stack(const struct rec_task *task)
{
	struct rec_space *space = task->space;
	int fd = rec_maps_fd(task);
	struct procmap_area area;

	if (fd >= 0 && space->stack_end && procmap_find(fd, space->stack_end - 1, &area) == 1 &&
	    area.end == space->stack_end && area.start < space->grown_to)
		space->grown_to = area.start;
}

/*
 * Those that there are by now have no reports, nor will their children that are not told yet. What was
 * reported of the first one already is about calls that have been written by now, or about the one
 * that has just ended; the stacks are asked a last time.
 */
static void begin_reports(struct rec *rec)
{
	rec->reports_ns = clock_ns();
	for (unsigned int i = 0; i < REC_CHAINS; i++)
		for (struct rec_task *task = rec->chains[i]; task; task = task->next) {
			task->bears_unreported = true;
			if (task->tid != rec->launch.pid)
				side_add(rec->side, task->tid);
			if (task->space)
				ask_stack(task);
		}
	rec->has_reports = true;
}

void rec_on_unreported(struct rec *rec, struct rec_task *child)
{
	side_add(rec->side, child->tid);
	child->bears_unreported = true;
}

void rec_take_reports(struct rec *rec)
{
	struct side_map map;

	if (!side_is_open(rec->side))
		return;
	if (!rec->has_reports)
		begin_reports(rec);
	while (side_next(rec->side, &map)) {
		struct rec_task *task = rec_find_task(rec, map.tid);

		if (!task || !task->space || is_explained(rec, task, &map))
			continue;
		if (is_growth(task->space, &map)) {
			if (map.start < task->space->grown_to)
				task->space->grown_to = map.start;
		} else if (!is_of_unseen(task, &map)) {
			write_unexplained(rec, task, &map);
		}
	}
}

void rec_before_reports(struct rec *rec, const struct rec_task *task, const struct rec_call *call)
{
	if (rec->has_reports)
		return;
	if (call->kind == REC_CALL && call->call == TRACE_CALL_mmap &&
	    call->arg[3] & SEAM_MAP_GROWSDOWN)
		side_wait(rec->side);
	rec_take_reports(rec);
	ask_stack(task);
}
