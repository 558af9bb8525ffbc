/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/iter.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/bpf/record.h"
#include "probe/namespaces.h"
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

/* what bpftool writes there is read by gcc -O3 as if its error path used what it never set */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include "probe/bpf/areas.skel.h"
#pragma GCC diagnostic pop

static char last_message[ITER_WHY_SIZE];

/* libbpf's words are for its developers; the last one is kept for ours. */
__attribute__((format(printf, 2, 0))) static int keep_message(enum libbpf_print_level level,
							      const char *format, va_list args)
{
	if (level == LIBBPF_WARN)
		vsnprintf(last_message, sizeof(last_message), format, args);
	return 0;
}

static bool holds_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	uint32_t both = CAP_TO_MASK(CAP_BPF) | CAP_TO_MASK(CAP_PERFMON);

	return !syscall(SYS_capget, &header, data) &&
	       (data[0].effective & CAP_TO_MASK(CAP_SYS_ADMIN) ||
		(data[1].effective & both) == both);
}

static const char *why_not_permitted(void)
{
	if (!namespaces_first_user())
		return "CAP_BPF and CAP_PERFMON of the first user namespace are needed";
	if (!holds_capabilities())
		return "CAP_BPF and CAP_PERFMON are needed";
	return "refused, though CAP_BPF and CAP_PERFMON are held: a seccomp filter, a security "
	       "module or lockdown";
}

static int refuse(char *why, int err, const char *what)
{
	size_t len = strcspn(last_message, "\n");

	if (err == -EPERM || err == -EACCES) {
		snprintf(why, ITER_WHY_SIZE, "%s: %s", what, why_not_permitted());
		return -EPERM;
	}
	snprintf(why, ITER_WHY_SIZE, "%s: %s%s%.*s", what, strerror(-err), len ? ": " : "",
		 (int)len, last_message);
	return err;
}

/* -ESRCH is libbpf's answer when it finds no description of the kernel's types, or not this one. */
static int refuse_loading(char *why, int err)
{
	if (err != -ESRCH)
		return refuse(why, err, "loading the BPF program");
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		snprintf(why, ITER_WHY_SIZE,
			 "this kernel shows no BTF in /sys/kernel/btf (CONFIG_DEBUG_INFO_BTF)");
	else
		snprintf(why, ITER_WHY_SIZE,
			 "this kernel has no BPF iterator over areas, which came with Linux 5.12");
	return -EOPNOTSUPP;
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

/* Takes what one read gave. 0: go on; END_READING: that was all; -errno. */
typedef int take_fn(const char *data, size_t size, void *ctx);
#define END_READING 1

/* Adds to *ret_ns the CPU time of the reads alone. */
static int read_records(int fd, take_fn *take, void *ctx, uint64_t *ret_ns)
{
	static char buffer[ITER_BUFFER];
	int err = 0;

	while (!err) {
		uint64_t start = clock_thread_ns();
		ssize_t got = read(fd, buffer, sizeof(buffer));

		*ret_ns += clock_thread_ns() - start;
		if (got > 0)
			err = take(buffer, (size_t)got, ctx);
		else if (!got)
			err = END_READING;
		else if (errno != EINTR && errno != EAGAIN)
			err = -errno;
	}
	return err == END_READING ? 0 : err;
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
			take_fn *take, void *ctx, uint64_t *ret_ns)
{
	struct bpf_link *link = bpf_program__attach_iter(program, opts);
	int fd, err;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		err = -errno;
	} else {
		err = read_records(fd, take, ctx, ret_ns);
		close(fd);
	}
	bpf_link__destroy(link);
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
	size_t paths_room;
	bool no_memory;
};

