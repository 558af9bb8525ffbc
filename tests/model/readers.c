/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * readers [SECONDS [SEED]]: two threads look at a space while a third changes it as fast as it can;
 * each checks all that it sees:
 *  - every area carries a tag that is made of its own range, file and protection, so that an area
 *    put together of two calls' pieces is noticed;
 *  - a call that gives many areas in many nodes a new tag is seen for all of them or for none;
 *  - memory that is moved to and fro is at one place or the other, in every state;
 *  - areas come in order, and what is mapped for good is always there.
 * Now and then the writer has no memory: calls fail, and readers must wait.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seam/seam.h>

#include "tests/tap.h"

#define PAGE UINT64_C(4096)
#define CHURN UINT64_C(0x100000000) /* random areas, in slots of 8 pages */
#define CHURN_SLOTS 20000
#define STRIPES UINT64_C(0x200000000) /* areas that get their tags all at once */
#define NR_STRIPES 120
#define HOME UINT64_C(0x300000000) /* memory on the move: here or there */
#define AWAY UINT64_C(0x100001000 + (CHURN_SLOTS / 2) * 8 * 4096)
#define NR_READERS 2

static struct seam_space *space;
static int stop;
static const char *writer_wrong;
static uint64_t nr_calls, nr_failed, nr_refused;
static uint64_t writer_state;

static uint64_t next(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* Fails now and then; only the writer allocates. */
static void *test_alloc(void *ctx, size_t size)
{
	if (!nr_calls || next(&writer_state) % 2)
		return malloc(size);
	nr_refused++;
	return NULL;
}

static void test_free(void *ctx, void *ptr, size_t size)
{
	free(ptr);
}

static const struct seam_alloc failing = { .alloc = test_alloc, .free = test_free };

static uint64_t tag_of(uint64_t start, uint64_t len, uint64_t file, uint64_t flags)
{
	uint64_t h = start * UINT64_C(0x9e3779b97f4a7c15) ^ len * UINT64_C(0xff51afd7ed558ccd);

	h ^= (file << 32 ^ (flags & SEAM_VM_RWX)) * UINT64_C(0xc4ceb9fe1a85ec53);
	return h | 1;
}

static int map(uint64_t start, uint64_t len, uint32_t prot, uint64_t id, uint64_t tag)
{
	struct seam_file file = { .id = id, .traits = SEAM_FILE_READ | SEAM_FILE_WRITE };
	struct seam_mmap args = { .addr = start,
				  .len = len,
				  .prot = prot,
				  .flags = SEAM_MAP_PRIVATE | SEAM_MAP_FIXED |
					   (id ? 0 : SEAM_MAP_ANONYMOUS),
				  .pgoff = id ? start >> 20 : 0,
				  .file = id ? &file : NULL,
				  .tag = tag };
	uint64_t at;

	return seam_space_mmap(space, &args, &at);
}

static uint64_t slot_start(uint64_t slot)
{
	return CHURN + slot * 8 * PAGE;
}

static int is_away(uint64_t slot)
{
	return slot_start(slot) <= AWAY && AWAY < slot_start(slot + 1);
}

/* Writer */

static int churn(uint64_t random)
{
	uint64_t slot = random % CHURN_SLOTS, start = slot_start(slot) + (random >> 32 & 3) * PAGE;
	uint64_t len = (1 + (random >> 40 & 3)) * PAGE, id = random >> 48 & 0xff;
	uint32_t prot = (uint32_t)(random >> 60 & 7);
	int err;

	if (is_away(slot))
		return 0;
	/* a whole slot at a time: pieces of areas have no right tag */
	err = seam_space_munmap(space, slot_start(slot), 8 * PAGE);
	if (err || random >> 36 & 1)
		return err;
	if (prot & SEAM_PROT_EXEC && id)
		id += 1000;
	err = map(start, len, prot, id, tag_of(start, len, id, prot));
	if (!err && prot & SEAM_PROT_WRITE && random >> 37 & 1)
		err = seam_space_touch(space, start, PAGE, 1, NULL);
	return err;
}

/* Anon_vmas have a family from then on; readers of the parent see no difference. */
static int fork_and_end(void)
{
	struct seam_space *child;
	int err = seam_space_fork(space, &child);

	if (!err)
		seam_space_destroy(child);
	return err;
}

static int one_call(void)
{
	static uint64_t at_home = 1, stripe_tag = 1;
	uint64_t random = next(&writer_state);
	struct seam_mremap move = { .old_addr = at_home ? HOME : AWAY,
				    .old_len = PAGE,
				    .new_len = PAGE,
				    .flags = SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED,
				    .new_addr = at_home ? AWAY : HOME };
	uint64_t addr;
	int err;

	if (!(random >> 44 & 4095))
		return fork_and_end();
	switch (random >> 8 & 31) {
	case 0:
		/* the holes between them make it ENOMEM, when all is done */
		err = seam_space_set_tag(space, STRIPES, NR_STRIPES * 2 * PAGE, ++stripe_tag);
		return err == -SEAM_ENOMEM ? 0 : err;
	case 1:
	case 2:
		err = seam_space_mremap(space, &move, &addr);
		if (!err)
			at_home = !at_home;
		return err;
	default:
		return churn(random >> 13 ^ random << 51);
	}
}

static void *write_all(void *ctx)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		int err = one_call();

		nr_calls++;
		if (err == -SEAM_EALLOC)
			nr_failed++;
		else if (err)
			writer_wrong = "a call of the writer";
		if (nr_calls % 1000000 == 0 && seam_space_check(space))
			writer_wrong = seam_space_check(space);
		if (writer_wrong)
			break;
	}
	return NULL;
}

