/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench [--quick] [--row NAME] [--maple FILE.so] [-o FILE]: libseam and its peers at the same work,
 * in turns, in one run. Medians; trust the ratios, not the nanoseconds. The report goes to stdout,
 * FILE gets it as JSON. FILE.so is the kernel's maple tree, as bench/kernel/build makes it. With
 * --row only that row is measured.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"
#include "face/json.h"

#define MOST_RUNS 9
#define MOST_RESULTS 128
#define AREAS UINT64_C(65530)
#define MANY UINT64_C(1000000)
#define LOWEST (UINT64_C(0x10000) * PAGE)

static unsigned int runs = 7;
static uint64_t scale = 1; /* --quick: a tenth of the calls */
static uint64_t state, sink;
/* NULL: its sources are not installed. As it is, and with RCU. */
static const struct impl *peer_maple, *peer_maple_rcu;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Processor time: what else the machine does is left out, as far as it does not take the caches. */
static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Bytes taken from malloc at this moment. */
static size_t bytes_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* The work */

/* Areas of two pages, a page apart, of two kinds in turn. */
static void fill(const struct impl *impl, void *map, uint64_t areas)
{
	for (uint64_t i = 0; i < areas; i++)
		impl->set(map, LOWEST + 3 * i * PAGE, LOWEST + (3 * i + 2) * PAGE,
			  1 + (uint32_t)(i & 1));
}

static uint64_t random_addr(uint64_t areas)
{
	return LOWEST + next_random() % (3 * areas) * PAGE;
}

/* Half a new range, a quarter a hole, a quarter another kind for the first page of a range. */
static void random_call(const struct impl *impl, void *map, uint64_t areas)
{
	uint64_t start = random_addr(areas), r = next_random(), range_end, range;
	uint64_t end = start + (1 + (r & 1)) * PAGE;

	switch (r >> 8 & 3) {
	case 0:
	case 1:
		impl->set(map, start, end, 1 + (r >> 16 & 3));
		break;
	case 2:
		impl->clear(map, start, end);
		break;
	default:
		range = impl->find(map, start, &range_end);
		if (range != NO_RANGE)
			impl->change(map, range, range + PAGE, 1 + (r >> 16 & 3));
	}
}

static double lookups(const struct impl *impl, void *map, uint64_t areas, bool dependent)
{
	uint64_t calls = 2000000 / scale, found = 0, end, x = 1;
	double start = now_ns();

	for (uint64_t i = 0; i < calls; i++) {
		x = (x + (dependent ? found : 0)) * UINT64_C(6364136223846793005) +
		    1442695040888963407u;
		found = impl->find(map, LOWEST + (x >> 20) % (3 * areas) * PAGE, &end) >> 12 & 7;
		sink += found;
	}
	return (now_ns() - start) / (double)calls;
}

static double lookup_dependent(const struct impl *impl, void *map, uint64_t areas)
{
	return lookups(impl, map, areas, true);
}

static double lookup_independent(const struct impl *impl, void *map, uint64_t areas)
{
	return lookups(impl, map, areas, false);
}

static double random_op(const struct impl *impl, void *map, uint64_t areas)
{
	uint64_t calls = 400000 / scale;
	double start = now_ns();

	for (uint64_t i = 0; i < calls; i++)
		random_call(impl, map, areas);
	return (now_ns() - start) / (double)calls;
}

/* Peers that have no search for gaps walk: they are not let do it as often. */
static uint64_t gap_calls(const struct impl *impl, uint64_t calls)
{
	return impl->name == impl_seam.name || impl == peer_maple ? calls : calls / 200;
}

/* One to four pages below a random place, in a map that has aged: there are such gaps everywhere. */
static double gap_random(const struct impl *impl, void *map, uint64_t areas)
{
	uint64_t calls = gap_calls(impl, 200000 / scale);
	double start;

	for (uint64_t i = 0; i < areas; i++)
		random_call(impl, map, areas);
	start = now_ns();
	for (uint64_t i = 0; i < calls; i++)
		sink += impl->gap(map, PAGE + (next_random() & 3) * PAGE,
				  random_addr(areas) + PAGE);
	return (now_ns() - start) / (double)calls;
}

/* Larger than any gap between the areas: below them all. */
static double gap_adverse(const struct impl *impl, void *map, uint64_t areas)
{
	uint64_t calls = gap_calls(impl, 80000 / scale);
	double start = now_ns();

	for (uint64_t i = 0; i < calls; i++)
		sink += impl->gap(map, 4096 * PAGE, LOWEST + 3 * areas * PAGE);
	return (now_ns() - start) / (double)calls;
}

