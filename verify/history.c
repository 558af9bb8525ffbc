/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/history.h"

#include <seam/ops.h>

#define MAX_CHOSEN HISTORY_MAX_OPEN

static bool is_kept(const struct history *history, uint64_t start)
{
	for (unsigned int i = 0; i < history->nr; i++)
		if (history->area[i].start == start)
			return true;
	return false;
}

static void keep_range(struct history *history, const struct seam_space *space,
		       const struct range *range)
{
	uint64_t at = reach_below(range);
	struct seam_area area;

	while (reach_next(range, space, &at, &area)) {
		if (is_kept(history, area.start))
			continue;
		if (history->nr == HISTORY_AREAS) {
			history->whole = false;
			return;
		}
		history->area[history->nr++] = area;
	}
}

void history_keep(struct history *history, const struct seam_space *space,
		  const struct reach *reach)
{
	history->nr = 0;
	history->whole = !reach->all;
	history->reach = *reach;
	history->start_brk = seam_space_get_start_brk(space);
	history->brk = seam_space_get_brk(space);
	for (unsigned int i = 0; i < reach->nr; i++)
		keep_range(history, space, &reach->range[i]);
}

static int adopt_all(const struct history *history, struct seam_space *space,
		     const struct seam_area *areas)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < history->nr; i++)
		err = seam_space_adopt(space, &areas[i]);
	return err;
}

static int restore_as(const struct history *history, struct seam_space *space,
		      const struct seam_area *areas)
{
	const struct reach *reach = &history->reach;
	int err = 0;

	/* what has joined beyond a range is dropped by what is adopted there */
	for (unsigned int i = 0; !err && i < reach->nr; i++)
		err = seam_space_forget(space, reach->range[i].start, reach->range[i].end);
	if (!err)
		err = adopt_all(history, space, areas);
	seam_space_set_brk(space, history->start_brk, history->brk);
	return err;
}

/* The space as it was, but for what the call may change elsewhere (limits). 0 or -SEAM_EALLOC. */
static int restore(const struct history *history, struct seam_space *space)
{
	return restore_as(history, space, history->area);
}

/* ---- whose history the outcome may hang on ---- */

/* Private memory, which alone has an anon_vma. */
static bool is_private(const struct seam_area *area)
{
	return !(area->flags & (SEAM_VM_SHARED | SEAM_VM_MAYSHARE));
}

static bool sticks_out(const struct seam_area *area, uint64_t start, uint64_t end)
{
	return area->start < start || area->end > end;
}

static bool is_open(const struct history *history, const struct event *call,
		    const struct seam_area *area)
{
	const struct reach *reach = &history->reach;
	uint64_t start = reach->range[reach->nr - 1].start, end = reach->range[reach->nr - 1].end;

	if (!is_private(area))
		return false;
	switch (call->call) {
	case TRACE_CALL_mmap:
	case TRACE_CALL_brk:
	case TRACE_CALL_shmat:
		/* what it replaces is gone before it looks at its neighbours */
		return sticks_out(area, start, end);
	case TRACE_CALL_mremap:
		return (area->start <= call->arg[0] && area->end > call->arg[0]) ||
		       (area->end >= start && area->start <= end && sticks_out(area, start, end));
	default:
		return true;
	}
}

/* ---- the histories ---- */

/*
 * One history: class[i] is 0 where area i was never faulted, else which areas share an anon_vma;
 * classes are numbered in order of their first area.
 */
struct choice {
	unsigned int nr;
	unsigned int area[MAX_CHOSEN]; /* in the history's list */
	unsigned int class[MAX_CHOSEN];
};

/*
 * Can the area have been written to? What was writable once is accounted, or was not to be; it stays
 * so while it has an anon_vma (6.18 mm/mprotect.c mprotect_fixup). The model knows of guard markers,
 * which alone come without.
 */
static bool may_be_faulted(const struct seam_area *area)
{
	return area->anon_vma ||
	       area->flags & (SEAM_VM_WRITE | SEAM_VM_ACCOUNT | SEAM_VM_NORESERVE);
}

static bool is_possible(const struct history *history, const struct choice *choice)
{
	for (unsigned int i = 0; i < choice->nr; i++)
		if (choice->class[i] && !may_be_faulted(&history->area[choice->area[i]]))
			return false;
	return true;
}

/* The next one; false behind the last. */
static bool next_choice(struct choice *choice)
{
	for (unsigned int i = choice->nr; i-- > 0;) {
		unsigned int highest = 0;

		for (unsigned int j = 0; j < i; j++)
			if (choice->class[j] > highest)
				highest = choice->class[j];
		if (choice->class[i] <= highest) {
			choice->class[i]++;
			return true;
		}
		choice->class[i] = 0;
	}
	return false;
}

/* The areas with this history; how many of them differ from what the model has. */
static unsigned int apply_choice(const struct history *history, const struct choice *choice,
				 struct seam_area *ret_areas, uint32_t *next_anon)
{
	uint32_t of_class[MAX_CHOSEN + 1] = { 0 };
	unsigned int changes = 0;

	for (unsigned int i = 0; i < history->nr; i++)
		ret_areas[i] = history->area[i];
	/* a class goes by the first of its areas that has a number no other class has taken */
	for (unsigned int i = 0; i < choice->nr; i++) {
		uint32_t anon = history->area[choice->area[i]].anon_vma;
		bool taken = !anon || of_class[choice->class[i]];

		for (unsigned int c = 1; c <= MAX_CHOSEN; c++)
			taken |= of_class[c] == anon;
		if (choice->class[i] && !taken)
			of_class[choice->class[i]] = anon;
	}
	for (unsigned int i = 0; i < choice->nr; i++) {
		struct seam_area *area = &ret_areas[choice->area[i]];
		unsigned int class = choice->class[i];

		if (class && !of_class[class])
			of_class[class] = ++*next_anon;
		if (area->anon_vma == of_class[class])
			continue;
		area->anon_vma = of_class[class];
		area->anon_chain = class ? 1 : 0;
		changes++;
	}
	return changes;
}

int history_search(const struct history *history, const struct event *call, unsigned int max_open,
		   struct seam_space *space, uint32_t *next_anon, bool (*fits)(void *ctx),
		   void *ctx)
{
	struct seam_area areas[HISTORY_AREAS];
	struct choice first = { 0 }, choice;
	int err;

	for (unsigned int i = 0; history->whole && i < history->nr; i++) {
		if (!is_open(history, call, &history->area[i]))
			continue;
		if (first.nr == max_open) {
			first.nr = 0;
			break;
		}
		first.area[first.nr++] = i;
	}
	for (unsigned int changes = 1; changes <= first.nr; changes++) {
		choice = first;
		do {
			if (!is_possible(history, &choice) ||
			    apply_choice(history, &choice, areas, next_anon) != changes)
				continue;
			err = restore_as(history, space, areas);
			if (err)
				return err;
			if (fits(ctx))
				return 1;
		} while (next_choice(&choice));
	}
	return restore(history, space);
}
