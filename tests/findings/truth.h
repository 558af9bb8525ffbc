/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/findings/truth.h - a .truth file of the cases as a snapshot that sees everything.
 */
#ifndef TESTS_TRUTH_H
#define TESTS_TRUTH_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/snapshot.h"

#define TRUTH_SEES                                                                                 \
	(SEES_RANGE | SEES_FLAGS | SEES_ALL_FLAGS | SEES_OFFSET | SEES_ANON_OFFSET | SEES_INODE |  \
	 SEES_FILE | SEES_ANON_VMA | SEES_NUMA | SEES_UFFD | SEES_NAME | SEES_CLOSE | SEES_PKEY)

/* More than any case has. */
#define TRUTH_MAX 4096

/* "A12" is 12, "-" is 0. */
static uint32_t truth_id(const char *text)
{
	return text[0] == '-' ? 0 : (uint32_t)strtoul(text + 1, NULL, 10);
}

static bool truth_area(const char *line, struct snapshot_area *ret_area)
{
	char anon[32], file[32], policy[32];
	struct snapshot_area area = { .name = "" };

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %" SCNx64 " %" SCNx64 " %31s %31s %31s",
		   &area.area.start, &area.area.end, &area.area.flags, &area.area.pgoff, anon, file,
		   policy) != 7)
		return false;
	area.area.anon_vma = truth_id(anon);
	area.area.anon_chain = area.area.anon_vma != 0;
	area.area.file = truth_id(file);
	area.area.numa = truth_id(policy);
	/* An open file stands for a file of its own: the text has no inodes. */
	area.inode = area.area.file;
	if (area.area.file)
		area.name = "/file";
	*ret_area = area;
	return true;
}

static bool read_truth(const char *path, struct snapshot *ret_snapshot)
{
	struct snapshot snapshot = { .source = "bpf", .sees = TRUTH_SEES, .pid = -1 };
	FILE *in = fopen(path, "r");
	char line[256];

	if (!in)
		return false;
	snapshot.areas = calloc(TRUTH_MAX, sizeof(*snapshot.areas));
	while (snapshot.areas && snapshot.nr_areas < TRUTH_MAX && fgets(line, sizeof(line), in))
		if (truth_area(line, &snapshot.areas[snapshot.nr_areas]))
			snapshot.nr_areas++;
	fclose(in);
	*ret_snapshot = snapshot;
	return snapshot.nr_areas;
}

#endif
