/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tags: who joins whom, and that payloads are counted by exactly the areas that have them, through
 * random calls, asks that are given up, memory that runs out, forks and the end of the space.
 */
#include "tests/random.h"
#include "tests/unit/space.h"

#define TAGS 6
#define PAGES 64
#define MOST_CHANGES 256

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

/* What the space has told: how often each payload is held, and when it was told last. */
struct embedder {
	long held[TAGS + 1];
	enum { QUIET, RETAINED, HEARD, RELEASED } last;
	bool disorder, dead; /* called out of order; a payload that nobody held */
	bool changed;	     /* a call within the hook was let through */
	struct seam_change changes[MOST_CHANGES];
	size_t nr;
};

static void retain(void *ctx, uint64_t tag)
{
	struct embedder *e = ctx;

	e->held[tag]++;
	e->disorder |= e->last > RETAINED;
	e->last = RETAINED;
}

static void release(void *ctx, uint64_t tag)
{
	struct embedder *e = ctx;

	e->dead |= --e->held[tag] < 0;
	e->last = RELEASED;
}

static void hear(void *ctx, const struct seam_space *space, const struct seam_change *change)
{
	struct embedder *e = ctx;
	bool before = change->kind != SEAM_CHANGE_CREATED, after = change->kind;

	e->disorder |= e->last > HEARD;
	e->changed |= seam_space_forget((struct seam_space *)space, AT(0), AT(1)) != -SEAM_EBUSY;
	e->last = HEARD;
	e->dead |= before && change->before.tag && e->held[change->before.tag] <= 0;
	e->dead |= after && change->after.tag && e->held[change->after.tag] <= 0;
	if (e->nr < MOST_CHANGES)
		e->changes[e->nr++] = *change;
}

/* The order that seam/ask.h promises: kinds, and within a kind addresses. */
static bool in_order(const struct embedder *e)
{
	for (size_t i = 1; i < e->nr; i++) {
		const struct seam_change *a = &e->changes[i - 1], *b = &e->changes[i];

		if (a->kind != b->kind) {
			if (a->kind > b->kind)
				return false;
			continue;
		}
		switch (a->kind) {
		case SEAM_CHANGE_JOINED:
			if (a->after.start > b->after.start || (a->after.start == b->after.start &&
								a->before.start >= b->before.start))
				return false;
			break;
		case SEAM_CHANGE_CREATED:
			if (a->after.start >= b->after.start)
				return false;
			break;
		case SEAM_CHANGE_SPLIT:
			if (a->before.start > b->before.start ||
			    (a->before.start == b->before.start &&
			     a->after.start >= b->after.start))
				return false;
			break;
		default:
			if (a->before.start >= b->before.start)
				return false;
		}
	}
	return true;
}

static bool counted(const struct embedder *e, const struct seam_space *space,
		    const struct seam_space *child)
{
	long held[TAGS + 1] = { 0 };
	struct seam_area area;

	for (uint64_t at = 0; seam_area_next(space, &at, &area);)
		held[area.tag]++;
	for (uint64_t at = 0; child && seam_area_next(child, &at, &area);)
		held[area.tag]++;
	held[0] = 0;
	return !memcmp(held, e->held, sizeof(held));
}

static struct seam_space *tagged_space(struct embedder *e, const char *policy,
				       int (*may_join)(void *, const struct seam_area *,
						       const struct seam_area *))
{
	struct seam_space_options options = space_options(policy);
	struct seam_payload payload = { .size = sizeof(payload),
					.retain = retain,
					.release = release,
					.may_join = may_join,
					.ctx = e };
	struct seam_space *space;

	memset(e, 0, sizeof(*e));
	options.alloc = &failing;
	options.payload = &payload;
	options.max_areas = 40;
	space = space_new(&options);
	seam_space_set_brk(space, AT(PAGES + 8), AT(PAGES + 8));
	return space;
}

struct random_call {
	struct seam_call call;
	struct seam_mmap mmap;
	struct seam_mremap mremap;
};

