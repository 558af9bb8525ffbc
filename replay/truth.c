/* SPDX-License-Identifier: BSD-2-Clause */
#include "replay/truth.h"

#include <errno.h>
#include <stdlib.h>

#include "replay/segment.h"
#include "trace/grow.h"

/* Of all flag bits these are no business of joining, or not what the source says. */
#define NEVER_COMPARED (SEAM_VM_SOFTDIRTY | SEAM_VM_ALLOW_ANY_UNCACHED)
#define SEEN_IN_MAPS (SEAM_VM_RWX | SEAM_VM_MAYSHARE)

struct check {
	struct lane *lane;
	struct lane_mm *mm;
	const struct event *event;
	struct replay_report *report;
	struct seam_area *model;
	size_t nr_model;
};

/* The areas as the model has them, in order. */
static int load_model(struct check *check)
{
	size_t room = (size_t)seam_space_areas(check->mm->space);
	struct seam_area area;
	uint64_t at = 0;

	free(check->model);
	check->nr_model = 0;
	check->model = calloc(room ? room : 1, sizeof(*check->model));
	if (!check->model)
		return -ENOMEM;
	while (check->nr_model < room && seam_area_next(check->mm->space, &at, &area))
		check->model[check->nr_model++] = area;
	return 0;
}

static uint64_t compared_flags(uint32_t sees)
{
	uint64_t flags = sees & (SEES_FLAGS | SEES_ALL_FLAGS) ? ~NEVER_COMPARED : SEEN_IN_MAPS;

	if (!(sees & (SEES_PKEY | SEES_ALL_FLAGS)))
		flags &= ~SEAM_VM_PKEY;
	return flags;
}

static bool same_inode(const struct trace *trace, uint64_t left, uint64_t right)
{
	const struct trace_file *l = left <= UINT32_MAX ? trace_file(trace, (uint32_t)left) : NULL;
	const struct trace_file *r = right <= UINT32_MAX ? trace_file(trace, (uint32_t)right)
							 : NULL;

	if (!l || !r)
		return (l ? l->ino : 0) == (r ? r->ino : 0);
	return l->dev == r->dev && l->ino == r->ino;
}

static bool same_file(const struct check *check, const struct seam_area *model,
		      const struct seam_area *truth)
{
	/* objects that the kernel makes have no number in the record of calls */
	if (model->file > UINT32_MAX)
		return truth->file;
	if (check->event->sees & SEES_FILE)
		return model->file == truth->file ||
		       same_inode(check->lane->trace, model->file, truth->file);
	if (check->event->sees & SEES_INODE)
		return same_inode(check->lane->trace, model->file, truth->file);
	return true;
}

static bool same_area(const struct check *check, const struct seam_area *model,
		      const struct seam_area *truth)
{
	uint32_t sees = check->event->sees;
	uint64_t flags = compared_flags(sees);

	if (model->start != truth->start || model->end != truth->end ||
	    (model->flags ^ truth->flags) & flags)
		return false;
	if (sees & SEES_OFFSET && truth->file && model->file && model->pgoff != truth->pgoff)
		return false;
	if (sees & SEES_NUMA && model->numa != truth->numa)
		return false;
	return same_file(check, model, truth);
}

static bool is_counted(const struct seam_area *area)
{
	return !(area->traits & SEAM_TRAIT_GATE);
}

/* A stack grows without a call, and the record shows it only here. */
static bool take_growth(struct check *check, struct seam_area *model, const struct seam_area *truth)
{
	if (!(model->flags & SEAM_VM_GROWSDOWN) || model->end != truth->end ||
	    truth->start >= model->start)
		return false;
	if (touch_range(check->lane, check->mm, truth->start, 1, true, NULL) ||
	    !seam_area_find(check->mm->space, truth->start, model))
		return false;
	return same_area(check, model, truth);
}

