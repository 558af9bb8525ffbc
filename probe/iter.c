/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/iter.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/bpf/record.h"
#include "trace/clock.h"
#include "trace/trace.h"

void iter_drop_privileges(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	uint32_t keep = CAP_TO_MASK(CAP_BPF) | CAP_TO_MASK(CAP_PERFMON);

	if (syscall(SYS_capget, &header, data))
		return;
	/* kernels before 5.8 want CAP_SYS_ADMIN instead; they have no such iterator either */
	data[0] = (struct __user_cap_data_struct) { 0 };
	data[1] = (struct __user_cap_data_struct) {
		.effective = data[1].effective & keep,
		.permitted = data[1].permitted & keep,
	};
	syscall(SYS_capset, &header, data);
}

#ifdef HAVE_LIBBPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "probe/bpf/areas.skel.h"

/* What an iterator wrote, whole. */
struct bytes {
	char *data;
	size_t size, room;
};

static char last_message[ITER_WHY_SIZE];

/* libbpf's words are for its developers; the last one is kept for ours. */
__attribute__((format(printf, 2, 0))) static int keep_message(enum libbpf_print_level level,
							      const char *format, va_list args)
{
	if (level == LIBBPF_WARN)
		vsnprintf(last_message, sizeof(last_message), format, args);
	return 0;
}

static int refuse(char *why, int err, const char *what)
{
	size_t len = strcspn(last_message, "\n");

	if (err == -EPERM || err == -EACCES) {
		snprintf(why, ITER_WHY_SIZE, "%s: CAP_BPF and CAP_PERFMON are needed", what);
		return -EPERM;
	}
	snprintf(why, ITER_WHY_SIZE, "%s: %s%s%.*s", what, strerror(-err), len ? ": " : "",
		 (int)len, last_message);
	return err;
}

/*
 * The records one after the other, each checked to lie whole within what was read. They follow one
 * another without padding, so each head is copied to where it is aligned.
 */
struct walk {
	const char *at, *end;
	struct mm_record mm;	 /* of the areas that follow; kind 0: none yet */
	struct area_record area; /* the present one */
	const char *texts;	 /* its name and path */
};

static bool next_area(struct walk *walk)
{
	while (walk->at < walk->end) {
		size_t left = (size_t)(walk->end - walk->at);
		unsigned int kind;

		if (left < sizeof(walk->area))
			return false;
		memcpy(&kind, walk->at, sizeof(kind));
		if (kind == RECORD_MM && left >= sizeof(walk->mm)) {
			memcpy(&walk->mm, walk->at, sizeof(walk->mm));
			walk->at += sizeof(walk->mm);
			continue;
		}
		memcpy(&walk->area, walk->at, sizeof(walk->area));
		if (kind != RECORD_AREA || walk->area.size < sizeof(walk->area) ||
		    walk->area.size > left)
			return false;
		walk->texts = walk->at + sizeof(walk->area);
		walk->at += walk->area.size;
		return true;
	}
	return false;
}

/* The kernel fills at most this much a read, with whole records (kernel/bpf/bpf_iter.c). */
#define ITER_BUFFER 32768

/* True when what was read last, from @from on, goes on behind what was read before. */
typedef bool goes_on_fn(const struct bytes *bytes, size_t from, void *ctx);

static int read_all(int fd, struct bytes *bytes, goes_on_fn *goes_on, void *ctx)
{
	ssize_t got;

	for (;;) {
		if (bytes->room - bytes->size < ITER_BUFFER) {
			size_t room = bytes->room ? bytes->room * 2 : 4 * ITER_BUFFER;
			char *data = realloc(bytes->data, room);

			if (!data)
				return -ENOMEM;
			bytes->data = data;
			bytes->room = room;
		}
		got = read(fd, bytes->data + bytes->size, bytes->room - bytes->size);
		if (got > 0) {
			size_t from = bytes->size;

			bytes->size += (size_t)got;
			if (goes_on && !goes_on(bytes, from, ctx)) {
				bytes->size = from;
				return 0;
			}
		} else if (!got) {
			return 0;
		} else if (errno != EINTR && errno != EAGAIN) {
			return -errno;
		}
	}
}

