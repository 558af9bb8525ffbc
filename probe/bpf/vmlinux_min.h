/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe/bpf/vmlinux_min.h - the few kernel structures that the iterator reads, and of them the few
 * members. CO-RE finds their places in the running kernel by name.
 */
#ifndef PROBE_BPF_VMLINUX_MIN_H
#define PROBE_BPF_VMLINUX_MIN_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

enum { false = 0, true = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next, *prev;
};

struct super_block {
	__u32 s_dev;
};

struct inode {
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct path {
	void *mnt;
	void *dentry;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
};

struct vm_operations_struct {
	void *close;
	void *may_split;
};

struct userfaultfd_ctx;

struct vm_userfaultfd_ctx {
	struct userfaultfd_ctx *ctx;
};

typedef struct {
	unsigned long bits[1];
} nodemask_t;

struct mempolicy {
	unsigned short mode;
	unsigned short flags;
	nodemask_t nodes; /* 5.14-; before, in a union v */
	int home_node;	  /* 5.17- */
};

struct mempolicy___before_5_14 {
	union {
		nodemask_t nodes;
	} v;
};

struct anon_vma_name {
	char name[1];
};

struct anon_vma;

struct mm_struct {
	int map_count;
	unsigned long def_flags;
	unsigned long start_brk, brk, start_stack;
	unsigned long task_size, mmap_base;
	unsigned long total_vm, locked_vm;
};

/* Renamed by newer kernels. */
struct mm_struct___vma_count {
	int vma_count;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	struct list_head anon_vma_chain;
	struct anon_vma *anon_vma;
	const struct vm_operations_struct *vm_ops;
	unsigned long vm_pgoff;
	struct file *vm_file;
	struct mempolicy *vm_policy;
	struct vm_userfaultfd_ctx vm_userfaultfd_ctx;
	struct anon_vma_name *anon_name; /* 5.17- */
};

struct task_struct {
	int pid;
	int tgid;
	char comm[16];
	struct mm_struct *mm;
	struct task_struct *group_leader;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
};

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif
