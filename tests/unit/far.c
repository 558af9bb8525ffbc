/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * far [SPACES [SEED]]: taking back needs no memory. In spaces whose areas lie 16 TiB and more apart,
 * so that the nodes of the index do not reach from one to the next, random calls are refused memory
 * from some allocation on, also while they are taken back, aborted or committed. A refused or
 * aborted call leaves the space as it was; a committed one does what it does where there is memory.
 */
#include <inttypes.h>

#include "tests/random.h"
#include "tests/unit/space.h"

struct allocator {
	uint64_t nr;	    /* allocations so far */
	uint64_t fail_from; /* 0: never */
};

static void *alloc(void *ctx, size_t size)
{
	struct allocator *a = ctx;

	a->nr++;
	return a->fail_from && a->nr >= a->fail_from ? NULL : malloc(size);
}

static void release(void *ctx, void *ptr, size_t size)
{
	free(ptr);
}

#define MOST_AREAS 1024

/* All that can be seen of a space. */
struct picture {
	struct seam_area areas[MOST_AREAS];
	uint64_t nr;
	struct seam_totals totals;
};

static void take_picture(const struct seam_space *space, struct picture *ret)
{
	uint64_t at = 0;

	memset(ret, 0, sizeof(*ret));
	while (ret->nr < MOST_AREAS && seam_area_next(space, &at, &ret->areas[ret->nr]))
		ret->nr++;
	seam_space_get_totals(space, &ret->totals);
}

/* A call, and what it points at. */
struct drawn {
	struct seam_call call;
	struct seam_mmap mmap;
	struct seam_mremap mremap;
	struct seam_file file;
};

#define NEAR_PAGES 3000
#define REACH_SHIFT 44 /* bytes that a leaf of the index reaches over */
#define NR_REGIONS 7

/* Where calls may begin or end: the borders of areas as they are. */
struct borders {
	uint64_t at[2 * MOST_AREAS];
	uint64_t nr;
};

static struct borders borders;

static void note_borders(const struct seam_space *space)
{
	struct seam_area area;
	uint64_t at = 0;

	for (borders.nr = 0; borders.nr < 2 * MOST_AREAS && seam_area_next(space, &at, &area);) {
		borders.at[borders.nr++] = area.start;
		borders.at[borders.nr++] = area.end;
	}
}

/* A border, close to others, or anywhere. */
static uint64_t random_addr(void)
{
	uint64_t region = (1 + random_below(NR_REGIONS)) << REACH_SHIFT;

	if (borders.nr && !random_below(3))
		return borders.at[random_below(borders.nr)];
	if (!random_below(12))
		return (1 + random_below(UINT64_C(1) << 35)) * PAGE;
	return region - (random_below(2) ? NEAR_PAGES / 2 * PAGE : 0) +
	       random_below(NEAR_PAGES) * PAGE;
}

/* From @addr on: short, up to a border, or anything. */
static uint64_t random_len(uint64_t addr)
{
	uint64_t end = borders.nr ? borders.at[random_below(borders.nr)] : 0;

	if (end > addr && !random_below(4))
		return end - addr;
	switch (random_below(16)) {
	case 0:
		return (1 + random_below(UINT64_C(1) << 34)) * PAGE;
	case 1:
		return (1 + random_below(NEAR_PAGES)) * PAGE;
	default:
		return (1 + random_below(4)) * PAGE;
	}
}

static void draw_mmap(struct drawn *drawn)
{
	uint64_t addr = random_addr(), len = random_len(addr);

	/* mostly below or above what is there */
	if (random_below(2) && addr > len)
		addr -= len;
	drawn->mmap = (struct seam_mmap) {
		.addr = addr,
		.len = len,
		.prot = random_below(2) ? RW : R,
		.flags = ANON | FIXED | SEAM_MAP_NORESERVE,
	};
	if (!random_below(3)) {
		drawn->file = (struct seam_file) { .id = 5, .traits = SEAM_FILE_READ };
		drawn->mmap.file = &drawn->file;
		drawn->mmap.pgoff = random_below(1000);
		drawn->mmap.flags = SEAM_MAP_PRIVATE | FIXED;
	}
	drawn->call = (struct seam_call) { .op = SEAM_OP_MMAP, .mmap = &drawn->mmap };
}