/* What the source of the truth did not see is as in the model at that place. */
static struct seam_area complete(const struct check *check, const struct seam_area *truth,
				 const struct seam_area *model)
{
	uint32_t sees = check->event->sees;
	uint64_t seen = compared_flags(sees);
	struct seam_area area = *truth;
	unsigned int shift = seam_space_page_shift(check->mm->space);
	bool fits = model && same_file(check, model, truth);

	if (fits) {
		area.flags = (truth->flags & seen) | (model->flags & ~seen);
		area.file = sees & SEES_FILE ? truth->file : model->file;
		area.anon_vma = model->anon_vma;
		area.anon_chain = model->anon_chain;
		area.traits = model->traits;
		area.numa = model->numa;
		area.uffd = model->uffd;
		area.name = model->name;
		if (!(sees & SEES_OFFSET) || !area.file)
			area.pgoff = model->pgoff + ((truth->start - model->start) >> shift);
		return area;
	}
	if (!(sees & (SEES_FLAGS | SEES_ALL_FLAGS))) {
		area.flags |= SEAM_VM_MAYREAD | SEAM_VM_MAYWRITE | SEAM_VM_MAYEXEC;
		if (area.flags & SEAM_VM_MAYSHARE)
			area.flags |= SEAM_VM_SHARED;
		else if (area.flags & SEAM_VM_WRITE)
			area.flags |= SEAM_VM_ACCOUNT;
	}
	if (!area.file)
		area.pgoff = area.start >> shift;
	return area;
}

static const struct seam_area *find_overlap(const struct seam_area *areas, size_t nr,
					    const struct seam_area *with)
{
	for (size_t i = 0; i < nr; i++)
		if (areas[i].start < with->end && areas[i].end > with->start)
			return &areas[i];
	return NULL;
}

/* Areas [i, *ret) of the model and of the truth that make up one region that differs. */
struct region {
	size_t model, model_end, truth, truth_end;
};

static void find_region(const struct check *check, struct region *region)
{
	const struct seam_area *truth = check->event->areas, *model = check->model;
	uint64_t end = 0;
	bool more = true;

	region->model_end = region->model;
	region->truth_end = region->truth;
	while (more) {
		more = false;
		if (region->model_end < check->nr_model &&
		    (!end || model[region->model_end].start < end) &&
		    (end || region->truth_end == check->event->nr_areas ||
		     model[region->model_end].start <= truth[region->truth_end].start)) {
			if (model[region->model_end].end > end)
				end = model[region->model_end].end;
			region->model_end++;
			more = true;
		}
		if (region->truth_end < check->event->nr_areas &&
		    (!end || truth[region->truth_end].start < end)) {
			if (truth[region->truth_end].end > end)
				end = truth[region->truth_end].end;
			region->truth_end++;
			more = true;
		}
	}
}

/* One more; NULL: it is counted, and there is no room to tell it. */
static struct replay_difference *new_difference(struct replay_report *report)
{
	report->differences++;
	return report->nr_first < REPLAY_MAX_DIFFERENCES ? &report->first[report->nr_first++]
							 : NULL;
}

static void note_region(struct check *check, const struct region *region)
{
	struct replay_difference *difference = new_difference(check->report);
	const struct last_call *last = &check->mm->last;

	if (!difference)
		return;
	*difference = (struct replay_difference) {
		.call_number = last->number,
		.call = last->call,
		.line = last->line,
		.pid = last->pid,
		.has_model = region->model < region->model_end,
		.has_truth = region->truth < region->truth_end,
	};
	if (difference->has_model)
		difference->model = check->model[region->model];
	if (difference->has_truth)
		difference->truth = check->event->areas[region->truth];
}

static int take_region(struct check *check, const struct region *region)
{
	const struct seam_area *truth = check->event->areas, *model = check->model;
	size_t nr_model = region->model_end - region->model;

	for (size_t i = region->model; i < region->model_end; i++)
		if (seam_space_forget(check->mm->space, model[i].start, model[i].end) ==
		    -SEAM_EALLOC)
			return -ENOMEM;
	for (size_t i = region->truth; i < region->truth_end; i++) {
		const struct seam_area *overlap =
			find_overlap(&model[region->model], nr_model, &truth[i]);
		struct seam_area area = complete(check, &truth[i], overlap);

		if (seam_space_adopt(check->mm->space, &area) == -SEAM_EALLOC)
			return -ENOMEM;
	}
	check->report->resynced++;
	return 0;
}

