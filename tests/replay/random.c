/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs, recorded under the model of 6.18 with one layout and replayed with another: as
 * memory lies elsewhere but in the same way, everything must come out the same; as it happened
 * there must be no difference at all; and no kernel may break on it. Then the same with a record
 * that lies: results and maps that cannot be.
 * Arguments: number of programs, seed.
 */
#include "replay/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/random.h"
#include "tests/tap.h"
#include "trace/data.h"

#define PAGE UINT64_C(0x1000)
#define RECORDED_BASE UINT64_C(0x7f0000000000)
#define HEAP UINT64_C(0x555555560000)
#define NR_BLOCKS 40
#define NR_CALLS 1500
#define RW (SEAM_PROT_READ | SEAM_PROT_WRITE)

static bool lies;

/* A map that the program made and still knows. */
struct block {
	uint64_t addr, pages;
};

struct program {
	struct seam_space *space;
	struct data_writer *writer;
	struct block blocks[NR_BLOCKS];
	uint64_t failed;
};

static int64_t lie(int64_t result)
{
	switch (random_below(24)) {
	case 0:
		return -SEAM_ENOMEM;
	case 1:
		return 0;
	case 2:
		return result + (int64_t)random_below(1 << 20);
	case 3:
		return (int64_t)(random_below(UINT64_C(1) << 47) & ~(PAGE - 1));
	case 4:
		return INT64_MAX - (int64_t)random_below(1 << 16);
	default:
		return result;
	}
}

static void write_call(struct program *p, uint8_t call, const uint64_t *arg, int64_t told)
{
	int64_t result = lies ? lie(told) : told;
	struct event event = {
		.kind = EVENT_CALL, .call = call, .pid = 1, .tid = 1, .result = result
	};

	memcpy(event.arg, arg, sizeof(event.arg));
	p->failed += call == TRACE_CALL_brk ? (uint64_t)result != arg[0] : result < 0;
	if (data_write(p->writer, &event))
		abort();
}

/* All writable private memory is touched, which is what eager replay takes for granted. */
static void touch(struct program *p, uint64_t addr, uint64_t len)
{
	seam_space_touch(p->space, addr, len, 1, NULL);
}

static void do_mmap(struct program *p, struct block *block)
{
	static const uint64_t prots[] = { RW, RW, RW, 0, SEAM_PROT_READ };
	uint64_t arg[6] = {
		0, (1 + random_below(32)) * PAGE, prots[random_below(5)], 0x22, UINT64_MAX, 0
	};
	struct seam_mmap args = { .len = arg[1], .prot = (uint32_t)arg[2], .flags = 0x22 };
	uint64_t addr;
	int err;

	if (!random_below(4))
		args.flags = (uint32_t)(arg[3] |= SEAM_MAP_NORESERVE);
	err = seam_space_mmap(p->space, &args, &addr);
	write_call(p, TRACE_CALL_mmap, arg, err ? err : (int64_t)addr);
	if (err)
		return;
	*block = (struct block) { .addr = addr, .pages = arg[1] / PAGE };
	if (arg[2] & SEAM_PROT_WRITE)
		touch(p, addr, arg[1]);
}

static void do_mprotect(struct program *p, uint64_t addr, uint64_t len)
{
	static const uint64_t prots[] = { RW, RW, SEAM_PROT_READ, 0 };
	uint64_t arg[6] = { addr, len, prots[random_below(4)] };
	int err = seam_space_mprotect(p->space, addr, len, (uint32_t)arg[2], -1);

	write_call(p, TRACE_CALL_mprotect, arg, err);
	if (arg[2] & SEAM_PROT_WRITE)
		touch(p, addr, len);
}

/* Over part of its own memory. */
static void do_fixed(struct program *p, uint64_t addr, uint64_t len)
{
	uint64_t arg[6] = { addr, len, random_below(2) ? RW : 0, 0x32, UINT64_MAX, 0 };
	struct seam_mmap args = {
		.addr = addr, .len = len, .prot = (uint32_t)arg[2], .flags = 0x32
	};
	int err = seam_space_mmap(p->space, &args, &addr);

	write_call(p, TRACE_CALL_mmap, arg, err ? err : (int64_t)addr);
	if (!err && arg[2])
		touch(p, addr, len);
}

