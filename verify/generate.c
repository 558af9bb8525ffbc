/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/generate.h"

#include <string.h>

#include <seam/ops.h>

#define PAGE UINT64_C(4096)
#define HUGE_PAGE (UINT64_C(1) << 21)
#define ARENA UINT64_C(0x10000000000)
#define FAR_LEN (UINT64_C(1) << 40)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* splitmix64 */
static uint64_t draw(struct generator *gen)
{
	uint64_t z = gen->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* 0 .. n - 1 */
static uint64_t below(struct generator *gen, uint64_t n)
{
	return draw(gen) % n;
}

static bool chance(struct generator *gen, unsigned int percent)
{
	return below(gen, 100) < percent;
}

/* 1, 2, 3 ... each half as likely as the one before, up to @max. */
static uint64_t small(struct generator *gen, uint64_t max)
{
	uint64_t n = 1;

	while (n < max && chance(gen, 60))
		n++;
	return n;
}

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
		SEAM_MADV_NORMAL,   SEAM_MADV_RANDOM,	      SEAM_MADV_SEQUENTIAL,
		SEAM_MADV_WILLNEED, SEAM_MADV_DONTNEED,	      SEAM_MADV_FREE,
		SEAM_MADV_DONTFORK, SEAM_MADV_DOFORK,	      SEAM_MADV_DONTDUMP,
		SEAM_MADV_DODUMP,   SEAM_MADV_WIPEONFORK,     SEAM_MADV_KEEPONFORK,
		SEAM_MADV_HUGEPAGE, SEAM_MADV_NOHUGEPAGE,     SEAM_MADV_MERGEABLE,
		SEAM_MADV_COLD,	    SEAM_MADV_UNMERGEABLE,    SEAM_MADV_POPULATE_READ,
		SEAM_MADV_PAGEOUT,  SEAM_MADV_POPULATE_WRITE,
	};

	gen->is.nr_advices = (uint8_t)(1 + below(gen, ARRAY_SIZE(gen->is.advices)));
	for (unsigned int i = 0; i < gen->is.nr_advices; i++)
		gen->is.advices[i] = advices[below(gen, ARRAY_SIZE(advices))];
}

/* Weight of a call, sometimes none. */
static uint16_t weight(struct generator *gen, unsigned int usual, unsigned int percent)
{
	return chance(gen, percent) ? (uint16_t)(usual / 2 + below(gen, usual + 1)) : 0;
}

static void draw_weights(struct generator *gen, uint64_t only)
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
	gen->total_weight = 0;
	for (unsigned int i = 0; i < TRACE_NR_CALLS; i++) {
		if (only && !(only >> i & 1))
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
	gen->nr_regions = 1;
}

void generate_begin(struct generator *gen, uint64_t seed, uint64_t only)
{
	struct character *is = &gen->is;

	*gen = (struct generator) { .random = seed };
	draw_prots(gen);
	draw_advices(gen);
	draw_arena(gen);
	is->files = chance(gen, 30);
	is->shared = chance(gen, 25);
	is->noreserve = chance(gen, 25);
	is->populate = chance(gen, 20);
	is->locked = chance(gen, 10);
	is->stacks = chance(gen, 10);
	is->placed = chance(gen, 30);
	is->low = is->placed && chance(gen, 20);
	is->wide = is->placed && chance(gen, 40);
	is->errors = chance(gen, 50);
	draw_weights(gen, only);
}

struct span {
	const struct region *region;
	uint64_t start, len;
};

static uint64_t region_end(const struct region *region)
{
	return region->base + region->len;
}

/* The area that holds @addr or the next one up, as far as it lies in the region. */
static bool area_in(const struct world *world, const struct region *region, uint64_t addr,
		    struct seam_area *ret_area)
{
	if (!seam_area_find(world->space, addr, ret_area) || ret_area->start >= region_end(region))
		return false;
	if (ret_area->start < region->base)
		ret_area->start = region->base;
	if (ret_area->end > region_end(region))
		ret_area->end = region_end(region);
	return ret_area->start < ret_area->end;
}

