// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The areas of one process or of all, as the kernel holds them: a task_vma iterator (5.12-).
 * The members of ctx are trusted pointers, so plain loads do; they are cheaper than probe reads.
 */
#include "vmlinux_min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "record.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading. */
const volatile int only_tid = 0; /* 0: all; for kernels that cannot filter themselves (-6.0) */
const volatile bool want_paths = true;

/* What was written last, so that a path stands once before a run of areas of one file. */
__u64 last_task, last_file;

static char path[RECORD_PATH_MAX];

static __u32 missing_fields(struct vm_area_struct *vma)
{
	__u32 lacks = 0;

	if (!bpf_core_field_exists(vma->vm_policy))
		lacks |= LACKS_NUMA;
	else if (!bpf_core_field_exists(((struct mempolicy *)0)->home_node))
		lacks |= LACKS_HOME_NODE;
	if (!bpf_core_field_exists(vma->vm_userfaultfd_ctx.ctx))
		lacks |= LACKS_UFFD;
	if (!bpf_core_field_exists(vma->anon_name))
		lacks |= LACKS_NAME;
	return lacks;
}

/* The kernel's own count; false when it has none by a name known here. */
static bool read_count(struct mm_struct *mm, __u32 *ret_count)
{
	if (bpf_core_field_exists(mm->map_count))
		*ret_count = mm->map_count;
	else if (bpf_core_field_exists(((struct mm_struct___vma_count *)mm)->vma_count))
		*ret_count = BPF_CORE_READ((struct mm_struct___vma_count *)mm, vma_count);
	else
		return false;
	return true;
}

static int write_mm(struct seq_file *seq, struct task_struct *task, struct vm_area_struct *vma)
{
	struct mm_struct *mm = vma->vm_mm;
	struct mm_record record = { .kind = RECORD_MM, .size = sizeof(record) };

	record.tgid = task->tgid;
	record.tid = task->pid;
	record.mm = (__u64)mm;
	record.lacks = missing_fields(vma);
	if (!read_count(mm, &record.map_count))
		record.lacks |= LACKS_MAP_COUNT;
	if (bpf_core_field_exists(mm->def_flags))
		record.def_flags = mm->def_flags;
	else
		record.lacks |= LACKS_DEF_FLAGS;
	record.start_brk = mm->start_brk;
	record.brk = mm->brk;
	record.start_stack = mm->start_stack;
	record.task_size = mm->task_size;
	if (bpf_core_field_exists(mm->mmap_base))
		record.mmap_base = mm->mmap_base;
	record.total_pages = mm->total_vm;
	record.locked_pages = mm->locked_vm;
	bpf_probe_read_kernel_str(record.comm, sizeof(record.comm), task->comm);
	return bpf_seq_write(seq, &record, sizeof(record));
}

static void read_chain(struct vm_area_struct *vma, struct area_record *record)
{
	struct list_head *head = &vma->anon_vma_chain;
	struct list_head *at = head->next;
	int i;

	/* Almost always so, and then the link itself, far away in memory, is not looked at. */
	if (at != head && at == head->prev) {
		record->chain = 1;
		return;
	}
	for (i = 0; i < RECORD_CHAIN_MAX && at != head; i++)
		at = at->next;
	record->chain = i;
	if (at != head)
		record->traits |= AREA_CHAIN_CUT;
}

#define FNV_PRIME 0x100000001b3ULL
#define MPOL_PREFERRED 1
#define MPOL_LOCAL 4
#define MPOL_F_LOCAL 2 /* of a preferred one, before 5.14 */

/*
 * The nodes of a policy; *size is 0 where it has none. They are not set then: what stands there
 * is of the memory's last owner.
 */
static const void *policy_nodes(struct mempolicy *policy, __u32 *size)
{
	struct mempolicy___before_5_14 *old = (void *)policy;

	*size = 0;
	if (policy->mode == MPOL_LOCAL)
		return 0;
	if (bpf_core_field_exists(policy->nodes)) {
		*size = bpf_core_field_size(policy->nodes);
		return __builtin_preserve_access_index(&policy->nodes);
	}
	if (!bpf_core_field_exists(old->v.nodes))
		return 0;
	/* a single one stands alone in the union */
	if (policy->mode != MPOL_PREFERRED)
		*size = bpf_core_field_size(old->v.nodes);
	else if (!(policy->flags & MPOL_F_LOCAL))
		*size = sizeof(short);
	return __builtin_preserve_access_index(&old->v.nodes);
}

