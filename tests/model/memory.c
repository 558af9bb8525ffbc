/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory [CALLS [SEED]]: under every policy, random calls in which each allocation fails once. The
 * space must then be what it was, to the counters, and the call must give what it gives otherwise.
 */
#include <stdlib.h>
#include <string.h>

#include <seam/seam.h>

#include "tests/random.h"
#include "tests/tap.h"

#define PAGE UINT64_C(4096)
#define ARENA UINT64_C(0x50000000)
#define ARENA_PAGES 24
#define MAX_AREAS 256
#define LIFE 50 /* calls that a space lives */

static long allowed; /* allocations until one fails; negative: none does */
static unsigned long failed;

static void *test_alloc(void *ctx, size_t size)
{
	if (!allowed) {
		failed++;
		return NULL;
	}
	if (allowed > 0)
		allowed--;
	return malloc(size);
}

static void test_free(void *ctx, void *ptr, size_t size)
{
	free(ptr);
}

static const struct seam_alloc failing = { .alloc = test_alloc, .free = test_free };

/* What a space shows of itself. */
struct state {
	struct seam_area areas[MAX_AREAS];
	size_t nr;
	struct seam_stats stats;
	struct seam_totals totals;
	uint64_t brk;
};

static void look(const struct seam_space *space, struct state *ret)
{
	uint64_t at = 0;

	memset(ret, 0, sizeof(*ret));
	while (ret->nr < MAX_AREAS && seam_area_next(space, &at, &ret->areas[ret->nr]))
		ret->nr++;
	seam_space_get_stats(space, &ret->stats);
	seam_space_get_totals(space, &ret->totals);
	ret->brk = seam_space_get_brk(space);
}

enum kind { MMAP, MUNMAP, MPROTECT, MREMAP, MADVISE, MLOCK, MUNLOCK, BRK, TOUCH, NR_KINDS };

struct call {
	enum kind kind;
	uint64_t addr, len, new_addr, new_len;
	uint32_t bits, flags;
	const struct seam_file *file;
};

static const struct seam_file files[] = {
	{ .id = 3, .traits = SEAM_FILE_READ | SEAM_FILE_WRITE },
	{ .id = 5, .traits = SEAM_FILE_READ },
	{ .id = 6, .traits = SEAM_FILE_READ | SEAM_FILE_WRITE | SEAM_FILE_CLOSE },
};

static struct call random_call(void)
{
	static const uint32_t prots[] = { 0, 1, 3, 3, 3, 7 };
	static const uint32_t maps[] = { 0x32, 0x32, 0x32, 0x12, 0x11, 0x31, 0x22, 0x2032, 0x132 };
	struct call call = { .kind = random_below(NR_KINDS) };

	call.addr = ARENA + random_below(ARENA_PAGES) * PAGE;
	call.len = (1 + random_below(5)) * PAGE;
	call.new_addr = ARENA + random_below(ARENA_PAGES) * PAGE;
	call.new_len = random_below(4) ? call.len : (1 + random_below(6)) * PAGE;
	call.bits = prots[random_below(6)];
	call.flags = maps[random_below(9)];
	call.file = &files[random_below(3)];
	if (call.kind == MREMAP)
		call.flags = random_below(4);
	if (call.kind == MADVISE)
		call.bits = (uint32_t)random_below(20);
	if (call.kind == BRK)
		call.addr = UINT64_C(0x8060000) + random_below(6) * PAGE;
	return call;
}

static int make(struct seam_space *space, const struct call *call, uint64_t *ret)
{
	struct seam_mmap map = { .addr = call->addr,
				 .len = call->len,
				 .prot = call->bits,
				 .flags = call->flags,
				 .pgoff = (call->addr - ARENA) / PAGE,
				 .file = call->file };
	struct seam_mremap remap = { .old_addr = call->addr,
				     .old_len = call->len,
				     .new_len = call->new_len,
				     .flags = call->flags,
				     .new_addr = call->new_addr };

	*ret = 0;
	switch (call->kind) {
	case MMAP:
		return seam_space_mmap(space, &map, ret);
	case MUNMAP:
		return seam_space_munmap(space, call->addr, call->len);
	case MPROTECT:
		return seam_space_mprotect(space, call->addr, call->len, call->bits, -1);
	case MREMAP:
		return seam_space_mremap(space, &remap, ret);
	case MADVISE:
		return seam_space_madvise(space, call->addr, call->len, (int)call->bits);
	case MLOCK:
		return seam_space_mlock(space, call->addr, call->len, 0);
	case MUNLOCK:
		return seam_space_munlock(space, call->addr, call->len);
	case BRK:
		return seam_space_brk(space, call->addr, ret);
	default:
		return seam_space_touch(space, call->addr, call->len, call->bits & 1, ret);
	}
}