/* Head, tail or middle of [start, end), or all of it. */
static void part_of(struct generator *gen, uint64_t start, uint64_t end, struct span *span)
{
	uint64_t pages = (end - start) / PAGE, from, nr;

	span->start = start;
	span->len = end - start;
	if (pages < 2 || chance(gen, 40))
		return;
	nr = small(gen, pages - 1);
	from = chance(gen, 35) ? 0 : chance(gen, 50) ? pages - nr : below(gen, pages - nr + 1);
	span->start = start + from * PAGE;
	span->len = nr * PAGE;
}

static void anywhere(struct generator *gen, const struct region *region, struct span *span)
{
	uint64_t pages = region->len / PAGE;
	uint64_t from = below(gen, pages);

	span->start = region->base + from * PAGE;
	span->len =
		(chance(gen, 85) ? small(gen, pages - from) : 1 + below(gen, pages - from)) * PAGE;
}

/* From the start of one area to the end of the next or the one behind it. */
static void across(struct generator *gen, const struct world *world, const struct region *region,
		   struct seam_area *area, struct span *span)
{
	struct seam_area next = *area;

	for (uint64_t i = 0; i < 1 + below(gen, 2); i++)
		if (!area_in(world, region, next.end, &next))
			break;
	span->start = area->start;
	span->len = next.end > area->start ? next.end - area->start : area->end - area->start;
}

/* The hole behind an area, up to the next or to the region's end. */
static void hole_behind(struct generator *gen, const struct world *world,
			const struct region *region, const struct seam_area *area,
			struct span *span)
{
	struct seam_area next;
	uint64_t end = region_end(region);

	if (area_in(world, region, area->end, &next))
		end = next.start;
	if (end <= area->end)
		part_of(gen, area->start, area->end, span);
	else
		part_of(gen, area->end, end, span);
}

static const struct region *pick_region(struct generator *gen)
{
	if (gen->heap.ref && chance(gen, 30))
		return &gen->heap;
	if (gen->nr_regions == 1 || chance(gen, 40))
		return &gen->region[0];
	return &gen->region[below(gen, gen->nr_regions)];
}

static void pick_span(struct generator *gen, const struct world *world, struct span *span)
{
	struct seam_area area;

	span->region = pick_region(gen);
	anywhere(gen, span->region, span);
	if (chance(gen, 30) || !area_in(world, span->region, span->start, &area))
		return;
	if (chance(gen, 60))
		part_of(gen, area.start, area.end, span);
	else if (chance(gen, 50))
		across(gen, world, span->region, &area, span);
	else
		hole_behind(gen, world, span->region, &area, span);
}

static void set_addr(struct op *op, int i, const struct region *region, uint64_t addr)
{
	op->ref[i] = region->ref;
	op->arg[i] = region->ref ? addr - region->base : addr;
}

static void set_span(struct op *op, const struct span *span)
{
	set_addr(op, 0, span->region, span->start);
	op->arg[1] = span->len;
}

static uint32_t pick_prot(struct generator *gen)
{
	return gen->is.prots[below(gen, gen->is.nr_prots)];
}

/* Offsets that continue their neighbours' more often than not. */
static uint64_t pick_offset(struct generator *gen, const struct span *span)
{
	uint64_t offset = span->start - span->region->base;

	return chance(gen, 80) ? offset : offset + below(gen, 4) * PAGE;
}

static uint64_t pick_length(struct generator *gen)
{
	if (gen->is.wide && chance(gen, 40))
		return (1 + below(gen, 3)) * HUGE_PAGE + (chance(gen, 20) ? PAGE : 0);
	return small(gen, 32) * PAGE;
}

