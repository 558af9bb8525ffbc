/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe/bpf/record.h - what the iterator programs write and probe/iter.c reads. areas: one
 * mm_record for each task, then an area_record for each of its areas, each followed by its name
 * and path. counts: a count_record for each thread that has memory.
 * Pointers are the kernel's; they are compared, never shown.
 */
#ifndef PROBE_BPF_RECORD_H
#define PROBE_BPF_RECORD_H

enum record_kind { RECORD_MM = 0x6d6d, RECORD_AREA = 0x6172 };

/* Fields that this kernel's mm or area does not have (mm_record, lacks). */
enum record_lacks {
	LACKS_NUMA = 0x1,
	LACKS_UFFD = 0x2,
	LACKS_NAME = 0x4,
	LACKS_MAP_COUNT = 0x8,
	LACKS_DEF_FLAGS = 0x10,
	LACKS_HOME_NODE = 0x20,
};

enum record_traits {
	AREA_CLOSE = 0x1,     /* vm_ops->close */
	AREA_MAY_SPLIT = 0x2, /* vm_ops->may_split, or split before 5.11 */
	AREA_NO_INODE = 0x4,
	AREA_CHAIN_CUT = 0x8, /* the chain is longer than was counted */
};

#define RECORD_CHAIN_MAX 64
#define RECORD_NAME_MAX 80 /* PR_SET_VMA_ANON_NAME, with its end */
#define RECORD_PATH_MAX 4096
#define RECORD_NODES 16 /* words of a node mask: MAX_NUMNODES up to 1024 */

struct mm_record {
	unsigned int kind, size;
	unsigned int tgid, tid;
	unsigned int lacks;
	unsigned int map_count;
	unsigned long long mm;
	unsigned long long def_flags;
	unsigned long long start_brk, brk, start_stack;
	unsigned long long task_size, mmap_base;
	unsigned long long total_pages, locked_pages;
	char comm[16];
};

struct count_record {
	unsigned int tgid, map_count;
	unsigned long long mm;
	unsigned long long total_pages;
	char comm[16];
};

struct area_record {
	unsigned int kind, size; /* with name and path */
	unsigned long long start, end, flags, pgoff;
	unsigned long long anon_vma;
	unsigned long long file, inode;
	unsigned long long policy; /* a digest of its value; 0 none */
	unsigned long long uffd;
	unsigned int dev;   /* kernel form: major << 20 | minor */
	unsigned int chain; /* length of the anon_vma chain */
	unsigned int traits;
	unsigned short name_len, path_len; /* with their ends; 0 none */
};

#endif
