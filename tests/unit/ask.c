/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ask, commit, abort, apply: random calls are asked of one space and made in its twin; answers,
 * changes and areas are compared, under memory that runs out.
 */
#include <stdlib.h>
#include <string.h>

#include <seam/seam.h>

#include "tests/random.h"
#include "tests/tap.h"

#define PAGE UINT64_C(4096)
#define BASE UINT64_C(0x100000000)
#define PAGES 96
#define MOST_AREAS 512

static bool no_memory;

static void *test_alloc(void *ctx, size_t size)
{
	return no_memory ? NULL : malloc(size);
}

static void test_free(void *ctx, void *ptr, size_t size)
{
	free(ptr);
}

static const struct seam_alloc failing = { .alloc = test_alloc, .free = test_free };

static struct seam_space *new_space(uint64_t max_areas)
{
	struct seam_space_options options = { .size = sizeof(options),
					      .policy = seam_policy_find("linux-6.18.44"),
					      .alloc = &failing,
					      .max_areas = max_areas };
	struct seam_space *space;

	if (seam_space_create(&options, &space))
		abort();
	return space;
}

struct map {
	struct seam_area areas[MOST_AREAS];
	size_t nr;
};

static void read_map(const struct seam_space *space, struct map *map)
{
	uint64_t at = 0;

	for (map->nr = 0; map->nr < MOST_AREAS; map->nr++)
		if (!seam_area_next(space, &at, &map->areas[map->nr]))
			break;
}

/* Serial numbers of anon_vmas differ between spaces; whether there is one does not. */
static bool same_area(const struct seam_area *a, const struct seam_area *b)
{
	return a->start == b->start && a->end == b->end && a->flags == b->flags &&
	       a->pgoff == b->pgoff && !a->anon_vma == !b->anon_vma;
}

static bool same_map(const struct map *a, const struct map *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (!same_area(&a->areas[i], &b->areas[i]))
			return false;
	return true;
}

static void take_area(struct map *map, const struct seam_area *area)
{
	size_t i = 0;

	while (i < map->nr && map->areas[i].start != area->start)
		i++;
	if (i == map->nr)
		return;
	map->nr--;
	memmove(&map->areas[i], &map->areas[i + 1], (map->nr - i) * sizeof(map->areas[0]));
}

static void put_area(struct map *map, const struct seam_area *area)
{
	size_t i = 0;

	while (i < map->nr && map->areas[i].start < area->start)
		i++;
	if (i < map->nr && map->areas[i].start == area->start) {
		map->areas[i] = *area;
		return;
	}
	memmove(&map->areas[i + 1], &map->areas[i], (map->nr - i) * sizeof(map->areas[0]));
	map->areas[i] = *area;
	map->nr++;
}

/* A map that follows by changes alone: all that were are taken out, then all that are put in. */
static void follow(struct map *map, const struct seam_change *changes, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (changes[i].kind != SEAM_CHANGE_CREATED)
			take_area(map, &changes[i].before);
	for (size_t i = 0; i < nr; i++)
		if (changes[i].kind != SEAM_CHANGE_REMOVED)
			put_area(map, &changes[i].after);
}

struct random_call {
	struct seam_call call;
	struct seam_mmap mmap;
	struct seam_mremap mremap;
};

