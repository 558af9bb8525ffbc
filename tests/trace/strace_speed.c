/* SPDX-License-Identifier: BSD-2-Clause */
/* An strace log is read with 100 MB a second of processor time at least. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/tap.h"
#include "trace/trace.h"

#define SIZE (24u << 20)
#define LEAST_MB_PER_S 100

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Two threads that map, protect, advise and unmap, one of them interrupted now and then. */
static size_t write_round(char *at, size_t room, uint64_t i)
{
	uint64_t addr = UINT64_C(0x7f0000000000) - i % 4096 * 0x20000;
	int n = snprintf(
		at, room,
		"27333 10:59:55.%06u mmap(NULL, 131072, PROT_READ|PROT_WRITE, "
		"MAP_PRIVATE|MAP_ANONYMOUS|MAP_POPULATE, -1, 0) = 0x%" PRIx64 " <0.000036>\n"
		"27333 10:59:55.%06u mprotect(0x%" PRIx64 ", 4096, PROT_NONE <unfinished ...>\n"
		"27335 10:59:55.%06u madvise(0x7e0000000000, 8368128, MADV_DONTNEED) = 0 "
		"<0.000090>\n"
		"27333 10:59:55.%06u <... mprotect resumed>) = 0 <0.000012>\n"
		"27335 10:59:55.%06u futex(0x7e0000000910, FUTEX_WAIT_BITSET, 1, NULL) = 0 "
		"<0.001>\n"
		"27333 10:59:55.%06u munmap(0x%" PRIx64 ", 131072) = 0 <0.000027>\n",
		(unsigned int)(i % 1000000), addr, (unsigned int)(i % 1000000), addr,
		(unsigned int)(i % 1000000), (unsigned int)(i % 1000000),
		(unsigned int)(i % 1000000), (unsigned int)(i % 1000000), addr);

	return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

int main(void)
{
	char *text = malloc(SIZE);
	struct trace_error error;
	struct source source;
	struct trace *trace;
	struct event event;
	uint64_t calls = 0, rounds = 0;
	size_t size = 0, n;
	double start, rate;
	int r;

	if (!text)
		return 1;
	for (; (n = write_round(text + size, SIZE - size, rounds)); rounds++)
		size += n;
	source_from_buffer("log", text, size, &source);
	start = seconds();
	r = trace_open(&source, NULL, &trace, &error);
	if (!ok(!r, "opened"))
		return tap_done();
	while ((r = trace_next(trace, &event)) > 0)
		calls += event.kind == EVENT_CALL;
	rate = (double)size / 1e6 / (seconds() - start);
	ok(!r && calls == rounds * 4, "%" PRIu64 " calls", calls);
	ok(rate >= LEAST_MB_PER_S, "%.0f MB/s", rate);
	trace_close(trace);
	source_close(&source);
	free(text);
	return tap_done();
}
