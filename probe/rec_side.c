/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/rec_side.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "trace/clock.h"
#include "trace/thread.h"

#define RING_PAGES 16 /* a power of two; within kernel.perf_event_mlock_kb of any CPU */
#define RECORD_MAX 65536
#define DELAY_NS UINT64_C(50000000)

/* One ring a processor: a counter that children inherit must be bound to one. */
struct ring {
	int fd;
	struct perf_event_mmap_page *page; /* NULL: that processor is offline */
	const uint8_t *data;
};

struct side {
	pid_t pid;
	pthread_t thread; /* which opens */
	bool is_joined, is_open;
	pthread_mutex_t lock; /* of the next two */
	pthread_cond_t told;
	bool is_wanted, is_given_up; /* before the delay is over */
	struct ring *rings;
	unsigned int nr_rings, at;
	int *added; /* counters that write into those rings */
	size_t nr_added, added_room;
	size_t page_size, ring_size;
	uint8_t record[RECORD_MAX];
};

static int open_counter(pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.inherit = 1,
		.exclude_kernel = 1,
		.mmap = 1,
		.mmap_data = 1,
		.mmap2 = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool open_ring(struct side *side, struct ring *ring, pid_t pid, int cpu)
{
	void *page;

	ring->fd = open_counter(pid, cpu);
	if (ring->fd < 0)
		return false;
	page = mmap(NULL, side->page_size + side->ring_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    ring->fd, 0);
	if (page == MAP_FAILED) {
		close(ring->fd);
		return false;
	}
	ring->page = page;
	ring->data = (const uint8_t *)page + side->page_size;
	return true;
}

/* False: the program has ended meanwhile. */
static bool wait_delay(struct side *side)
{
	uint64_t until_ns = clock_ns() + DELAY_NS;
	struct timespec until = { .tv_sec = (time_t)(until_ns / NS_PER_S),
				  .tv_nsec = (long)(until_ns % NS_PER_S) };
	bool is_given_up;
	int err = 0;

	pthread_mutex_lock(&side->lock);
	while (!err && !side->is_wanted && !side->is_given_up)
		err = pthread_cond_timedwait(&side->told, &side->lock, &until);
	is_given_up = side->is_given_up;
	pthread_mutex_unlock(&side->lock);
	return !is_given_up;
}

static void *open_rings(void *arg)
{
	struct side *side = arg;
	unsigned int nr_open = 0;

	if (!wait_delay(side))
		return NULL;
	for (unsigned int cpu = 0; cpu < side->nr_rings; cpu++)
		nr_open += open_ring(side, &side->rings[cpu], side->pid, (int)cpu);
	/* with some processors only, what was reported would depend on where a thread runs */
	if (nr_open && nr_open == (unsigned int)sysconf(_SC_NPROCESSORS_ONLN))
		__atomic_store_n(&side->is_open, true, __ATOMIC_RELEASE);
	return NULL;
}

static void init_delay(struct side *side)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&side->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&side->told, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static void free_side(struct side *side)
{
	pthread_cond_destroy(&side->told);
	pthread_mutex_destroy(&side->lock);
	free(side->rings);
	free(side);
}

struct side *side_begin(pid_t pid)
{
	struct side *side = calloc(1, sizeof(*side));
	long nr = sysconf(_SC_NPROCESSORS_CONF);

	if (!side)
		return NULL;
	init_delay(side);
	if (nr <= 0)
		goto fail;
	side->pid = pid;
	side->page_size = (size_t)sysconf(_SC_PAGESIZE);
	side->ring_size = RING_PAGES * side->page_size;
	side->nr_rings = (unsigned int)nr;
	side->rings = calloc(side->nr_rings, sizeof(*side->rings));
	if (side->rings && !thread_start(&side->thread, THREAD_STACK_SMALL, open_rings, side))
		return side;
fail:
	free_side(side);
	return NULL;
}

bool side_is_open(const struct side *side)
{
	return side && __atomic_load_n(&side->is_open, __ATOMIC_ACQUIRE);
}

/* Ends the delay: what is told is .is_wanted or .is_given_up. */
static void tell(struct side *side, bool *what)
{
	if (side->is_joined)
		return;
	pthread_mutex_lock(&side->lock);
	*what = true;
	pthread_cond_signal(&side->told);
	pthread_mutex_unlock(&side->lock);
	pthread_join(side->thread, NULL);
	side->is_joined = true;
}

void side_wait(struct side *side)
{
	if (side)
		tell(side, &side->is_wanted);
}

static bool make_room(struct side *side)
{
	size_t room = side->nr_added + side->nr_rings;
	int *added = side->added;

	if (room <= side->added_room)
		return true;
	added = reallocarray(added, 2 * room, sizeof(*added));
	if (!added)
		return false;
	side->added = added;
	side->added_room = 2 * room;
	return true;
}

void side_add(struct side *side, pid_t tid)
{
	if (!make_room(side))
		return;
	for (unsigned int cpu = 0; cpu < side->nr_rings; cpu++) {
		int fd = side->rings[cpu].page ? open_counter(tid, (int)cpu) : -1;

		if (fd < 0)
			continue;
		side->added[side->nr_added++] = fd;
		ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, side->rings[cpu].fd);
	}
}

