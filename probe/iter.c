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
#include "probe/iter_areas.h"
#include "probe/namespaces.h"
#include "trace/clock.h"

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

/* The kernel fills at most this much a read, with whole records (kernel/bpf/bpf_iter.c). */
#define ITER_BUFFER 32768

/* Takes what one read gave. 0: go on; ITER_END: that was all; -errno. */
typedef int take_fn(const char *data, size_t size, void *ctx);

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
			err = ITER_END;
		else if (errno != EINTR && errno != EAGAIN)
			err = -errno;
	}
	return err == ITER_END ? 0 : err;
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
	union bpf_iter_link_info info;
	struct bpf_iter_attach_opts opts;
	struct iter_areas areas = { 0 };
	uint64_t ns = 0;
	int err;

	/* by hand, for what lies behind the last member has to be 0 as well (libbpf 1.1) */
	memset(&info, 0, sizeof(info));
	info.task.tid = (uint32_t)filter;
	memset(&opts, 0, sizeof(opts));
	opts.sz = sizeof(opts);
	opts.link_info = &info;
	opts.link_info_len = sizeof(info);
	/* what it keeps from one area to the next is of the last reading */
	skel->bss->last_task = skel->bss->last_file = 0;
	err = run_iterator(skel->progs.areas, filter ? &opts : NULL, iter_areas_take, &areas, &ns);
	if (err && !(filter && (err == -EINVAL || err == -E2BIG)))
		err = refuse(why, err, "reading areas by BPF");
	if (!err && !areas.snapshot.nr_areas) {
		err = -ESRCH;
		snprintf(why, ITER_WHY_SIZE, "reading areas by BPF: none were given");
	}
	if (err)
		iter_areas_drop(&areas);
	else
		iter_areas_finish(&areas, ns, ret_snapshot);
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
