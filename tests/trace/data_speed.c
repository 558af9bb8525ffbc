/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam.data's size and speed on calls as programs make them: at most 10 bytes a call on disk,
 * 20 million calls a second read. "bench" as argument only prints the figures.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/random.h"
#include "tests/tap.h"
#include "trace/clock.h"
#include "trace/data.h"

#define NR_CALLS 2000000

/* What an allocator of a program with four threads does; times as ptrace gives them. */
static void next_call(struct event *event, uint64_t *now_ns)
{
	static uint64_t top[4] = { 0x7f1200000000, 0x7f2200000000, 0x7f3200000000, 0x7f4200000000 };
	static uint64_t brk = 0x555500000000;
	unsigned int thread = random_bits() % 8 ? event->tid % 4 : random_bits() % 4;
	uint64_t pages = 1 + (random_bits() % 4 ? random_bits() % 8 : random_bits() % 1024);

	*now_ns += 9000 + (random_bits() % 8 ? random_bits() % 4000 : random_bits() % 4000000);
	*event = (struct event) { .kind = EVENT_CALL,
				  .pid = 4000,
				  .tid = 4000 + thread,
				  .time_ns = *now_ns,
				  .duration_ns = 5000 + random_bits() % 3000 };
	switch (random_bits() % 8) {
	case 0:
		brk += 33 * 4096;
		event->call = TRACE_CALL_brk;
		event->arg[0] = brk;
		event->result = (int64_t)brk;
		return;
	case 1:
	case 2:
		event->call = TRACE_CALL_mprotect;
		event->arg[0] = top[thread] + (random_bits() % 64) * 4096;
		event->arg[1] = pages * 4096;
		event->arg[2] = 3;
		return;
	case 3:
	case 4:
		event->call = TRACE_CALL_munmap;
		event->arg[0] = top[thread];
		event->arg[1] = pages * 4096;
		top[thread] += pages * 4096;
		return;
	case 5:
		event->call = TRACE_CALL_madvise;
		event->arg[0] = top[thread] + (random_bits() % 64) * 4096;
		event->arg[1] = pages * 4096;
		event->arg[2] = 4;
		return;
	default:
		event->call = TRACE_CALL_mmap;
		event->arg[1] = pages * 4096;
		event->arg[2] = 3;
		event->arg[3] = 0x22;
		event->arg[4] = UINT64_MAX;
		top[thread] -= pages * 4096;
		event->result = (int64_t)top[thread];
	}
}

static uint64_t read_all(const void *data, size_t size)
{
	struct trace_facts facts = { 0 };
	struct trace_error error;
	struct data_reader *reader;
	struct event event;

	if (data_reader_open(data, size, &facts, &reader, &error))
		abort();
	while (data_reader_next(reader, &event, &error) > 0)
		;
	data_reader_close(reader);
	return facts.calls;
}

int main(int argc, char **argv)
{
	struct data_writer *writer;
	struct event event = { 0 };
	struct stat st;
	uint64_t now_ns = 0, calls = 0, begin_ns;
	double write_s, read_s = 1e9;
	void *data;
	int fd = memfd_create("seam.data", MFD_CLOEXEC);

	begin_ns = clock_ns();
	if (fd < 0 || data_writer_open(fd, &(struct trace_host) { .page_shift = 12 }, 100, &writer))
		return 77;
	for (int i = 0; i < NR_CALLS; i++) {
		next_call(&event, &now_ns);
		data_write(writer, &event);
	}
	if (data_writer_close(writer, NULL) || fstat(fd, &st))
		return 1;
	write_s = (double)(clock_ns() - begin_ns) / 1e9;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	for (int i = 0; i < 5; i++) {
		double took_s;

		/* what was computed: others may have the processor */
		begin_ns = clock_thread_ns();
		calls = read_all(data, (size_t)st.st_size);
		took_s = (double)(clock_thread_ns() - begin_ns) / 1e9;
		read_s = took_s < read_s ? took_s : read_s;
	}
	printf("# %.2f bytes a call, %.1f M calls/s written, %.1f M calls/s read\n",
	       (double)st.st_size / NR_CALLS, NR_CALLS / write_s / 1e6, NR_CALLS / read_s / 1e6);
	if (argc > 1 && !strcmp(argv[1], "bench"))
		return 0;
	ok(calls == NR_CALLS, "all calls are read");
	ok((double)st.st_size / NR_CALLS <= 10, "at most 10 bytes a call");
	ok(NR_CALLS / read_s >= 20e6, "20 million calls a second");
	return tap_done();
}