/* Readers */

struct reader {
	pthread_t thread;
	uint64_t random;
	uint64_t lookups, again; /* done; in a state that was gone */
	const char *wrong;
};

static const char *check_area(const struct seam_area *area, uint64_t addr)
{
	if (area->end <= addr || area->start >= area->end)
		return "an area that is not the one behind the address";
	if (area->start >= STRIPES || area->start == AWAY)
		return NULL;
	if (area->start < CHURN)
		return "an area where there is none";
	if (area->tag != tag_of(area->start, area->end - area->start, area->file, area->flags))
		return "an area that nobody has made";
	if (!area->anon_vma != !area->anon_chain || area->anon_chain > 1)
		return "an anon_vma that nobody has made";
	if (area->pgoff != (area->file ? area->start >> 20 : area->start / PAGE))
		return "a page offset that nobody has given";
	return NULL;
}

static const char *read_one(struct reader *reader)
{
	uint64_t addr = slot_start(next(&reader->random) % CHURN_SLOTS);
	struct seam_area area;
	int found = seam_read_try(space, addr, &area);

	reader->lookups++;
	if (found == -SEAM_EAGAIN) {
		reader->again++;
		return NULL;
	}
	return found == 1 ? check_area(&area, addr) : "nothing where there is something";
}

/* Some neighbours in one state, in order. */
static const char *read_run(struct reader *reader)
{
	uint64_t at = slot_start(next(&reader->random) % CHURN_SLOTS), before = at;
	struct seam_area area;
	struct seam_read read;

	seam_read_begin(&read, space);
	for (unsigned int i = 0; i < 10; i++, before = at) {
		int found = seam_read_next(&read, &at, &area);
		const char *wrong;

		reader->lookups++;
		if (found == -SEAM_EAGAIN) {
			reader->again++;
			return NULL;
		}
		if (!found)
			return "the end before the last area";
		wrong = check_area(&area, before);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static const char *read_stripes(struct reader *reader)
{
	uint64_t at = STRIPES, tag = 0;
	struct seam_area area;
	struct seam_read read;

	seam_read_begin(&read, space);
	for (unsigned int i = 0; i < NR_STRIPES; i++) {
		int found = seam_read_next(&read, &at, &area);

		reader->lookups++;
		if (found == -SEAM_EAGAIN) {
			reader->again++;
			return NULL;
		}
		if (!found || area.start != STRIPES + i * 2 * PAGE)
			return "a stripe is missing";
		if (i && area.tag != tag)
			return "a call is seen half done";
		tag = area.tag;
	}
	return NULL;
}

static const char *read_moved(struct reader *reader)
{
	struct seam_area home, away;
	struct seam_read read;
	int at_home, at_away;

	seam_read_begin(&read, space);
	at_home = seam_read_find(&read, HOME, &home);
	at_away = seam_read_find(&read, AWAY, &away);
	reader->lookups += 2;
	if (at_home == -SEAM_EAGAIN || at_away == -SEAM_EAGAIN) {
		reader->again++;
		return NULL;
	}
	at_home = at_home == 1 && home.start == HOME;
	at_away = at_away == 1 && away.start == AWAY;
	return at_home + at_away == 1 ? NULL : "memory at both places, or at none";
}

static void *read_all(void *ctx)
{
	struct reader *reader = ctx;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) && !reader->wrong) {
		switch (next(&reader->random) >> 20 & 15) {
		case 0:
			reader->wrong = read_stripes(reader);
			break;
		case 1:
		case 2:
			reader->wrong = read_moved(reader);
			break;
		case 3:
			reader->wrong = read_run(reader);
			break;
		default:
			reader->wrong = read_one(reader);
		}
	}
	return NULL;
}

