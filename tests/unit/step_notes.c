/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam/steps.h: a counter that lives on notes has the steps that the space would have counted, after
 * forks, calls taken back and batches of any size, and every allocation of it may fail.
 */
#include "tests/random.h"
#include "tests/unit/space.h"

#define NR_PAGES 400
#define NR_CALLS 4000
#define MAX_SPACES 64
#define BATCH 7

/* Counters that take what a sink hands over, batch by batch. */
struct counters {
	struct seam_step_sink sink; /* first: its function gets this */
	struct seam_step_note notes[BATCH];
	struct seam_step_counter *counter[MAX_SPACES];
	struct seam_steps ended[MAX_SPACES];
	unsigned int nr, nr_ended;
	uint64_t nr_notes;
	const struct seam_alloc *alloc;
	int err; /* the first */
};

static void take(struct counters *counters, const struct seam_step_note *note)
{
	struct seam_step_counter **at = &counters->counter[note->space];
	int err = 0;

	if (counters->err)
		return;
	if (note->kind == SEAM_STEP_BEGIN) {
		counters->nr += note->space == counters->nr;
		err = seam_step_counter_create(note, counters->alloc, at);
	} else if (note->kind == SEAM_STEP_END) {
		counters->nr_ended++;
		seam_step_counter_get(*at, &counters->ended[note->space]);
		seam_step_counter_destroy(*at);
		*at = NULL;
	} else {
		err = seam_step_counter_take(*at, note);
	}
	counters->err = err;
}

static void full(struct seam_step_sink *sink)
{
	struct counters *counters = (struct counters *)sink;

	for (struct seam_step_note *note = counters->notes; note < sink->next; note++)
		take(counters, note);
	counters->nr_notes += (uint64_t)(sink->next - counters->notes);
	sink->next = counters->notes;
}

static void begin(struct counters *counters, const struct seam_alloc *alloc)
{
	*counters = (struct counters) { .alloc = alloc };
	counters->sink.next = counters->notes;
	counters->sink.end = counters->notes + BATCH;
	counters->sink.full = full;
}

static void end(struct counters *counters)
{
	full(&counters->sink);
	for (unsigned int i = 0; i < MAX_SPACES; i++)
		seam_step_counter_destroy(counters->counter[i]);
}

struct draw {
	unsigned int what;
	uint64_t page, pages;
	uint32_t prot;
};

static void make(struct seam_space *space, const struct draw *draw)
{
	uint64_t brk;

	switch (draw->what) {
	case 0:
		map(space, draw->page, draw->pages, draw->prot, 0);
		break;
	case 1:
		map_anywhere(space, 0, draw->pages * PAGE, 0);
		break;
	case 2:
		unmap(space, draw->page, draw->pages);
		break;
	case 3:
		protect(space, draw->page, draw->pages, draw->prot);
		break;
	case 4:
		touch(space, draw->page, draw->pages);
		break;
	case 5:
		remap(space, draw->page, draw->pages, 2 * draw->pages, SEAM_MREMAP_MAYMOVE, 0);
		break;
	default:
		seam_space_brk(space, AT(NR_PAGES + 10 + draw->page), &brk);
	}
}

/* The same call on a space that counts and on one that notes. */
static void call(struct seam_space *const pair[2])
{
	struct draw draw = { .what = (unsigned int)random_below(7),
			     .page = random_below(NR_PAGES),
			     .pages = 1 + random_below(8),
			     .prot = random_below(2) ? RW : R };

	make(pair[0], &draw);
	make(pair[1], &draw);
}

/* Asked and dropped: what it found does not count. */
static void ask_and_abort(struct seam_space *const pair[2])
{
	struct seam_call call = { .op = SEAM_OP_MUNMAP,
				  .addr = AT(random_below(NR_PAGES)),
				  .len = 8 * PAGE };
	struct seam_answer answer;

	for (int i = 0; i < 2; i++)
		if (!seam_space_ask(pair[i], &call, &answer))
			seam_space_abort(pair[i]);
}

static bool same(const struct seam_steps *a, const struct seam_steps *b)
{
	return a->find == b->find && a->placement == b->placement && a->insert == b->insert;
}

static struct seam_steps steps_of(const struct seam_space *space)
{
	struct seam_stats stats;

	seam_space_get_stats(space, &stats);
	return stats.steps;
}

static void open_pair(const char *policy, struct counters *counters, struct seam_space *pair[2])
{
	struct seam_space_options options = space_options(policy);

	options.flags |= SEAM_SPACE_COUNT_STEPS;
	pair[0] = space_new(&options);
	options.step_sink = &counters->sink;
	pair[1] = space_new(&options);
	for (int i = 0; i < 2; i++)
		seam_space_set_brk(pair[i], AT(NR_PAGES + 10), AT(NR_PAGES + 10));
}

/* The space with this number and its twin; the twin's steps are those of its counter. */
static void close_pair(struct counters *counters, struct seam_space *const pair[2],
		       unsigned int number, bool *good)
{
	struct seam_steps counted = steps_of(pair[0]), noted = steps_of(pair[1]);

	*good &= !noted.find && !noted.placement && !noted.insert;
	*good &= counted.find && counted.insert;
	seam_space_destroy(pair[0]);
	seam_space_destroy(pair[1]);
	full(&counters->sink);
	if (!same(&counters->ended[number], &counted))
		printf("# %u: %llu %llu %llu vs %llu %llu %llu\n", number, (long long)counted.find,
		       (long long)counted.placement, (long long)counted.insert,
		       (long long)counters->ended[number].find,
		       (long long)counters->ended[number].placement,
		       (long long)counters->ended[number].insert);
	*good &= !counters->err && same(&counters->ended[number], &counted);
}

