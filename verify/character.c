/* SPDX-License-Identifier: BSD-2-Clause */
/* What an episode of random operations is like. */
#include <seam/ops.h>

#include "verify/chance.h"

#define ARENA UINT64_C(0x10000000000)
#define FAR_LEN (UINT64_C(1) << 40)
#define RW (SEAM_PROT_READ | SEAM_PROT_WRITE)

static void draw_prots(struct generator *gen)
{
	static const uint8_t prots[] = {
		RW,
		RW,
		RW,
		SEAM_PROT_READ,
		SEAM_PROT_READ,
		SEAM_PROT_NONE,
		SEAM_PROT_NONE,
		SEAM_PROT_READ | SEAM_PROT_EXEC,
		RW | SEAM_PROT_EXEC,
		SEAM_PROT_WRITE,
		SEAM_PROT_EXEC,
	};

	gen->is.nr_prots = (uint8_t)(1 + below(gen, ARRAY_SIZE(gen->is.prots)));
	gen->is.prots[0] = RW;
	for (unsigned int i = 1; i < gen->is.nr_prots; i++)
		gen->is.prots[i] = prots[below(gen, ARRAY_SIZE(prots))];
}

/* Advices that change areas, and some that do not. */
static void draw_advices(struct generator *gen)
{
	static const uint8_t advices[] = {
		SEAM_MADV_NORMAL,	 SEAM_MADV_RANDOM,
		SEAM_MADV_SEQUENTIAL,	 SEAM_MADV_WILLNEED,
		SEAM_MADV_DONTNEED,	 SEAM_MADV_FREE,
		SEAM_MADV_DONTFORK,	 SEAM_MADV_DOFORK,
		SEAM_MADV_DONTDUMP,	 SEAM_MADV_DODUMP,
		SEAM_MADV_WIPEONFORK,	 SEAM_MADV_KEEPONFORK,
		SEAM_MADV_HUGEPAGE,	 SEAM_MADV_NOHUGEPAGE,
		SEAM_MADV_MERGEABLE,	 SEAM_MADV_COLD,
		SEAM_MADV_UNMERGEABLE,	 SEAM_MADV_POPULATE_READ,
		SEAM_MADV_PAGEOUT,	 SEAM_MADV_POPULATE_WRITE,
		SEAM_MADV_REMOVE,	 SEAM_MADV_DONTNEED_LOCKED,
		SEAM_MADV_GUARD_INSTALL, SEAM_MADV_GUARD_INSTALL,
		SEAM_MADV_GUARD_REMOVE,
	};

	gen->is.nr_advices = (uint8_t)(1 + below(gen, ARRAY_SIZE(gen->is.advices)));
	for (unsigned int i = 0; i < gen->is.nr_advices; i++)
		gen->is.advices[i] = advices[below(gen, ARRAY_SIZE(advices))];
}

/* Weight of a call, sometimes none. */
static uint16_t weight(struct generator *gen, unsigned int usual, unsigned int percent)
{
	return gen->chosen || chance(gen, percent) ? (uint16_t)(usual / 2 + below(gen, usual + 1))
						   : 0;
}

/* Calls that a process may not have. */
static void draw_rare(struct generator *gen, const struct world *world)
{
	uint16_t *w = gen->is.weight;

	if (world->has_mbind) {
		w[TRACE_CALL_mbind] = weight(gen, 4, 8);
		w[TRACE_CALL_set_mempolicy] = weight(gen, 2, 4);
	}
	if (world->has_uffd)
		w[TRACE_CALL_uffd_ioctl] = weight(gen, 4, 8);
	w[TRACE_CALL_prctl] = weight(gen, world->has_names ? 4 : 2, 12);
	w[TRACE_CALL_pkey_mprotect] = weight(gen, 4, world->model_files.pkeys ? 12 : 3);
	if (gen->is.shared)
		w[TRACE_CALL_remap_file_pages] = weight(gen, 6, 20);
	if (world->has_shm) {
		w[TRACE_CALL_shmat] = weight(gen, 4, 8);
		w[TRACE_CALL_shmdt] = w[TRACE_CALL_shmat] / 2;
	}
	w[TRACE_CALL_mseal] = weight(gen, 2, 6);
	if (gen->is.area_limit)
		return; /* all of the map would be walked again and again */
	/* whether huge pages can be brought in depends on how many there are */
	w[TRACE_CALL_mlockall] = gen->is.huge ? 0 : weight(gen, 2, 6);
	w[TRACE_CALL_munlockall] = w[TRACE_CALL_mlockall] / 2;
	w[TRACE_CALL_fork] = weight(gen, 2, 12);
	w[OP_EXIT] = w[TRACE_CALL_fork] / 2;
}

