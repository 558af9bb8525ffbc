/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small traces, made here call by call, under kernels that place, join and fail otherwise than the
 * one that the trace came from.
 */
#include "replay/replay.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/tap.h"
#include "trace/data.h"

#define PAGE UINT64_C(0x1000)
#define ANON (SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS)
#define FIXED (ANON | SEAM_MAP_FIXED)
#define RW (SEAM_PROT_READ | SEAM_PROT_WRITE)
#define TOP UINT64_C(0x7ffff7fff000) /* where the recorded kernel began */
#define AT(pages) (TOP - (pages)*PAGE)
#define HEAP UINT64_C(0x555555560000)

/* A trace that is being written, and its replay. */
static struct {
	int fd;
	struct data_writer *writer;
	void *data;
	off_t size;
	struct source source;
	struct replay_kernel kernels[4];
	struct replay_options options;
	struct replay_report report;
	struct trace_error error;
	bool ran;
} t;

static void write_event(struct event event)
{
	event.pid = event.tid = 100 + event.space;
	if (data_write(t.writer, &event))
		abort();
}

static void new_space(uint32_t number, enum space_born born, uint32_t parent,
		      const struct seam_area *areas, size_t nr)
{
	struct event event = { .kind = EVENT_SPACE, .space = number, .born = (uint8_t)born };

	event.arg[0] = parent;
	event.arg[1] = born == BORN_EXEC ? HEAP : 0;
	if (born == BORN_EXEC) {
		event.flags = EVENT_AREAS_KNOWN;
		event.sees = SEES_RANGE | SEES_FLAGS;
		event.areas = areas;
		event.nr_areas = nr;
	}
	write_event(event);
}

static void begin(void)
{
	static const struct seam_area stack = { .start = 0x7ffffffde000,
						.end = 0x7ffffffff000,
						.flags = 0x100173 };

	if (t.ran) {
		replay_report_free(&t.report);
		munmap(t.data, (size_t)t.size);
		close(t.fd);
	}
	memset(&t, 0, sizeof(t));
	t.fd = memfd_create("trace", MFD_CLOEXEC);
	if (t.fd < 0 ||
	    data_writer_open(t.fd, &(struct trace_host) { .page_shift = 12 }, 100, &t.writer))
		abort();
	new_space(0, BORN_EXEC, 0, &stack, 1);
}

static void write_call(uint32_t space, uint8_t call, int64_t result, const uint64_t *arg)
{
	struct event event = { .kind = EVENT_CALL, .space = space, .call = call, .result = result };

	memcpy(event.arg, arg, sizeof(event.arg));
	write_event(event);
}

