/* SPDX-License-Identifier: BSD-2-Clause */
/* A long recording replayed with a thread that counts the steps gives what it gives without one. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/feed.h"
#include "replay/replay.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "trace/data.h"

#define PAGE UINT64_C(4096)
#define NR_CALLS 150000
#define NR_BLOCKS 100
#define NR_SPACES 5
#define NR_KERNELS 4

struct recording {
	uint8_t *data;
	size_t size;
};

/* Blocks of a parent and its children, mapped and unmapped one after the other. */
static void write_call(struct data_writer *writer, uint32_t space, unsigned int number)
{
	static bool mapped[NR_SPACES][NR_BLOCKS];
	unsigned int block = (unsigned int)random_below(NR_BLOCKS);
	uint64_t addr = UINT64_C(0x7f0000000000) + block * 16 * PAGE;
	struct event event = {
		.kind = EVENT_CALL, .pid = space + 1, .tid = space + 1, .space = space
	};

	event.arg[0] = addr;
	event.arg[1] = (1 + number % 8) * PAGE;
	if (mapped[space][block]) {
		event.call = TRACE_CALL_munmap;
		event.arg[1] = 8 * PAGE;
	} else {
		event.call = TRACE_CALL_mmap;
		event.arg[0] = 0;
		event.arg[2] = SEAM_PROT_READ | SEAM_PROT_WRITE;
		event.arg[3] = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS;
		event.arg[4] = UINT64_MAX;
		event.result = (int64_t)addr;
	}
	mapped[space][block] = !mapped[space][block];
	data_write(writer, &event);
	if (event.call != TRACE_CALL_mmap || number % 3)
		return;
	event = (struct event) {
		.kind = EVENT_TOUCH, .pid = space + 1, .tid = space + 1, .space = space
	};
	event.arg[0] = addr;
	event.arg[1] = addr + PAGE;
	data_write(writer, &event);
}

static struct recording record(void)
{
	const struct trace_host host = { .page_shift = 12, .tells_touches = true };
	int fd = memfd_create("seam.data", MFD_CLOEXEC);
	struct data_writer *writer;
	struct recording r;
	struct stat st;

	if (data_writer_open(fd, &host, 100, &writer))
		abort();
	for (uint32_t space = 0; space < NR_SPACES; space++) {
		struct event begin = { .kind = EVENT_SPACE,
				       .born = space ? BORN_FORK : BORN_EXEC,
				       .flags = space ? 0 : EVENT_AREAS_KNOWN,
				       .space = space,
				       .pid = space + 1,
				       .tid = space + 1,
				       .text = "program" };

		data_write(writer, &begin);
		for (unsigned int i = 0; i < NR_CALLS / NR_SPACES; i++)
			write_call(writer, (uint32_t)random_below(space + 1), i);
	}
	if (data_writer_close(writer, NULL) || fstat(fd, &st))
		abort();
	r.size = (size_t)st.st_size;
	r.data = mmap(NULL, r.size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return r;
}

static const char *const names[NR_KERNELS] = { "linux-2.2.13", "linux-6.18", "linux-2.6.24",
					       "linux-5.10" };

static void replay(const struct recording *r, struct replay_report *ret_report)
{
	struct replay_kernel kernels[NR_KERNELS] = { 0 };
	struct replay_options options = { .kernels = kernels, .nr_kernels = NR_KERNELS };
	struct trace_error error;
	struct source source;

	for (unsigned int i = 0; i < NR_KERNELS; i++)
		kernels[i].policy = *seam_policy_find(names[i]);
	source_from_buffer("counting", r->data, r->size, &source);
	if (replay_run(&source, &options, ret_report, &error)) {
		printf("Bail out! %s\n", error.text);
		exit(1);
	}
}

static bool same(const struct replay_result *a, const struct replay_result *b)
{
	return !memcmp(&a->steps, &b->steps, sizeof(a->steps)) &&
	       a->touch_find_steps == b->touch_find_steps &&
	       !memcmp(&a->total, &b->total, sizeof(a->total)) &&
	       a->touched_pages == b->touched_pages && a->areas_end == b->areas_end;
}

int main(void)
{
	struct recording r = record();
	struct replay_report alone, beside;
	struct source source;
	cpu_set_t allowed, one;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) < 2) {
		puts("1..0 # SKIP one processor: no threads");
		return 77;
	}
	source_from_buffer("counting", r.data, r.size, &source);
	ok(feed_is_long(&source), "%zu bytes are a long recording", r.size);
	replay(&r, &beside);
	CPU_ZERO(&one);
	for (int cpu = 0; !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &allowed))
			CPU_SET(cpu, &one);
	/* where there is one processor there is one thread */
	sched_setaffinity(0, sizeof(one), &one);
	replay(&r, &alone);
	for (unsigned int i = 0; i < NR_KERNELS; i++) {
		const struct replay_result *result = &beside.results[i];

		ok(same(result, &alone.results[i]) && result->steps.find && result->steps.insert &&
			   result->touch_find_steps && result->total.joins,
		   "%s: find %llu, placement %llu, insert %llu; in touches %llu", names[i],
		   (unsigned long long)result->steps.find,
		   (unsigned long long)result->steps.placement,
		   (unsigned long long)result->steps.insert,
		   (unsigned long long)result->touch_find_steps);
	}
	replay_report_free(&alone);
	replay_report_free(&beside);
	munmap(r.data, r.size);
	return tap_done();
}
