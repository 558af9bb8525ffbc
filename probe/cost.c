/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/cost.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe/iter.h"
#include "probe/limits.h"
#include "probe/procfs.h"

#define MANY_AREAS 8192
/* of memory: the more, the less what others do counts */
#define BYTES_AREAS 24576
#define BYTES_SAMPLES 3
#define BYTES_MAX_ROUNDS 6
#define FEW_CALLS 512
#define BUDGET_NS INT64_C(1200000000)
#define FORKS_A_ROUND 3
#define MAX_SAMPLES 256
#define MIN_ROUNDS 3

#define COST_NAME(name, text) #name,
#define COST_TEXT(name, text) text,
const char *const cost_op_names[COST_NR_OPS] = { COST_OPS(COST_NAME) };
const char *const cost_op_texts[COST_NR_OPS] = { COST_OPS(COST_TEXT) };
const char *const cost_control_names[COST_NR_CONTROLS] = { "mmap", "fault" };
const char *const cost_kind_names[COST_NR_KINDS] = { "untouched", "touched" };

/* The same range four times: in one area and in many, its pages touched or not. */
struct setting {
	bool many, touched;
};
static const struct setting settings[] = {
	{ false, false },
	{ true, false },
	{ false, true },
	{ true, true },
};
#define NR_SETTINGS (sizeof(settings) / sizeof(settings[0]))

/*
 * Of several rounds the median counts: others on a busy machine make figures too large, and a
 * hypervisor that takes the CPU away makes some too small.
 */
struct samples {
	int64_t value[MAX_SAMPLES];
	unsigned int nr;
};

/* What one setting came to. */
struct figures {
	struct samples op_ns[COST_NR_OPS];
	struct samples control_ns[COST_NR_CONTROLS];
};

struct bench {
	char *const *exec_argv;
	size_t page, areas;
	char *range; /* areas * page */
	struct figures figures[NR_SETTINGS];
	char *bpf_why;
};

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void add_sample(struct samples *samples, int64_t value)
{
	if (samples->nr < MAX_SAMPLES)
		samples->value[samples->nr++] = value;
}

static int by_value(const void *left, const void *right)
{
	const int64_t *l = left, *r = right;

	return *l < *r ? -1 : *l > *r;
}

static int64_t median(struct samples *samples)
{
	unsigned int nr = samples->nr;

	if (!nr)
		return COST_UNKNOWN;
	qsort(samples->value, nr, sizeof(samples->value[0]), by_value);
	return (samples->value[(nr - 1) / 2] + samples->value[nr / 2]) / 2;
}

/*
 * Advice on every second page splits without touching; it also keeps the anon_vmas apart that
 * touching makes, since find_mergeable_anon_vma wants equal flags.
 */
static int split_and_touch(char *range, size_t pages, size_t page, const struct setting *setting)
{
	/* else the pages of one area would be fewer, and huge */
	madvise(range, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; setting->many && i < pages; i += 2)
		if (madvise(range + i * page, page, MADV_DONTDUMP))
			return -errno;
	for (size_t i = 0; setting->touched && i < pages; i++)
		range[i * page] = 1;
	return 0;
}

/* A range of @pages areas, or one of as many pages. */
static int build(size_t pages, const struct setting *setting, char **ret_range)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *range = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	int r;

	if (range == MAP_FAILED)
		return -errno;
	r = split_and_touch(range, pages, page, setting);
	if (r)
		munmap(range, pages * page);
	else
		*ret_range = range;
	return r;
}