/* A snapshot on its way. */
struct building {
	struct snapshot snapshot;
	size_t room; /* areas */
	struct identities ids;
	struct mm_record mm; /* the last one met; kind 0: none */
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

/* The path of a file stands once, before the first of its areas. */
static const char **path_of(struct identities *ids, uint32_t file)
{
	size_t room = ids->paths_room ? ids->paths_room * 2 : 64;
	const char **paths;

	if (file >= ids->paths_room) {
		room = room > file ? room : file + 1;
		paths = realloc(ids->paths, room * sizeof(*paths));
		if (!paths) {
			ids->no_memory = true;
			return NULL;
		}
		memset(paths + ids->paths_room, 0, (room - ids->paths_room) * sizeof(*paths));
		ids->paths = paths;
		ids->paths_room = room;
	}
	return &ids->paths[file];
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

static const char *name_of(struct building *building, const struct walk *walk, uint32_t file,
			   uint32_t *ret_number)
{
	const struct area_record *record = &walk->area;
	struct identities *ids = &building->ids;
	const char **path;

	if (!file && record->name_len)
		return keep_text(&building->snapshot, ids, walk->texts, ret_number);
	if (!file)
		return special_name(record, &building->mm);
	path = path_of(ids, file);
	if (path && record->path_len)
		*path = keep_text(&building->snapshot, ids, walk->texts + record->name_len, NULL);
	return path && *path ? *path : "";
}

static void convert(const struct walk *walk, struct building *building, struct snapshot_area *ret)
{
	const struct area_record *record = &walk->area;
	struct identities *ids = &building->ids;

	*ret = (struct snapshot_area){
		.area = {
			.start = record->start,
			.end = record->end,
			.flags = record->flags,
			.pgoff = record->pgoff,
			.file = number_of(ids, &ids->file, record->file),
			.anon_vma = number_of(ids, &ids->anon, record->anon_vma),
			.anon_chain = record->chain,
			.numa = number_of(ids, &ids->policy, record->policy),
			.uffd = number_of(ids, &ids->uffd, record->uffd),
		},
		.dev_major = record->dev >> 20,
		.dev_minor = record->dev & 0xfffff,
		.inode = record->inode,
	};
	if (record->traits & AREA_CLOSE)
		ret->area.traits |= SEAM_TRAIT_CLOSE;
	if (record->traits & AREA_MAY_SPLIT && !(record->flags & SEAM_VM_HUGETLB))
		ret->area.traits |= SEAM_TRAIT_NO_SPLIT;
	ret->name = name_of(building, walk, (uint32_t)ret->area.file, &ret->area.name);
}

/* Room for one more area: the kernel's count tells at once how many to expect. */
static bool has_room(struct building *building)
{
	struct snapshot *snapshot = &building->snapshot;
	struct snapshot_area *areas;
	size_t room;

	if (snapshot->nr_areas < building->room)
		return true;
	room = building->room ? building->room * 2 : building->mm.map_count + 16;
	areas = reallocarray(snapshot->areas, room, sizeof(*areas));
	if (!areas)
		return false;
	snapshot->areas = areas;
	building->room = room;
	return true;
}

/*
 * Filtered to one task, the iterator of 6.18 does not end: behind the last area it gives the last
 * buffer again, and again. Areas come in address order, so that shows.
 */
static bool goes_on(const struct snapshot *snapshot, const struct area_record *record)
{
	return !snapshot->nr_areas ||
	       record->start > snapshot->areas[snapshot->nr_areas - 1].area.start;
}

static int take_areas(const char *data, size_t size, void *ctx)
{
	struct building *building = ctx;
	struct snapshot *snapshot = &building->snapshot;
	struct walk walk = { .at = data, .end = data + size, .mm = building->mm };

	while (next_area(&walk)) {
		if (!goes_on(snapshot, &walk.area))
			return END_READING;
		building->mm = walk.mm;
		if (!has_room(building))
			return -ENOMEM;
		convert(&walk, building, &snapshot->areas[snapshot->nr_areas++]);
		if (building->ids.no_memory)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t seen_fields(uint32_t lacks)
{
	uint32_t sees = SEES_RANGE | SEES_FLAGS | SEES_ALL_FLAGS | SEES_OFFSET | SEES_ANON_OFFSET |
			SEES_INODE | SEES_FILE | SEES_ANON_VMA | SEES_CLOSE | SEES_PKEY;

	/* a kernel that was built without a thing has none of it to see */
	return sees | SEES_UFFD | SEES_NAME | (lacks & LACKS_NUMA ? 0 : SEES_NUMA);
}

static void finish(struct building *building, uint64_t ns, struct snapshot *ret)
{
	const struct mm_record *mm = &building->mm;

	*ret = building->snapshot;
	ret->source = "bpf";
	ret->sees = seen_fields(mm->lacks);
	ret->map_count = mm->lacks & LACKS_MAP_COUNT ? 0 : mm->map_count;
	ret->def_flags = mm->def_flags;
	ret->read_ns = ns;
	snprintf(ret->comm, sizeof(ret->comm), "%.16s", mm->comm);
}

/* @only: the program picks this task; 0: it takes those that the kernel picks. */
static int load_areas(pid_t only, bool paths, struct areas_bpf **ret_skel, char *why)
{
	struct areas_bpf *skel = open_programs(true);
	int err;

	if (!skel)
		return refuse(why, -errno, "opening the BPF program");
	skel->rodata->only_tid = only;
	skel->rodata->want_paths = paths;
	err = areas_bpf__load(skel);
	if (err) {
		areas_bpf__destroy(skel);
		return refuse_loading(why, err);
	}
	*ret_skel = skel;
	return 0;
}

/*
 * @filter: the task that the kernel picks (6.1-), or 0: the program does. -EINVAL and -E2BIG
 * without words: the kernel cannot.
 */
static int read_areas(struct areas_bpf *skel, pid_t filter, struct snapshot *ret_snapshot,
		      char *why)
{
	union bpf_iter_link_info info = { .task.tid = (uint32_t)filter };
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));
	struct building building = { 0 };
	uint64_t ns = 0;
	int err;

	/* what it keeps from one area to the next is of the last reading */
	skel->bss->last_task = skel->bss->last_file = 0;
	err = run_iterator(skel->progs.areas, filter ? &opts : NULL, take_areas, &building, &ns);
	if (err && !(filter && (err == -EINVAL || err == -E2BIG)))
		err = refuse(why, err, "reading areas by BPF");
	if (!err && !building.snapshot.nr_areas) {
		err = -ESRCH;
		snprintf(why, ITER_WHY_SIZE, "reading areas by BPF: none were given");
	}
	free_identities(&building.ids);
	if (err)
		snapshot_free(&building.snapshot);
	else
		finish(&building, ns, ret_snapshot);
	return err;
}

/*
 * Programs read a task's pid as the initial namespace has it; what the kernel itself is asked for
 * is a pid of ours.
 */
static int refuse_namespace(char *why)
{
	snprintf(why, ITER_WHY_SIZE, "in a PID namespace this kernel tells other pids");
	return -EOPNOTSUPP;
}

/* A number of a /proc that is not ours would be taken for another process. */
static int check_proc(char *why)
{
	if (namespaces_proc_is_ours())
		return 0;
	snprintf(why, ITER_WHY_SIZE, "/proc is mounted for another PID namespace");
	return -EOPNOTSUPP;
}

/* For kernels that pick no task. */
static int pick_in_program(pid_t tid, struct snapshot *ret_snapshot, char *why)
{
	struct areas_bpf *skel;
	int err;

	if (!namespaces_first_pid())
		return refuse_namespace(why);
	err = load_areas(tid, true, &skel, why);
	if (err)
		return err;
	err = read_areas(skel, 0, ret_snapshot, why);
	areas_bpf__destroy(skel);
	return err;
}

int iter_snapshot(pid_t tid, struct snapshot *ret_snapshot, char *why)
{
	struct areas_bpf *skel;
	int err = check_proc(why);

	if (!err)
		err = load_areas(0, true, &skel, why);
	if (err)
		return err;
	err = read_areas(skel, tid, ret_snapshot, why);
	areas_bpf__destroy(skel);
	return err == -EINVAL || err == -E2BIG ? pick_in_program(tid, ret_snapshot, why) : err;
}

struct iter {
	struct areas_bpf *skel;
};

int iter_open(struct iter **ret_iter, char *why)
{
	struct iter *iter = calloc(1, sizeof(*iter));
	int err = check_proc(why);

	if (!iter) {
		snprintf(why, ITER_WHY_SIZE, "no memory");
		return -ENOMEM;
	}
	if (!err)
		err = load_areas(0, false, &iter->skel, why);
	if (err)
		free(iter);
	else
		*ret_iter = iter;
	return err;
}

int iter_read(struct iter *iter, pid_t tid, struct snapshot *ret_snapshot, char *why)
{
	int err = read_areas(iter->skel, tid, ret_snapshot, why);

	if (err == -EINVAL || err == -E2BIG) {
		snprintf(why, ITER_WHY_SIZE, "this kernel cannot be asked for one task (6.1-)");
		return -EOPNOTSUPP;
	}
	return err;
}

void iter_close(struct iter *iter)
{
	if (!iter)
		return;
	areas_bpf__destroy(iter->skel);
	free(iter);
}

/* Counts on their way. */
struct counting {
	struct iter_count *counts;
	size_t nr, room;
};

static int take_counts(const char *data, size_t size, void *ctx)
{
	struct counting *counting = ctx;
	struct count_record record;

	for (; size >= sizeof(record); data += sizeof(record), size -= sizeof(record)) {
		struct iter_count *count;

		if (counting->nr == counting->room) {
			size_t room = counting->room ? counting->room * 2 : 1024;

			count = reallocarray(counting->counts, room, sizeof(*count));
			if (!count)
				return -ENOMEM;
			counting->counts = count;
			counting->room = room;
		}
		memcpy(&record, data, sizeof(record));
		count = &counting->counts[counting->nr++];
		*count = (struct iter_count) { .pid = (pid_t)record.tgid,
					       .areas = record.map_count,
					       .total_pages = record.total_pages };
		memcpy(count->comm, record.comm, sizeof(count->comm) - 1);
	}
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct iter_count *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* One line a process out of one a thread. */
static void compact(struct counting *counting)
{
	size_t nr = 0;

	if (counting->nr)
		qsort(counting->counts, counting->nr, sizeof(*counting->counts), by_pid);
	for (size_t i = 0; i < counting->nr; i++)
		if (!nr || counting->counts[nr - 1].pid != counting->counts[i].pid)
			counting->counts[nr++] = counting->counts[i];
	counting->nr = nr;
}

int iter_counts(struct iter_count **ret_counts, size_t *ret_nr, char *why)
{
	struct counting counting = { 0 };
	struct areas_bpf *skel;
	uint64_t ns = 0;
	int err;

	if (!namespaces_first_pid())
		return refuse_namespace(why);
	skel = open_programs(false);
	if (!skel)
		return refuse(why, -errno, "opening the BPF program");
	err = areas_bpf__load(skel);
	if (err) {
		areas_bpf__destroy(skel);
		return refuse_loading(why, err);
	}
	err = run_iterator(skel->progs.counts, NULL, take_counts, &counting, &ns);
	areas_bpf__destroy(skel);
	if (err) {
		free(counting.counts);
		return err == -ENOMEM ? err : refuse(why, err, "counting areas by BPF");
	}
	compact(&counting);
	*ret_counts = counting.counts;
	*ret_nr = counting.nr;
	return 0;
}

#else

int iter_open(struct iter **ret_iter, char *why)
{
	snprintf(why, ITER_WHY_SIZE, "this seam was built without libbpf");
	return -EOPNOTSUPP;
}

int iter_read(struct iter *iter, pid_t tid, struct snapshot *ret_snapshot, char *why)
{
	return -EOPNOTSUPP;
}

void iter_close(struct iter *iter)
{
}

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
