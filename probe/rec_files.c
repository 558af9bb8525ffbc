/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which open file description an mmap maps. A copy of the descriptor is taken at the entry stop and
 * held against earlier copies of the same inode. A copy keeps the description open: it is given back
 * at the entry stop of the call that removes the last area of it in the tree, since until then the
 * area itself keeps it open, and a copy held longer would keep a lock that the program has given up.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <seam/ops.h>

#include "probe/procfs.h"
#include "probe/procmap.h"
#include "probe/rec.h"
#include "probe/uapi.h"

#ifndef BTRFS_SUPER_MAGIC
#define BTRFS_SUPER_MAGIC 0x9123683E
#endif
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* ---- the copies ---- */

static struct rec_held **held_chain(struct rec *rec, ino_t ino)
{
	return &rec->held[(unsigned int)(ino * 0x9e3779b1u) % REC_HELD_CHAINS];
}

static void give_back(struct rec_held *held)
{
	if (held->fd >= 0)
		close(held->fd);
	held->fd = -1;
}

void rec_put_held(struct rec *rec, struct rec_held *held)
{
	struct rec_held **link = held_chain(rec, held->ino);

	if (held->nr_ranges || held->nr_calls)
		return;
	while (*link != held)
		link = &(*link)->next;
	*link = held->next;
	give_back(held);
	free(held);
}

static bool same_description(const struct rec *rec, int a, int b)
{
	return !syscall(SYS_kcmp, rec->self, rec->self, KCMP_FILE, a, b);
}

static bool can_compare(struct rec *rec, int fd)
{
	if (!rec->self) {
		rec->self = getpid();
		rec->no_kcmp = !same_description(rec, fd, fd);
	}
	return !rec->no_kcmp;
}

static int copy_descriptor(const struct rec_task *task, int fd)
{
	struct rec_process *process = task->process;

	if (process->pidfd < 0)
		process->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
	if (process->pidfd < 0)
		return -1;
	return (int)syscall(SYS_pidfd_getfd, process->pidfd, fd, 0);
}

static struct rec_held *find_held(struct rec *rec, const struct stat *st, int fd)
{
	struct rec_held *held = *held_chain(rec, st->st_ino);

	while (held && (held->ino != st->st_ino || held->dev != st->st_dev || held->fd < 0 ||
			!same_description(rec, held->fd, fd)))
		held = held->next;
	return held;
}

/* ---- what is told of a file ---- */

static uint32_t traits_of_fs(const struct statfs *fs)
{
	uint32_t traits = fs->f_flags & ST_NOEXEC ? SEAM_FILE_NOEXEC : 0;

	switch ((unsigned long)fs->f_type) {
	case TMPFS_MAGIC:
		return traits | SEAM_FILE_SHMEM;
	case HUGETLBFS_MAGIC:
		return traits | SEAM_FILE_HUGETLB;
	case SECRETMEM_MAGIC:
		return traits | SEAM_FILE_SECRET;
	case BTRFS_SUPER_MAGIC:
		return traits | SEAM_FILE_THP_ALIGN;
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
		return traits | SEAM_FILE_THP_ALIGN | SEAM_FILE_SYNC;
	default:
		return traits;
	}
}

static uint32_t access_traits(unsigned int open_flags)
{
	switch (open_flags & O_ACCMODE) {
	case O_RDONLY:
		return SEAM_FILE_READ;
	case O_WRONLY:
		return SEAM_FILE_WRITE;
	default:
		return SEAM_FILE_READ | SEAM_FILE_WRITE;
	}
}

/* "flags:" of fdinfo, octal; all access when it cannot be read. */
static uint32_t open_traits(pid_t tid, int fd)
{
	char text[512], *at;

	if (procfs_read(text, sizeof(text), "/proc/%d/fdinfo/%d", (int)tid, fd) < 0)
		return SEAM_FILE_READ | SEAM_FILE_WRITE;
	at = strstr(text, "flags:");
	return access_traits(at ? (unsigned int)strtoul(at + 6, NULL, 8) : O_RDWR);
}

static void describe(const char *link, dev_t dev, ino_t ino, uint32_t traits,
		     struct rec_file *ret_file)
{
	ssize_t len = readlink(link, ret_file->path, sizeof(ret_file->path) - 1);

	ret_file->path[len > 0 ? len : 0] = 0;
	ret_file->file = (struct trace_file) {
		.dev = (uint64_t)major(dev) << 20 | minor(dev),
		.ino = ino,
		.traits = traits,
	};
}

