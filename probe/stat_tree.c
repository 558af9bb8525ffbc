/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/stat_tree.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "probe/procfs.h"
#include "trace/clock.h"

#define SHORTEST_PERIOD_NS UINT64_C(1000000)
#define LONGEST_PERIOD_NS UINT64_C(10000000)
#define LOOK_SHARE 50

void stat_pace_start(struct stat_pace *pace)
{
	pace->period_ns = SHORTEST_PERIOD_NS;
	pace->next_ns = clock_ns() + pace->period_ns;
}

void stat_pace_look(struct stat_pace *pace)
{
	/* what seam itself has used: on a busy machine the clock would tell of others */
	pace->began_ns = clock_thread_ns();
}

void stat_pace_looked(struct stat_pace *pace)
{
	uint64_t rest_ns = (clock_thread_ns() - pace->began_ns) * LOOK_SHARE;

	if (pace->period_ns < LONGEST_PERIOD_NS)
		pace->period_ns += pace->period_ns / 4;
	pace->next_ns = clock_ns() + (rest_ns > pace->period_ns ? rest_ns : pace->period_ns);
}

size_t stat_tree_add(struct stat_tree *tree, pid_t pid)
{
	if (tree->nr_spaces == tree->room_spaces) {
		size_t room = tree->room_spaces ? tree->room_spaces * 2 : 16;
		struct stat_space *spaces = realloc(tree->spaces, room * sizeof(*spaces));

		if (!spaces) {
			tree->out_of_memory = true;
			return STAT_NO_SPACE;
		}
		tree->spaces = spaces;
		tree->room_spaces = room;
	}
	tree->spaces[tree->nr_spaces] = (struct stat_space) { .pid = pid };
	return tree->nr_spaces++;
}

bool stat_tree_look(struct stat_tree *tree, size_t index, pid_t pid, pid_t tid)
{
	struct stat_space *space;
	uint64_t areas;

	if (index == STAT_NO_SPACE)
		return false;
	space = &tree->spaces[index];
	space->pid = pid;
	procfs_read_comm(space->comm, sizeof(space->comm), pid);
	if (procfs_count_areas(tid, &areas) || !areas)
		return false;
	space->seen = true;
	space->areas_end = areas;
	if (areas > space->areas_peak)
		space->areas_peak = areas;
	limits_look_process(&tree->limits, tid, areas);
	return true;
}

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_usec * 1000;
}

void stat_tree_ended(struct stat_tree *tree, uint64_t began_ns, int wait_status,
		     const struct rusage *usage)
{
	tree->real_ns = clock_ns() - began_ns;
	tree->user_ns = timeval_ns(usage->ru_utime);
	tree->sys_ns = timeval_ns(usage->ru_stime);
	tree->status = launch_status(wait_status);
}

int stat_tree_run(struct stat_tree *ret_tree, char **argv, bool sample)
{
	struct launch launch;
	int err;

	*ret_tree = (struct stat_tree) { 0 };
	err = launch_start(&launch, argv);
	if (err)
		return err;
	if (!sample) {
		err = stat_follow_traced(ret_tree, &launch);
		ret_tree->trace_errno = -err;
	}
	if (sample || err)
		err = stat_follow_sampled(ret_tree, &launch);
	ret_tree->exec_errno = launch_end(&launch);
	limits_sort(&ret_tree->limits);
	return err;
}

void stat_tree_free(struct stat_tree *tree)
{
	free(tree->spaces);
	*tree = (struct stat_tree) { 0 };
}