static double extend(const struct impl *impl, void *map, uint64_t areas)
{
	uint64_t calls = 500000 / scale, first = LOWEST + 4 * areas * PAGE, at = first;
	double start = now_ns(), ns;

	for (uint64_t i = 0; i < calls; i++, at += PAGE)
		impl->set(map, at, at + PAGE, 1);
	ns = (now_ns() - start) / (double)calls;
	impl->clear(map, first, at);
	return ns;
}

/* A child of a space of which two thirds were written to, made and ended. */
static double fork_twothirds(const struct impl *impl, void *map, uint64_t areas)
{
	double start, ns;
	void *child;

	impl->touch_all(map);
	for (uint64_t i = 0; i < areas; i += 3)
		impl->set(map, LOWEST + 3 * i * PAGE, LOWEST + (3 * i + 2) * PAGE,
			  1 + (uint32_t)(i & 1));
	start = now_ns();
	child = impl->fork(map);
	ns = now_ns() - start;
	impl->destroy(child);
	return ns / (double)areas;
}

/* Into memory that malloc has at hand: a fresh page costs more than the areas on it. */
static double snapshot(const struct impl *impl, void *map, uint64_t areas)
{
	double start, ns;
	void *copy;

	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	impl->destroy(impl->snapshot(map));
	start = now_ns();
	copy = impl->snapshot(map);
	ns = now_ns() - start;
	impl->destroy(copy);
	return ns / (double)areas;
}

static double readers_writer(const struct impl *impl, void *map, uint64_t areas)
{
	return readers_beside(impl, map, LOWEST, 3 * areas, areas, scale > 1 ? 0.2 : 0.5,
			      random_call);
}

typedef double work_fn(const struct impl *impl, void *map, uint64_t areas);

struct row {
	const char *name, *text;
	uint64_t areas;
	work_fn *work;
	const struct impl *own; /* which kind of libseam's spaces; peers have only one */
	/* Only libseam does this; beside a writer the maple tree with RCU can be read, too. */
	bool alone;
	const char *against; /* the peer, or the row, that the goal is told by */
	double goal;	     /* at most so much of its figure; alone: at most so much */
};

#define STD_MAP "std::map"
#define ABSL "absl::btree_map"
#define LLVM "LLVM IntervalMap"
#define MAPLE "Linux maple tree"

/* clang-format off */
static const struct row rows[] = {
	{ "lookup_dependent", "dependent lookup", AREAS, lookup_dependent, &impl_seam, false, LLVM, 0.55 },
	{ "lookup_independent", "independent lookups", AREAS, lookup_independent, &impl_seam, false, LLVM, 0.2 },
	{ "random_op", "random map/unmap/protect", AREAS, random_op, &impl_seam, false, ABSL, 0.5 },
	{ "random_op_rules", "the same, rules of linux-6.18", AREAS, random_op, &impl_seam_rules, false, ABSL, 0.75 },
	{ "gap_random", "highest gap, random", AREAS, gap_random, &impl_seam, false, MAPLE, 0.75 },
	{ "gap_adverse", "highest gap, adverse", AREAS, gap_adverse, &impl_seam, false, MAPLE, 0.75 },
	{ "extend", "extend one area by a page", AREAS, extend, &impl_seam, false, STD_MAP, 1.0 },
	{ "fork", "fork, two thirds faulted; an area", AREAS, fork_twothirds, &impl_seam_rules, true, NULL, 25 },
	{ "snapshot", "snapshot; an area", AREAS, snapshot, &impl_seam, true, NULL, 5 },
	{ "readers_writer", "2 readers beside a writer; a lookup", AREAS, readers_writer, &impl_seam_readers, true, NULL, 100 },
	{ "lookup_1m", "dependent lookup, 1 M areas", MANY, lookup_dependent, &impl_seam, false, "lookup_dependent", 4 },
	{ "random_op_1m", "random map/unmap/protect, 1 M", MANY, random_op, &impl_seam, false, "random_op", 4 },
};
/* clang-format on */
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

struct result {
	const struct row *row;
	const char *impl;
	double ns, bytes; /* 0: not of this row */
	unsigned int runs;
};

static struct result results[MOST_RESULTS];
static unsigned int nr_results;

