/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stops [CALLS [SEED]]: random calls, each stopped after every instruction (the processor's trap
 * flag): a signal handler that interrupted the writer must find the space as it was before the
 * call, or as it is after it, never in between, and it must always find it. Every so many stops the
 * handler forks: the child's space must become one of the two, hold together, and be usable.
 *
 * These are the interleavings by which emulators lost guest memory: a signal in mid-write, a fork
 * in mid-write.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seam/seam.h>

#include "tests/model/step.h"
#include "tests/random.h"
#include "tests/tap.h"

#if !CAN_STEP
int main(void)
{
	return cannot_step();
}
#else

#define PAGE UINT64_C(4096)
#define ARENA UINT64_C(0x50000000)
#define ARENA_PAGES 600
#define MOST_AREAS 512
#define FORK_EVERY 307 /* stops; a prime, so that forks fall everywhere */

/* Memory that is never given back: the child of a fork may need some, wherever the fork came. */
static char heap[64 << 20];
static size_t heap_used;

static void *test_alloc(void *ctx, size_t size)
{
	size_t at = (heap_used + 15) & ~(size_t)15;

	if (at + size > sizeof(heap))
		return NULL;
	heap_used = at + size;
	return heap + at;
}

static void test_free(void *ctx, void *ptr, size_t size)
{
}

static const struct seam_alloc bump = { .alloc = test_alloc, .free = test_free };

struct map {
	struct seam_area areas[MOST_AREAS];
	size_t nr;
};

static void look(const struct seam_space *space, struct map *ret)
{
	uint64_t at = 0;

	memset(ret, 0, sizeof(*ret));
	while (ret->nr < MOST_AREAS && seam_area_next(space, &at, &ret->areas[ret->nr]))
		ret->nr++;
}

/* The first area of a map that ends behind @addr, NULL none. */
static const struct seam_area *map_find(const struct map *map, uint64_t addr)
{
	for (size_t i = 0; i < map->nr; i++)
		if (map->areas[i].end > addr)
			return &map->areas[i];
	return NULL;
}

static struct seam_space *space;
static struct map before, after;
static volatile sig_atomic_t stepping;
static unsigned long stops, forks, saw_before, saw_after;
static const char *volatile wrong;
static uint64_t probe;