static uint32_t pick_map_flags(struct generator *gen)
{
	const struct character *is = &gen->is;
	uint32_t flags = is->shared && chance(gen, 30) ? SEAM_MAP_SHARED : SEAM_MAP_PRIVATE;

	if (is->noreserve && chance(gen, 30))
		flags |= SEAM_MAP_NORESERVE;
	if (is->populate && chance(gen, 25))
		flags |= SEAM_MAP_POPULATE;
	if (is->locked && chance(gen, 15))
		flags |= SEAM_MAP_LOCKED;
	if (is->stacks && chance(gen, 15))
		flags |= chance(gen, 50) ? SEAM_MAP_GROWSDOWN : SEAM_MAP_STACK;
	return flags;
}

static void make_mmap(struct generator *gen, const struct world *world, struct op *op)
{
	uint32_t flags = pick_map_flags(gen);
	struct span span;

	pick_span(gen, world, &span);
	set_span(op, &span);
	op->arg[2] = pick_prot(gen);
	op->arg[4] = UINT64_MAX;
	if (gen->is.placed && chance(gen, 25)) {
		op->arg[0] = op->ref[0] = 0;
		op->arg[1] = pick_length(gen);
		if (gen->is.low && chance(gen, 30))
			flags |= SEAM_MAP_32BIT;
	} else if (chance(gen, 80)) {
		flags |= SEAM_MAP_FIXED;
	} else if (chance(gen, 50)) {
		flags |= SEAM_MAP_FIXED_NOREPLACE;
	}
	if (gen->is.files && chance(gen, 40)) {
		op->arg[4] = FIRST_FD + (chance(gen, 70) ? 0 : below(gen, NR_FDS));
		op->arg[5] = pick_offset(gen, &span);
	} else {
		flags |= SEAM_MAP_ANONYMOUS;
	}
	op->arg[3] = flags;
}

static void make_mremap(struct generator *gen, const struct world *world, struct op *op)
{
	struct span from, to;
	uint32_t flags = chance(gen, 70) ? SEAM_MREMAP_MAYMOVE : 0;

	pick_span(gen, world, &from);
	pick_span(gen, world, &to);
	set_span(op, &from);
	op->arg[2] = chance(gen, 40) ? from.len : chance(gen, 50) ? small(gen, 16) * PAGE : to.len;
	if (flags && chance(gen, 60)) {
		flags |= SEAM_MREMAP_FIXED;
		set_addr(op, 4, to.region, to.start);
	}
	if (flags && chance(gen, 20)) {
		flags |= SEAM_MREMAP_DONTUNMAP;
		op->arg[2] = from.len;
	}
	if (chance(gen, 4))
		op->arg[1] = 0;
	op->arg[3] = flags;
}

static void make_brk(struct generator *gen, struct op *op)
{
	/* the first one asks; later ones count from what it gave */
	if (!gen->heap.ref)
		return;
	set_addr(op, 0, &gen->heap, gen->heap.base + below(gen, gen->heap.len / 256) * 256);
	if (chance(gen, 80))
		op->arg[0] &= ~(PAGE - 1);
}

/* Arguments that the kernel refuses, or that are odd. */
static void spoil(struct generator *gen, struct op *op)
{
	switch (below(gen, 6)) {
	case 0:
		op->arg[0] += 1 + below(gen, PAGE - 1);
		break;
	case 1:
		op->arg[1] = 0;
		break;
	case 2:
		op->arg[1] += below(gen, PAGE);
		break;
	case 3:
		op->arg[1] = -(PAGE * below(gen, 16));
		break;
	case 4:
		op->arg[2] = below(gen, 64);
		break;
	default:
		op->arg[3] ^= 1u << below(gen, 18);
		break;
	}
}

static uint8_t pick_call(struct generator *gen)
{
	uint64_t at = below(gen, gen->total_weight);
	uint8_t call = 0;

	while (at >= gen->is.weight[call])
		at -= gen->is.weight[call++];
	return call;
}

