/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wild [CALLS [SEED]]: under every policy, on both layouts, calls with arguments that nobody would
 * make: the space is walked after each, and must hold together. Now and then a snapshot is taken:
 * the same calls must do the same in both, to the counters, and neither may feel the other's.
 */
#include <stdlib.h>
#include <string.h>

#include <seam/seam.h>

#include "tests/random.h"
#include "tests/tap.h"

#define PAGE UINT64_C(4096)
#define ARENA UINT64_C(0x50000000)
#define LIFE 2000 /* calls that a space lives */
#define SNAPSHOT_EVERY 500
#define TWIN_CALLS 60

/* Addresses, lengths and offsets at the edges of words, pages, layouts, and in between. */
static uint64_t wild(enum seam_arch arch)
{
	static const uint64_t edges[] = {
		0,
		1,
		0xfff,
		0x1000,
		0x1001,
		0x2000,
		0x40000000,
		0x80000000,
		0xb8000000,
		0xbffff000,
		0xc0000000,
		0xc0001000,
		0xfffff000,
		0xfffff001,
		0xffffffff,
		UINT64_C(1) << 32,
		UINT64_C(0x2aaaaaaab000),
		UINT64_C(0x7ffffffff000),
		UINT64_C(0xfffffffffffff000),
		UINT64_MAX,
	};
	uint64_t base = arch == SEAM_ARCH_I386 ? 0x40000000 : UINT64_C(0x2aaaaaaab000);

	switch (random_below(6)) {
	case 0:
		return edges[random_below(sizeof(edges) / sizeof(edges[0]))];
	case 1:
		return random_bits() >> random_below(64);
	case 2:
		return ARENA + random_below(64) * PAGE;
	case 3:
		return random_below(16) * PAGE;
	case 4:
		return ARENA + random_below(64 * PAGE);
	default:
		return base + random_below(64) * PAGE;
	}
}

static void wild_mmap(struct seam_space *space, enum seam_arch arch)
{
	static const struct seam_file files[] = {
		{ .id = 3, .traits = SEAM_FILE_READ | SEAM_FILE_WRITE },
		{ .id = 5, .traits = SEAM_FILE_READ },
		{ .id = 6, .traits = SEAM_FILE_READ | SEAM_FILE_WRITE | SEAM_FILE_CLOSE },
		{ .id = 7, .traits = SEAM_FILE_WRITE },
	};
	struct seam_mmap args = { .addr = wild(arch),
				  .len = wild(arch),
				  .prot = (uint32_t)random_below(16) };
	uint64_t addr;

	args.flags = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS;
	args.flags |= random_below(2) ? SEAM_MAP_FIXED : 0;
	args.flags |= random_below(4) ? 0 : SEAM_MAP_GROWSDOWN;
	args.flags |= random_below(4) ? 0 : SEAM_MAP_LOCKED;
	if (!random_below(3))
		args.flags = (uint32_t)random_bits();
	args.pgoff = random_below(2) ? wild(arch) : 0;
	args.file = random_below(3) ? &files[random_below(4)] : NULL;
	args.kernel = random_below(2);
	args.place = !random_below(8);
	args.at = wild(arch);
	seam_space_mmap(space, &args, &addr);
}

static void wild_mremap(struct seam_space *space, enum seam_arch arch)
{
	struct seam_mremap args = { .old_addr = wild(arch),
				    .old_len = wild(arch),
				    .new_len = wild(arch),
				    .new_addr = wild(arch),
				    .at = wild(arch),
				    .place = !random_below(8) };
	uint64_t addr;

	args.flags = (uint32_t)(random_below(8) ? random_below(8) : random_bits());
	seam_space_mremap(space, &args, &addr);
}

static void wild_fork(struct seam_space *space)
{
	struct seam_space *child;

	if (!seam_space_fork(space, &child))
		seam_space_destroy(child);
}

static void wild_call(struct seam_space *space, enum seam_arch arch)
{
	uint64_t addr = wild(arch), len = wild(arch), brk;

	switch (random_below(16)) {
	case 0:
		seam_space_munmap(space, addr, len);
		break;
	case 1:
		seam_space_mprotect(space, addr, len,
				    (uint32_t)(random_below(4) ? random_below(8) : random_bits()),
				    -1);
		break;
	case 2:
	case 3:
		wild_mremap(space, arch);
		break;
	case 4:
		seam_space_madvise(space, addr, len, (int)random_below(110));
		break;
	case 5:
		seam_space_mlock(space, addr, len, (uint32_t)random_below(3));
		break;
	case 6:
		seam_space_munlock(space, addr, len);
		break;
	case 7:
		seam_space_mlockall(space, (uint32_t)random_below(9));
		break;
	case 8:
		seam_space_brk(space, random_below(2) ? addr : 0x8060000 + random_below(0x10000),
			       &brk);
		break;
	case 9:
	case 10:
		seam_space_touch(space, addr, len % (256 * PAGE), (int)random_below(2), NULL);
		break;
	case 11:
		seam_space_stack(space, addr, len % (16 * PAGE));
		break;
	case 12:
		wild_fork(space);
		break;
	default:
		wild_mmap(space, arch);
		break;
	}
}

