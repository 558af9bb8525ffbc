/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/truth.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/iter.h"

/* What the reader tells: an answer at a time. */
struct truth_areas {
	int err;
	uint32_t nr;
	char why[ITER_WHY_SIZE];
	struct seam_area area[TRUTH_AREAS];
};

static void take(struct truth_areas *areas, const struct snapshot *snapshot)
{
	areas->nr = 0;
	if (snapshot->nr_areas > TRUTH_AREAS)
		return;
	for (size_t i = 0; i < snapshot->nr_areas; i++)
		areas->area[i] = snapshot->areas[i].area;
	areas->nr = (uint32_t)snapshot->nr_areas;
}

/* In the reader: answers until nobody is left who may ask. */
static void answer(struct truth_areas *areas, int asked, int tell)
{
	struct snapshot snapshot;
	struct iter *iter = NULL;
	pid_t pid;

	areas->err = iter_open(&iter, areas->why);
	while (read(asked, &pid, sizeof(pid)) == (ssize_t)sizeof(pid)) {
		if (iter)
			areas->err = iter_read(iter, pid, &snapshot, areas->why);
		if (!areas->err) {
			take(areas, &snapshot);
			snapshot_free(&snapshot);
		}
		if (write(tell, "", 1) != 1)
			break;
	}
	iter_close(iter);
}

static int ask_for(struct truth *truth, pid_t pid)
{
	char told;

	if (write(truth->ask, &pid, sizeof(pid)) != (ssize_t)sizeof(pid) ||
	    read(truth->told, &told, 1) != 1)
		return -EPIPE;
	return truth->areas->err;
}

static int start_reader(struct truth *truth)
{
	int asked[2], told[2];

	if (pipe(asked))
		return -errno;
	if (pipe(told)) {
		close(asked[0]);
		close(asked[1]);
		return -EMFILE;
	}
	fflush(NULL);
	truth->reader = fork();
	if (!truth->reader) {
		close(asked[1]);
		close(told[0]);
		answer(truth->areas, asked[0], told[1]);
		_exit(0);
	}
	close(asked[0]);
	close(told[1]);
	truth->ask = asked[1];
	truth->told = told[0];
	return truth->reader < 0 ? -errno : 0;
}

void truth_begin(struct truth *truth)
{
	int err;

	*truth = (struct truth) { .ask = -1, .told = -1 };
	truth->areas = mmap(NULL, sizeof(*truth->areas), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (truth->areas == MAP_FAILED) {
		snprintf(truth->why_not, sizeof(truth->why_not), "%s", strerror(errno));
		return;
	}
	err = start_reader(truth);
	/* whether it works at all */
	if (!err)
		err = ask_for(truth, getpid());
	if (err)
		snprintf(truth->why_not, sizeof(truth->why_not), "%s",
			 truth->areas->why[0] ? truth->areas->why : strerror(-err));
}

void truth_end(struct truth *truth)
{
	if (truth->ask >= 0)
		close(truth->ask);
	if (truth->told >= 0)
		close(truth->told);
	if (truth->reader > 0)
		waitpid(truth->reader, NULL, 0);
	if (truth->areas != MAP_FAILED)
		munmap(truth->areas, sizeof(*truth->areas));
	truth->reader = 0;
}

/* The identities that are compared by the order in which they first come. */
enum { ANON, FILES, NUMA, UFFD, NR_KINDS };

/* Each identity's place in that order. An entry counts in its own round only. */
struct order {
	struct {
		uint64_t value;
		uint32_t round;
		uint32_t place;
	} entry[2 * TRUTH_AREAS];
	uint32_t nr;
};

struct comparison {
	struct order order[2][NR_KINDS];
	uint32_t round;
};

static uint32_t place_of(struct order *order, uint32_t round, uint64_t value)
{
	uint64_t at = value * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	if (!value)
		return 0;
	for (;; at++) {
		at %= 2 * TRUTH_AREAS;
		if (order->entry[at].round != round)
			break;
		if (order->entry[at].value == value)
			return order->entry[at].place;
	}
	order->entry[at].value = value;
	order->entry[at].round = round;
	order->entry[at].place = ++order->nr;
	return order->nr;
}

/* Identities become places, so that the two sides can be compared. */
static void number(struct comparison *comparison, unsigned int side, struct seam_area *area)
{
	struct order *order = comparison->order[side];

	area->anon_vma = place_of(&order[ANON], comparison->round, area->anon_vma);
	area->file = place_of(&order[FILES], comparison->round, area->file);
	area->numa = place_of(&order[NUMA], comparison->round, area->numa);
	area->uffd = place_of(&order[UFFD], comparison->round, area->uffd);
	if (!area->anon_vma)
		area->anon_chain = 0;
}

static bool alike(const struct seam_area *a, const struct seam_area *b)
{
	return a->start == b->start && a->end == b->end && a->pgoff == b->pgoff &&
	       a->anon_vma == b->anon_vma && a->anon_chain == b->anon_chain && a->file == b->file &&
	       a->numa == b->numa && a->uffd == b->uffd &&
	       !((a->traits ^ b->traits) & SEAM_TRAIT_CLOSE);
}

static void describe(char *text, const struct seam_area *area)
{
	snprintf(text, DIFFERENCE_SIZE,
		 "%" PRIx64 "-%" PRIx64 " offset %" PRIx64
		 " anon_vma %u (chain of %u) file %" PRIu64 " policy %u userfaultfd %u%s\n",
		 area->start, area->end, area->pgoff, area->anon_vma, area->anon_chain, area->file,
		 area->numa, area->uffd, area->traits & SEAM_TRAIT_CLOSE ? " close" : "");
}

static bool is_kept(const struct range *kept, unsigned int nr, uint64_t addr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (addr >= kept[i].start && addr < kept[i].end)
			return true;
	return false;
}

static void begin_round(struct comparison *comparison)
{
	comparison->round++;
	for (unsigned int side = 0; side < 2; side++)
		for (unsigned int kind = 0; kind < NR_KINDS; kind++)
			comparison->order[side][kind].nr = 0;
}

int truth_compare(struct truth *truth, const struct seam_space *space, const struct range *kept,
		  unsigned int nr, struct difference *ret_difference)
{
	static struct comparison comparison;
	const struct truth_areas *areas = truth->areas;
	int err = ask_for(truth, getpid());

	if (err)
		return err;
	begin_round(&comparison);
	for (uint32_t i = 0; i < areas->nr; i++) {
		struct seam_area kernel = areas->area[i], model = { 0 };

		if (is_kept(kept, nr, kernel.start))
			continue;
		seam_area_find(space, kernel.start, &model);
		number(&comparison, 0, &model);
		number(&comparison, 1, &kernel);
		if (alike(&model, &kernel))
			continue;
		ret_difference->at = kernel.start;
		describe(ret_difference->expected, &model);
		describe(ret_difference->found, &kernel);
		return 1;
	}
	return 0;
}