/* Grows or shrinks a block that is one area. */
static void do_mremap(struct program *p, struct block *block)
{
	uint64_t pages = 1 + random_below(48), addr;
	uint64_t arg[6] = { block->addr, block->pages * PAGE, pages * PAGE, SEAM_MREMAP_MAYMOVE };
	struct seam_mremap args = {
		.old_addr = arg[0], .old_len = arg[1], .new_len = arg[2], .flags = 1
	};
	struct seam_area area;
	int err;

	if (!seam_area_find(p->space, block->addr, &area) || area.start > block->addr ||
	    area.end < block->addr + arg[1])
		return;
	err = seam_space_mremap(p->space, &args, &addr);
	write_call(p, TRACE_CALL_mremap, arg, err ? err : (int64_t)addr);
	if (err)
		return;
	block->addr = addr;
	if (pages > block->pages && area.flags & SEAM_VM_WRITE)
		touch(p, addr + block->pages * PAGE, (pages - block->pages) * PAGE);
	block->pages = pages;
}

static void do_brk(struct program *p)
{
	uint64_t before = seam_space_get_brk(p->space), after;
	uint64_t arg[6] = { HEAP + random_below(64) * PAGE };

	if (seam_space_brk(p->space, arg[0], &after))
		abort();
	write_call(p, TRACE_CALL_brk, arg, (int64_t)after);
	if (after > before)
		touch(p, before, after - before);
}

static void step(struct program *p)
{
	struct block *block = &p->blocks[random_below(NR_BLOCKS)];
	uint64_t first, pages, arg[6] = { 0 };

	if (!block->pages) {
		do_mmap(p, block);
		return;
	}
	first = random_below(block->pages);
	pages = 1 + random_below(block->pages - first);
	arg[0] = block->addr + first * PAGE;
	arg[1] = pages * PAGE;
	switch (random_below(10)) {
	case 0:
		do_brk(p);
		break;
	case 1:
	case 2:
	case 3:
		do_mprotect(p, arg[0], arg[1]);
		break;
	case 4:
		do_fixed(p, arg[0], arg[1]);
		break;
	case 5:
		do_mremap(p, block);
		break;
	case 6: /* a hole, which the program forgets about */
		write_call(p, TRACE_CALL_munmap, arg, seam_space_munmap(p->space, arg[0], arg[1]));
		break;
	case 7:
		arg[2] = random_below(2) ? SEAM_MADV_DONTDUMP : SEAM_MADV_DODUMP;
		write_call(p, TRACE_CALL_madvise, arg,
			   seam_space_madvise(p->space, arg[0], arg[1], (int)arg[2]));
		break;
	default:
		arg[0] = block->addr;
		arg[1] = block->pages * PAGE;
		block->pages = 0;
		write_call(p, TRACE_CALL_munmap, arg, seam_space_munmap(p->space, arg[0], arg[1]));
	}
}

static void write_truth(struct program *p)
{
	static struct seam_area areas[4096];
	struct event event = { .kind = EVENT_TRUTH,
			       .flags = EVENT_AREAS_KNOWN,
			       .pid = 1,
			       .tid = 1,
			       .sees = SEES_RANGE | SEES_FLAGS,
			       .areas = areas };
	uint64_t at = 0;

	while (event.nr_areas < 4096 && seam_area_next(p->space, &at, &areas[event.nr_areas])) {
		areas[event.nr_areas].anon_vma = areas[event.nr_areas].anon_chain = 0;
		if (lies && !random_below(8))
			areas[event.nr_areas].end -= PAGE;
		if (!lies || random_below(16))
			event.nr_areas++;
	}
	data_write(p->writer, &event);
}