/* While the task stands still: there is no copy of its descriptor. */
static void describe_theirs(const struct rec_task *task, int fd, const struct stat *st,
			    struct rec_file *ret_file)
{
	uint32_t traits = open_traits(task->tid, fd);
	struct statfs fs;
	char link[48];

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)task->tid, fd);
	if (!statfs(link, &fs))
		traits |= traits_of_fs(&fs);
	describe(link, st->st_dev, st->st_ino, traits, ret_file);
}

static void describe_copy(const struct rec_held *held, struct rec_file *ret_file)
{
	uint32_t traits = access_traits((unsigned int)fcntl(held->fd, F_GETFL));
	struct statfs fs;
	char link[48];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", held->fd);
	if (!fstatfs(held->fd, &fs))
		traits |= traits_of_fs(&fs);
	describe(link, held->dev, held->ino, traits, ret_file);
}

/*
 * The device and inode as maps shows them, which the area has just got: on btrfs and overlayfs they
 * are not what stat says.
 */
static void take_map_identity(const struct rec_task *task, uint64_t addr, struct trace_file *file)
{
	struct procmap_area area;
	int fd = rec_maps_fd(task);

	if (fd < 0 || procmap_find(fd, addr, &area) != 1 || area.start > addr)
		return;
	file->dev = (uint64_t)area.dev_major << 20 | area.dev_minor;
	file->ino = area.inode;
}

static struct rec_held *new_held(struct rec *rec, const struct stat *st, int fd)
{
	struct rec_held *held = calloc(1, sizeof(*held));
	struct rec_held **chain = held_chain(rec, st->st_ino);

	if (!held)
		return NULL;
	held->dev = st->st_dev;
	held->ino = st->st_ino;
	held->fd = fd;
	held->description = ++rec->nr_descriptions;
	held->next = *chain;
	*chain = held;
	return held;
}

/* The description behind our copy @fd; takes the copy. NULL: it cannot be told. */
static struct rec_held *hold(struct rec *rec, const struct stat *st, int fd)
{
	struct rec_held *held;

	if (!can_compare(rec, fd)) {
		close(fd);
		return NULL;
	}
	held = find_held(rec, st, fd);
	if (!held)
		held = new_held(rec, st, fd);
	if (!held || held->fd != fd)
		close(fd);
	return held;
}

/* Calls of other spaces are under way at the same time: each task keeps its own. */
static struct rec_file *description_of(struct rec_task *task)
{
	if (!task->described)
		task->described = malloc(sizeof(*task->described));
	return task->described;
}

static int stat_descriptor(const struct rec_task *task, int fd, int copy, struct stat *ret_stat)
{
	char link[48];

	if (copy >= 0)
		return fstat(copy, ret_stat);
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)task->tid, fd);
	return stat(link, ret_stat);
}

/* Of a memfd, at this moment; other files have none. */
static uint32_t seals_of(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0)
		return 0;
	return (seals & F_SEAL_WRITE ? EVENT_SEAL_WRITE : 0) |
	       (seals & F_SEAL_FUTURE_WRITE ? EVENT_SEAL_FUTURE_WRITE : 0);
}

void rec_identify(struct rec *rec, struct rec_task *task, struct rec_call *call)
{
	int fd = (int)call->arg[4], copy;
	struct rec_file *described;
	struct stat st;

	if (call->arg[3] & SEAM_MAP_ANONYMOUS || fd < 0)
		return;
	copy = copy_descriptor(task, fd);
	if (copy >= 0 && (call->arg[3] & SEAM_MAP_TYPE) != SEAM_MAP_PRIVATE)
		call->flags |= seals_of(copy);
	if (stat_descriptor(task, fd, copy, &st)) {
		if (copy >= 0)
			close(copy);
		return;
	}
	call->held = copy >= 0 ? hold(rec, &st, copy) : NULL;
	if (call->held)
		call->held->nr_calls++;
	else
		rec->result->no_descriptions = true;
	if (call->held && call->held->file) {
		call->file = call->held->file;
		call->has_file = true;
		return;
	}
	described = description_of(task);
	call->has_file = described;
	if (described && !call->held)
		describe_theirs(task, fd, &st, described);
}

void rec_describe_file(const struct rec_task *task, const struct rec_call *call)
{
	if (call->has_file && !call->file && call->held)
		describe_copy(call->held, task->described);
}

void rec_number_file(struct rec *rec, struct rec_task *task, struct rec_call *call, int64_t result)
{
	struct rec_file *described = task->described;

	if (!call->has_file || call->file)
		return;
	if (result >= 0)
		take_map_identity(task, (uint64_t)result, &described->file);
	described->file.path = described->path;
	if (call->held) {
		described->file.known = 1;
		described->file.description = call->held->description;
	}
	call->file = rec_write_file(rec, &described->file);
	if (call->held)
		call->held->file = call->file;
}