static void make_random(struct random_call *r)
{
	static const uint32_t prots[] = { 0, 1, 3, 5 };
	uint64_t page = random_below(PAGES), len = (1 + random_below(6)) * PAGE,
		 addr = BASE + page * PAGE;
	static const int advices[] = { SEAM_MADV_DONTDUMP, SEAM_MADV_DODUMP, SEAM_MADV_DONTFORK,
				       SEAM_MADV_DOFORK };

	memset(r, 0, sizeof(*r));
	r->call.pkey = -1;
	r->call.addr = addr;
	r->call.len = len;
	switch (random_below(8)) {
	case 0:
	case 1:
	case 2:
		r->mmap = (struct seam_mmap) { .addr = random_below(4) ? addr : 0,
					       .len = len,
					       .prot = prots[random_below(4)],
					       .flags = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS };
		if (r->mmap.addr)
			r->mmap.flags |= SEAM_MAP_FIXED;
		r->call.op = SEAM_OP_MMAP;
		r->call.mmap = &r->mmap;
		return;
	case 3:
		r->call.op = SEAM_OP_MUNMAP;
		return;
	case 4:
		r->call.op = SEAM_OP_MPROTECT;
		r->call.flags = prots[random_below(4)];
		return;
	case 5:
		r->call.op = SEAM_OP_MADVISE;
		r->call.flags = (uint64_t)advices[random_below(4)];
		return;
	case 6:
		r->mremap = (struct seam_mremap) { .old_addr = addr,
						   .old_len = len,
						   .new_len = (1 + random_below(6)) * PAGE,
						   .flags = SEAM_MREMAP_MAYMOVE };
		r->call.op = SEAM_OP_MREMAP;
		r->call.mremap = &r->mremap;
		return;
	default:
		r->call.op = SEAM_OP_TOUCH;
		r->call.flags = random_below(2);
	}
}

/* The same call by its plain function. */
static int make_plain(struct seam_space *space, const struct seam_call *call, uint64_t *ret_value)
{
	switch (call->op) {
	case SEAM_OP_MMAP:
		return seam_space_mmap(space, call->mmap, ret_value);
	case SEAM_OP_MUNMAP:
		return seam_space_munmap(space, call->addr, call->len);
	case SEAM_OP_MPROTECT:
		return seam_space_mprotect(space, call->addr, call->len, (uint32_t)call->flags,
					   call->pkey);
	case SEAM_OP_MADVISE:
		return seam_space_madvise(space, call->addr, call->len, (int)call->flags);
	case SEAM_OP_MREMAP:
		return seam_space_mremap(space, call->mremap, ret_value);
	default:
		return seam_space_touch(space, call->addr, call->len, call->flags != 0, ret_value);
	}
}

struct heard {
	struct seam_change changes[MOST_AREAS];
	size_t nr;
};

static void hear(void *ctx, const struct seam_space *space, const struct seam_change *change)
{
	struct heard *heard = ctx;

	if (heard->nr < MOST_AREAS)
		heard->changes[heard->nr++] = *change;
}

static struct map before, asked, after, twin_map, shadow;
static struct heard heard, twin_heard;

/* One call: NULL or what is wrong. */
static const char *one_call(struct seam_space *space, struct seam_space *twin)
{
	struct random_call r;
	struct seam_answer answer;
	struct seam_change change;
	uint64_t value = 0;
	int result, err;

	make_random(&r);
	read_map(space, &before);
	no_memory = !random_below(8);
	err = seam_space_ask(space, &r.call, &answer);
	no_memory = false;
	read_map(space, &asked);
	if (seam_space_check(space) || !same_map(&before, &asked))
		return "ask has changed the space";
	if (err)
		return err == -SEAM_EALLOC ? NULL : "ask failed";
	if (seam_space_munmap(space, BASE, PAGE) != -SEAM_EBUSY)
		return "a call between ask and commit";
	if (!random_below(4)) {
		seam_space_abort(space);
		read_map(space, &after);
		return same_map(&before, &after) ? NULL : "abort has changed the space";
	}
	for (size_t i = 0; seam_space_change(space, i, &change); i++)
		heard.changes[i] = change;
	shadow = before;
	follow(&shadow, heard.changes, answer.nr_changes);
	heard.nr = 0;
	no_memory = true;
	seam_space_commit(space);
	no_memory = false;
	twin_heard.nr = 0;
	result = make_plain(twin, &r.call, &value);
	read_map(space, &after);
	read_map(twin, &twin_map);
	if (seam_space_check(space))
		return seam_space_check(space);
	if (result != answer.result || answer.areas != after.nr)
		return "the answer";
	if (!result && (r.call.op == SEAM_OP_MMAP || r.call.op == SEAM_OP_MREMAP) &&
	    value != answer.value)
		return "the place";
	if (!same_map(&after, &twin_map))
		return "the map after commit";
	if (!same_map(&shadow, &after))
		return "a map that follows the changes";
	if (heard.nr != answer.nr_changes || twin_heard.nr != heard.nr)
		return "what the hooks were told";
	return NULL;
}