static void draw_mremap(struct drawn *drawn)
{
	uint64_t addr = random_addr(), len = random_len(addr);

	drawn->mremap = (struct seam_mremap) {
		.old_addr = addr,
		.old_len = len,
		.new_len = random_below(2) ? len : random_len(addr),
		.flags = SEAM_MREMAP_MAYMOVE | (random_below(4) ? SEAM_MREMAP_FIXED : 0),
		.new_addr = random_addr(),
	};
	if (!random_below(4)) {
		drawn->mremap.new_len = len;
		drawn->mremap.flags |= SEAM_MREMAP_DONTUNMAP;
	}
	drawn->call = (struct seam_call) { .op = SEAM_OP_MREMAP, .mremap = &drawn->mremap };
}

static void draw_call(struct drawn *drawn, bool filling)
{
	static const enum seam_op ops[] = { SEAM_OP_MUNMAP, SEAM_OP_MPROTECT, SEAM_OP_SET_TAG,
					    SEAM_OP_MADVISE };
	uint64_t addr;

	if (random_below(8) < (filling ? 6 : 1)) {
		draw_mmap(drawn);
		return;
	}
	if (!random_below(4)) {
		draw_mremap(drawn);
		return;
	}
	addr = random_addr();
	drawn->call = (struct seam_call) {
		.op = ops[random_below(4)],
		.addr = addr,
		.len = random_len(addr),
		.pkey = -1,
	};
	if (drawn->call.op == SEAM_OP_MPROTECT)
		drawn->call.flags = random_below(2) ? R : RW;
	else if (drawn->call.op == SEAM_OP_MADVISE)
		drawn->call.flags = random_below(2) ? SEAM_MADV_DONTDUMP : SEAM_MADV_DODUMP;
	else if (drawn->call.op == SEAM_OP_SET_TAG)
		drawn->call.flags = random_below(3);
}

/* One that may be refused memory, and its twin that never is. */
struct pair {
	struct allocator allocator;
	struct seam_space *space, *twin;
};

static void create(struct pair *pair)
{
	static const uint32_t flags[] = { 0, 0, SEAM_SPACE_READERS, SEAM_SPACE_COUNT_STEPS };
	struct seam_alloc with = { .alloc = alloc, .free = release, .ctx = &pair->allocator };
	struct seam_space_options options = space_options("linux-6.18.44");

	options.overcommit = 1;
	options.flags |= flags[random_below(4)];
	pair->twin = space_new(&options);
	options.alloc = &with;
	pair->space = space_new(&options);
}

static void fill(struct pair *pair, uint64_t calls)
{
	struct seam_answer answer;
	struct drawn drawn;

	while (calls--) {
		note_borders(pair->twin);
		draw_call(&drawn, true);
		seam_space_call(pair->space, &drawn.call, &answer);
		seam_space_call(pair->twin, &drawn.call, &answer);
	}
}

/*
 * After a few more allocations there is no memory: not to make the call, nor to take it back. Once
 * it was asked, there is none at all. False: something is wrong.
 */
static bool try_call(struct pair *pair, uint64_t *refused)
{
	static struct picture now, expected;
	struct seam_answer answer;
	struct drawn drawn;
	int err;

	note_borders(pair->twin);
	draw_call(&drawn, random_below(2));
	pair->allocator.fail_from = pair->allocator.nr + 1 + random_below(4) * random_below(4);
	err = seam_space_ask(pair->space, &drawn.call, &answer);
	pair->allocator.fail_from = pair->allocator.nr + 1;
	if (err) {
		++*refused;
	} else if (random_below(3)) {
		seam_space_commit(pair->space);
		seam_space_call(pair->twin, &drawn.call, &answer);
	} else {
		seam_space_abort(pair->space);
	}
	take_picture(pair->space, &now);
	take_picture(pair->twin, &expected);
	return !seam_space_check(pair->space) && now.nr == expected.nr &&
	       !memcmp(now.areas, expected.areas, now.nr * sizeof(now.areas[0])) &&
	       !memcmp(&now.totals, &expected.totals, sizeof(now.totals));
}

static bool try_space(uint64_t seed, uint64_t *refused)
{
	struct pair pair = { 0 };
	bool good = true;

	random_state = seed;
	borders.nr = 0;
	create(&pair);
	fill(&pair, random_below(1 + random_below(500)));
	for (int call = 0; call < 60 && good; call++)
		good = try_call(&pair, refused);
	seam_space_destroy(pair.space);
	seam_space_destroy(pair.twin);
	return good;
}

