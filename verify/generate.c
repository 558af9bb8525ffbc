/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/generate.h"

#include <string.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/shm.h>

#include <seam/ops.h>

/* Younger than some headers. */
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

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

	if (world->has_mbind)
		w[TRACE_CALL_mbind] = weight(gen, 4, 8);
	if (world->has_uffd)
		w[TRACE_CALL_uffd_ioctl] = weight(gen, 4, 8);
	if (world->has_names)
		w[TRACE_CALL_prctl] = weight(gen, 4, 12);
	if (world->has_shm) {
		w[TRACE_CALL_shmat] = weight(gen, 4, 8);
		w[TRACE_CALL_shmdt] = w[TRACE_CALL_shmat] / 2;
	}
	w[TRACE_CALL_mseal] = weight(gen, 2, 6);
	if (gen->is.area_limit)
		return; /* all of the map would be walked again and again */
	w[TRACE_CALL_mlockall] = weight(gen, 2, 6);
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
	gen->nr_regions = 1;
}

void generate_begin(struct generator *gen, const struct world *world, uint64_t seed, uint64_t only,
		    uint64_t area_limit)
{
	struct character *is = &gen->is;

	*gen = (struct generator) { .random = seed, .chosen = only };
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
	is->droppable = chance(gen, 5);
	is->limits = chance(gen, 12) || only >> TRACE_CALL_rlimit & 1;
	is->area_limit = area_limit;
	if (!area_limit && !only && chance(gen, 2))
		is->area_limit = seam_space_areas(world->space) + 4 + below(gen, 32);
	draw_weights(gen, world, only);
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

static void make_mbind(struct generator *gen, struct op *op)
{
	static const uint8_t modes[] = { 0, 0, 1, 1, 2, 3, 4 };

	op->arg[2] = modes[below(gen, ARRAY_SIZE(modes))];
	/* default and local have no nodes */
	op->arg[3] = op->arg[2] % 4 ? 1 : 0;
	op->arg[4] = op->arg[3] ? 64 : 0;
}

static void make_uffd(struct generator *gen, const struct span *span, struct op *op)
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

static void make_shmat(struct generator *gen, const struct span *span, struct op *op)
{
	op->ref[0] = 0;
	op->arg[0] = 0;
	set_addr(op, 1, span->region, span->start);
	op->arg[2] = (chance(gen, 20) ? SHM_RDONLY : 0) | (chance(gen, 60) ? SHM_REMAP : 0);
	op->arg[3] = span->len < MAX_SEGMENT_LEN ? span->len : MAX_SEGMENT_LEN;
}

/* Near what is used now, or as it was. */
static void make_rlimit(struct generator *gen, const struct world *world, struct op *op)
{
	const struct seam_space_options *host = &world->host->options;
	struct seam_totals totals;
	uint64_t used, whole;

	seam_space_get_totals(world->space, &totals);
	op->ref[0] = 0;
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
}

static void make_mlockall(struct generator *gen, struct op *op)
{
	static const uint8_t flags[] = {
		SEAM_MCL_FUTURE,
		SEAM_MCL_FUTURE | SEAM_MCL_ONFAULT,
		SEAM_MCL_CURRENT | SEAM_MCL_ONFAULT,
		SEAM_MCL_CURRENT | SEAM_MCL_FUTURE | SEAM_MCL_ONFAULT,
		SEAM_MCL_ONFAULT,
		0,
	};

	op->arg[0] = flags[below(gen, ARRAY_SIZE(flags))];
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
	case TRACE_CALL_mbind:
		make_mbind(gen, op);
		break;
	case TRACE_CALL_uffd_ioctl:
		make_uffd(gen, &span, op);
		break;
	case TRACE_CALL_prctl:
		make_name(gen, &span, op);
		break;
	case TRACE_CALL_shmat:
		make_shmat(gen, &span, op);
		break;
	case TRACE_CALL_shmdt:
		op->arg[1] = 0;
		break;
	default:
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
	case TRACE_CALL_rlimit:
		make_rlimit(gen, world, op);
		break;
	case TRACE_CALL_mlockall:
		make_mlockall(gen, op);
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
	case TRACE_CALL_uffd_ioctl:
	case TRACE_CALL_prctl:
		return allows(world, args[2], args[3]);
	case TRACE_CALL_shmat:
		return allows(world, args[1], args[3]);
	case TRACE_CALL_shmdt:
		return allows(world, args[0], MAX_SEGMENT_LEN);
	case TRACE_CALL_rlimit:
	case TRACE_CALL_mlockall:
	case TRACE_CALL_munlockall:
	case TRACE_CALL_fork:
	case TRACE_CALL_limit:
	case OP_EXIT:
		return true;
	default:
		return allows(world, args[0], args[1]);
	}
}

/* Whether it takes no more memory and time than a test should. */
static bool modest(const struct op *op, const uint64_t *args)
{
	bool fills =
		op_faults_in(op, args) ||
		(op->call == TRACE_CALL_mmap && args[3] & (SEAM_MAP_POPULATE | SEAM_MAP_LOCKED)) ||
		(op->call == TRACE_CALL_madvise && args[2] >= SEAM_MADV_COLD);

	if (op->call == TRACE_CALL_madvise && args[2] == SEAM_MADV_COLLAPSE)
		return false;
	return !fills || args[1] <= 64 * PAGE || args[1] >> 47;
}

static bool meets_guards(const struct generator *gen, uint64_t start, uint64_t end)
{
	for (unsigned int i = 0; i < gen->nr_guarded; i++)
		if (start < gen->guarded[i].end && end > gen->guarded[i].start)
			return true;
	return false;
}