static void against_twin(uint64_t max_areas)
{
	struct seam_space *space = new_space(max_areas), *twin = new_space(max_areas);
	const char *wrong = NULL;
	unsigned int call;

	seam_space_set_hook(space, hear, &heard);
	seam_space_set_hook(twin, hear, &twin_heard);
	for (call = 0; call < 60000 && !wrong; call++)
		wrong = one_call(space, twin);
	ok(!wrong, "%u calls with a limit of %u areas%s%s", call, (unsigned int)max_areas,
	   wrong ? ": " : "", wrong ? wrong : "");
	seam_space_destroy(space);
	seam_space_destroy(twin);
}

static struct seam_mmap page_at(uint64_t addr, uint32_t flags)
{
	return (struct seam_mmap) { .addr = addr,
				    .len = PAGE,
				    .prot = SEAM_PROT_READ | SEAM_PROT_WRITE,
				    .flags = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS | flags };
}

/* A host call that fails after the ask: the embedder gives up, and nothing was done. */
static void host_fails(void)
{
	struct seam_space *space = new_space(100);
	struct seam_mmap mmap = page_at(BASE, SEAM_MAP_FIXED);
	struct seam_call call = { .op = SEAM_OP_MMAP, .pkey = -1, .mmap = &mmap };
	struct seam_answer answer;

	ok(!seam_space_ask(space, &call, &answer) && !answer.result && answer.value == BASE &&
		   answer.areas == 1 && !seam_space_areas(space),
	   "asked, and nothing is there yet");
	ok(seam_space_ask(space, &call, &answer) == -SEAM_EBUSY, "a second ask must wait");
	seam_space_abort(space);
	ok(!seam_space_areas(space), "given up: nothing is there");
	ok(!seam_space_ask(space, &call, &answer), "and the next may ask");
	seam_space_commit(space);
	seam_space_commit(space);
	ok(seam_space_areas(space) == 1, "committed once, however often");
	seam_space_destroy(space);
}

/* Following a kernel that decides otherwise. */
static void follows_kernel(void)
{
	struct seam_space *space = new_space(1);
	struct seam_mmap anywhere = page_at(0, 0), fixed = page_at(BASE, SEAM_MAP_FIXED);
	struct seam_call call = { .op = SEAM_OP_MMAP, .pkey = -1, .mmap = &anywhere };
	struct seam_area area;
	int agrees = -1;

	ok(!seam_space_apply(space, &call, 0, BASE, &agrees) && !agrees &&
		   seam_area_find(space, 0, &area) && area.start == BASE,
	   "the kernel placed it elsewhere: adopted there");
	call.mmap = &fixed;
	ok(!seam_space_apply(space, &call, 0, BASE, &agrees) && agrees == 1,
	   "a fixed one: the policy agrees");
	fixed.addr += 2 * PAGE;
	ok(!seam_space_apply(space, &call, 0, fixed.addr, &agrees) && seam_space_areas(space) == 2,
	   "one more");
	fixed.addr += 2 * PAGE;
	ok(!seam_space_apply(space, &call, 0, fixed.addr, &agrees) && !agrees &&
		   seam_space_areas(space) == 3,
	   "beyond the limit that the model knew: adopted");
	ok(!seam_space_apply(space, &call, -SEAM_ENOMEM, 0, &agrees) && agrees,
	   "refused by both: agreed");
	fixed.addr = BASE;
	call.op = SEAM_OP_MUNMAP;
	call.addr = BASE;
	call.len = PAGE;
	ok(!seam_space_apply(space, &call, -SEAM_EPERM, 0, &agrees) && !agrees &&
		   seam_space_areas(space) == 3,
	   "refused by the kernel alone: nothing is done");
	call.op = SEAM_OP_MPROTECT;
	call.addr = BASE + 64 * PAGE;
	ok(seam_space_apply(space, &call, 0, 0, &agrees) == -SEAM_EINVAL,
	   "what cannot be: the maps have parted");
	ok(!seam_space_check(space), "the space is whole");
	seam_space_destroy(space);
}