/* ---- which areas map them ---- */

/* Memory that moved: [old, old + len) to @to, or left where it is as well. */
static void move_ranges(struct rec *rec, struct rec_ranges *ranges, uint64_t old, uint64_t old_len,
			uint64_t to, uint64_t new_len, bool keep)
{
	size_t at = rec_ranges_find(ranges, old);
	struct rec_range range = { to, to + new_len, NULL };

	if (at < ranges->nr && ranges->list[at].start <= old)
		range.held = ranges->list[at].held;
	if (range.held)
		range.held->nr_ranges++; /* stays through the cutting */
	if (!keep)
		rec_ranges_cut(rec, ranges, old, old + old_len);
	rec_ranges_cut(rec, ranges, to, to + new_len);
	if (!range.held)
		return;
	rec_ranges_insert(ranges, &range);
	range.held->nr_ranges--;
	rec_put_held(rec, range.held);
}

static uint64_t page_up(uint64_t len)
{
	return (len + 4095) & ~UINT64_C(4095);
}

void rec_after_call(struct rec *rec, struct rec_task *task, const struct rec_call *call,
		    int64_t result)
{
	struct rec_ranges *files = &task->space->files;
	uint64_t addr = (uint64_t)result;
	bool done = result >= 0 && call->kind == REC_CALL;

	if (done && call->call == TRACE_CALL_mmap) {
		struct rec_range range = { addr, addr + page_up(call->arg[1]), call->held };

		rec_ranges_cut(rec, files, range.start, range.end);
		if (range.held)
			rec_ranges_insert(files, &range);
	} else if (done && call->call == TRACE_CALL_munmap) {
		rec_ranges_cut(rec, files, call->arg[0], call->arg[0] + page_up(call->arg[1]));
	} else if (done && call->call == TRACE_CALL_mremap) {
		move_ranges(rec, files, call->arg[0], page_up(call->arg[1]), addr,
			    page_up(call->arg[2]),
			    call->arg[3] & SEAM_MREMAP_DONTUNMAP || !call->arg[1]);
	}
	if (call->held) {
		call->held->nr_calls--;
		rec_put_held(rec, call->held);
	}
}

/* Gives back the copies that have no range outside [start, end) of this space, and no call. */
static void give_back_inside(const struct rec_ranges *files, uint64_t start, uint64_t end)
{
	const struct rec_range *first = files->list + rec_ranges_find(files, start);
	const struct rec_range *last = files->list + files->nr;

	for (const struct rec_range *range = first; range < last && range->start < end; range++)
		range->held->nr_inside = 0;
	for (const struct rec_range *range = first; range < last && range->start < end; range++) {
		if (range->start >= start && range->end <= end)
			range->held->nr_inside++;
		if (range->held->nr_inside == range->held->nr_ranges && !range->held->nr_calls)
			give_back(range->held);
	}
}

void rec_before_unmap(const struct rec_task *task, const struct rec_call *call)
{
	const struct rec_ranges *files = &task->space->files;
	const uint64_t *arg = call->arg;

	if (call->kind != REC_CALL || !files->nr)
		return;
	if (call->call == TRACE_CALL_munmap) {
		give_back_inside(files, arg[0], arg[0] + page_up(arg[1]));
	} else if (call->call == TRACE_CALL_mmap && arg[3] & SEAM_MAP_FIXED) {
		give_back_inside(files, arg[0], arg[0] + page_up(arg[1]));
	} else if (call->call == TRACE_CALL_mremap) {
		if (page_up(arg[2]) < page_up(arg[1]))
			give_back_inside(files, arg[0] + page_up(arg[2]), arg[0] + page_up(arg[1]));
		if (arg[3] & SEAM_MREMAP_FIXED)
			give_back_inside(files, arg[4], arg[4] + page_up(arg[2]));
	}
}

int rec_copy_files(struct rec_space *child, const struct rec_space *parent,
		   const struct seam_area *areas, size_t nr_areas)
{
	size_t a = 0;

	for (size_t i = 0; i < parent->files.nr; i++) {
		const struct rec_range *range = &parent->files.list[i];

		while (a < nr_areas && areas[a].end <= range->start)
			a++;
		if (a == nr_areas || areas[a].start >= range->end)
			continue;
		if (rec_ranges_insert(&child->files, range))
			return -ENOMEM;
	}
	return 0;
}
