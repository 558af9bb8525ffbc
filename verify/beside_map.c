/* SPDX-License-Identifier: BSD-2-Clause */
/* The model's areas beside the kernel's: comparing, taking over, and saying what no call explains. */
#include <errno.h>
#include <stdlib.h>

#include "probe/iter.h"
#include "replay/truth.h"
#include "verify/beside_parts.h"
#include "verify/kernel_anon.h"
#include "verify/unasked.h"

#define LOOK_ROOM_MAX (256u << 20) /* the text of a map without PROCMAP_QUERY */

bool beside_read_kernel(struct beside *beside, pid_t tid, struct snapshot *ret_snapshot)
{
	char why[ITER_WHY_SIZE];
	int err = 0;

	if (!beside->iterator && !beside->no_iterator)
		err = iter_open(&beside->iterator, why);
	if (!err && beside->iterator)
		err = iter_read(beside->iterator, tid, ret_snapshot, why);
	beside->no_iterator |= err == -EPERM || err == -EOPNOTSUPP;
	return !err && beside->iterator;
}

/* compare_range with more room for the text where that is what it wants. */
static int compare_with_room(struct beside *beside, struct beside_mm *mm,
			     const struct seam_space *space, uint64_t start, uint64_t end,
			     struct difference *ret)
{
	int r;

	mm->look.buf = beside->buf;
	mm->look.room = beside->room;
	while ((r = compare_range(space, &mm->look, start, end, ret)) == -E2BIG &&
	       beside->room < LOOK_ROOM_MAX) {
		char *buf = realloc(beside->buf, 2 * beside->room);

		if (!buf)
			return -ENOMEM;
		mm->look.buf = beside->buf = buf;
		mm->look.room = beside->room *= 2;
	}
	return r;
}

int beside_compare_reach(struct beside *beside, struct beside_mm *mm,
			 const struct seam_space *space, const struct reach *reach,
			 struct difference *ret)
{
	int r = 0;

	if (reach->all)
		return compare_with_room(beside, mm, space, 0, UINT64_MAX, ret);
	for (unsigned int i = 0; !r && i < reach->nr; i++)
		r = compare_with_room(beside, mm, space, reach_below(&reach->range[i]),
				      reach->range[i].end + 1, ret);
	return r;
}

static uint64_t stack_pages_of(const struct seam_space *space)
{
	struct seam_totals totals;

	seam_space_get_totals(space, &totals);
	return totals.stack_pages;
}

static uint64_t registered(const struct seam_area *area)
{
	const uint64_t uffd = SEAM_VM_UFFD_MISSING | SEAM_VM_UFFD_WP | SEAM_VM_UFFD_MINOR;

	return area->flags & uffd ? area->end - area->start : 0;
}

/* How many bytes are registered with a userfaultfd. */
static uint64_t registered_in(const struct event *truth)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < truth->nr_areas; i++)
		bytes += registered(&truth->areas[i]);
	return bytes;
}

static uint64_t registered_in_model(const struct seam_space *space)
{
	struct seam_area area;
	uint64_t at = 0, bytes = 0;

	while (seam_area_next(space, &at, &area))
		bytes += registered(&area);
	return bytes;
}

int beside_take_truth(struct beside *beside, const struct event *truth)
{
	const struct seam_space *space = beside_space_of(beside, truth->space);
	uint64_t stack_pages = stack_pages_of(space);
	int err;

	beside->report.nr_first = 0;
	beside->report.differences = 0;
	beside->uffd_closed = truth->sees & SEES_FLAGS &&
			      registered_in(truth) < registered_in_model(space);
	err = truth_check(&beside->lane, truth, &beside->report);
	if (err)
		return err;
	if (!beside->report.differences && stack_pages_of(space) > stack_pages)
		beside_count_change(beside, "stack growth", NULL);
	return beside->report.differences > INT32_MAX ? INT32_MAX : (int)beside->report.differences;
}

int beside_take_over(struct beside *beside, uint32_t space, pid_t tid,
		     const struct record_stop *stop)
{
	struct snapshot snapshot;
	struct event truth;
	int r = record_look(stop, &truth), err = 0;

	if (!r)
		r = beside_take_truth(beside, &truth);
	if (r >= 0 && beside_read_kernel(beside, tid, &snapshot)) {
		err = kernel_anon_take(beside_space_of(beside, space), &snapshot,
				       &beside->next_anon);
		snapshot_free(&snapshot);
	}
	return err ? -ENOMEM : r;
}

/*
 * What is no longer writable stays accounted when it was faulted (6.18 mm/mprotect.c mprotect_fixup);
 * that it was may be known to nobody, as when its pages were given back before anyone asked. The
 * area is @after already. 1: so it is, and the model has it now; 0, -ENOMEM.
 */
static int was_faulted(struct beside *beside, struct seam_space *space, pid_t tid,
		       const struct seam_area *before, const struct seam_area *after)
{
	struct snapshot kernel;
	struct seam_area area;
	bool told;

	if (!before || !after || before->start != after->start || before->end != after->end ||
	    before->flags & (SEAM_VM_WRITE | SEAM_VM_MAYSHARE) || before->anon_vma ||
	    !(after->flags & SEAM_VM_ACCOUNT) || !seam_area_find(space, after->start, &area))
		return 0;
	area.anon_vma = ++beside->next_anon;
	area.anon_chain = 1;
	told = beside_read_kernel(beside, tid, &kernel);
	if (told) {
		const struct seam_area *like = kernel_anon_find(&kernel, &area);
		bool faulted = like && like->anon_vma;

		snapshot_free(&kernel);
		if (!faulted)
			return 0;
	}
	if (seam_space_adopt(space, &area) == -SEAM_EALLOC)
		return -ENOMEM;
	beside_count_settled(beside, told);
	return 1;
}

void beside_name_changes(struct beside *beside, enum beside_when when, uint32_t space,
			 const struct event *call, uint64_t number, pid_t tid)
{
	for (unsigned int i = 0; i < beside->report.nr_first; i++) {
		const struct replay_difference *difference = &beside->report.first[i];
		struct unasked unasked = {
			.before = difference->has_model ? &difference->model : NULL,
			.after = difference->has_truth ? &difference->truth : NULL,
			.tid = tid,
			.advised = beside->advised,
			.uffd_closed = beside->uffd_closed,
		};
		struct beside_mismatch *mismatch;
		const char *name;
		int r;

		if (unasked.after && unasked.after->file && unasked.after->file <= UINT32_MAX)
			unasked.file = trace_file(beside->trace, (uint32_t)unasked.after->file);
		r = was_faulted(beside, beside_space_of(beside, space), tid, unasked.before,
				unasked.after);
		if (r < 0)
			beside_fail(beside, "no memory");
		if (r)
			continue;
		name = unasked_name(&unasked);
		if (name) {
			beside_count_change(beside, name,
					    unasked.after ? unasked.after : unasked.before);
			continue;
		}
		mismatch = beside_add_mismatch(beside, when, call, number);
		if (!mismatch)
			continue;
		compare_show(unasked.before, mismatch->expected);
		compare_show(unasked.after, mismatch->found);
	}
}