static int64_t child_cpu_ns(const struct rusage *usage)
{
	return ((int64_t)usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000 +
	       ((int64_t)usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000;
}

/* What the whole child took, and in *ret_fork_ns what fork took in the parent. */
static int run_child(char *const *exec_argv, int64_t *ret_fork_ns, int64_t *ret_child_ns)
{
	int64_t start = cpu_ns();
	struct rusage usage;
	pid_t pid = fork();
	int null, status;

	if (pid < 0)
		return -errno;
	if (!pid) {
		if (!exec_argv)
			_exit(0);
		null = open("/dev/null", O_RDWR);
		if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
			_exit(1);
		execv(exec_argv[0], exec_argv);
		_exit(1);
	}
	*ret_fork_ns = cpu_ns() - start;
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return -errno;
	*ret_child_ns = child_cpu_ns(&usage);
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
}

static int measure_children(struct bench *bench, struct figures *figures)
{
	int64_t fork_ns, child_ns;
	int r;

	for (int i = 0; i < FORKS_A_ROUND; i++) {
		r = run_child(NULL, &fork_ns, &child_ns);
		if (r)
			return r;
		add_sample(&figures->op_ns[COST_fork], fork_ns);
		add_sample(&figures->op_ns[COST_exit], child_ns);
	}
	r = run_child(bench->exec_argv, &fork_ns, &child_ns);
	if (r == -ECHILD)
		return 0; /* the program cannot be run here: exec stays unknown */
	if (!r)
		add_sample(&figures->op_ns[COST_exec], child_ns);
	return r;
}

static void measure_file(const char *path, struct samples *samples)
{
	static char buf[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int64_t start = cpu_ns();
	ssize_t got;

	if (fd < 0)
		return;
	do
		got = read(fd, buf, sizeof(buf));
	while (got > 0);
	if (!got)
		add_sample(samples, cpu_ns() - start);
	close(fd);
}

static void measure_bpf(struct bench *bench, struct samples *samples)
{
	struct snapshot snapshot;

	if (bench->bpf_why[0])
		return;
	if (iter_snapshot(getpid(), &snapshot, bench->bpf_why))
		return;
	add_sample(samples, (int64_t)snapshot.read_ns);
	snapshot_free(&snapshot);
}

static void measure_munmap(struct bench *bench, struct samples *samples)
{
	int64_t start = cpu_ns();

	munmap(bench->range, bench->areas * bench->page);
	add_sample(samples, cpu_ns() - start);
}

/* Pages of a fresh area, faulted in; and calls of mmap, each beside the last. */
static void measure_controls(struct bench *bench, struct figures *figures)
{
	size_t size = FEW_CALLS * bench->page;
	char *room = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int64_t start;

	if (room == MAP_FAILED)
		return;
	start = cpu_ns();
	for (size_t i = 0; i < FEW_CALLS; i++)
		mmap(room + i * bench->page, bench->page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	add_sample(&figures->control_ns[COST_MMAP], (cpu_ns() - start) / FEW_CALLS);
	madvise(room, size, MADV_NOHUGEPAGE);
	start = cpu_ns();
	for (size_t i = 0; i < FEW_CALLS; i++)
		*(volatile char *)(room + i * bench->page) = 1;
	add_sample(&figures->control_ns[COST_FAULT], (cpu_ns() - start) / FEW_CALLS);
	munmap(room, size);
}

static int measure_setting(struct bench *bench, size_t index)
{
	struct figures *figures = &bench->figures[index];
	int r = build(bench->areas, &settings[index], &bench->range);

	if (r)
		return r;
	r = measure_children(bench, figures);
	measure_file("/proc/self/maps", &figures->op_ns[COST_maps]);
	measure_file("/proc/self/smaps", &figures->op_ns[COST_smaps]);
	measure_bpf(bench, &figures->op_ns[COST_bpf]);
	measure_controls(bench, figures);
	measure_munmap(bench, &figures->op_ns[COST_munmap]);
	return r;
}

/* What an area costs, by what @many come to above one of as many pages. */
static int64_t an_area(const struct bench *bench, struct samples *many, struct samples *one)
{
	int64_t above;

	if (!many->nr || !one->nr)
		return COST_UNKNOWN;
	above = median(many) - median(one);
	return above > 0 ? above / (int64_t)bench->areas : 0;
}

static void conclude(struct bench *bench, struct cost *cost)
{
	for (int kind = 0; kind < COST_NR_KINDS; kind++) {
		struct figures *one = &bench->figures[2 * kind], *many = one + 1;

		for (int op = 0; op < COST_NR_OPS; op++)
			cost->op_ns[op][kind] = an_area(bench, &many->op_ns[op], &one->op_ns[op]);
	}
	for (int control = 0; control < COST_NR_CONTROLS; control++)
		for (int many = 0; many < 2; many++)
			cost->control_ns[control][many] =
				median(&bench->figures[many].control_ns[control]);
}

/* Half of what the limit leaves at most: others of this process's areas are to fit too. */
static size_t room_for_areas(size_t wanted)
{
	uint64_t limit = limits_max_areas(), used = 0;

	procfs_count_areas(getpid(), &used);
	if (!limit || (limit > used && (limit - used) / 2 >= wanted))
		return wanted;
	return limit > used ? (limit - used) / 2 & ~UINT64_C(1) : 0;
}

/* Others on the host make and end areas meanwhile: a sample in which they count is no sample. */
static void add_bytes(struct samples *samples, size_t areas, const struct cost_slabs *with,
		      const struct cost_slabs *without)
{
	int64_t others = with->areas - without->areas - (int64_t)areas;

	if (llabs(others) <= (int64_t)areas / 50)
		add_sample(samples, (with->bytes - without->bytes) / (int64_t)areas);
}

/* How much the kernel's objects grow by @areas areas, and shrink again without them. */
static int sample_bytes(size_t areas, const struct setting *setting, struct samples *samples)
{
	struct cost_slabs before, with, after;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *range;
	int r = cost_slabs_read(&before);

	if (!r)
		r = build(areas, setting, &range);
	if (r)
		return r;
	r = cost_slabs_read(&with);
	munmap(range, areas * page);
	if (!r)
		r = cost_slabs_read(&after);
	if (r)
		return r;
	add_bytes(samples, areas, &with, &before);
	add_bytes(samples, areas, &with, &after);
	return 0;
}

static int measure_bytes(enum cost_kind kind, int64_t *ret_bytes)
{
	const struct setting setting = { .many = true, .touched = kind == COST_TOUCHED };
	size_t areas = room_for_areas(BYTES_AREAS);
	struct samples samples = { 0 };

	if (!areas)
		return -ENOMEM;
	for (int i = 0; i < BYTES_MAX_ROUNDS && samples.nr < BYTES_SAMPLES; i++) {
		int r = sample_bytes(areas, &setting, &samples);

		if (r)
			return r;
	}
	*ret_bytes = median(&samples);
	return samples.nr ? 0 : -EAGAIN;
}

static void measure_all_bytes(struct cost *cost)
{
	int r = 0;

	for (int kind = 0; kind < COST_NR_KINDS; kind++)
		cost->kernel_bytes[kind] = COST_UNKNOWN;
	for (int kind = 0; !r && kind < COST_NR_KINDS; kind++)
		r = measure_bytes(kind, &cost->kernel_bytes[kind]);
	if (!r)
		return;
	if (r == -EACCES || r == -EPERM)
		snprintf(cost->bytes_why, COST_WHY_SIZE, "root is needed to read /proc/slabinfo");
	else if (r == -ENODATA)
		snprintf(cost->bytes_why, COST_WHY_SIZE,
			 "/proc/slabinfo does not name vm_area_struct");
	else if (r == -EAGAIN)
		snprintf(cost->bytes_why, COST_WHY_SIZE, "others changed more than was made here");
	else
		snprintf(cost->bytes_why, COST_WHY_SIZE, "/proc/slabinfo: %s", strerror(-r));
}

int cost_measure(char *const *exec_argv, struct cost *ret_cost)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	int64_t start = clock_ns(CLOCK_MONOTONIC);
	struct utsname name;
	int r = 0;

	if (!bench)
		return -ENOMEM;
	memset(ret_cost, 0, sizeof(*ret_cost));
	bench->exec_argv = exec_argv;
	bench->page = (size_t)sysconf(_SC_PAGESIZE);
	bench->areas = room_for_areas(MANY_AREAS);
	bench->bpf_why = ret_cost->bpf_why;
	if (!bench->areas)
		r = -ENOMEM;
	while (!r &&
	       (ret_cost->rounds < MIN_ROUNDS || clock_ns(CLOCK_MONOTONIC) - start < BUDGET_NS)) {
		for (size_t i = 0; !r && i < NR_SETTINGS; i++)
			r = measure_setting(bench, i);
		ret_cost->rounds++;
	}
	if (!r) {
		uname(&name);
		snprintf(ret_cost->host, sizeof(ret_cost->host), "%s", name.nodename);
		snprintf(ret_cost->release, sizeof(ret_cost->release), "%s", name.release);
		ret_cost->time_s = (uint64_t)time(NULL);
		ret_cost->areas = bench->areas;
		conclude(bench, ret_cost);
		measure_all_bytes(ret_cost);
	}
	free(bench);
	return r;
}