static int compare(struct check *check)
{
	const struct event *event = check->event;
	struct region region = { 0 };
	int err = 0;

	while (!err && (region.model < check->nr_model || region.truth < event->nr_areas)) {
		if (region.truth < event->nr_areas && !is_counted(&event->areas[region.truth])) {
			region.truth++;
			continue;
		}
		if (region.model < check->nr_model && region.truth < event->nr_areas &&
		    (same_area(check, &check->model[region.model], &event->areas[region.truth]) ||
		     take_growth(check, &check->model[region.model],
				 &event->areas[region.truth]))) {
			region.model++;
			region.truth++;
			continue;
		}
		find_region(check, &region);
		note_region(check, &region);
		err = take_region(check, &region);
		region.model = region.model_end;
		region.truth = region.truth_end;
	}
	return err;
}

static bool all_same(const struct check *check)
{
	const struct event *event = check->event;
	size_t i = 0;

	for (size_t j = 0; j < event->nr_areas; j++) {
		if (!is_counted(&event->areas[j]))
			continue;
		if (i == check->nr_model || !same_area(check, &check->model[i], &event->areas[j]))
			return false;
		i++;
	}
	return i == check->nr_model;
}

/* Where the model is not as the truth, what was touched may have been guessed wrong. */
static int resolve(struct check *check)
{
	const struct event *event = check->event;
	struct seam_area *counted;
	uint64_t undetermined = 0;
	size_t nr = 0;
	int err;

	counted = calloc(event->nr_areas ? event->nr_areas : 1, sizeof(*counted));
	if (!counted)
		return -ENOMEM;
	for (size_t i = 0; i < event->nr_areas; i++)
		if (is_counted(&event->areas[i]))
			counted[nr++] = event->areas[i];
	err = segment_resolve(check->lane, check->mm, counted, nr, &undetermined);
	free(counted);
	check->report->undetermined += undetermined;
	return err || !undetermined ? err : load_model(check);
}

/* What the kernel shows an object of its own as. */
static int note_object(struct replay_mm *kept, uint64_t object, uint32_t file)
{
	uint32_t number;
	bool is_new;

	if (grow(&kept->object_files, kept->objects.nr_entries, &kept->room_objects,
		 sizeof(*kept->object_files)))
		return -ENOMEM;
	number = intern_number(&kept->objects, &object, sizeof(object), UINT32_MAX, &is_new);
	if (!number)
		return -ENOMEM;
	if (is_new)
		kept->object_files[number - 1] = file;
	return 0;
}

static int note_objects(const struct check *check)
{
	struct replay_mm *kept = &check->lane->result->mms[check->event->space];
	const struct event *event = check->event;
	struct seam_area area;
	int err = 0;

	for (size_t i = 0; !err && i < event->nr_areas; i++)
		if (event->areas[i].file &&
		    seam_area_find(check->mm->space, event->areas[i].start, &area) &&
		    area.start == event->areas[i].start && area.file & SEAM_FILE_OWN)
			err = note_object(kept, area.file, (uint32_t)event->areas[i].file);
	return err;
}

int truth_check(struct lane *lane, const struct event *event, struct replay_report *report)
{
	struct check check = { .lane = lane, .event = event, .report = report };
	int err;

	if (event->space >= lane->nr_mms || !lane->mms[event->space].space)
		return 0;
	check.mm = &lane->mms[event->space];
	report->checkpoints++;
	err = load_model(&check);
	if (!err && !all_same(&check) && check.mm->segment)
		err = resolve(&check);
	if (!err)
		err = compare(&check);
	if (!err && lane->options->keep_maps)
		err = note_objects(&check);
	free(check.model);
	lane_forget_counts(check.mm);
	return err ? err : lane_begin_segment(lane, check.mm);
}

void truth_note_result(const struct event *event, const struct replay_outcome *outcome,
		       uint64_t number, struct replay_report *report)
{
	struct replay_difference *difference;

	if (event->flags & EVENT_NO_RESULT || outcome->answer != ANSWER_MADE ||
	    outcome->result == event->result)
		return;
	if (event->flags & EVENT_INFERRED && outcome->result < 0)
		return;
	/* what such calls return besides success is not modelled */
	if (outcome->result == 0 && event->result > 0)
		return;
	difference = new_difference(report);
	if (!difference)
		return;
	*difference = (struct replay_difference) {
		.call_number = number,
		.call = event->call,
		.line = event->line,
		.pid = event->pid,
		.errno_differs = true,
		.expected = outcome->result,
		.found = event->result,
	};
}