static void add_result(const struct row *row, const char *impl, double ns, double bytes,
		       unsigned int nr_runs)
{
	if (nr_results < MOST_RESULTS)
		results[nr_results++] = (struct result) {
			.row = row, .impl = impl, .ns = ns, .bytes = bytes, .runs = nr_runs
		};
}

static unsigned int list_peers(const struct impl **list)
{
	const struct impl *const all[] = { peer_std_map, peer_absl, peer_llvm, peer_icl,
					   peer_maple };
	unsigned int nr = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i])
			list[nr++] = all[i];
	return nr;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, unsigned int nr)
{
	qsort(values, nr, sizeof(*values), by_value);
	return nr % 2 ? values[nr / 2] : (values[nr / 2 - 1] + values[nr / 2]) / 2;
}

/* One row: all implementations in turn, each with a map of its own, run by run. */
static void run_row(const struct row *row)
{
	const struct impl *list[8] = { row->own };
	double ns[8][MOST_RUNS];
	unsigned int nr = 1;
	void *maps[8];

	if (!row->alone)
		nr += list_peers(list + 1);
	else if (row->work == readers_writer && peer_maple_rcu)
		list[nr++] = peer_maple_rcu;
	for (unsigned int i = 0; i < nr; i++) {
		maps[i] = list[i]->create();
		fill(list[i], maps[i], row->areas);
	}
	for (unsigned int run = 0; run < runs; run++) {
		for (unsigned int i = 0; i < nr; i++) {
			state = 88172645463325252 + run;
			ns[i][run] = row->work(list[i], maps[i], row->areas);
		}
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "\r%s, run %u of %u\033[K", row->name, run + 1, runs);
	}
	for (unsigned int i = 0; i < nr; i++) {
		list[i]->destroy(maps[i]);
		add_result(row, list[i]->name, median(ns[i], runs), 0, runs);
	}
}

static const struct row memory_rows[2][2] = {
	{ { .name = "memory_fresh", .text = "bytes an area", .areas = AREAS, .goal = 24 },
	  { .name = "memory_aged",
	    .text = "after 400,000 random calls",
	    .areas = AREAS,
	    .goal = 32 } },
	{ { .name = "memory_fresh_anon",
	    .text = "bytes an area, each its anon_vma",
	    .areas = AREAS,
	    .goal = 32 },
	  { .name = "memory_aged_anon",
	    .text = "the same after 400,000 random calls",
	    .areas = AREAS,
	    .goal = 40 } },
};

/* Bytes an area: new, and after 400,000 random calls. */
static void run_memory(const struct impl *impl, bool anon)
{
	const struct row *list = memory_rows[anon];
	size_t before = bytes_in_use();
	void *map = impl->create();

	state = 88172645463325252;
	fill(impl, map, AREAS);
	for (unsigned int aged = 0; aged < 2; aged++) {
		for (unsigned int i = 0; aged && i < 400000; i++)
			random_call(impl, map, AREAS);
		if (anon)
			impl->touch_all(map);
		add_result(&list[aged], impl->name, 0,
			   (double)(bytes_in_use() - before) / (double)impl->count(map), 1);
	}
	impl->destroy(map);
}

/* The report */

static void read_line(const char *path, const char *key, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	char line[4096];

	snprintf(text, size, "unknown");
	while (file && fgets(line, sizeof(line), file)) {
		char *value = strchr(line, ':');

		if (strncmp(line, key, strlen(key)) || (*key && !value))
			continue;
		value = *key ? value + 2 : line;
		value[strcspn(value, "\n")] = 0;
		snprintf(text, size, "%.120s", value);
		break;
	}
	if (file)
		fclose(file);
}

struct facts {
	char cpu[128], l2[32];
	struct utsname host;
	long cpus;
};

static void read_facts(struct facts *facts)
{
	read_line("/proc/cpuinfo", "model name", facts->cpu, sizeof(facts->cpu));
	read_line("/sys/devices/system/cpu/cpu0/cache/index2/size", "", facts->l2,
		  sizeof(facts->l2));
	facts->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uname(&facts->host);
}

static double value_of(const struct result *result)
{
	return result->bytes > 0 ? result->bytes : result->ns;
}

/* libseam's own figure of another row. */
static double own_value(const char *row)
{
	for (unsigned int i = 0; i < nr_results; i++)
		if (!strcmp(results[i].impl, impl_seam.name) && !strcmp(results[i].row->name, row))
			return value_of(&results[i]);
	return 0;
}