/* Two alike with a hole between them: each is told where it went itself. */
static void several_moved(struct seam_space *space)
{
	struct seam_mremap move = { .old_addr = BASE + 16 * PAGE,
				    .old_len = 3 * PAGE,
				    .new_len = 3 * PAGE,
				    .flags = SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED,
				    .new_addr = BASE + 48 * PAGE };
	struct seam_mmap mmap = page_at(BASE + 16 * PAGE, SEAM_MAP_FIXED);
	uint64_t at;

	seam_space_mmap(space, &mmap, &at);
	mmap.addr += 2 * PAGE;
	seam_space_mmap(space, &mmap, &at);
	heard.nr = 0;
	ok(!seam_space_mremap(space, &move, &at) && heard.nr == 2 &&
		   heard.changes[0].kind == SEAM_CHANGE_MOVED &&
		   heard.changes[1].kind == SEAM_CHANGE_MOVED &&
		   heard.changes[0].after.start == BASE + 48 * PAGE &&
		   heard.changes[1].after.start == BASE + 50 * PAGE,
	   "several moved, each to its place");
}

/* Kinds and order of changes, as seam/ask.h tells them. */
static void kinds(void)
{
	struct seam_space *space = new_space(100);
	struct seam_mmap mmap = page_at(BASE, SEAM_MAP_FIXED);
	struct seam_mremap move = { .old_addr = BASE + 8 * PAGE,
				    .old_len = PAGE,
				    .new_len = PAGE,
				    .flags = SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED,
				    .new_addr = BASE + 32 * PAGE };
	uint64_t at;

	seam_space_set_hook(space, hear, &heard);
	heard.nr = 0;
	mmap.len = 3 * PAGE;
	seam_space_mmap(space, &mmap, &at);
	ok(heard.nr == 1 && heard.changes[0].kind == SEAM_CHANGE_CREATED, "created");
	heard.nr = 0;
	seam_space_munmap(space, BASE + PAGE, PAGE);
	ok(heard.nr == 2 && heard.changes[0].kind == SEAM_CHANGE_SPLIT &&
		   heard.changes[1].kind == SEAM_CHANGE_SPLIT &&
		   heard.changes[1].after.start == BASE + 2 * PAGE,
	   "a hole in it: split in two");
	heard.nr = 0;
	mmap = page_at(BASE + PAGE, SEAM_MAP_FIXED);
	seam_space_mmap(space, &mmap, &at);
	ok(heard.nr == 2 && heard.changes[0].kind == SEAM_CHANGE_JOINED &&
		   heard.changes[1].kind == SEAM_CHANGE_JOINED &&
		   heard.changes[0].after.end == BASE + 3 * PAGE,
	   "filled: both joined");
	heard.nr = 0;
	seam_space_munmap(space, BASE + 2 * PAGE, PAGE);
	ok(heard.nr == 1 && heard.changes[0].kind == SEAM_CHANGE_CHANGED, "cut: changed");
	mmap = page_at(BASE + 8 * PAGE, SEAM_MAP_FIXED);
	seam_space_mmap(space, &mmap, &at);
	heard.nr = 0;
	seam_space_mremap(space, &move, &at);
	ok(heard.nr == 1 && heard.changes[0].kind == SEAM_CHANGE_MOVED &&
		   heard.changes[0].before.start == BASE + 8 * PAGE &&
		   heard.changes[0].after.start == BASE + 32 * PAGE,
	   "moved");
	heard.nr = 0;
	seam_space_munmap(space, BASE + 32 * PAGE, PAGE);
	ok(heard.nr == 1 && heard.changes[0].kind == SEAM_CHANGE_REMOVED, "removed");
	several_moved(space);
	seam_space_destroy(space);
}

