/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/stat_tree.h - runs a program and counts the areas of every process of its tree.
 *
 * Traced, the tree is followed by the events of ptrace (fork, vfork, clone, exec, exit): no call
 * stops, the areas at exit are exact, and what lies between is looked at from time to time. Sampled,
 * nothing is attached: rights are kept, and what lives shorter than a look may be missed.
 */
#ifndef PROBE_STAT_TREE_H
#define PROBE_STAT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/launch.h"
#include "probe/limits.h"

/* One mm: fork makes one, exec ends the old and makes the next, vfork and CLONE_VM make none. */
struct stat_space {
	pid_t pid; /* the process that used it last, and its name */
	char comm[64];
	uint64_t areas_peak; /* the most that any look saw */
	uint64_t areas_end;  /* at the last look */
	bool seen;	     /* it could be counted at all */
	bool end_exact;	     /* the last look was when nothing could change any more */
	bool running;	     /* it outlived the program */
	void *users;	     /* of the follower */
};

struct stat_tree {
	uint64_t real_ns, user_ns, sys_ns;
	int status;	/* as a shell says it */
	int exec_errno; /* the program could not be run */
	struct stat_space *spaces;
	size_t nr_spaces, room_spaces;
	uint64_t looks; /* how often the whole tree was counted */
	struct limits limits;
	int trace_errno;	    /* ptrace was refused, so the tree was sampled */
	uint64_t nr_lost_rights;    /* setuid programs that ran without their rights */
	char lost_rights_path[256]; /* the first of them */
	bool out_of_memory;	    /* ours: processes are missing */
	bool launched_only;	    /* sampled on a kernel that does not tell children */
};

/* -errno when the program could not be started under observation; then nothing has run. */
int stat_tree_run(struct stat_tree *ret_tree, char **argv, bool sample);
void stat_tree_free(struct stat_tree *tree);

/* Internal to the followers. */

#define STAT_NO_SPACE SIZE_MAX

/* How often to look: seam works a fiftieth of the time at most. The next look is due at next_ns. */
struct stat_pace {
	uint64_t next_ns, period_ns, began_ns;
};
void stat_pace_start(struct stat_pace *pace);
void stat_pace_look(struct stat_pace *pace);
void stat_pace_looked(struct stat_pace *pace);

/* A new space; its index, or STAT_NO_SPACE after noting that memory ran out. */
size_t stat_tree_add(struct stat_tree *tree, pid_t pid);
/* Counts @space through one of its users, @tid of process @pid. False when it could not. */
bool stat_tree_look(struct stat_tree *tree, size_t space, pid_t pid, pid_t tid);

/*
 * The followers: from the closed gate to the end of the program, with its wait status and the
 * times in @tree. -errno when it could not be attached; then the gate is still closed.
 */
int stat_follow_traced(struct stat_tree *tree, struct launch *launch);
int stat_follow_sampled(struct stat_tree *tree, struct launch *launch);

struct rusage;
/* Notes how the program ended. */
void stat_tree_ended(struct stat_tree *tree, uint64_t began_ns, int wait_status,
		     const struct rusage *usage);

#endif
