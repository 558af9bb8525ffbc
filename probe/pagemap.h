/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/pagemap.h - PAGEMAP_SCAN, which tells what pages of a process are (6.7
 * include/uapi/linux/fs.h; guard markers 6.15). Headers of today may not have it.
 */
#ifndef PROBE_PAGEMAP_H
#define PROBE_PAGEMAP_H

#include <stdint.h>
#include <sys/ioctl.h>

struct pagemap_region {
	uint64_t start, end, categories;
};

struct pagemap_scan {
	uint64_t size, flags;
	uint64_t start, end, walk_end;
	uint64_t vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define PAGEMAP_SCAN_IOCTL _IOWR('f', 16, struct pagemap_scan)
#define PAGEMAP_IS_FILE 0x4
#define PAGEMAP_IS_PRESENT 0x8
#define PAGEMAP_IS_SWAPPED 0x10
#define PAGEMAP_IS_ZERO 0x20
#define PAGEMAP_IS_GUARD 0x100

#endif