/* Opens the programs with all but @wanted left out. */
static struct areas_bpf *open_programs(bool areas)
{
	struct areas_bpf *skel;

	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(keep_message);
	last_message[0] = 0;
	skel = areas_bpf__open();
	if (skel) {
		bpf_program__set_autoload(skel->progs.areas, areas);
		bpf_program__set_autoload(skel->progs.counts, !areas);
	}
	return skel;
}

static int run_iterator(struct bpf_program *program, const struct bpf_iter_attach_opts *opts,
			struct bytes *bytes, goes_on_fn *goes_on, void *ctx)
{
	struct bpf_link *link = bpf_program__attach_iter(program, opts);
	int fd, err;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		err = -errno;
	} else {
		err = read_all(fd, bytes, goes_on, ctx);
		close(fd);
	}
	bpf_link__destroy(link);
	return err;
}

/*
 * Filtered to one task, the iterator of 6.18 does not end: behind the last area it gives the last
 * buffer again, and again. Areas come in address order, so that shows.
 */
static bool areas_go_on(const struct bytes *bytes, size_t from, void *ctx)
{
	struct walk walk = { .at = bytes->data + from, .end = bytes->data + bytes->size };
	uint64_t *last_start = ctx;

	if (!next_area(&walk) || (*last_start && walk.area.start <= *last_start))
		return false;
	do {
		*last_start = walk.area.start;
	} while (next_area(&walk));
	return true;
}

/* @filter: the kernel picks the task (6.1-); else the program does. */
static int read_areas(pid_t tid, bool filter, struct bytes *bytes, uint64_t *ret_ns, char *why)
{
	union bpf_iter_link_info info = { .task.tid = (uint32_t)tid };
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));
	struct areas_bpf *skel = open_programs(true);
	uint64_t last_start = 0, start;
	int err;

	if (!skel)
		return refuse(why, -errno, "opening the BPF program");
	if (!filter)
		skel->rodata->only_tid = tid;
	err = areas_bpf__load(skel);
	if (err) {
		err = refuse(why, err, "loading the BPF program");
	} else {
		start = clock_thread_ns();
		err = run_iterator(skel->progs.areas, filter ? &opts : NULL, bytes, areas_go_on,
				   &last_start);
		*ret_ns = clock_thread_ns() - start;
		if (err && !(filter && (err == -EINVAL || err == -E2BIG)))
			err = refuse(why, err, "reading areas by BPF");
	}
	areas_bpf__destroy(skel);
	return err;
}

/* As show_map_vma and arch_vma_name print them (6.18 fs/proc/task_mmu.c). */
static const char *special_name(const struct area_record *area, const struct mm_record *mm)
{
	if (area->traits & AREA_MAY_SPLIT && !(area->flags & SEAM_VM_HUGETLB))
		return area->flags & SEAM_VM_EXEC ? "[vdso]" : "[vvar]";
	if (area->start < mm->brk && area->end > mm->start_brk)
		return "[heap]";
	if (area->start <= mm->start_stack && area->end >= mm->start_stack)
		return "[stack]";
	return "";
}

/* Numbers for the kernel's pointers, and for policies by value. */
struct identities {
	struct intern anon, file, policy, uffd;
	const char **paths; /* by file number */
	bool no_memory;
};

static uint32_t number_of(struct identities *ids, struct intern *intern, uint64_t key)
{
	uint32_t number;
	bool fresh;

	if (!key)
		return 0;
	number = intern_number(intern, &key, sizeof(key), UINT32_MAX, &fresh);
	ids->no_memory |= !number;
	return number;
}