static bool tells_move(const struct seam_change *change, uint64_t from, uint64_t pages,
		       uint64_t start, uint64_t end)
{
	return change->kind == SEAM_CHANGE_MOVED && change->before.start == from &&
	       change->before.end == from + pages * PAGE && change->after.start == start &&
	       change->after.end == end;
}

static void map_pages(struct seam_space *space, uint64_t at, uint64_t pages, uint32_t prot)
{
	struct seam_mmap mmap = page_at(at, SEAM_MAP_FIXED);

	mmap.len = pages * PAGE;
	mmap.prot = prot;
	if (seam_space_mmap(space, &mmap, &at))
		abort();
}

static void move_pages(struct seam_space *space, uint64_t from, uint64_t pages, uint64_t to,
		       uint32_t flags)
{
	struct seam_mremap move = { .old_addr = from,
				    .old_len = pages * PAGE,
				    .new_len = pages * PAGE,
				    .flags = SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED | flags,
				    .new_addr = to };

	heard.nr = 0;
	if (seam_space_mremap(space, &move, &to))
		abort();
}

/* Where the memory of each area went, also when its area is not what stood there before. */
static void moves(void)
{
	struct seam_space *space = new_space(0);
	struct seam_mremap shorter = { .old_addr = BASE + 80 * PAGE,
				       .old_len = 3 * PAGE,
				       .new_len = PAGE,
				       .flags = SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED,
				       .new_addr = BASE + 90 * PAGE };
	uint64_t there = BASE + 32 * PAGE, write = SEAM_PROT_READ | SEAM_PROT_WRITE;

	seam_space_set_hook(space, hear, &heard);
	map_pages(space, BASE, 1, write);
	map_pages(space, BASE + 2 * PAGE, 1, write);
	move_pages(space, BASE, 3, there, 0);
	ok(heard.nr == 2 && tells_move(&heard.changes[0], BASE, 1, there, there + PAGE) &&
		   tells_move(&heard.changes[1], BASE + 2 * PAGE, 1, there + 2 * PAGE,
			      there + 3 * PAGE),
	   "two areas alike: each to its own place");

	move_pages(space, there, 1, there + PAGE, 0);
	ok(heard.nr == 2 &&
		   tells_move(&heard.changes[0], there, 1, there + PAGE, there + 3 * PAGE) &&
		   heard.changes[1].kind == SEAM_CHANGE_CHANGED,
	   "moved beside one that it joins");

	map_pages(space, BASE, 3, write);
	move_pages(space, BASE + PAGE, 1, BASE + 16 * PAGE, 0);
	ok(heard.nr == 3 &&
		   tells_move(&heard.changes[0], BASE + PAGE, 1, BASE + 16 * PAGE,
			      BASE + 17 * PAGE) &&
		   heard.changes[1].kind == SEAM_CHANGE_SPLIT,
	   "a part out of the middle");

	map_pages(space, BASE + 80 * PAGE, 3, SEAM_PROT_READ);
	heard.nr = 0;
	seam_space_mremap(space, &shorter, &there);
	ok(heard.nr == 2 && heard.changes[0].kind == SEAM_CHANGE_REMOVED &&
		   heard.changes[0].before.start == BASE + 81 * PAGE &&
		   heard.changes[0].before.end == BASE + 83 * PAGE &&
		   tells_move(&heard.changes[1], BASE + 80 * PAGE, 1, BASE + 90 * PAGE,
			      BASE + 91 * PAGE),
	   "moved and made shorter: its end is gone");

	map_pages(space, BASE + 64 * PAGE, 2, SEAM_PROT_READ);
	move_pages(space, BASE + 64 * PAGE, 2, BASE + 70 * PAGE, SEAM_MREMAP_DONTUNMAP);
	ok(heard.nr == 1 && tells_move(&heard.changes[0], BASE + 64 * PAGE, 2, BASE + 70 * PAGE,
				       BASE + 72 * PAGE),
	   "the old place stays as it was, empty");
	seam_space_destroy(space);
}

int main(void)
{
	against_twin(400);
	against_twin(12);
	host_fails();
	follows_kernel();
	kinds();
	moves();
	return tap_done();
}