static int fill(uint64_t *random)
{
	int err = map(HOME, PAGE, SEAM_PROT_READ, 0, 7);

	for (uint64_t i = 0; i < NR_STRIPES && !err; i++)
		err = map(STRIPES + i * 2 * PAGE, PAGE, SEAM_PROT_READ, 0, 1);
	for (unsigned int i = 0; i < CHURN_SLOTS && !err; i++)
		err = churn(next(random));
	return err;
}

int main(int argc, char **argv)
{
	struct seam_space_options options = { .size = sizeof(options),
					      .policy = seam_policy_find("linux-6.18"),
					      .alloc = &failing,
					      .flags = SEAM_SPACE_READERS,
					      .max_areas = SEAM_NO_LIMIT };
	unsigned long seconds = argc > 1 ? strtoul(argv[1], NULL, 0) : 2;
	struct reader readers[NR_READERS] = { 0 };
	struct timespec wait = { .tv_sec = (time_t)seconds };
	pthread_t writer;

	writer_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 20010301;
	if (seam_space_create(&options, &space) || fill(&writer_state))
		return 1;
	for (unsigned int i = 0; i < NR_READERS; i++) {
		readers[i].random = writer_state + i + 1;
		if (pthread_create(&readers[i].thread, NULL, read_all, &readers[i]))
			return 1;
	}
	if (pthread_create(&writer, NULL, write_all, NULL))
		return 1;
	nanosleep(&wait, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(writer, NULL);
	ok(!writer_wrong && !seam_space_check(space),
	   "%" PRIu64 " calls, %" PRIu64 " times no memory, %" PRIu64 " failed%s%s", nr_calls,
	   nr_refused, nr_failed, writer_wrong ? ": " : "", writer_wrong ? writer_wrong : "");
	for (unsigned int i = 0; i < NR_READERS; i++) {
		struct reader *reader = &readers[i];

		pthread_join(reader->thread, NULL);
		ok(!reader->wrong && reader->again < reader->lookups,
		   "%" PRIu64 " lookups, %" PRIu64 " in a state that was gone%s%s", reader->lookups,
		   reader->again, reader->wrong ? ": " : "", reader->wrong ? reader->wrong : "");
	}
	seam_space_destroy(space);
	return tap_done();
}