/* The trace of a program; what its space was like at the end. */
static int record(struct program *p)
{
	static const struct seam_area stack = { .start = 0x7ffffffde000,
						.end = 0x7ffffffff000,
						.flags = 0x100173 };
	struct event begin = { .kind = EVENT_SPACE,
			       .born = BORN_EXEC,
			       .flags = EVENT_AREAS_KNOWN,
			       .pid = 1,
			       .tid = 1,
			       .arg = { 0, HEAP },
			       .sees = SEES_RANGE | SEES_FLAGS,
			       .areas = &stack,
			       .nr_areas = 1 };
	struct seam_space_options options = {
		.size = sizeof(options),
		.mmap_base = RECORDED_BASE,
		.flags = SEAM_SPACE_THP,
		.min_addr = 65536,
	};
	int fd = memfd_create("random", MFD_CLOEXEC);

	options.policy = seam_policy_find("linux-6.18");
	if (fd < 0 || seam_space_create(&options, &p->space) ||
	    data_writer_open(fd, &(struct trace_host) { .page_shift = 12 }, 100, &p->writer))
		abort();
	seam_space_adopt(p->space, &stack);
	touch(p, stack.start, stack.end - stack.start);
	seam_space_set_code(p->space, HEAP, HEAP, HEAP);
	seam_space_set_brk(p->space, HEAP, HEAP);
	data_write(p->writer, &begin);
	for (int i = 1; i <= NR_CALLS; i++) {
		step(p);
		if (i % 500 == 0)
			write_truth(p);
	}
	if (data_writer_close(p->writer, NULL))
		abort();
	return fd;
}

static int replay(int fd, const struct replay_options *options, struct replay_report *report)
{
	off_t size = lseek(fd, 0, SEEK_END);
	void *data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	static struct source source; /* as long as the report */
	struct trace_error error;

	source_from_buffer("random", data, (size_t)size, &source);
	return replay_run(&source, options, report, &error);
}

/* Everything that does not hang on where memory lies. */
static bool same(const struct program *p, const struct replay_result *result)
{
	struct seam_stats stats;

	seam_space_get_stats(p->space, &stats);
	if (result->areas_end == seam_space_areas(p->space) && result->total.failed == p->failed &&
	    !result->total.failed_anew && !result->total.skipped &&
	    result->total.joins == stats.joins && result->total.splits == stats.splits)
		return true;
	printf("# areas %llu of %llu, failed %llu of %llu, anew %llu, skipped %llu, joins %llu of "
	       "%llu, splits %llu of %llu\n",
	       (unsigned long long)result->areas_end,
	       (unsigned long long)seam_space_areas(p->space),
	       (unsigned long long)result->total.failed, (unsigned long long)p->failed,
	       (unsigned long long)result->total.failed_anew,
	       (unsigned long long)result->total.skipped, (unsigned long long)result->total.joins,
	       (unsigned long long)stats.joins, (unsigned long long)result->total.splits,
	       (unsigned long long)stats.splits);
	return false;
}

/* All kernels, and the recorded one as it happened. */
static void choose_kernels(struct replay_options *options, struct replay_kernel *kernels)
{
	const struct seam_policy *policy;

	kernels[0].recorded = true;
	kernels[0].policy = kernels[1].policy = *seam_policy_find("linux-6.18");
	options->kernels = kernels;
	options->nr_kernels = 2;
	for (unsigned int i = 0; (policy = seam_policy_at(i)) && options->nr_kernels < 40; i++)
		kernels[options->nr_kernels++].policy = *policy;
}

static bool check_program(uint64_t seed)
{
	struct replay_kernel kernels[40] = { 0 };
	struct replay_options options = { .keep_maps = true };
	struct replay_report report;
	struct program p = { 0 };
	bool good;
	int fd;

	random_state = seed * UINT64_C(2654435761) + UINT64_C(88172645463325252);
	choose_kernels(&options, kernels);
	fd = record(&p);
	good = !replay(fd, &options, &report);
	if (good && !lies &&
	    (report.differences || report.undetermined || report.checkpoints != 3)) {
		printf("# %" PRIu64 " differences, %" PRIu64 " undetermined\n", report.differences,
		       report.undetermined);
		good = false;
	}
	if (!lies)
		good = good && same(&p, &report.results[0]) && same(&p, &report.results[1]);
	replay_report_free(&report);
	seam_space_destroy(p.space);
	close(fd);
	return good;
}

int main(int argc, char **argv)
{
	uint64_t programs = argc > 1 ? strtoull(argv[1], NULL, 10) : 40;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

	for (uint64_t i = 0; i < programs; i++)
		ok(check_program(seed + i), "program %" PRIu64, seed + i);
	lies = true;
	for (uint64_t i = 0; i < programs; i++)
		ok(check_program(seed + i), "a record of it that lies");
	return tap_done();
}