void side_close(struct side *side)
{
	if (!side)
		return;
	tell(side, &side->is_given_up);
	while (side->nr_added)
		close(side->added[--side->nr_added]);
	free(side->added);
	for (unsigned int cpu = 0; cpu < side->nr_rings; cpu++) {
		if (!side->rings[cpu].page)
			continue;
		munmap(side->rings[cpu].page, side->page_size + side->ring_size);
		close(side->rings[cpu].fd);
	}
	free_side(side);
}

static void copy_out(const struct side *side, const struct ring *ring, uint64_t at, void *to,
		     size_t size)
{
	size_t begin = at & (side->ring_size - 1);
	size_t first = side->ring_size - begin < size ? side->ring_size - begin : size;

	memcpy(to, ring->data + begin, first);
	memcpy((uint8_t *)to + first, ring->data, size - first);
}

/* The fixed part of PERF_RECORD_MMAP2, and the time that stands at each record's end. */
static bool take_map(const struct side *side, size_t size, struct side_map *ret_map)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t addr, len;
	} map;

	if (size < sizeof(map) + sizeof(ret_map->time_ns))
		return false;
	memcpy(&map, side->record, sizeof(map));
	*ret_map = (struct side_map) { .tid = (pid_t)map.tid,
				       .start = map.addr,
				       .end = map.addr + map.len };
	memcpy(&ret_map->time_ns, side->record + size - sizeof(ret_map->time_ns),
	       sizeof(ret_map->time_ns));
	return true;
}

/* The next record of one ring. False: it was no map. */
static bool take_record(struct side *side, struct ring *ring, uint64_t tail,
			struct side_map *ret_map)
{
	struct perf_event_header header;
	bool is_map;

	copy_out(side, ring, tail, &header, sizeof(header));
	copy_out(side, ring, tail, side->record, header.size);
	is_map = header.type == PERF_RECORD_MMAP2 && take_map(side, header.size, ret_map);
	__atomic_store_n(&ring->page->data_tail, tail + header.size, __ATOMIC_RELEASE);
	return is_map;
}

bool side_next(struct side *side, struct side_map *ret_map)
{
	for (unsigned int tried = 0; tried < side->nr_rings;) {
		struct ring *ring = &side->rings[side->at];
		uint64_t tail;

		if (ring->page) {
			tail = ring->page->data_tail;
			if (tail != __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE)) {
				if (take_record(side, ring, tail, ret_map))
					return true;
				continue;
			}
		}
		tried++;
		side->at = (side->at + 1) % side->nr_rings;
	}
	return false;
}
