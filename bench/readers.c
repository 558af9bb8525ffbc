/* SPDX-License-Identifier: BSD-2-Clause */
/* Two threads that look up beside one that changes, each as fast as it can. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "bench/bench.h"

#define NR_READERS 2
#define BATCH 256 /* lookups between two looks at the clock's flag */

struct reader {
	pthread_t thread;
	const struct impl *impl;
	const void *map;
	uint64_t first, pages; /* where it looks */
	uint64_t random;
	uint64_t lookups, found;
	int *stop;
};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *look_up(void *ctx)
{
	struct reader *reader = ctx;
	uint64_t end;

	while (!__atomic_load_n(reader->stop, __ATOMIC_RELAXED)) {
		for (unsigned int i = 0; i < BATCH; i++) {
			reader->random = reader->random * UINT64_C(6364136223846793005) +
					 1442695040888963407u;
			reader->found += reader->impl->read(
				reader->map,
				reader->first + (reader->random >> 20) % reader->pages * PAGE,
				&end);
		}
		reader->lookups += BATCH;
	}
	return NULL;
}

double readers_beside(const struct impl *impl, void *map, uint64_t first, uint64_t pages,
		      uint64_t areas, double seconds, bench_call *call)
{
	struct reader readers[NR_READERS];
	double start, end;
	uint64_t lookups = 0;
	int stop = 0;

	for (unsigned int i = 0; i < NR_READERS; i++) {
		readers[i] = (struct reader) { .impl = impl,
					       .map = map,
					       .first = first,
					       .pages = pages,
					       .random = i + 1,
					       .stop = &stop };
		if (pthread_create(&readers[i].thread, NULL, look_up, &readers[i]))
			abort();
	}
	start = now_ns();
	do
		for (unsigned int i = 0; i < BATCH; i++)
			call(impl, map, areas);
	while (now_ns() - start < seconds * 1e9);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < NR_READERS; i++) {
		pthread_join(readers[i].thread, NULL);
		lookups += readers[i].lookups;
	}
	end = now_ns();
	return (end - start) / (double)lookups;
}
