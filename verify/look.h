/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/look.h - the areas of a process as its kernel shows them. Nothing is allocated while
 * looking, so a process can look at itself without changing what it looks at.
 */
#ifndef VERIFY_LOOK_H
#define VERIFY_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <seam/area.h>

/* One area as seen. */
struct seen {
	uint64_t start, end;
	uint64_t flags;	 /* SEAM_VM_*, as far as known[] below */
	uint64_t known;	 /* the bits that this source could show */
	uint64_t offset; /* bytes; 0 for anonymous memory */
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	char name[32]; /* the beginning; smaps and maps only */
};

struct look {
	pid_t pid;
	int maps, smaps; /* open files */
	bool query;	 /* PROCMAP_QUERY works */
	bool fresh;	 /* without it: the text is of now */
	char *buf;
	size_t room, size, at; /* text in buf, and how far it has been read */
	bool ended;
	uint64_t next; /* start of the next area, in a reading of all */
};

/*
 * Opens the files of @pid (0: the caller). @buf: room for a part of smaps and, where the kernel has
 * no PROCMAP_QUERY, for all of maps. -errno.
 */
int look_open(struct look *look, pid_t pid, char *buf, size_t room);
void look_close(struct look *look);

/* The map may have changed since. */
void look_again(struct look *look);
/*
 * The area that holds @addr or the next one up: 1 and *ret_seen (range, rwx, MAYSHARE, file), 0
 * when there is none, -errno.
 */
int look_find(struct look *look, uint64_t addr, struct seen *ret_seen);

/* All areas with all their flags, in address order, from smaps. -errno. */
int look_all_begin(struct look *look);
/* 1, 0 at the end, -errno. */
int look_all_next(struct look *look, struct seen *ret_seen);

/* Whether there are guard markers in the range, as far as pagemap tells (6.15-). */
bool look_for_guards(struct look *look, uint64_t start, uint64_t len);

#endif
