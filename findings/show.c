/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/show.h"

#include <string.h>

#include "findings/cost.h"

double show_pressure(const struct show *show)
{
	return show->area_limit ? (double)show->snapshot.nr_areas / (double)show->area_limit : 0;
}

int64_t show_headroom(const struct show *show)
{
	return (int64_t)show->area_limit - (int64_t)show->snapshot.nr_areas;
}

/* By what "seam cost" has measured here. */
static void look_at_fork(struct show *show)
{
	const struct findings *findings = &show->findings;
	struct cost cost;
	uint64_t after = show->snapshot.nr_areas;

	if (!after || cost_cache_load(&cost))
		return;
	if (findings->nr_remedies)
		after = findings->remedies[0].areas_after;
	show->fork_ns = cost_of_fork_ns(&cost, &show->snapshot);
	show->fork_needed_ns = show->fork_ns * after / show->snapshot.nr_areas;
}

int show_make(struct snapshot *snapshot, const char *file, const struct seam_policy *policy,
	      struct show *ret_show)
{
	struct show *show = ret_show;
	int r;

	memset(show, 0, sizeof(*show));
	show->file = file;
	show->snapshot = *snapshot;
	memset(snapshot, 0, sizeof(*snapshot));
	if (!file) {
		limits_look_process(&show->limits, show->snapshot.pid, show->snapshot.nr_areas);
		limits_look_host(&show->limits, show->snapshot.pid);
		limits_sort(&show->limits);
		show->area_limit = limits_max_areas();
	}
	r = findings_make(&show->snapshot, policy, show_pressure(show), &show->findings);
	if (r)
		snapshot_free(&show->snapshot);
	else if (!file)
		look_at_fork(show);
	return r;
}

void show_free(struct show *show)
{
	findings_free(&show->findings);
	snapshot_free(&show->snapshot);
}
