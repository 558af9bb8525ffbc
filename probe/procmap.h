/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/procmap.h - single areas of a live process by PROCMAP_QUERY (6.11-), an ioctl on its maps
 * file: about 1 µs an area however many there are. Nothing is allocated.
 */
#ifndef PROBE_PROCMAP_H
#define PROBE_PROCMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct procmap_area {
	uint64_t start, end;
	uint64_t flags;	 /* SEAM_VM_READ, WRITE, EXEC; MAYSHARE for 's' */
	uint64_t offset; /* bytes; 0 for anonymous memory */
	uint64_t page_size;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
};

/* The maps file of a process (0: the caller's own), for the calls below. -errno. */
int procmap_open(pid_t pid);

/* Whether the kernel behind @fd answers. */
bool procmap_works(int fd);

/*
 * The area that holds @addr, or else the next one up. 1 and *ret_area, 0 when there is none, or
 * -errno (-ENOTTY where the kernel does not have it).
 */
int procmap_find(int fd, uint64_t addr, struct procmap_area *ret_area);

#endif