static void print_goal(double value, double goal)
{
	printf("   goal %.2f: %s\n", goal, value <= goal ? "met" : "NOT MET");
}

/* libseam's figure and, below it, its ratio to each peer. */
static void print_row(const struct result *own)
{
	const struct row *row = own->row;
	double value = value_of(own), other = row->against ? own_value(row->against) : 0;

	printf("%-36s libseam %10.1f %s", row->text, value, own->bytes > 0 ? "bytes" : "ns");
	if (row->goal > 0 && !row->against)
		print_goal(value, row->goal);
	else
		putchar('\n');
	for (const struct result *peer = results; peer < results + nr_results; peer++) {
		if (peer == own || peer->row != row)
			continue;
		printf("    %6.3f x %-21s %18.1f", value / value_of(peer), peer->impl,
		       value_of(peer));
		if (row->against && !strcmp(row->against, peer->impl))
			print_goal(value / value_of(peer), row->goal);
		else
			putchar('\n');
	}
	if (other > 0) {
		printf("    %6.3f x %-21" PRIu64 " %18.1f", value / other, AREAS, other);
		print_goal(value / other, row->goal);
	}
}

static void print_report(const struct facts *facts)
{
	printf("%s, %ld processors, L2 %s, Linux %s, gcc %s\n", facts->cpu, facts->cpus, facts->l2,
	       facts->host.release, __VERSION__);
	printf("%" PRIu64 " areas where nothing else is said; medians of %u runs in turn\n", AREAS,
	       runs);
	printf("ratios first: libseam to the peer\n\n");
	for (unsigned int i = 0; i < nr_results; i++)
		if (!strcmp(results[i].impl, impl_seam.name))
			print_row(&results[i]);
}

static int write_json(const char *path)
{
	FILE *file = fopen(path, "we");
	struct json json;

	if (!file) {
		perror(path);
		return 1;
	}
	json_begin(&json, file);
	json_open(&json, NULL, '[');
	for (unsigned int i = 0; i < nr_results; i++) {
		const struct result *r = &results[i];

		json_open(&json, NULL, '{');
		json_string(&json, "row", r->row->name);
		json_uint(&json, "areas", r->row->areas);
		json_string(&json, "impl", r->impl);
		if (r->bytes > 0) {
			json_null(&json, "ns");
			json_double(&json, "bytes_per_area", r->bytes);
			json_null(&json, "ops_per_s");
		} else {
			json_double(&json, "ns", r->ns);
			json_null(&json, "bytes_per_area");
			json_double(&json, "ops_per_s", 1e9 / r->ns);
		}
		json_uint(&json, "runs", r->runs);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_end(&json);
	return fclose(file) ? 1 : 0;
}

static void load_maple(const char *path)
{
	void *object = access(path, F_OK) ? NULL : dlopen(path, RTLD_NOW);

	if (object) {
		peer_maple = dlsym(object, KERNEL_MAPLE_SYMBOL);
		peer_maple_rcu = dlsym(object, KERNEL_MAPLE_RCU_SYMBOL);
	} else if (!access(path, F_OK)) {
		fprintf(stderr, "bench: %s\n", dlerror());
	}
}

int main(int argc, char **argv)
{
	const struct impl *peers[8];
	const char *path = NULL, *only = NULL;
	struct facts facts;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--quick")) {
			scale = 10;
			runs = 5;
		} else if (!strcmp(argv[i], "--row") && i + 1 < argc) {
			only = argv[++i];
		} else if (!strcmp(argv[i], "--maple") && i + 1 < argc) {
			load_maple(argv[++i]);
		} else if (!strcmp(argv[i], "-o") && i + 1 < argc) {
			path = argv[++i];
		} else {
			fprintf(stderr, "usage: bench [--quick] [--row NAME] [--maple FILE.so] [-o "
					"FILE]\n");
			return 2;
		}
	}
	read_facts(&facts);
	for (size_t i = 0; i < NR_ROWS; i++)
		if (!only || !strcmp(only, rows[i].name))
			run_row(&rows[i]);
	if (!only) {
		run_memory(&impl_seam, false);
		for (unsigned int i = 0, nr = list_peers(peers); i < nr; i++)
			run_memory(peers[i], false);
		run_memory(&impl_seam_rules, true);
	}
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	print_report(&facts);
	return path ? write_json(path) : 0;
}
