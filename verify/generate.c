/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/generate.h"

#include <string.h>

#include <seam/ops.h>

#include "probe/uapi.h"
#include "verify/admit.h"
#include "verify/chance.h"
#include "verify/rare.h"

static uint64_t region_end(const struct region *region)
{
	return region->base + region->len;
}

/* The area that holds @addr or the next one up, as far as it lies in the region. */
static bool area_in(const struct world *world, const struct region *region, uint64_t addr,
		    struct seam_area *ret_area)
{
	struct seam_area area;

	if (!seam_area_find(world->space, addr, &area) || area.start >= region_end(region) ||
	    area.end <= region->base)
		return false;
	if (area.start < region->base)
		area.start = region->base;
	if (area.end > region_end(region))
		area.end = region_end(region);
	*ret_area = area;
	return true;
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
	if (gen->heap.len && chance(gen, 30))
		return &gen->heap;
	if (gen->nr_regions == 1 || chance(gen, 40))
		return &gen->region[0];
	return &gen->region[below(gen, gen->nr_regions)];
}

static void pick_plain_span(struct generator *gen, const struct world *world, struct span *span)
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

/* Huge pages are whole more often than not. */
static void widen(struct generator *gen, struct span *span)
{
	uint64_t end = span->start + span->len;

	if (!gen->is.huge || span->region != &gen->region[0] || chance(gen, 25))
		return;
	span->start &= ~(HUGE_PAGE - 1);
	span->len = ((end + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1)) - span->start;
}

static void pick_span(struct generator *gen, const struct world *world, struct span *span)
{
	pick_plain_span(gen, world, span);
	widen(gen, span);
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
	if (is->droppable && chance(gen, 30))
		flags = (flags & ~SEAM_MAP_TYPE) | SEAM_MAP_DROPPABLE;
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
	if (gen->is.huge && chance(gen, 60)) {
		/* whether there are any huge pages is another matter: without NORESERVE it matters */
		flags |= SEAM_MAP_ANONYMOUS | SEAM_MAP_HUGETLB;
		flags |= chance(gen, 80) ? SEAM_MAP_NORESERVE : 0;
		flags &= ~(SEAM_MAP_POPULATE | SEAM_MAP_LOCKED);
		op->arg[5] = chance(gen, 4) ? PAGE : 0;
	} else if (gen->is.files && chance(gen, 40)) {
		op->arg[4] = chance(gen, 75) ? gen->is.file : FIRST_FD + below(gen, NR_FDS);
		op->arg[5] = pick_offset(gen, &span);
		if (flags & SEAM_MAP_SHARED && chance(gen, 5))
			flags |= SEAM_MAP_SHARED_VALIDATE | (chance(gen, 50) ? SEAM_MAP_SYNC : 0);
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
	if (!gen->heap.len)
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

static void make_ranged(struct generator *gen, const struct world *world, struct op *op)
{
	struct span span;

	pick_span(gen, world, &span);
	set_span(op, &span);
	switch (op->call) {
	case TRACE_CALL_mprotect:
		op->arg[2] = pick_prot(gen);
		break;
	case TRACE_CALL_madvise:
		op->arg[2] = gen->is.advices[below(gen, gen->is.nr_advices)];
		break;
	case TRACE_CALL_mlock2:
		op->arg[2] = chance(gen, 80);
		break;
	default:
		make_rare(gen, world, &span, op);
		break;
	}
}

static bool may_spoil(const struct op *op)
{
	switch (op->call) {
	case TRACE_CALL_mmap:
	case TRACE_CALL_munmap:
	case TRACE_CALL_mprotect:
	case TRACE_CALL_mremap:
	case TRACE_CALL_madvise:
	case TRACE_CALL_mlock:
	case TRACE_CALL_mlock2:
	case TRACE_CALL_munlock:
		return true;
	default:
		return false;
	}
}

static void make(struct generator *gen, const struct world *world, struct op *op)
{
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
	case TRACE_CALL_munlockall:
	case TRACE_CALL_fork:
	case OP_EXIT:
		break;
	default:
		make_ranged(gen, world, op);
		break;
	}
	if (gen->is.errors && chance(gen, 3) && may_spoil(op))
		spoil(gen, op);
}

void generate_next(struct generator *gen, const struct world *world, const struct script *script,
		   struct op *ret_op)
{
	uint64_t args[OP_ARGS];

	if (gen->is.area_limit && !world->filled) {
		memset(ret_op, 0, sizeof(*ret_op));
		ret_op->call = TRACE_CALL_limit;
		ret_op->arg[0] = gen->is.area_limit;
		return;
	}
	do {
		make(gen, world, ret_op);
	} while (!op_resolve(ret_op, script->result, args) || !admit(gen, world, ret_op, args));
	gen->moves_touched = admit_moves_touched(world, ret_op, args);
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

void generate_forked(struct generator *gen, uint32_t space)
{
	gen->random ^= (space + 1) * UINT64_C(0xd1342543de82ef95);
}

uint32_t generate_turn(struct generator *gen, const bool *alive, uint32_t nr_spaces,
		       uint32_t current)
{
	uint32_t turn;

	if (nr_spaces == 1 || !chance(gen, 12))
		return current;
	turn = (uint32_t)below(gen, nr_spaces);
	return alive[turn] ? turn : current;
}

void generate_learn(struct generator *gen, const struct world *world, uint32_t number,
		    const struct op *op, const uint64_t *args, int64_t result)
{
	uint64_t addr = (uint64_t)result;

	admit_learn(gen, world, op, args, result);
	if (result < 0)
		return;
	if (op->call == TRACE_CALL_brk && !args[0])
		gen->heap = (struct region) { number, addr, 24 * PAGE };
	else if (op->call == TRACE_CALL_prctl && args[0] == PR_SET_MM && args[1] == PR_SET_MM_BRK)
		gen->heap = (struct region) { 0, (args[2] & ~(PAGE - 1)) - 4 * PAGE, 24 * PAGE };
	else if (op->call == TRACE_CALL_mmap && !(args[3] & SEAM_MAP_FIXED) && addr != args[0])
		add_region(gen, &(struct region) { number, addr, args[1] + 4 * PAGE });
	else if (op->call == TRACE_CALL_mremap && !(args[3] & SEAM_MREMAP_FIXED) && addr != args[0])
		add_region(gen, &(struct region) { number, addr, args[2] + 4 * PAGE });
}