static void make(struct generator *gen, const struct world *world, struct op *op)
{
	struct span span;

	memset(op, 0, sizeof(*op));
	op->call = pick_call(gen);
	switch (op->call) {
	case TRACE_CALL_mmap:
		make_mmap(gen, world, op);
		break;
	case TRACE_CALL_mremap:
		make_mremap(gen, world, op);
		break;
	case TRACE_CALL_brk:
		make_brk(gen, op);
		break;
	default:
		pick_span(gen, world, &span);
		set_span(op, &span);
		if (op->call == TRACE_CALL_mprotect)
			op->arg[2] = pick_prot(gen);
		else if (op->call == TRACE_CALL_madvise)
			op->arg[2] = gen->is.advices[below(gen, gen->is.nr_advices)];
		else if (op->call == TRACE_CALL_mlock2)
			op->arg[2] = chance(gen, 80);
		break;
	}
	if (gen->is.errors && chance(gen, 3) && op->call != TRACE_CALL_touch &&
	    op->call != TRACE_CALL_rtouch && op->call != TRACE_CALL_brk)
		spoil(gen, op);
}

/* A length that wraps is refused by every call before it does anything. */
static bool allows(const struct world *world, uint64_t addr, uint64_t len)
{
	return len >> 47 || world_allows(world, addr, len + PAGE);
}

/* Whether the process survives it: nothing of its own is named. */
static bool harmless(const struct world *world, const struct op *op, const uint64_t *args)
{
	switch (op->call) {
	case TRACE_CALL_mmap:
		return !(args[3] & SEAM_MAP_FIXED) || allows(world, args[0], args[1]);
	case TRACE_CALL_mremap:
		return allows(world, args[0], args[1]) && allows(world, args[0], args[2]) &&
		       (!(args[3] & SEAM_MREMAP_FIXED) || allows(world, args[4], args[2]));
	case TRACE_CALL_brk:
		return !args[0] || args[0] >= world->heap_floor;
	default:
		return allows(world, args[0], args[1]);
	}
}

/* Whether it takes no more memory and time than a test should. */
static bool modest(const struct op *op, const uint64_t *args)
{
	bool faults =
		op->call == TRACE_CALL_touch || op->call == TRACE_CALL_rtouch ||
		op->call == TRACE_CALL_mlock || op->call == TRACE_CALL_mlock2 ||
		(op->call == TRACE_CALL_mmap && args[3] & (SEAM_MAP_POPULATE | SEAM_MAP_LOCKED)) ||
		(op->call == TRACE_CALL_madvise && args[2] >= SEAM_MADV_COLD);

	return !faults || args[1] <= 64 * PAGE || args[1] >> 47;
}

void generate_next(struct generator *gen, const struct world *world, const struct script *script,
		   struct op *ret_op)
{
	uint64_t args[OP_ARGS];

	do {
		make(gen, world, ret_op);
	} while (!op_resolve(ret_op, script->result, args) || !harmless(world, ret_op, args) ||
		 !modest(ret_op, args));
}

static void add_region(struct generator *gen, const struct region *region)
{
	unsigned int i = gen->nr_regions;

	if (i == MAX_REGIONS)
		i = 1 + (unsigned int)below(gen, MAX_REGIONS - 1);
	else
		gen->nr_regions++;
	gen->region[i] = *region;
}

void generate_learn(struct generator *gen, uint32_t number, const struct op *op,
		    const uint64_t *args, int64_t result)
{
	uint64_t addr = (uint64_t)result;

	if (result < 0)
		return;
	if (op->call == TRACE_CALL_brk && !args[0])
		gen->heap = (struct region) { number, addr, 24 * PAGE };
	else if (op->call == TRACE_CALL_mmap && !(args[3] & SEAM_MAP_FIXED) && addr != args[0])
		add_region(gen, &(struct region) { number, addr, args[1] + 4 * PAGE });
	else if (op->call == TRACE_CALL_mremap && !(args[3] & SEAM_MREMAP_FIXED) && addr != args[0])
		add_region(gen, &(struct region) { number, addr, args[2] + 4 * PAGE });
}