static void draw_weights(struct generator *gen, const struct world *world, uint64_t only)
{
	uint16_t *w = gen->is.weight;

	w[TRACE_CALL_mmap] = weight(gen, 25, 100);
	w[TRACE_CALL_munmap] = weight(gen, 8, 100);
	w[TRACE_CALL_mprotect] = weight(gen, 25, 90);
	w[TRACE_CALL_mremap] = weight(gen, 10, 50);
	w[TRACE_CALL_madvise] = weight(gen, 16, 60);
	w[TRACE_CALL_mlock] = weight(gen, 5, 25);
	w[TRACE_CALL_mlock2] = weight(gen, 5, 25);
	w[TRACE_CALL_munlock] = weight(gen, 5, 30);
	w[TRACE_CALL_brk] = weight(gen, 12, 15);
	w[TRACE_CALL_touch] = weight(gen, 15, 85);
	w[TRACE_CALL_rtouch] = weight(gen, 4, 60);
	if (gen->is.limits)
		w[TRACE_CALL_rlimit] = weight(gen, 3, 100);
	draw_rare(gen, world);
	gen->total_weight = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(gen->is.weight); i++) {
		if (only && !(only >> (i == OP_EXIT ? TRACE_CALL_fork : i) & 1))
			w[i] = 0;
		gen->total_weight += w[i];
	}
}

static void draw_arena(struct generator *gen)
{
	static const uint16_t sizes[] = { 6, 12, 24, 24, 48, 96, 512, 2048 };

	gen->region[0] = (struct region) {
		.base = ARENA + below(gen, 16) * FAR_LEN / 64,
		.len = sizes[below(gen, ARRAY_SIZE(sizes))] * PAGE,
	};
	/* about vm.mmap_min_addr */
	if (chance(gen, 3))
		gen->region[0] = (struct region) { .base = below(gen, 4) * 4 * PAGE,
						   .len = (4 + below(gen, 32)) * PAGE };
	if (gen->is.huge)
		gen->region[0].len = (2 + below(gen, 7)) * HUGE_PAGE;
	gen->nr_regions = 1;
}

void generate_begin(struct generator *gen, const struct world *world, uint64_t seed, uint64_t only,
		    uint64_t area_limit)
{
	struct character *is = &gen->is;

	*gen = (struct generator) { .random = seed, .chosen = only };
	draw_prots(gen);
	draw_advices(gen);
	is->huge = chance(gen, 4);
	draw_arena(gen);
	is->files = chance(gen, 30);
	is->file = (uint8_t)(FIRST_FD + (chance(gen, 60) ? 0 : below(gen, NR_FDS)));
	is->shared = chance(gen, 25);
	is->noreserve = chance(gen, 25);
	is->populate = chance(gen, 20);
	is->locked = chance(gen, 10);
	is->stacks = chance(gen, 10);
	is->placed = chance(gen, 30);
	is->low = is->placed && chance(gen, 20);
	is->wide = is->placed && chance(gen, 40);
	is->errors = chance(gen, 50);
	is->droppable = chance(gen, 5);
	is->limits = chance(gen, 12) || only >> TRACE_CALL_rlimit & 1;
	is->area_limit = area_limit;
	if (!area_limit && !only && chance(gen, 2))
		is->area_limit = seam_space_areas(world->space) + 4 + below(gen, 32);
	draw_weights(gen, world, only);
}