/* Policies are equal by value: mode, flags, nodes and home node. FNV-1a over the words. */
static __u64 policy_digest(struct mempolicy *policy)
{
	__u64 hash = 0xcbf29ce484222325ULL, words[RECORD_NODES] = {};
	__u32 size;
	const void *nodes = policy_nodes(policy, &size);

	hash = (hash ^ policy->mode) * FNV_PRIME;
	hash = (hash ^ policy->flags) * FNV_PRIME;
	if (bpf_core_field_exists(policy->home_node))
		hash = (hash ^ (__u32)policy->home_node) * FNV_PRIME;
	if (size > sizeof(words))
		size = sizeof(words);
	if (nodes)
		bpf_probe_read_kernel(words, size, nodes);
	for (int i = 0; i < RECORD_NODES; i++)
		hash = (hash ^ words[i]) * FNV_PRIME;
	return hash ? hash : 1;
}

static void read_file(struct file *file, struct area_record *record)
{
	struct inode *inode = file->f_inode;

	record->file = (__u64)file;
	if (!inode) {
		record->traits |= AREA_NO_INODE;
		return;
	}
	record->inode = inode->i_ino;
	record->dev = inode->i_sb->s_dev;
}

static void read_area(struct vm_area_struct *vma, struct area_record *record)
{
	const struct vm_operations_struct *ops = vma->vm_ops;

	record->start = vma->vm_start;
	record->end = vma->vm_end;
	record->flags = vma->vm_flags;
	record->pgoff = vma->vm_pgoff;
	record->anon_vma = (__u64)vma->anon_vma;
	if (record->anon_vma)
		read_chain(vma, record);
	if (ops) {
		if (ops->close)
			record->traits |= AREA_CLOSE;
		if (bpf_core_field_exists(ops->may_split) && ops->may_split)
			record->traits |= AREA_MAY_SPLIT;
	}
	if (vma->vm_file)
		read_file(vma->vm_file, record);
	if (bpf_core_field_exists(vma->vm_policy) && vma->vm_policy)
		record->policy = policy_digest(vma->vm_policy);
	if (bpf_core_field_exists(vma->vm_userfaultfd_ctx.ctx))
		record->uffd = (__u64)vma->vm_userfaultfd_ctx.ctx;
}

static __u32 read_name(struct vm_area_struct *vma, char *name)
{
	struct anon_vma_name *anon_name;
	long len;

	/* the member shares its place with others in a file's area */
	if (!bpf_core_field_exists(vma->anon_name) || vma->vm_file)
		return 0;
	anon_name = vma->anon_name;
	if (!anon_name)
		return 0;
	len = bpf_probe_read_kernel_str(name, RECORD_NAME_MAX, anon_name->name);
	return len > 0 && len <= RECORD_NAME_MAX ? len : 0;
}

static int write_area(struct seq_file *seq, struct vm_area_struct *vma)
{
	struct area_record record = { .kind = RECORD_AREA };
	char name[RECORD_NAME_MAX] = {};
	long path_len = 0;
	int err;

	read_area(vma, &record);
	record.name_len = read_name(vma, name);
	if (want_paths && vma->vm_file && record.file != last_file) {
		path_len = bpf_d_path(&vma->vm_file->f_path, path, sizeof(path));
		if (path_len < 0 || path_len > (long)sizeof(path))
			path_len = 0;
	}
	record.path_len = path_len;
	record.size = sizeof(record) + record.name_len + path_len;
	err = bpf_seq_write(seq, &record, sizeof(record));
	if (!err && record.name_len && record.name_len <= RECORD_NAME_MAX)
		err = bpf_seq_write(seq, name, record.name_len);
	if (!err && path_len > 0 && path_len <= RECORD_PATH_MAX)
		err = bpf_seq_write(seq, path, path_len);
	/* a full buffer: the kernel drops this element and comes again */
	if (!err)
		last_file = record.file;
	return err;
}

SEC("iter/task_vma")
int areas(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	struct task_struct *task = ctx->task;

	if (!task || !vma)
		return 0;
	if (only_tid && task->pid != only_tid)
		return 0;
	if ((__u64)task != last_task) {
		last_file = 0;
		if (write_mm(ctx->meta->seq, task, vma))
			return 0;
	}
	if (!write_area(ctx->meta->seq, vma))
		last_task = (__u64)task;
	return 0;
}

SEC("iter/task")
int counts(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct count_record record = {};

	if (!task || !task->mm)
		return 0;
	/* One record a process, unless its first thread has ended before others. */
	if (task != task->group_leader && task->group_leader->mm)
		return 0;
	record.tgid = task->tgid;
	record.mm = (__u64)task->mm;
	record.total_pages = task->mm->total_vm;
	bpf_probe_read_kernel_str(record.comm, sizeof(record.comm), task->group_leader->comm);
	if (read_count(task->mm, &record.map_count))
		bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}