/* A call of a space that gave @result; its arguments follow. */
#define CALL_IN(space, call, result, ...)                                                          \
	write_call(space, TRACE_CALL_##call, result, (const uint64_t[6]) { __VA_ARGS__ })

static void mmap_at(uint64_t result, uint64_t pages, uint64_t prot, uint64_t hint, uint64_t flags)
{
	CALL_IN(0, mmap, (int64_t)result, hint, pages * PAGE, prot, flags, UINT64_MAX, UINT64_C(0));
}

static void munmap_at(uint64_t addr, uint64_t pages)
{
	CALL_IN(0, munmap, 0, addr, pages * PAGE);
}

static void mprotect_at(uint64_t addr, uint64_t pages, uint64_t prot)
{
	CALL_IN(0, mprotect, 0, addr, pages * PAGE, prot);
}

static void mremap_at(uint64_t result, uint64_t addr, uint64_t pages, uint64_t new_pages,
		      uint64_t flags, uint64_t to)
{
	CALL_IN(0, mremap, (int64_t)result, addr, pages * PAGE, new_pages * PAGE, flags, to);
}

static void brk_to(uint64_t addr, uint64_t result)
{
	CALL_IN(0, brk, (int64_t)result, addr);
}

/* Replays under the kernels named, separated by blanks; "recorded" as it happened under 6.18. */
static int run(const char *names)
{
	char copy[256], *name, *rest;
	int err;

	if (data_writer_close(t.writer, NULL))
		abort();
	t.size = lseek(t.fd, 0, SEEK_END);
	t.data = mmap(NULL, (size_t)t.size, PROT_READ, MAP_PRIVATE, t.fd, 0);
	source_from_buffer("trace", t.data, (size_t)t.size, &t.source);
	snprintf(copy, sizeof(copy), "%s", names);
	for (name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
		struct replay_kernel *kernel = &t.kernels[t.options.nr_kernels++];

		kernel->recorded = !strcmp(name, "recorded");
		if (seam_policy_parse(kernel->recorded ? "linux-6.18" : name, &kernel->policy,
				      NULL))
			abort();
	}
	t.options.kernels = t.kernels;
	t.options.keep_maps = true;
	err = replay_run(&t.source, &t.options, &t.report, &t.error);
	t.ran = true;
	if (!ok(!err, "%s", names))
		printf("# %d: %s\n", err, t.error.text);
	return err;
}

/* Areas of a kernel's first space besides the stack, which all have. */
static void areas_are(unsigned int kernel, uint64_t expected, const char *why)
{
	uint64_t areas = t.report.results[kernel].mms[0].areas_end - 1;

	if (!ok(areas == expected, "%s: %llu areas, %s", t.kernels[kernel].policy.name,
		(unsigned long long)expected, why))
		printf("# %llu\n", (unsigned long long)areas);
}

static void no_failures(unsigned int kernel)
{
	const struct replay_counts *total = &t.report.results[kernel].total;

	if (!ok(!total->failed && !total->skipped, "%s: no call fails or is skipped",
		t.kernels[kernel].policy.name))
		printf("# failed %llu, skipped %llu\n", (unsigned long long)total->failed,
		       (unsigned long long)total->skipped);
}

static const struct seam_area *area_with(unsigned int kernel, uint32_t space, uint64_t addr)
{
	const struct replay_mm *mm = &t.report.results[kernel].mms[space];

	for (size_t i = 0; i < mm->nr_maps; i++)
		if (mm->maps[i].start <= addr && mm->maps[i].end > addr)
			return &mm->maps[i];
	return NULL;
}

/* Pages that the recorded kernel gave from the top downward come upward on 2.4. */
static void test_placed_by_each_kernel(void)
{
	begin();
	for (uint64_t i = 1; i <= 10; i++)
		mmap_at(AT(i), 1, RW, 0, ANON);
	if (run("linux-6.18 linux-2.4.2 linux-2.4.3 linux-2.2.13"))
		return;
	areas_are(0, 1, "joined");
	areas_are(1, 10, "never joined");
	areas_are(2, 1, "joined with the one before");
	areas_are(3, 1, "joined");
	ok(area_with(2, 0, UINT64_C(0x2aaaaaaab000)) != NULL, "2.4 searches from 0x2aaaaaaab000");
	ok(t.report.old_at_64_bits && t.report.nr_notes, "and the report says so");
	ok(area_with(0, 0, 0x7ffffffde000)->flags == 0x100173 &&
		   area_with(1, 0, 0x7ffffffde000)->flags == 0x173,
	   "the stack has the flags of its kernel");
	for (unsigned int i = 0; i < 4; i++)
		no_failures(i);
}

static void test_placed_as_recorded(void)
{
	begin();
	for (uint64_t i = 1; i <= 10; i++)
		mmap_at(AT(i), 1, RW, 0, ANON);
	t.options.place_recorded = true;
	if (run("linux-2.4.3 linux-6.18"))
		return;
	areas_are(0, 10, "downward nothing touches the one before");
	areas_are(1, 1, "joined");
	ok(area_with(0, 0, AT(10)) != NULL, "where it was recorded");
}

/* One munmap, one mprotect over pages that lie apart under the other kernel. */
static void test_range_by_range(void)
{
	begin();
	for (uint64_t i = 1; i <= 8; i++)
		mmap_at(AT(i), 1, RW, 0, ANON);
	munmap_at(AT(6), 4);	      /* calls 3 to 6 */
	mprotect_at(AT(2), 2, 1);     /* calls 1 and 2 */
	mprotect_at(AT(8) + 1, 1, 1); /* refused: not aligned, so as recorded it did not work */
	if (run("linux-2.4.2 linux-6.18 linux-2.4.3"))
		return;
	areas_are(0, 4, "two pages above, two below the hole");
	areas_are(1, 2, "the pages read-only, the pages below the hole");
	areas_are(2, 3, "but on 2.4.3 no mprotect joins");
	for (unsigned int i = 0; i < 3; i++)
		ok(t.report.results[i].total.failed == 1, "one call fails under each");
}

/* A fixed address on ground that another map holds under this kernel: the newcomer moves. */
static void test_fixed_on_taken_ground(void)
{
	const uint64_t base = 0x2aaaaaaab000; /* where 2.4 puts the first map */

	begin();
	mmap_at(AT(4), 4, RW, 0, ANON);
	mmap_at(base, 2, SEAM_PROT_READ, base, FIXED);
	mprotect_at(base, 1, RW);
	munmap_at(AT(4), 4);
	munmap_at(base + PAGE, 1);
	if (run("linux-2.4.3 linux-6.18"))
		return;
	areas_are(0, 1, "one page of the newcomer is left");
	areas_are(1, 1, "as recorded");
	no_failures(0);
	ok(!area_with(0, 0, base), "it is not where the first map was");
	ok(area_with(1, 0, base) != NULL, "which it replaces nothing of on 6.18");
}

/* Memory over several maps replaced by one fixed map. */
static void test_fixed_over_pieces(void)
{
	begin();
	mmap_at(AT(2), 2, RW, 0, ANON);
	mmap_at(AT(4), 2, SEAM_PROT_READ, 0, ANON);
	mmap_at(AT(3), 2, 5, AT(3), FIXED);
	munmap_at(AT(4), 1);
	munmap_at(AT(1), 1);
	if (run("linux-2.4.2 linux-6.18"))
		return;
	areas_are(0, 2, "a piece in each of the two");
	areas_are(1, 1, "one");
	no_failures(0);
}

/* What does not exist is not worked on. */
static void test_failed_anew(void)
{
	begin();
	for (uint64_t i = 1; i <= 6; i++)
		mmap_at(AT(2 * i), 1, RW, 0, ANON);
	for (uint64_t i = 1; i <= 6; i++)
		mprotect_at(AT(2 * i), 1, SEAM_PROT_READ);
	munmap_at(AT(12), 12); /* over all: works on what is there */
	mmap_at(AT(2), 1, RW, 0, ANON);
	munmap_at(AT(2), 1);
	t.options.max_areas = 4;
	if (run("linux-2.4.2 linux-6.18"))
		return;
	areas_are(0, 0, "all gone");
	ok(t.report.results[0].total.failed_anew == 2 && t.report.results[0].total.failed == 2,
	   "2.4.2: two maps fail at a limit of 4 areas (5 is the most)");
	ok(t.report.results[0].total.skipped == 2, "2.4.2: their mprotects are skipped");
	ok(t.report.results[0].first_anew.number == 5, "the first is the fifth call");
	ok(!t.report.results[1].total.failed, "6.18 joins them below the limit");
}

static void test_mremap(void)
{
	begin();
	mmap_at(AT(2), 2, RW, 0, ANON);
	mmap_at(AT(4), 2, RW, 0, ANON);			 /* one area with it on 6.18 */
	mmap_at(AT(0), 1, SEAM_PROT_READ, AT(0), FIXED); /* no room above */
	mremap_at(AT(10), AT(4), 4, 6, 1, 0);		 /* moves both, grows by two */
	mprotect_at(AT(10), 6, SEAM_PROT_READ);		 /* all of it */
	mremap_at(AT(10), AT(10), 6, 3, 1, 0);		 /* cut in half */
	mremap_at(AT(20), AT(10), 3, 3, 3, AT(20));	 /* to a fixed place */
	mprotect_at(AT(20), 3, RW);
	munmap_at(AT(20), 1);
	if (run("linux-2.4.10 linux-6.18 recorded linux-2.4.2"))
		return;
	no_failures(0);
	no_failures(1);
	areas_are(1, 2, "two pages, and the one above");
	areas_are(0, 2, "the same");
	ok(t.report.results[3].total.failed_anew == 1,
	   "2.4.2 does not move what it has not joined");
	ok(!t.report.differences, "as recorded: each result is the recorded one");
	ok(area_with(2, 0, AT(19)) != NULL && !area_with(2, 0, AT(20)), "at its last place");
}

/* A failed mremap: the memory at its new place does not exist. */
static void test_mremap_fails(void)
{
	begin();
	mmap_at(AT(1), 1, SEAM_PROT_READ, 0, ANON);
	mmap_at(AT(2), 1, RW, 0, ANON);
	mremap_at(AT(8), AT(2), 1, 2, 1, 0);
	mprotect_at(AT(8), 2, SEAM_PROT_READ);
	munmap_at(AT(8), 2);
	t.options.max_areas = 6; /* 3 areas and the stack: mremap wants four to spare */
	if (run("linux-6.18"))
		return;
	ok(t.report.results[0].total.failed_anew == 1, "mremap fails anew");
	ok(t.report.results[0].total.skipped == 2, "what follows is skipped");
}

static void test_heap(void)
{
	begin();
	brk_to(0, HEAP);
	brk_to(HEAP + 0x21000, HEAP + 0x21000);
	brk_to(HEAP + 0x42000, HEAP + 0x42000);
	brk_to(HEAP + 0x10000, HEAP + 0x10000);
	brk_to(1, HEAP + 0x10000); /* refused */
	if (run("linux-2.4.2 linux-6.18"))
		return;
	areas_are(0, 1, "the heap");
	areas_are(1, 1, "the heap");
	ok(area_with(0, 0, HEAP + 0xf000) && !area_with(0, 0, HEAP + 0x10000), "as it was left");
	ok(t.report.results[1].total.failed == 1 && !t.report.results[1].total.failed_anew,
	   "a break below the heap is refused, as recorded");
}

static void test_processes(void)
{
	struct event comm = { .kind = EVENT_COMM, .space = 1, .text = "child" };
	struct event end = { .kind = EVENT_END, .space = 1 };

	begin();
	mmap_at(AT(2), 2, RW, 0, ANON);
	new_space(1, BORN_FORK, 0, NULL, 0);
	write_event(comm);
	CALL_IN(1, munmap, 0, AT(1), PAGE);
	CALL_IN(1, mmap, (int64_t)AT(1), UINT64_C(0), PAGE, (uint64_t)RW, (uint64_t)ANON,
		UINT64_MAX, UINT64_C(0));
	write_event(end);
	new_space(2, BORN_EXEC, 0, NULL, 0);
	if (run("linux-6.18 linux-2.4.2"))
		return;
	ok(t.report.nr_processes == 3, "three processes");
	ok(!strcmp(t.report.processes[1].comm, "child") && t.report.processes[1].pid == 101,
	   "the child by name");
	ok(t.report.results[0].mms[1].areas_end == 3,
	   "inherited memory and new memory stay apart on 6.18");
	ok(t.report.results[1].mms[1].areas_end == 3, "2.4.2 joins nothing");
	ok(t.report.results[0].mms[1].areas_peak == 3, "its peak");
	ok(t.report.results[0].mms[2].areas_end == 0, "the third has nothing");
	ok(t.report.results[0].areas_end == 5, "a row sums its processes");
}

/* Which memory is touched decides about joining, by the rules of 6.18. */
static void test_touches(void)
{
	static const struct {
		enum replay_touch touch;
		uint64_t areas;
		const char *why;
	} bounds[] = {
		{ TOUCH_EAGER, 2, "two pages touched apart never join" },
		{ TOUCH_NEVER, 1, "untouched pages join" },
	};

	for (unsigned int i = 0; i < 2; i++) {
		begin();
		mmap_at(AT(3), 1, RW, AT(3), FIXED);
		mmap_at(AT(1), 1, RW, AT(1), FIXED);
		mmap_at(AT(2), 1, 0, AT(2), FIXED);
		mprotect_at(AT(2), 1, RW);
		t.options.touch = bounds[i].touch;
		if (run("linux-6.18"))
			return;
		areas_are(0, bounds[i].areas, bounds[i].why);
	}
}

/* Memory counts as touched once it is writable, not before, and not twice. */
static void test_eager_pages(void)
{
	begin();
	mmap_at(AT(16), 16, 0, 0, ANON);
	mprotect_at(AT(16), 4, RW);
	mprotect_at(AT(16), 4, SEAM_PROT_READ);
	mprotect_at(AT(16), 8, RW);
	munmap_at(AT(16), 2);
	mmap_at(AT(18), 2, RW, 0, ANON);
	brk_to(HEAP + 3 * PAGE, HEAP + 3 * PAGE);
	if (run("linux-2.4.10 linux-6.18"))
		return;
	for (unsigned int i = 0; i < 2; i++)
		ok(t.report.results[i].touched_pages == 33 + 8 + 2 + 3, "%s: %llu pages touched",
		   t.kernels[i].policy.name, (unsigned long long)t.report.results[i].touched_pages);
}

/* The log begins in the middle of a life. */
static void test_unknown_start(void)
{
	begin();
	new_space(1, BORN_UNKNOWN, 0, NULL, 0);
	CALL_IN(1, brk, (int64_t)HEAP, UINT64_C(0));
	CALL_IN(1, brk, (int64_t)(HEAP + PAGE), HEAP + PAGE);
	CALL_IN(1, mprotect, 0, AT(9), PAGE, UINT64_C(0));
	CALL_IN(1, munmap, 0, AT(20), PAGE);
	CALL_IN(1, madvise, 0, AT(30), 2 * PAGE, (uint64_t)SEAM_MADV_DONTNEED);
	CALL_IN(1, mprotect, -SEAM_ENOMEM, AT(40), PAGE, UINT64_C(0));
	if (run("linux-6.18 linux-2.4.2"))
		return;
	for (unsigned int i = 0; i < 2; i++) {
		ok(t.report.results[i].mms[1].areas_end == 3,
		   "%s: the heap, the page that was protected and the one advised",
		   t.kernels[i].policy.name);
		ok(!t.report.results[i].total.failed_anew, "nothing fails anew");
	}
}

static void test_newer_calls(void)
{
	begin();
	mmap_at(AT(4), 4, RW, 0, ANON | SEAM_MAP_STACK | SEAM_MAP_POPULATE);
	CALL_IN(0, mlock2, 0, AT(4), PAGE, (uint64_t)SEAM_MLOCK_ONFAULT);
	CALL_IN(0, pkey_mprotect, 0, AT(3), PAGE, UINT64_C(1), UINT64_MAX);
	CALL_IN(0, madvise, 0, AT(2), PAGE, (uint64_t)SEAM_MADV_GUARD_INSTALL);
	CALL_IN(0, mseal, 0, AT(1), PAGE, UINT64_C(0));
	if (run("linux-2.2.13 linux-2.4.10 linux-6.1 linux-6.18"))
		return;
	ok(t.report.results[0].total.failed_anew == 4, "2.2.13 has none of four newer calls");
	ok(t.report.results[1].total.failed_anew == 4, "2.4.10: nor this advice");
	ok(t.report.results[2].total.failed_anew == 2, "6.1: no guard advice and no mseal");
	ok(!t.report.results[3].total.failed_anew, "6.18 has all");
	areas_are(0, 1, "unknown flags of mmap are ignored");
	ok(t.report.results[3].mms[0].areas_end > 3, "6.18 splits");
}

/* As it happened: the kernel's own map is taken where it differs. */
static void test_truth(void)
{
	struct seam_area truth[] = {
		{ .start = AT(4), .end = AT(2), .flags = 3 },
		{ .start = AT(2), .end = AT(1), .flags = 3 },
		{ .start = 0x7ffffffda000, .end = 0x7ffffffff000, .flags = 3 },
	};
	struct event event = { .kind = EVENT_TRUTH,
			       .flags = EVENT_AREAS_KNOWN,
			       .sees = SEES_RANGE,
			       .areas = truth,
			       .nr_areas = 3 };

	begin();
	mmap_at(AT(4), 2, RW, 0, ANON);
	mmap_at(AT(1) - PAGE, 1, RW, AT(2), FIXED);
	write_event(event);
	write_event(event);
	mprotect_at(AT(3), 1, SEAM_PROT_READ);
	t.options.touch = TOUCH_NEVER;
	if (run("recorded"))
		return;
	ok(t.report.checkpoints == 2, "two checkpoints");
	ok(t.report.differences == 1 && t.report.resynced == 1,
	   "one difference, then the kernel's map is taken");
	ok(t.report.first[0].call_number == 2 && t.report.first[0].model.end == AT(1) &&
		   t.report.first[0].truth.end == AT(2),
	   "told with the call before it");
	ok(area_with(0, 0, 0x7ffffffda000) != NULL, "a stack that has grown is no difference");
	areas_are(0, 3, "the replay goes on from there");
}

/* What was touched is not recorded: where it decides, the truth tells it. */
static void test_undetermined(void)
{
	static const struct {
		uint64_t borders[3];
		unsigned int differences, undetermined;
		const char *why;
	} ends[] = {
		{ { AT(1) }, 0, 0, "touched when it was mapped: one area again" },
		{ { AT(2), AT(1) }, 0, 1, "the outer pages touched apart" },
		{ { AT(3), AT(1) }, 0, 1, "and the middle one with the upper" },
		{ { AT(3), AT(2), AT(1) }, 0, 1, "all three touched apart" },
	};

	for (unsigned int i = 0; i < 4; i++) {
		struct seam_area truth[5];
		struct event event = { .kind = EVENT_TRUTH,
				       .flags = EVENT_AREAS_KNOWN,
				       .sees = SEES_RANGE,
				       .areas = truth };
		uint64_t at = AT(4);

		begin();
		mmap_at(AT(4), 3, RW, 0, ANON);
		mprotect_at(AT(3), 1, 0);
		mprotect_at(AT(3), 1, RW);
		for (unsigned int j = 0; j < 3 && ends[i].borders[j]; j++) {
			truth[event.nr_areas++] = (struct seam_area) { .start = at,
								       .end = ends[i].borders[j],
								       .flags = 3 };
			at = ends[i].borders[j];
		}
		truth[event.nr_areas++] = (struct seam_area) { .start = 0x7ffffffde000,
							       .end = 0x7ffffffff000,
							       .flags = 3 };
		write_event(event);
		mprotect_at(AT(4), 3, SEAM_PROT_READ);
		mprotect_at(AT(4), 3, RW);
		write_event(event);
		if (run("recorded"))
			return;
		ok(t.report.differences == ends[i].differences &&
			   t.report.undetermined == ends[i].undetermined,
		   "%s: %llu differences, %llu undetermined", ends[i].why,
		   (unsigned long long)t.report.differences,
		   (unsigned long long)t.report.undetermined);
	}
}

/* A border that no history explains stays a difference. */
static void test_not_undetermined(void)
{
	struct seam_area truth[] = {
		{ .start = AT(4), .end = AT(2), .flags = 3 },
		{ .start = AT(2), .end = AT(1), .flags = 3 },
		{ .start = 0x7ffffffde000, .end = 0x7ffffffff000, .flags = 3 },
	};
	struct event event = { .kind = EVENT_TRUTH,
			       .flags = EVENT_AREAS_KNOWN,
			       .sees = SEES_RANGE,
			       .areas = truth,
			       .nr_areas = 3 };

	begin();
	mmap_at(AT(4), 3, RW, 0, ANON);
	write_event(event);
	if (run("recorded"))
		return;
	ok(t.report.differences == 1 && !t.report.undetermined,
	   "one map, and two areas of the kernel's");
}

static void test_results_as_recorded(void)
{
	begin();
	mmap_at(AT(4), 4, RW, 0, ANON);
	CALL_IN(0, mprotect, -SEAM_EINVAL, AT(3), PAGE, UINT64_C(1));
	CALL_IN(0, munmap, 0, AT(3) + 1, PAGE);
	if (run("recorded"))
		return;
	ok(t.report.differences == 2, "an error and a success that the rules do not give");
	ok(t.report.first[0].errno_differs && t.report.first[0].found == -SEAM_EINVAL &&
		   !t.report.first[0].expected,
	   "what was expected and found");
}

/* That it failed is known, with which error is not: any error of the model's agrees, success does not. */
static void test_inferred(void)
{
	struct event event = { .kind = EVENT_CALL,
			       .call = TRACE_CALL_mmap,
			       .flags = EVENT_INFERRED,
			       .result = -SEAM_ENOMEM,
			       .arg = { 0, 0, 3, ANON, UINT64_MAX } };

	begin();
	write_event(event);
	ok(!run("recorded") && !t.report.differences,
	   "an inferred ENOMEM where the model has EINVAL is none");
	begin();
	event.arg[1] = PAGE;
	write_event(event);
	ok(!run("recorded") && t.report.differences == 1 && t.report.first[0].errno_differs,
	   "where the model's call succeeds it is one");
}

int main(void)
{
	test_placed_by_each_kernel();
	test_placed_as_recorded();
	test_range_by_range();
	test_fixed_on_taken_ground();
	test_fixed_over_pieces();
	test_failed_anew();
	test_mremap();
	test_mremap_fails();
	test_heap();
	test_processes();
	test_touches();
	test_eager_pages();
	test_unknown_start();
	test_newer_calls();
	test_truth();
	test_undetermined();
	test_not_undetermined();
	test_results_as_recorded();
	test_inferred();
	begin();
	return tap_done();
}