static void make_random(struct random_call *r)
{
	static const uint32_t prots[] = { NONE, R, RW };

	memset(r, 0, sizeof(*r));
	r->call.pkey = -1;
	r->call.addr = AT(random_below(PAGES));
	r->call.len = (1 + random_below(6)) * PAGE;
	switch (random_below(7)) {
	case 0:
	case 1:
		r->mmap = (struct seam_mmap) { .addr = r->call.addr,
					       .len = r->call.len,
					       .prot = prots[random_below(3)],
					       .flags = ANON | FIXED,
					       .tag = random_below(TAGS + 1) };
		r->call.op = SEAM_OP_MMAP;
		r->call.mmap = &r->mmap;
		return;
	case 2:
		r->call.op = SEAM_OP_MUNMAP;
		return;
	case 3:
		r->call.op = SEAM_OP_MPROTECT;
		r->call.flags = prots[random_below(3)];
		return;
	case 4:
		r->call.op = SEAM_OP_SET_TAG;
		r->call.flags = random_below(TAGS + 1);
		return;
	case 5:
		r->mremap = (struct seam_mremap) { .old_addr = r->call.addr,
						   .old_len = r->call.len,
						   .new_len = (1 + random_below(6)) * PAGE,
						   .flags = SEAM_MREMAP_MAYMOVE };
		if (random_below(2)) {
			r->mremap.flags |= SEAM_MREMAP_FIXED;
			r->mremap.new_addr = AT(random_below(PAGES));
		}
		r->call.op = SEAM_OP_MREMAP;
		r->call.mremap = &r->mremap;
		return;
	default:
		r->call.op = SEAM_OP_BRK;
		r->call.addr = AT(PAGES + 8 + random_below(6));
	}
}

static const char *one_call(struct embedder *e, struct seam_space *space)
{
	struct random_call r;
	struct seam_answer answer;
	int err;

	make_random(&r);
	e->nr = 0;
	e->last = QUIET;
	no_memory = !random_below(8);
	err = seam_space_ask(space, &r.call, &answer);
	no_memory = false;
	if (e->last != QUIET)
		return "told of what was only asked";
	if (!err && random_below(4))
		seam_space_commit(space);
	else
		seam_space_abort(space);
	if (!err && e->disorder)
		return "retain, hook, release";
	if (e->changed)
		return "a call within the hook";
	if (e->dead)
		return "a payload that nobody held";
	if (!in_order(e))
		return "the order of changes";
	return counted(e, space, NULL) ? seam_space_check(space) : "the counts of payloads";
}

static void random_calls(const char *policy, int (*may_join)(void *, const struct seam_area *,
							     const struct seam_area *))
{
	static const long none[TAGS + 1];
	struct embedder e;
	struct seam_space *space = tagged_space(&e, policy, may_join), *child;
	const char *wrong = NULL;
	unsigned int call;

	seam_space_set_hook(space, hear, &e);
	for (call = 0; call < 40000 && !wrong; call++)
		wrong = one_call(&e, space);
	ok(!wrong, "%s: payloads are counted through %u calls%s%s", policy, call, wrong ? ": " : "",
	   wrong ? wrong : "");
	ok(!seam_space_fork(space, &child) && counted(&e, space, child), "a fork holds them too");
	seam_space_destroy(space);
	seam_space_destroy(child);
	ok(!memcmp(e.held, none, sizeof(none)), "and at the end nobody does");
}