/* Small pages that were there keep a huge page away, and with it an anon_vma. */
static bool may_be_huge(const struct world *world, const struct seam_area *area)
{
	uint64_t first = (area->start + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	uint32_t options = world->host->options.flags;

	if (area->anon_vma || area->file || first + HUGE_PAGE > area->end)
		return false;
	return area->flags & SEAM_VM_HUGEPAGE || options & SEAM_SPACE_THP_ALWAYS;
}

/* Whether a fault in the range may find what the model does not know: its outcome hangs on pages. */
static bool hangs_on_pages(const struct generator *gen, const struct world *world,
			   const struct op *op, const uint64_t *args)
{
	uint64_t end = args[0] + args[1], at = args[0];
	struct seam_area area;

	if (!op_faults_in(op, args) || args[1] >> 47)
		return false;
	if (meets_guards(gen, args[0] & ~(PAGE - 1), end))
		return true;
	while (seam_area_next(world->space, &at, &area)) {
		/* the first area above may grow down to the range */
		if (area.start >= end && !(area.flags & SEAM_VM_GROWSDOWN))
			break;
		if (area.flags & SEAM_VM_UFFD_MISSING ||
		    (op->call != TRACE_CALL_touch && may_be_huge(world, &area)))
			return true;
		if (area.start >= end)
			break;
	}
	return false;
}

/* Kernels differ in whether one userfaultfd may take back what another one has (6.16). */
static bool others_uffd(const struct world *world, const struct op *op, const uint64_t *args)
{
	uint64_t at = args[2];
	struct seam_area area;

	if (op->call != TRACE_CALL_uffd_ioctl || args[1] != UFFDIO_UNREGISTER)
		return false;
	while (seam_area_next(world->space, &at, &area) && area.start < args[2] + args[3])
		if (area.uffd && area.uffd != args[0])
			return true;
	return false;
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
	} while (!op_resolve(ret_op, script->result, args) || !harmless(world, ret_op, args) ||
		 !modest(ret_op, args) || hangs_on_pages(gen, world, ret_op, args) ||
		 others_uffd(world, ret_op, args));
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

static void add_guarded(struct generator *gen, uint64_t start, uint64_t end)
{
	if (gen->nr_guarded == MAX_GUARDED) {
		gen->guarded[0] = (struct range) { 0, UINT64_MAX };
		gen->nr_guarded = 1;
	} else {
		gen->guarded[gen->nr_guarded++] = (struct range) { start, end };
	}
}

/* What lay in the range is gone. A hole in the middle of a guarded range stays guarded. */
static void forget_guarded(struct generator *gen, uint64_t start, uint64_t end)
{
	for (unsigned int i = 0; i < gen->nr_guarded;) {
		struct range *range = &gen->guarded[i];

		if (range->start >= start && range->start < end)
			range->start = end;
		if (range->end > start && range->end <= end)
			range->end = start;
		if (range->start >= range->end)
			*range = gen->guarded[--gen->nr_guarded];
		else
			i++;
	}
}

/* Shared memory that has grown: there is nothing behind the end of the object. */
static void learn_growth(struct generator *gen, const struct world *world, const uint64_t *args,
			 uint64_t result)
{
	struct seam_area area;

	if (args[2] > args[1] && seam_area_find(world->space, result, &area) &&
	    area.flags & SEAM_VM_MAYSHARE)
		add_guarded(gen, result, result + args[2]);
}

static void learn_guards(struct generator *gen, const struct op *op, const uint64_t *args,
			 int64_t result)
{
	bool moved_guards;

	switch (op->call) {
	case TRACE_CALL_madvise:
		if (args[2] == SEAM_MADV_GUARD_INSTALL && !(args[1] >> 47))
			add_guarded(gen, args[0], args[0] + args[1]);
		else if (args[2] == SEAM_MADV_GUARD_REMOVE && !result)
			forget_guarded(gen, args[0], args[0] + args[1]);
		break;
	case TRACE_CALL_munmap:
		if (!result)
			forget_guarded(gen, args[0], args[0] + args[1]);
		break;
	case TRACE_CALL_mmap:
		if (result >= 0)
			forget_guarded(gen, (uint64_t)result, (uint64_t)result + args[1]);
		break;
	case TRACE_CALL_mremap:
		moved_guards = !(args[1] >> 47) && meets_guards(gen, args[0], args[0] + args[1]);
		if (result >= 0 && (uint64_t)result != args[0])
			forget_guarded(gen, (uint64_t)result, (uint64_t)result + args[2]);
		/* a move of several areas may have stopped half way */
		if (moved_guards && args[3] & SEAM_MREMAP_FIXED && !(args[2] >> 47))
			add_guarded(gen, args[4], args[4] + args[2]);
		if (moved_guards && result >= 0)
			add_guarded(gen, (uint64_t)result, (uint64_t)result + args[2]);
		break;
	default:
		break;
	}
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

	learn_guards(gen, op, args, result);
	if (result < 0)
		return;
	if (op->call == TRACE_CALL_mremap)
		learn_growth(gen, world, args, addr);
	if (op->call == TRACE_CALL_brk && !args[0])
		gen->heap = (struct region) { number, addr, 24 * PAGE };
	else if (op->call == TRACE_CALL_mmap && !(args[3] & SEAM_MAP_FIXED) && addr != args[0])
		add_region(gen, &(struct region) { number, addr, args[1] + 4 * PAGE });
	else if (op->call == TRACE_CALL_mremap && !(args[3] & SEAM_MREMAP_FIXED) && addr != args[0])
		add_region(gen, &(struct region) { number, addr, args[2] + 4 * PAGE });
}
