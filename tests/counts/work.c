/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * work WHAT: one kind of work on a space of 65,530 areas; callgrind counts the instructions within
 * measured() alone. Prints how many operations that were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seam/seam.h>

#define PAGE UINT64_C(4096)
#define AREAS UINT64_C(65530)
#define LOWEST (UINT64_C(0x10000) * PAGE)
#define CALLS 10000u

static uint64_t state = 88172645463325252, sink;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void set(struct seam_space *space, uint64_t start, uint64_t pages, uint32_t prot)
{
	struct seam_mmap args = { .addr = start,
				  .len = pages * PAGE,
				  .prot = prot,
				  .flags = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS | SEAM_MAP_FIXED };
	uint64_t at;

	if (seam_space_mmap(space, &args, &at))
		abort();
}

/* As bench/ has it: areas of two pages, a page apart, of two kinds in turn. */
static struct seam_space *fill(const char *policy)
{
	struct seam_space_options options = { .size = sizeof(options),
					      .policy = seam_policy_find(policy),
					      .max_areas = SEAM_NO_LIMIT };
	struct seam_space *space;

	if (seam_space_create(&options, &space))
		abort();
	for (uint64_t i = 0; i < AREAS; i++)
		set(space, LOWEST + 3 * i * PAGE, 2, i & 1 ? SEAM_PROT_READ : SEAM_PROT_NONE);
	return space;
}

static uint64_t random_addr(void)
{
	return LOWEST + next_random() % (3 * AREAS) * PAGE;
}

static void lookup(struct seam_space *space)
{
	struct seam_area area;

	if (seam_area_find(space, random_addr(), &area))
		sink += area.start;
}

/* Half a new range, a quarter each a hole, and other attributes for a part of an area. */
static void random_call(struct seam_space *space)
{
	uint64_t start = random_addr(), r = next_random();
	uint32_t prot = (uint32_t)(r >> 16 & 3);
	struct seam_area area;

	switch (r >> 8 & 3) {
	case 0:
	case 1:
		set(space, start, 1 + (r & 1), prot);
		break;
	case 2:
		seam_space_munmap(space, start, (1 + (r & 1)) * PAGE);
		break;
	default:
		if (seam_area_find(space, start, &area))
			seam_space_mprotect(space, area.start, PAGE, prot, -1);
	}
}

/* A place is sought for it, and it is taken away again. */
static void map_unmap(struct seam_space *space)
{
	struct seam_mmap args = { .len = (1 + (next_random() & 3)) * PAGE,
				  .prot = SEAM_PROT_READ,
				  .flags = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS };
	uint64_t at;

	if (seam_space_mmap(space, &args, &at) || seam_space_munmap(space, at, args.len))
		abort();
}

/* One area that grows by a page a call, above all others. */
static void extend(struct seam_space *space)
{
	static uint64_t at = LOWEST + 4 * AREAS * PAGE;

	set(space, at, 1, SEAM_PROT_READ);
	at += PAGE;
}

static void ask_commit(struct seam_space *space)
{
	struct seam_call call = { .op = SEAM_OP_MPROTECT,
				  .pkey = -1,
				  .addr = LOWEST + next_random() % AREAS * 3 * PAGE,
				  .len = PAGE,
				  .flags = next_random() & 3 };
	struct seam_answer answer;

	if (seam_space_call(space, &call, &answer))
		abort();
}

static const struct {
	const char *name, *policy;
	void (*call)(struct seam_space *space);
} works[] = {
	{ "lookup", "plain", lookup },
	{ "random_op", "plain", random_call },
	{ "random_op_rules", "linux-6.18", random_call },
	{ "map_unmap", "linux-6.18", map_unmap },
	{ "extend", "linux-6.18", extend },
	{ "ask_commit", "linux-6.18", ask_commit },
};

void measured(struct seam_space *space, void (*call)(struct seam_space *space));

__attribute__((noinline)) void measured(struct seam_space *space,
					void (*call)(struct seam_space *space))
{
	for (unsigned int i = 0; i < CALLS; i++)
		call(space);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(works) / sizeof(works[0]); i++) {
		if (!strcmp(argv[1], works[i].name)) {
			struct seam_space *space = fill(works[i].policy);

			measured(space, works[i].call);
			printf("%u\n", CALLS);
			seam_space_destroy(space);
			return 0;
		}
	}
	fputs("usage: work", stderr);
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		fprintf(stderr, " %s", works[i].name);
	fputc('\n', stderr);
	return 2;
}
