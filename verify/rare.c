/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/rare.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/shm.h>

#include <seam/ops.h>

#include "probe/uapi.h"
#include "verify/chance.h"

/* Mode, nodes, how many bits of them. */
static void draw_policy(struct generator *gen, uint64_t *arg)
{
	static const uint8_t modes[] = { 0, 0, 1, 1, 2, 3, 4 };

	arg[0] = modes[below(gen, ARRAY_SIZE(modes))];
	/* default and local have no nodes */
	arg[1] = arg[0] % 4 ? 1 : 0;
	arg[2] = arg[1] ? 64 : 0;
}

static void make_mbind(struct generator *gen, const struct world *world, const struct span *span,
		       struct op *op)
{
	draw_policy(gen, &op->arg[2]);
}

/* Of the process: no area changes by it. */
static void make_set_mempolicy(struct generator *gen, const struct world *world,
			       const struct span *span, struct op *op)
{
	*op = (struct op) { .call = op->call };
	draw_policy(gen, &op->arg[0]);
}

/* Keys that are there, none, and one that nobody has. */
static void make_pkey_mprotect(struct generator *gen, const struct world *world,
			       const struct span *span, struct op *op)
{
	static const int some[] = { -1, -1, 0, 1, 2, 2, 15 };

	op->arg[2] = gen->is.prots[below(gen, gen->is.nr_prots)];
	op->arg[3] = (uint64_t)some[below(gen, ARRAY_SIZE(some))];
}

static void make_remap_file_pages(struct generator *gen, const struct world *world,
				  const struct span *span, struct op *op)
{
	uint64_t offset = (span->start - span->region->base) / PAGE;

	op->arg[2] = chance(gen, 3);
	op->arg[3] = chance(gen, 40) ? offset : below(gen, 8);
	op->arg[4] = chance(gen, 30) ? SEAM_MAP_NONBLOCK : 0;
}

static void make_uffd(struct generator *gen, const struct world *world, const struct span *span,
		      struct op *op)
{
	op->ref[0] = 0;
	op->arg[0] = 1 + below(gen, 100) / 70;
	op->arg[1] = chance(gen, 60) ? UFFDIO_REGISTER : UFFDIO_UNREGISTER;
	set_addr(op, 2, span->region, span->start);
	op->arg[3] = span->len;
	if (op->arg[1] == UFFDIO_REGISTER)
		op->arg[4] = 1 + below(gen, 3);
}

static void make_name(struct generator *gen, const struct span *span, struct op *op)
{
	op->ref[0] = 0;
	op->arg[0] = PR_SET_VMA;
	op->arg[1] = PR_SET_VMA_ANON_NAME;
	set_addr(op, 2, span->region, span->start);
	op->arg[3] = span->len;
	op->arg[4] = below(gen, 3);
}

/* Where the heap begins or ends; now and then of the data, or with an argument too many. */
static void make_bound(struct generator *gen, const struct span *span, struct op *op)
{
	*op = (struct op) { .call = op->call, .arg = { PR_SET_MM, PR_SET_MM_START_BRK } };
	if (chance(gen, 60))
		op->arg[1] = PR_SET_MM_BRK;
	else if (chance(gen, 15))
		op->arg[1] = chance(gen, 50) ? PR_SET_MM_START_DATA : PR_SET_MM_END_DATA;
	set_addr(op, 2, span->region, span->start);
	op->arg[2] += chance(gen, 20) ? below(gen, PAGE) : 0;
	op->arg[3] = chance(gen, 3);
}

static void make_prctl(struct generator *gen, const struct world *world, const struct span *span,
		       struct op *op)
{
	if (world->has_names && chance(gen, 90)) {
		make_name(gen, span, op);
		return;
	}
	if (chance(gen, 60))
		make_bound(gen, span, op);
	else
		*op = (struct op) { .call = op->call,
				    .arg = { PR_SET_MEMORY_MERGE, chance(gen, 50) } };
}

