/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/show.h"

#include <errno.h>
#include <string.h>

double show_pressure(const struct show *show)
{
	return show->area_limit ? (double)show->snapshot.nr_areas / (double)show->area_limit : 0;
}

int64_t show_headroom(const struct show *show)
{
	return (int64_t)show->area_limit - (int64_t)show->snapshot.nr_areas;
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
	return r;
}

void show_free(struct show *show)
{
	findings_free(&show->findings);
	snapshot_free(&show->snapshot);
}