static void free_identities(struct identities *ids)
{
	intern_free(&ids->anon);
	intern_free(&ids->file);
	intern_free(&ids->policy);
	intern_free(&ids->uffd);
	free(ids->paths);
}

static const char *keep_text(struct snapshot *snapshot, struct identities *ids, const char *text,
			     uint32_t *ret_number)
{
	const char *kept = "";
	uint32_t number = snapshot_text(snapshot, text, strlen(text), &kept);

	ids->no_memory |= !number;
	if (ret_number)
		*ret_number = number;
	return number ? kept : "";
}

static void convert(const struct walk *walk, struct snapshot *snapshot, struct identities *ids)
{
	const struct area_record *record = &walk->area;
	struct snapshot_area *ret = &snapshot->areas[snapshot->nr_areas++];
	const char *texts = walk->texts;
	uint32_t file = number_of(ids, &ids->file, record->file);

	*ret = (struct snapshot_area){
		.area = {
			.start = record->start,
			.end = record->end,
			.flags = record->flags,
			.pgoff = record->pgoff,
			.file = file,
			.anon_vma = number_of(ids, &ids->anon, record->anon_vma),
			.anon_chain = record->chain,
			.numa = number_of(ids, &ids->policy, record->policy),
			.uffd = number_of(ids, &ids->uffd, record->uffd),
		},
		.dev_major = record->dev >> 20,
		.dev_minor = record->dev & 0xfffff,
		.inode = record->inode,
		.name = "",
	};
	if (record->traits & AREA_CLOSE)
		ret->area.traits |= SEAM_TRAIT_CLOSE;
	if (record->traits & AREA_MAY_SPLIT && !(record->flags & SEAM_VM_HUGETLB))
		ret->area.traits |= SEAM_TRAIT_NO_SPLIT;
	if (record->path_len && file)
		ids->paths[file] = keep_text(snapshot, ids, texts + record->name_len, NULL);
	if (file)
		ret->name = ids->paths[file] ? ids->paths[file] : "";
	else if (record->name_len)
		ret->name = keep_text(snapshot, ids, texts, &ret->area.name);
	else
		ret->name = special_name(record, &walk->mm);
}

static uint32_t seen_fields(uint32_t lacks)
{
	uint32_t sees = SEES_RANGE | SEES_FLAGS | SEES_ALL_FLAGS | SEES_OFFSET | SEES_ANON_OFFSET |
			SEES_INODE | SEES_FILE | SEES_ANON_VMA | SEES_CLOSE | SEES_PKEY;

	/* a kernel that was built without a thing has none of it to see */
	return sees | SEES_UFFD | SEES_NAME | (lacks & LACKS_NUMA ? 0 : SEES_NUMA);
}

static int to_snapshot(const struct bytes *bytes, struct snapshot *ret)
{
	struct walk walk = { .at = bytes->data, .end = bytes->data + bytes->size };
	const struct mm_record *mm = &walk.mm;
	struct identities ids = { 0 };
	size_t nr = 0;

	while (next_area(&walk))
		nr++;
	if (!mm->kind || !nr)
		return -ESRCH;
	memset(ret, 0, sizeof(*ret));
	ret->areas = calloc(nr, sizeof(*ret->areas));
	ids.paths = calloc(nr + 1, sizeof(*ids.paths));
	ids.no_memory = !ret->areas || !ids.paths;
	walk.at = bytes->data;
	while (!ids.no_memory && ret->nr_areas < nr && next_area(&walk))
		convert(&walk, ret, &ids);
	free_identities(&ids);
	if (ids.no_memory) {
		snapshot_free(ret);
		return -ENOMEM;
	}
	ret->source = "bpf";
	ret->sees = seen_fields(mm->lacks);
	ret->map_count = mm->lacks & LACKS_MAP_COUNT ? 0 : mm->map_count;
	ret->def_flags = mm->def_flags;
	snprintf(ret->comm, sizeof(ret->comm), "%.16s", mm->comm);
	return 0;
}