static void compare(const char *policy)
{
	static struct seam_space *pairs[MAX_SPACES][2];
	struct counters counters;
	unsigned int nr = 1;
	bool good = true;

	begin(&counters, NULL);
	open_pair(policy, &counters, pairs[0]);
	for (unsigned int i = 0; i < NR_CALLS; i++) {
		unsigned int at = (unsigned int)random_below(nr);

		call(pairs[at]);
		if (i % 10 == 0)
			ask_and_abort(pairs[at]);
		if (i % 400 == 100 && nr < MAX_SPACES)
			nr += !seam_space_fork(pairs[at][0], &pairs[nr][0]) &&
			      !seam_space_fork(pairs[at][1], &pairs[nr][1]);
	}
	for (unsigned int i = 0; i < nr; i++)
		close_pair(&counters, pairs[i], i, &good);
	end(&counters);
	ok(good && counters.nr == nr && counters.nr_ended == nr && nr > 5,
	   "%s: %u spaces, %llu notes", policy, nr, (unsigned long long)counters.nr_notes);
}

/* A policy without a tree counts by itself, and so does a snapshot: nothing. */
static void check_without_notes(void)
{
	struct seam_space *pair[2], *copy, *child;
	struct counters counters;
	struct seam_steps steps[2];
	uint64_t nr_notes;

	begin(&counters, NULL);
	open_pair("linux-6.18", &counters, pair);
	for (unsigned int i = 0; i < 100; i++)
		call(pair);
	for (int i = 0; i < 2; i++) {
		steps[i] = steps_of(pair[i]);
		seam_space_destroy(pair[i]);
	}
	end(&counters);
	ok(!counters.nr_notes && same(&steps[0], &steps[1]) && steps[1].find,
	   "6.18 counts beside a sink");

	begin(&counters, NULL);
	open_pair("linux-5.10", &counters, pair);
	for (unsigned int i = 0; i < 100; i++)
		call(pair);
	full(&counters.sink);
	nr_notes = counters.nr_notes;
	if (seam_space_snapshot(pair[1], &copy))
		exit(1);
	map(copy, 1, 1, RW, 0);
	if (seam_space_fork(copy, &child))
		exit(1);
	steps[0] = steps_of(copy);
	seam_space_destroy(child);
	seam_space_destroy(copy);
	full(&counters.sink);
	ok(counters.nr_notes == nr_notes && !steps[0].find,
	   "a snapshot notes nothing, nor does its child");
	seam_space_destroy(pair[0]);
	seam_space_destroy(pair[1]);
	end(&counters);
}

struct failing {
	unsigned int nr, fail_at;
	size_t held;
};

static void *fail_alloc(void *ctx, size_t size)
{
	struct failing *failing = ctx;

	if (++failing->nr == failing->fail_at)
		return NULL;
	failing->held += size;
	return malloc(size);
}

static void fail_free(void *ctx, void *ptr, size_t size)
{
	struct failing *failing = ctx;

	failing->held -= size;
	free(ptr);
}

/* Whether the counter ran out of memory at this allocation; each must be told, and nothing kept. */
static bool fails_at(unsigned int fail_at, bool *good)
{
	struct failing failing = { .fail_at = fail_at };
	struct seam_alloc alloc = { .alloc = fail_alloc, .free = fail_free, .ctx = &failing };
	struct seam_space *pair[2];
	struct counters counters;

	begin(&counters, &alloc);
	open_pair("linux-2.4.10", &counters, pair);
	for (unsigned int i = 0; i < NR_PAGES; i += 2)
		for (int j = 0; j < 2; j++)
			map(pair[j], i, 1, RW, 0);
	seam_space_destroy(pair[0]);
	seam_space_destroy(pair[1]);
	end(&counters);
	*good &= !failing.held && counters.err == (failing.nr >= fail_at ? -SEAM_EALLOC : 0);
	return failing.nr >= fail_at;
}

static void check_bad_notes(void)
{
	struct seam_step_note begin = { .kind = SEAM_STEP_BEGIN, .a = 2, .b = 21 };
	struct seam_step_note other = { .kind = SEAM_STEP_OWN };
	struct seam_step_counter *counter = NULL;

	ok(seam_step_counter_create(&other, NULL, &counter) == -SEAM_EINVAL,
	   "no counter without a beginning");
	begin.a = 4;
	ok(seam_step_counter_create(&begin, NULL, &counter) == -SEAM_EINVAL,
	   "nor for a tree that is not kept");
	begin.a = 2;
	ok(!seam_step_counter_create(&begin, NULL, &counter), "a counter");
	ok(seam_step_counter_take(counter, &other) == -SEAM_EINVAL, "an embedder's note");
	ok(seam_step_counter_take(counter, &begin) == -SEAM_EINVAL, "a second beginning");
	seam_step_counter_destroy(counter);
}

int main(void)
{
	static const char *const policies[] = { "linux-2.2.13", "linux-2.4.2",	"linux-2.4.10",
						"linux-2.6.12", "linux-2.6.24", "linux-5.10" };
	unsigned int nr_failures = 0;
	bool good = true;

	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
		good &= seam_policy_notes_steps(seam_policy_find(policies[i]));
		compare(policies[i]);
	}
	ok(good && !seam_policy_notes_steps(seam_policy_find("linux-6.1")) &&
		   !seam_policy_notes_steps(seam_policy_find("plain")),
	   "it is told who notes steps");
	check_without_notes();
	while (fails_at(nr_failures + 1, &good))
		nr_failures++;
	ok(good && nr_failures > 3, "%u allocations fail once", nr_failures);
	check_bad_notes();
	return tap_done();
}