static int same(const struct seam_area *a, const struct seam_area *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* Which of the maps agrees with all lookups of one state? bit 0: before, bit 1: after */
static unsigned int agrees(const struct seam_read *read)
{
	unsigned int agree = 3;

	for (unsigned int i = 0; i < 4; i++) {
		struct seam_area found = { 0 };
		uint64_t addr;
		int result;

		probe = probe * UINT64_C(6364136223846793005) + 1442695040888963407u;
		addr = ARENA + (probe >> 33) % ARENA_PAGES * PAGE;
		result = seam_read_find(read, addr, &found);
		if (result < 0)
			return 0;
		for (unsigned int k = 0; k < 2; k++) {
			const struct seam_area *expected = map_find(k ? &after : &before, addr);

			if (!expected != !result || (expected && !same(expected, &found)))
				agree &= ~(1u << k);
		}
	}
	return agree;
}

/* In the child: 0, or what is wrong. */
static int check_child(void)
{
	struct seam_mmap args = { .addr = ARENA,
				  .len = 4 * PAGE,
				  .prot = SEAM_PROT_READ,
				  .flags = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS | SEAM_MAP_FIXED };
	static struct map now;
	struct seam_area area;
	uint64_t addr;

	if (seam_space_after_fork(space))
		return 1;
	if (seam_space_check(space))
		return 2;
	look(space, &now);
	if (memcmp(&now, &before, sizeof(now)) && memcmp(&now, &after, sizeof(now)))
		return 3;
	/* and it goes on */
	for (unsigned int i = 0; i < 40; i++) {
		args.addr = ARENA + random_below(ARENA_PAGES) * PAGE;
		args.prot = (uint32_t)random_below(8);
		if (seam_space_mmap(space, &args, &addr) ||
		    seam_space_touch(space, args.addr, PAGE, 0, NULL) > 0 ||
		    seam_space_munmap(space, ARENA + random_below(ARENA_PAGES) * PAGE, 3 * PAGE))
			return 4;
		if (seam_space_check(space))
			return 5;
	}
	return seam_read_try(space, args.addr, &area) == 1 ? 0 : 6;
}

static void fork_here(void)
{
	static const char *const texts[] = { "",
					     "after a fork: refused",
					     "after a fork: it does not hold together",
					     "after a fork: neither the state before nor after",
					     "after a fork: a call fails",
					     "after a fork and calls: it does not hold together",
					     "after a fork: a reader" };
	pid_t child = fork();
	int status;

	if (!child)
		_exit(check_child());
	if (child < 0 || waitpid(child, &status, 0) != child)
		return;
	forks++;
	if (!WIFEXITED(status))
		wrong = "after a fork: the child died";
	else if (WEXITSTATUS(status))
		wrong = texts[WEXITSTATUS(status)];
}

static void stopped(int signal)
{
	struct seam_read read;
	unsigned int agree;

	if (!stepping || wrong)
		return;
	stops++;
	seam_read_begin(&read, space);
	agree = agrees(&read);
	if (!agree)
		wrong = "a handler saw neither the state before nor after";
	saw_before += agree == 1;
	saw_after += agree == 2;
	/* what was seen once stays seen */
	if (agree == 2)
		before = after;
	if (stops % FORK_EVERY == 0)
		fork_here();
}

struct call {
	unsigned int kind;
	uint64_t addr, len, other;
	uint32_t prot, flags;
	struct seam_file file;
};

static struct call random_call(void)
{
	struct call call = { .kind = (unsigned int)random_below(8) };

	call.addr = ARENA + random_below(ARENA_PAGES) * PAGE;
	call.len = (1 + random_below(random_below(8) ? 4 : 300)) * PAGE;
	call.other = ARENA + random_below(ARENA_PAGES) * PAGE;
	call.prot = (uint32_t)random_below(8);
	call.flags = SEAM_MAP_FIXED | SEAM_MAP_PRIVATE | (random_below(2) ? SEAM_MAP_ANONYMOUS : 0);
	call.file = (struct seam_file) { .id = 1 + random_below(20), .traits = SEAM_FILE_READ };
	return call;
}

/* A child space: its parent's anon_vmas have a family from then on. */
static int fork_space(struct seam_space *in)
{
	struct seam_space *child;
	int err = seam_space_fork(in, &child);

	if (!err)
		seam_space_destroy(child);
	return err;
}

static int make(struct seam_space *in, const struct call *call)
{
	struct seam_mmap map = { .addr = call->addr,
				 .len = call->len,
				 .prot = call->prot,
				 .flags = call->flags,
				 .pgoff = call->other / PAGE,
				 .file = &call->file };
	struct seam_mremap remap = { .old_addr = call->addr,
				     .old_len = call->len,
				     .new_len = call->len,
				     .flags = SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED,
				     .new_addr = call->other };
	uint64_t addr;

	switch (call->kind) {
	case 0:
		return seam_space_munmap(in, call->addr, call->len);
	case 1:
		return seam_space_mprotect(in, call->addr, call->len, call->prot, -1);
	case 2:
		return seam_space_mremap(in, &remap, &addr);
	case 3:
		return seam_space_touch(in, call->addr, call->len, 1, NULL);
	case 4:
		return fork_space(in);
	default:
		return seam_space_mmap(in, &map, &addr);
	}
}

static struct seam_space *space_new(void)
{
	struct seam_space_options options = { .size = sizeof(options),
					      .policy = seam_policy_find("linux-6.18"),
					      .alloc = &bump,
					      .flags = SEAM_SPACE_READERS,
					      .may = SEAM_MAY_IPC_LOCK };
	struct seam_space *fresh;

	return seam_space_create(&options, &fresh) ? NULL : fresh;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = stopped };
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 0) : 500;
	struct seam_space *twin;
	static struct map outcome;

	random_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 20010301;
	sigaction(SIGTRAP, &action, NULL);
	space = space_new();
	twin = space_new();
	if (!space || !twin)
		return 1;
	for (unsigned long n = 0; n < calls && !wrong; n++) {
		/* most are only made; some are looked at step by step */
		struct call call = random_call();
		unsigned long seen = stops;

		look(space, &before);
		make(twin, &call);
		look(twin, &after);
		if (n % 4) {
			make(space, &call);
		} else {
			stepping = 1;
			step(true);
			make(space, &call);
			step(false);
			stepping = 0;
			if (stops == seen)
				wrong = "no stop in a call";
		}
		look(space, &outcome);
		if (!wrong && memcmp(&outcome, &after, sizeof(outcome)))
			wrong = "the call itself gave another map";
		if (wrong)
			printf("# call %lu: kind %u %#lx+%#lx %#lx\n", n, call.kind, call.addr,
			       call.len, call.other);
	}
	ok(!wrong, "%lu calls stopped %lu times: %s", calls / 4, stops,
	   wrong ? wrong : "each seen whole or not at all");
	ok(saw_before && saw_after, "%lu looks saw the state before, %lu the one after", saw_before,
	   saw_after);
	ok(forks > 10, "%lu forks in mid-call: each child has one of the two", forks);
	seam_space_destroy(space);
	seam_space_destroy(twin);
	return tap_done();
}
#endif