static struct seam_space *new_space(const struct seam_policy *policy, enum seam_arch arch)
{
	struct seam_space_options options = {
		.size = sizeof(options),
		.policy = policy,
		.arch = arch,
		.may = (uint32_t)random_below(8),
		.flags = SEAM_SPACE_COUNT_STEPS,
		.max_areas = 100,
		.limit_as = random_below(3) ? 0 : wild(arch),
		.limit_memlock = random_below(3) ? 0 : wild(arch),
		.limit_stack = random_below(2) ? 0 : 8 << 20,
	};
	struct seam_space *space;

	if (seam_space_create(&options, &space))
		return NULL;
	seam_space_set_code(space, 0x8050000, 0x8050000, 0x8060000);
	seam_space_set_brk(space, 0x8060000, 0x8060000);
	return space;
}

static const char *differ(const struct seam_space *space, const struct seam_space *twin)
{
	uint64_t at = 0, twin_at = 0;
	struct seam_area area, other;
	struct seam_totals totals, other_totals;
	struct seam_stats stats, other_stats;

	while (seam_area_next(space, &at, &area))
		if (!seam_area_next(twin, &twin_at, &other) || memcmp(&area, &other, sizeof(area)))
			return "an area of a snapshot";
	if (seam_area_next(twin, &twin_at, &other))
		return "a snapshot has more areas";
	seam_space_get_stats(space, &stats);
	seam_space_get_stats(twin, &other_stats);
	seam_space_get_totals(space, &totals);
	seam_space_get_totals(twin, &other_totals);
	if (memcmp(&stats, &other_stats, sizeof(stats)))
		return "the counters of a snapshot";
	if (memcmp(&totals, &other_totals, sizeof(totals)) ||
	    seam_space_get_brk(space) != seam_space_get_brk(twin))
		return "the totals of a snapshot";
	return seam_space_check(twin);
}

/* A snapshot goes through the same calls as its original, one after the other. */
static const char *run_twins(struct seam_space *space, enum seam_arch arch)
{
	struct seam_space *twin, *kept;
	const char *wrong = NULL;
	uint64_t random = random_state;

	if (seam_space_snapshot(space, &twin) || seam_space_snapshot(twin, &kept))
		return "no snapshot";
	for (unsigned int n = 0; n < TWIN_CALLS; n++)
		wild_call(space, arch);
	wrong = differ(kept, twin);
	random_state = random;
	for (unsigned int n = 0; n < TWIN_CALLS; n++)
		wild_call(twin, arch);
	if (!wrong)
		wrong = differ(space, twin);
	seam_space_destroy(twin);
	if (!wrong)
		wrong = seam_space_check(kept);
	seam_space_destroy(kept);
	return wrong;
}

static const char *run(const struct seam_policy *policy, enum seam_arch arch, unsigned long calls)
{
	struct seam_space *space = NULL;
	const char *wrong = NULL;

	for (unsigned long n = 0; n < calls && !wrong; n++) {
		if (n % LIFE == 0) {
			seam_space_destroy(space);
			space = new_space(policy, arch);
			if (!space)
				return "no space";
		}
		wild_call(space, arch);
		wrong = seam_space_check(space);
		if (!wrong && n % SNAPSHOT_EVERY == SNAPSHOT_EVERY - 1)
			wrong = run_twins(space, arch);
		if (wrong)
			printf("# after call %lu\n", n);
	}
	seam_space_destroy(space);
	return wrong;
}

int main(int argc, char **argv)
{
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 0) : 10000;
	const struct seam_policy *policy;

	random_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 20010301;
	for (unsigned int n = 0; (policy = seam_policy_at(n)); n++) {
		const char *wrong = run(policy, SEAM_ARCH_X86_64, calls);

		if (!wrong)
			wrong = run(policy, SEAM_ARCH_I386, calls);
		ok(!wrong, "%s: %s", policy->name, wrong ? wrong : "holds together");
	}
	return tap_done();
}