static void make_shmat(struct generator *gen, const struct world *world, const struct span *span,
		       struct op *op)
{
	op->ref[0] = 0;
	op->arg[0] = 0;
	set_addr(op, 1, span->region, span->start);
	op->arg[2] = (chance(gen, 20) ? SHM_RDONLY : 0) | (chance(gen, 60) ? SHM_REMAP : 0) |
		     (chance(gen, 15) ? SHM_EXEC : 0) | (chance(gen, 15) ? SHM_RND : 0);
	if (chance(gen, 10))
		op->arg[1] += below(gen, PAGE);
	op->arg[3] = span->len < MAX_SEGMENT_LEN ? span->len : MAX_SEGMENT_LEN;
}

static void make_shmdt(struct generator *gen, const struct world *world, const struct span *span,
		       struct op *op)
{
	op->arg[1] = 0;
}

/* Near what is used now, or as it was. */
static void make_rlimit(struct generator *gen, const struct world *world, const struct span *span,
			struct op *op)
{
	const struct seam_space_options *host = &world->host->options;
	struct seam_totals totals;
	uint64_t used, whole;

	seam_space_get_totals(world->space, &totals);
	*op = (struct op) { .call = op->call };
	op->arg[0] = below(gen, 4);
	switch (op->arg[0]) {
	case TRACE_RLIMIT_AS:
		used = totals.total_pages;
		whole = host->limit_as;
		break;
	case TRACE_RLIMIT_DATA:
		used = totals.data_pages;
		whole = host->limit_data;
		break;
	case TRACE_RLIMIT_MEMLOCK:
		used = totals.locked_pages;
		whole = host->limit_memlock;
		break;
	default:
		used = 0;
		whole = host->limit_stack;
		break;
	}
	op->arg[1] = chance(gen, 40) ? whole : (used + below(gen, 64)) * PAGE;
	/* 0 is a case of its own */
	if (chance(gen, 5))
		op->arg[1] = 0;
	/* no more than may be had: the hard limit is not asked for */
	if (whole && op->arg[1] > whole)
		op->arg[1] = whole;
}

static void make_mlockall(struct generator *gen, const struct world *world, const struct span *span,
			  struct op *op)
{
	static const uint8_t flags[] = {
		SEAM_MCL_FUTURE,
		SEAM_MCL_FUTURE | SEAM_MCL_ONFAULT,
		SEAM_MCL_CURRENT | SEAM_MCL_ONFAULT,
		SEAM_MCL_CURRENT | SEAM_MCL_FUTURE | SEAM_MCL_ONFAULT,
		SEAM_MCL_CURRENT,
		SEAM_MCL_ONFAULT,
		0,
	};

	*op = (struct op) { .call = op->call };
	op->arg[0] = flags[below(gen, ARRAY_SIZE(flags))];
}

static const struct {
	uint8_t call;
	void (*make)(struct generator *gen, const struct world *world, const struct span *span,
		     struct op *op);
} rare[] = {
	{ TRACE_CALL_mbind, make_mbind },
	{ TRACE_CALL_mlockall, make_mlockall },
	{ TRACE_CALL_pkey_mprotect, make_pkey_mprotect },
	{ TRACE_CALL_prctl, make_prctl },
	{ TRACE_CALL_remap_file_pages, make_remap_file_pages },
	{ TRACE_CALL_rlimit, make_rlimit },
	{ TRACE_CALL_set_mempolicy, make_set_mempolicy },
	{ TRACE_CALL_shmat, make_shmat },
	{ TRACE_CALL_shmdt, make_shmdt },
	{ TRACE_CALL_uffd_ioctl, make_uffd },
};

void make_rare(struct generator *gen, const struct world *world, const struct span *span,
	       struct op *op)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(rare); i++)
		if (rare[i].call == op->call)
			rare[i].make(gen, world, span, op);
}
