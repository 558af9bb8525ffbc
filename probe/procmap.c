/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/procmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <seam/area.h>

/* The kernel's interface (6.11 include/uapi/linux/fs.h), which headers of today may not have. */
struct query {
	uint64_t size;
	uint64_t query_flags;
	uint64_t query_addr;
	uint64_t vma_start, vma_end;
	uint64_t vma_flags;
	uint64_t vma_page_size;
	uint64_t vma_offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t name_size, build_id_size;
	uint64_t name_addr, build_id_addr;
};
#define QUERY_IOCTL _IOWR('f', 17, struct query)
#define QUERY_COVERING_OR_NEXT 0x10u
#define VMA_READ 0x1u
#define VMA_WRITE 0x2u
#define VMA_EXEC 0x4u
#define VMA_SHARED 0x8u

int procmap_open(pid_t pid)
{
	char path[32];
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(pid ? path : "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool procmap_works(int fd)
{
	struct procmap_area area;

	return procmap_find(fd, 0, &area) >= 0;
}

int procmap_find(int fd, uint64_t addr, struct procmap_area *ret_area)
{
	struct query query = {
		.size = sizeof(query),
		.query_flags = QUERY_COVERING_OR_NEXT,
		.query_addr = addr,
	};

	if (ioctl(fd, QUERY_IOCTL, &query))
		return errno == ENOENT ? 0 : -errno;
	*ret_area = (struct procmap_area) {
		.start = query.vma_start,
		.end = query.vma_end,
		.flags = (query.vma_flags & VMA_READ ? SEAM_VM_READ : 0) |
			 (query.vma_flags & VMA_WRITE ? SEAM_VM_WRITE : 0) |
			 (query.vma_flags & VMA_EXEC ? SEAM_VM_EXEC : 0) |
			 (query.vma_flags & VMA_SHARED ? SEAM_VM_MAYSHARE : 0),
		.offset = query.vma_offset,
		.page_size = query.vma_page_size,
		.inode = query.inode,
		.dev_major = query.dev_major,
		.dev_minor = query.dev_minor,
	};
	return 1;
}
