/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plain CALLS: random calls on a space of plain, and after each what it gave and what the map is, as
 * one number a thousand calls. A build of plain alone must say what the whole library says. Charges
 * (SEAM_VM_ACCOUNT) are not looked at: plain alone has none.
 */
#include <stdio.h>
#include <stdlib.h>

#include <seam/seam.h>

#include "tests/random.h"

#define PAGE UINT64_C(4096)
#define ARENA UINT64_C(0x50000000)
#define ARENA_PAGES 400
#define MOST_AREAS 300

static uint64_t sum = UINT64_C(14695981039346656037);

static void add(uint64_t value)
{
	sum = (sum ^ value) * UINT64_C(1099511628211);
}

static void add_map(const struct seam_space *space)
{
	struct seam_stats stats;
	struct seam_area area;
	uint64_t at = 0;

	while (seam_area_next(space, &at, &area)) {
		add(area.start);
		add(area.end);
		add(area.flags & ~SEAM_VM_ACCOUNT);
		add(area.pgoff);
		add(area.file);
		add(area.tag);
	}
	seam_space_get_stats(space, &stats);
	add(stats.joins);
	add(stats.splits);
	add(stats.join_tries);
	add(seam_space_areas(space));
}

static uint64_t random_page(void)
{
	return ARENA + random_below(ARENA_PAGES) * PAGE;
}

static uint64_t random_len(void)
{
	return random_below(random_below(8) ? 5 : 200) * PAGE + random_below(2);
}

static void random_mmap(struct seam_mmap *args, struct seam_file *file)
{
	static const uint32_t flags[] = { 0, SEAM_MAP_FIXED, SEAM_MAP_FIXED,
					  SEAM_MAP_FIXED_NOREPLACE };

	*file = (struct seam_file) { .id = 1 + random_below(3),
				     .traits = (uint32_t)random_below(4) };
	*args = (struct seam_mmap) {
		.addr = random_below(8) ? random_page() : random_below(1000),
		.len = random_len(),
		.prot = (uint32_t)random_below(8),
		.flags = (random_below(4) ? SEAM_MAP_PRIVATE : SEAM_MAP_SHARED) |
			 (random_below(3) ? SEAM_MAP_ANONYMOUS : 0) | flags[random_below(4)],
		.pgoff = random_below(30),
		.file = file,
		.tag = random_below(3),
	};
}

static void random_mremap(struct seam_mremap *args)
{
	*args = (struct seam_mremap) { .old_addr = random_page(),
				       .old_len = random_len(),
				       .new_len = random_len(),
				       .flags = (uint32_t)random_below(8),
				       .new_addr = random_page() };
}

/* A call, asked first, and given up or committed. */
static void ask(struct seam_space *space)
{
	struct seam_mremap mremap;
	struct seam_mmap mmap;
	struct seam_file file;
	struct seam_call call = { .op = random_below(2) ? SEAM_OP_MMAP : SEAM_OP_MREMAP,
				  .mmap = &mmap,
				  .mremap = &mremap };
	struct seam_answer answer = { 0 };
	struct seam_change change;

	random_mmap(&mmap, &file);
	random_mremap(&mremap);
	add((uint64_t)seam_space_ask(space, &call, &answer));
	add((uint64_t)answer.result);
	add(answer.value);
	for (size_t n = 0; seam_space_change(space, n, &change); n++)
		add((uint64_t)change.kind ^ change.before.start << 8 ^ change.after.end << 16);
	if (random_below(2))
		seam_space_commit(space);
	else
		seam_space_abort(space);
}

/* What a second space is that is made of this one, and that it can be given up. */
static void copy(struct seam_space *space)
{
	struct seam_space *other;
	int err = random_below(2) ? seam_space_fork(space, &other)
				  : seam_space_snapshot(space, &other);

	add((uint64_t)err);
	if (err)
		return;
	add((uint64_t)seam_space_munmap(other, random_page(), random_len()));
	add_map(other);
	seam_space_destroy(other);
}

static void one_call(struct seam_space *space)
{
	struct seam_mremap mremap;
	struct seam_mmap mmap;
	struct seam_file file;
	uint64_t addr = 0;

	switch (random_below(10)) {
	case 0:
	case 1:
		add((uint64_t)seam_space_munmap(space, random_page(), random_len()));
		break;
	case 2:
	case 3:
		add((uint64_t)seam_space_mprotect(space, random_page(), random_len(),
						  (uint32_t)random_below(8), -1));
		break;
	case 4:
		random_mremap(&mremap);
		add((uint64_t)seam_space_mremap(space, &mremap, &addr));
		break;
	case 5:
		add((uint64_t)seam_space_set_tag(space, random_page(), PAGE * random_below(9),
						 random_below(3)));
		break;
	case 6:
		ask(space);
		break;
	case 7:
		if (!random_below(8))
			copy(space);
		break;
	default:
		random_mmap(&mmap, &file);
		add((uint64_t)seam_space_mmap(space, &mmap, &addr));
	}
	add(addr);
	add_map(space);
}

int main(int argc, char **argv)
{
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 0) : 20000;

	for (unsigned int round = 0; round < 2; round++) {
		struct seam_space_options options = { .size = sizeof(options),
						      .policy = seam_policy_find("plain"),
						      .max_areas = MOST_AREAS,
						      .flags = round ? SEAM_SPACE_BOTTOM_UP : 0 };
		struct seam_space *space;

		random_state = 20010301 + round;
		if (seam_space_create(&options, &space))
			return 1;
		for (unsigned long n = 1; n <= calls; n++) {
			one_call(space);
			if (n % 1000 == 0)
				printf("%u %lu: %016llx, %llu areas\n", round, n,
				       (unsigned long long)sum,
				       (unsigned long long)seam_space_areas(space));
			if (seam_space_check(space)) {
				printf("call %lu: %s\n", n, seam_space_check(space));
				return 1;
			}
		}
		seam_space_destroy(space);
	}
	return 0;
}
