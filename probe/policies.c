/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/policies.h"

#include <stdlib.h>
#include <string.h>

/* More policies than these in one process are all taken for different ones. */
#define MAX_POLICIES 1024

struct policy_texts {
	const char *text[MAX_POLICIES];
	uint32_t nr;
	uint32_t extra; /* numbers given out beyond the table */
};

/* 0 for "default"; equal texts get equal numbers. */
static uint32_t policy_number(struct policy_texts *texts, const char *text)
{
	if (!strcmp(text, "default"))
		return 0;
	for (uint32_t i = 0; i < texts->nr; i++)
		if (!strcmp(texts->text[i], text))
			return i + 1;
	if (texts->nr == MAX_POLICIES)
		return MAX_POLICIES + ++texts->extra;
	texts->text[texts->nr++] = text;
	return texts->nr;
}

/* The area that begins there. Both texts are in address order, so the search goes on from @from. */
static struct snapshot_area *find_area(struct snapshot *snapshot, size_t *from, uint64_t start)
{
	while (*from < snapshot->nr_areas && snapshot->areas[*from].area.start < start)
		++*from;
	if (*from == snapshot->nr_areas || snapshot->areas[*from].area.start != start)
		return NULL;
	return &snapshot->areas[*from];
}

void policies_from_text(char *text, struct snapshot *snapshot)
{
	struct policy_texts *texts = calloc(1, sizeof(*texts));
	char *line, *rest;
	size_t from = 0;

	if (!texts)
		return;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct snapshot_area *area;
		char *policy, *end;
		uint64_t start = strtoull(line, &policy, 16);

		if (*policy++ != ' ')
			continue;
		end = strchr(policy, ' ');
		if (end)
			*end = '\0';
		area = find_area(snapshot, &from, start);
		/* Of a shared file it is the file's policy that is shown, not the area's. */
		if (area && !(area->area.flags & SEAM_VM_MAYSHARE))
			area->area.numa = policy_number(texts, policy);
	}
	snapshot->sees |= SEES_NUMA;
	free(texts);
}