/* Tags as numbers: no functions at all. */
static void numbers(void)
{
	struct seam_space *space = space_of("linux-6.18.44");
	struct seam_mmap args = { .addr = AT(0), .len = PAGE, .prot = RW, .flags = ANON | FIXED };
	struct seam_area area;
	uint64_t at;

	map(space, 0, 6, RW, 0);
	ok(!seam_space_set_tag(space, AT(2), 2 * PAGE, 7) && seam_space_areas(space) == 3,
	   "another tag keeps apart");
	ok(!seam_space_set_tag(space, AT(4), 2 * PAGE, 7) && seam_space_areas(space) == 2 &&
		   seam_area_find(space, AT(5), &area) && area.tag == 7 && area.start == AT(2),
	   "equal ones join");
	args.addr = AT(6);
	args.tag = 7;
	seam_space_mmap(space, &args, &at);
	ok(seam_space_areas(space) == 2, "new memory of the tag joins");
	ok(seam_space_set_tag(space, AT(0), 9 * PAGE, 7) == -SEAM_ENOMEM &&
		   seam_space_areas(space) == 1,
	   "a hole is passed over and told");
	protect(space, 3, 1, R);
	protect(space, 3, 1, RW);
	ok(seam_space_areas(space) == 1 && seam_area_find(space, AT(3), &area) && area.tag == 7,
	   "what was split joins again");
	remap(space, 0, 7, 7, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 32);
	ok(seam_area_find(space, AT(32), &area) && area.tag == 7, "moved memory keeps its tag");
	seam_space_set_brk(space, AT(100), AT(100));
	seam_space_brk(space, AT(101), &at);
	seam_space_set_tag(space, AT(100), PAGE, 9);
	seam_space_brk(space, AT(103), &at);
	ok(seam_area_find(space, AT(100), &area) && area.tag == 9 && area.end == AT(103),
	   "a heap grows with its tag");
	ok(!seam_space_check(space), "sound");
	seam_space_destroy(space);
}

/* Tags are even and odd: those of one kind join. */
static int alike(void *ctx, const struct seam_area *left, const struct seam_area *right)
{
	return left->end == right->start && left->tag % 2 == right->tag % 2;
}

static int never(void *ctx, const struct seam_area *left, const struct seam_area *right)
{
	return 0;
}

static void own_compare(void)
{
	struct embedder e;
	struct seam_space *space = tagged_space(&e, "plain", alike);
	struct seam_mmap args = { .len = PAGE, .prot = RW, .flags = ANON | FIXED };
	struct seam_area area;
	uint64_t at;

	for (uint64_t page = 0; page < 4; page++) {
		args.addr = AT(page);
		args.tag = 1 + 2 * (page & 1);
		seam_space_mmap(space, &args, &at);
	}
	ok(seam_space_areas(space) == 1 && seam_area_find(space, AT(0), &area) && area.tag == 1 &&
		   e.held[1] == 1 && !e.held[3],
	   "joined as the embedder says; the one that lives on keeps its payload");
	args.addr = AT(4);
	args.tag = 2;
	seam_space_mmap(space, &args, &at);
	ok(seam_space_areas(space) == 2, "or not");
	args.addr = AT(5);
	args.prot = R;
	seam_space_mmap(space, &args, &at);
	ok(seam_space_areas(space) == 3, "what the policy keeps apart stays so");
	seam_space_destroy(space);
	space = tagged_space(&e, "plain", never);
	map(space, 0, 2, RW, 0);
	map(space, 2, 2, RW, 0);
	ok(seam_space_areas(space) == 1, "untagged memory is not asked about");
	seam_space_set_tag(space, AT(0), 4 * PAGE, 5);
	protect(space, 1, 1, R);
	protect(space, 1, 1, RW);
	ok(seam_space_areas(space) == 3, "equal tags are");
	seam_space_destroy(space);
}

static void refused(void)
{
	struct seam_space_options options = space_options("plain");
	struct seam_payload payload = { .size = sizeof(payload), .retain = retain };
	struct seam_space *space;

	options.payload = &payload;
	ok(seam_space_create(&options, &space) == -SEAM_EINVAL, "retain without release");
	space = space_of("linux-2.4.10");
	map(space, 0, 1, RW, 0);
	ok(seam_space_set_tag(space, AT(0), PAGE, 1) == -SEAM_ENOSYS, "no such call in 2.4");
	seam_space_destroy(space);
	space = space_of("plain");
	ok(seam_space_set_tag(space, AT(0) + 1, PAGE, 1) == -SEAM_EINVAL, "not page aligned");
	seam_space_destroy(space);
}

int main(void)
{
	numbers();
	own_compare();
	refused();
	random_calls("plain", NULL);
	random_calls("linux-6.18.44", NULL);
	random_calls("linux-6.1", alike);
	random_calls("linux-2.6.24", NULL);
	random_calls("linux-2.4.3", alike);
	return tap_done();
}