static struct seam_space *new_space(const struct seam_policy *policy)
{
	struct seam_space_options options = {
		.size = sizeof(options),
		.policy = policy,
		.alloc = &failing,
		.arch = policy->old ? SEAM_ARCH_I386 : SEAM_ARCH_X86_64,
		.flags = SEAM_SPACE_COUNT_STEPS,
		.may = SEAM_MAY_IPC_LOCK,
		.max_areas = 60,
	};
	struct seam_space *space;

	if (seam_space_create(&options, &space))
		return NULL;
	seam_space_set_code(space, 0x8050000, 0x8050000, 0x8060000);
	seam_space_set_brk(space, 0x8060000, 0x8060000);
	return space;
}

/* Fails each allocation of the call in turn, then lets it pass. NULL, or what is wrong. */
static const char *fail_each(struct seam_space *space, struct seam_space *untouched,
			     const struct call *call)
{
	static struct state before, after;
	uint64_t ret, expected_ret;
	int err, expected;

	look(space, &before);
	for (long nth = 0;; nth++) {
		allowed = nth;
		err = make(space, call, &ret);
		allowed = -1;
		if (err != -SEAM_EALLOC)
			break;
		look(space, &after);
		if (memcmp(&before.areas, &after.areas, sizeof(before.areas)))
			return "a call that ran out of memory left another map";
		if (memcmp(&before, &after, sizeof(before)))
			return "a call that ran out of memory left other counters";
		if (seam_space_check(space))
			return seam_space_check(space);
	}
	expected = make(untouched, call, &expected_ret);
	if (err != expected || ret != expected_ret)
		return "another result than without failures";
	look(space, &before);
	look(untouched, &after);
	before.stats.steps = after.stats.steps;	 /* caches that a failed call has filled */
	for (size_t i = 0; i < before.nr; i++) { /* names may have been used up */
		after.areas[i].anon_vma = before.areas[i].anon_vma;
		after.areas[i].file = before.areas[i].file;
	}
	if (memcmp(&before, &after, sizeof(before)))
		return "another map than without failures";
	return seam_space_check(space);
}

/* Spaces are young: what they need they have to ask for. */
static const char *run(const struct seam_policy *policy, unsigned long calls)
{
	struct seam_space *space = new_space(policy), *untouched = new_space(policy);
	const char *wrong = space && untouched ? NULL : "no space";

	for (unsigned long n = 0; n < calls && !wrong; n++) {
		struct call call = random_call();

		wrong = fail_each(space, untouched, &call);
		if (wrong)
			printf("# call %lu: kind %d addr %llx len %llx bits %x flags %x\n", n,
			       call.kind, (unsigned long long)call.addr,
			       (unsigned long long)call.len, call.bits, call.flags);
	}
	seam_space_destroy(space);
	seam_space_destroy(untouched);
	return wrong;
}

int main(int argc, char **argv)
{
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 0) : 3000;
	const struct seam_policy *policy;

	allowed = -1;
	for (unsigned int n = 0; (policy = seam_policy_at(n)); n++) {
		const char *wrong = NULL;

		random_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 20010301;
		failed = 0;
		for (unsigned long left = calls; left && !wrong; left -= left < LIFE ? left : LIFE)
			wrong = run(policy, left < LIFE ? left : LIFE);
		ok(!wrong && failed > 100, "%s: %s", policy->name,
		   wrong ? wrong : "each allocation failed once");
		printf("# %lu failures\n", failed);
	}
	return tap_done();
}