static int map_at(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t prot)
{
	struct seam_mmap args = {
		.addr = addr,
		.len = len,
		.prot = prot,
		.flags = ANON | FIXED | SEAM_MAP_NORESERVE,
	};

	return seam_space_mmap(space, &args, &addr);
}

#define FAR_BELOW (UINT64_C(40) << 40)
#define FAR_ABOVE (UINT64_C(90) << 40)

/* @low small areas, and one that begins far above them, with @high more behind it. */
static void fill_two_places(struct seam_space *space, uint64_t low, uint64_t high)
{
	for (uint64_t i = 0; i < low; i++)
		map_at(space, (0x100 + 2 * i) * PAGE, PAGE, i & 1 ? RW : R);
	map_at(space, FAR_ABOVE, PAGE, RW);
	for (uint64_t i = 1; i <= high; i++)
		map_at(space, FAR_ABOVE + 2 * i * PAGE, PAGE, i & 1 ? R : RW);
}

/* Where the area that holds the page at FAR_ABOVE begins. */
static uint64_t start_of_far(const struct seam_space *space)
{
	uint64_t at = FAR_ABOVE;
	struct seam_area area;

	return seam_area_next(space, &at, &area) ? area.start : 0;
}

/*
 * The area above comes to begin far below, or, if it did, far above: asked while there is memory
 * or none, and aborted or committed while there is none.
 */
static bool try_far_start(uint64_t low, uint64_t high, bool down, unsigned int way)
{
	struct pair pair = { 0 };
	struct seam_alloc with = { .alloc = alloc, .free = release, .ctx = &pair.allocator };
	struct seam_space_options options = space_options("linux-6.18.44");
	struct seam_mmap below = {
		.addr = FAR_BELOW,
		.len = FAR_ABOVE - FAR_BELOW,
		.prot = RW,
		.flags = ANON | FIXED | SEAM_MAP_NORESERVE,
	};
	struct seam_call call = { .op = SEAM_OP_MMAP, .mmap = &below, .pkey = -1 };
	bool commits = way & 1, dry = way & 2;
	uint64_t start = down ? FAR_ABOVE : FAR_BELOW;
	struct seam_answer answer;
	bool good;
	int err;

	options.overcommit = 1;
	options.alloc = &with;
	options.flags |= way & 4 ? SEAM_SPACE_READERS : 0;
	pair.space = space_new(&options);
	fill_two_places(pair.space, low, high);
	if (!down) {
		seam_space_call(pair.space, &call, &answer);
		call = (struct seam_call) {
			.op = SEAM_OP_MUNMAP, .addr = below.addr, .len = below.len, .pkey = -1
		};
	}
	if (dry)
		pair.allocator.fail_from = pair.allocator.nr + 1;
	err = seam_space_ask(pair.space, &call, &answer);
	pair.allocator.fail_from = pair.allocator.nr + 1;
	if (!err && commits)
		seam_space_commit(pair.space);
	else if (!err)
		seam_space_abort(pair.space);
	if (!err && commits)
		start = down ? FAR_BELOW : FAR_ABOVE;
	good = !seam_space_check(pair.space) && start_of_far(pair.space) == start && (dry || !err);
	seam_space_destroy(pair.space);
	return good;
}

/* The nodes that there are, and those at hand, differ with each number of areas. */
static void far_starts(void)
{
	for (int down = 0; down < 2; down++) {
		for (unsigned int way = 0; way < 8; way++) {
			bool good = true;
			uint64_t low = 0;

			for (; low < 600 && good; low++)
				for (uint64_t high = 0; high < 3 && good; high++)
					good = try_far_start(low, high, down, way);
			ok(good, "a start goes far %s, way %u: up to %" PRIu64 " areas",
			   down ? "down" : "up", way, low);
		}
	}
}

int main(int argc, char **argv)
{
	uint64_t spaces = argc > 1 ? strtoull(argv[1], NULL, 10) : 1500;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, refused = 0, wrong = 0;

	far_starts();
	for (uint64_t end = seed + spaces; seed < end; seed++) {
		if (!try_space(seed * UINT64_C(0x9e3779b97f4a7c15), &refused)) {
			printf("# wrong: space %" PRIu64 "\n", seed);
			wrong++;
		}
	}
	ok(!wrong && refused, "%" PRIu64 " spaces, %" PRIu64 " calls taken back", spaces, refused);
	return tap_done();
}