/*
 * Programs read a task's pid as the initial namespace has it; what the kernel itself is asked for
 * is a pid of ours. PROC_PID_INIT_INO (include/linux/proc_ns.h) is the initial one's inode.
 */
static bool in_first_pid_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == 0xeffffffc;
}

static int refuse_namespace(char *why)
{
	snprintf(why, ITER_WHY_SIZE, "in a PID namespace this kernel tells other pids");
	return -EOPNOTSUPP;
}

int iter_snapshot(pid_t tid, struct snapshot *ret_snapshot, char *why)
{
	struct bytes bytes = { 0 };
	uint64_t ns = 0;
	int err = read_areas(tid, true, &bytes, &ns, why);

	if (err == -EINVAL || err == -E2BIG) {
		bytes.size = 0;
		err = in_first_pid_namespace() ? read_areas(tid, false, &bytes, &ns, why)
					       : refuse_namespace(why);
	}
	if (!err) {
		err = to_snapshot(&bytes, ret_snapshot);
		if (err)
			snprintf(why, ITER_WHY_SIZE, "reading areas by BPF: %s",
				 err == -ESRCH ? "it has no memory" : strerror(-err));
		else
			ret_snapshot->read_ns = ns;
	}
	free(bytes.data);
	return err;
}

/* One line a process out of one a thread. */
static size_t compact_counts(const struct bytes *bytes, struct iter_count *counts)
{
	const struct count_record *record = (const void *)bytes->data;
	size_t nr = 0;

	for (size_t i = 0; i < bytes->size / sizeof(*record); i++, record++) {
		if (nr && counts[nr - 1].pid == (pid_t)record->tgid)
			continue;
		counts[nr] = (struct iter_count) { .pid = (pid_t)record->tgid,
						   .areas = record->map_count,
						   .total_pages = record->total_pages };
		memcpy(counts[nr].comm, record->comm, sizeof(counts[nr].comm) - 1);
		nr++;
	}
	return nr;
}

static int by_pid(const void *a, const void *b)
{
	const struct count_record *x = a, *y = b;

	return x->tgid < y->tgid ? -1 : x->tgid > y->tgid;
}

int iter_counts(struct iter_count **ret_counts, size_t *ret_nr, char *why)
{
	struct areas_bpf *skel;
	struct bytes bytes = { 0 };
	struct iter_count *counts;
	int err;

	if (!in_first_pid_namespace())
		return refuse_namespace(why);
	skel = open_programs(false);
	if (!skel)
		return refuse(why, -errno, "opening the BPF program");
	err = areas_bpf__load(skel);
	if (!err)
		err = run_iterator(skel->progs.counts, NULL, &bytes, NULL, NULL);
	areas_bpf__destroy(skel);
	if (err) {
		free(bytes.data);
		return refuse(why, err, "counting areas by BPF");
	}
	if (bytes.size)
		qsort(bytes.data, bytes.size / sizeof(struct count_record),
		      sizeof(struct count_record), by_pid);
	counts = calloc(bytes.size / sizeof(struct count_record) + 1, sizeof(*counts));
	if (!counts) {
		free(bytes.data);
		return -ENOMEM;
	}
	*ret_nr = compact_counts(&bytes, counts);
	*ret_counts = counts;
	free(bytes.data);
	return 0;
}

#else

int iter_snapshot(pid_t tid, struct snapshot *ret_snapshot, char *why)
{
	snprintf(why, ITER_WHY_SIZE, "this seam was built without libbpf");
	return -EOPNOTSUPP;
}

int iter_counts(struct iter_count **ret_counts, size_t *ret_nr, char *why)
{
	snprintf(why, ITER_WHY_SIZE, "this seam was built without libbpf");
	return -EOPNOTSUPP;
}

#endif
