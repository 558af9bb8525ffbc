/* SPDX-License-Identifier: BSD-2-Clause */
/* Granules against a look at each guest page; and spaces with pages of 4 to 64 KiB. */
#include "tests/random.h"
#include "tests/unit/space.h"

#define PAGES 160

static struct seam_space *granular(uint32_t page_shift, uint32_t host_page_shift)
{
	struct seam_space_options options = space_options("plain");

	options.page_shift = page_shift;
	options.host_page_shift = host_page_shift;
	return space_new(&options);
}

/* One granule, page by page. */
static struct seam_granule slow_granule(const struct seam_space *space, uint64_t addr,
					uint64_t page, uint64_t size)
{
	struct seam_granule g = { .start = addr & ~(size - 1), .prot_all = SEAM_VM_RWX };
	struct seam_area first = { 0 }, area;
	uint64_t holes = 0;

	g.end = g.start + size;
	for (uint64_t at = g.start; at < g.end; at += page) {
		uint32_t prot;

		if (!seam_area_find(space, at, &area) || area.start > at) {
			holes++;
			continue;
		}
		prot = area.flags & SEAM_VM_RWX;
		g.areas += area.start == at || at == g.start;
		g.prot_any |= prot;
		g.prot_all &= prot;
		if (!g.mapped)
			first = area;
		if ((first.flags & SEAM_VM_RWX) != prot)
			g.differ |= SEAM_GRANULE_PROT;
		if (first.file != area.file || (first.flags ^ area.flags) & SEAM_VM_SHARED)
			g.differ |= SEAM_GRANULE_FILE;
		else if (area.file && area.pgoff + (at - area.start) / page !=
					      first.pgoff + (at - first.start) / page)
			g.differ |= SEAM_GRANULE_PGOFF;
		g.mapped += page;
	}
	if (!g.mapped)
		g.prot_all = 0;
	else if (holes)
		g.differ |= SEAM_GRANULE_HOLE;
	return g;
}

static bool same(const struct seam_granule *a, const struct seam_granule *b)
{
	return a->start == b->start && a->end == b->end && a->mapped == b->mapped &&
	       a->differ == b->differ && a->prot_any == b->prot_any && a->prot_all == b->prot_all &&
	       a->areas == b->areas;
}

static bool walk_agrees(const struct seam_space *space, uint64_t page, uint64_t size, uint64_t from,
			uint64_t to, uint32_t what)
{
	struct seam_granule g, slow;
	uint64_t at = from;

	for (uint64_t addr = from & ~(size - 1); addr < to; addr += size) {
		slow = slow_granule(space, addr, page, size);
		seam_granule_at(space, addr + random_below(size), &g);
		if (!same(&g, &slow))
			return false;
		if (!(slow.differ & what))
			continue;
		if (!seam_granule_next(space, &at, to, what, &g) || !same(&g, &slow))
			return false;
	}
	return !seam_granule_next(space, &at, to, what, &g);
}

static void change(struct seam_space *space, uint64_t page)
{
	static const struct seam_file files[] = {
		{ .id = 3, .traits = SEAM_FILE_READ | SEAM_FILE_WRITE },
		{ .id = 4, .traits = SEAM_FILE_READ | SEAM_FILE_WRITE },
	};
	uint64_t at = random_below(PAGES), len = (1 + random_below(9)) * page, value;
	struct seam_mmap args = { .addr = BASE + at * page,
				  .len = len,
				  .prot = (uint32_t)random_below(4),
				  .flags = ANON | FIXED };

	if (random_below(2)) {
		args.file = &files[random_below(2)];
		args.pgoff = random_below(2) ? at : at / 2;
		args.flags = (random_below(2) ? SEAM_MAP_SHARED : SEAM_MAP_PRIVATE) | FIXED;
	}
	if (!random_below(3))
		seam_space_munmap(space, args.addr, len);
	else if (!random_below(3))
		seam_space_mprotect(space, args.addr, len, args.prot, -1);
	else
		seam_space_mmap(space, &args, &value);
}

static void against_pages(uint32_t page_shift, uint32_t host_page_shift)
{
	static const uint32_t whats[] = { SEAM_GRANULE_MIXED, SEAM_GRANULE_PROT, SEAM_GRANULE_FILE,
					  SEAM_GRANULE_PGOFF,
					  SEAM_GRANULE_MIXED | SEAM_GRANULE_FILE };
	struct seam_space *space = granular(page_shift, host_page_shift);
	uint64_t page = UINT64_C(1) << page_shift, size = UINT64_C(1) << host_page_shift;
	unsigned int call;
	bool good = true;

	for (call = 0; call < 3000 && good; call++) {
		change(space, page);
		good = walk_agrees(space, page, size, BASE + random_below(PAGES / 2) * page,
				   BASE + (PAGES / 2 + random_below(PAGES)) * page,
				   whats[call % (sizeof(whats) / sizeof(whats[0]))]) &&
		       !seam_space_check(space);
	}
	ok(good, "pages of %u KiB in granules of %u KiB, %u calls", 1u << (page_shift - 10),
	   1u << (host_page_shift - 10), call);
	seam_space_destroy(space);
}

static void edges(void)
{
	struct seam_space_options options = space_options("plain");
	struct seam_space *space = granular(0, 16);
	struct seam_granule g;
	uint64_t at = 0;

	ok(!seam_granule_next(space, &at, UINT64_MAX, SEAM_GRANULE_MIXED, &g), "nothing is mapped");
	map(space, 0, 16, RW, 0);
	map(space, 16, 16, R, 0);
	ok(!seam_granule_next(space, &at, UINT64_MAX, SEAM_GRANULE_MIXED, &g),
	   "a border between granules mixes none");
	protect(space, 20, 1, RW);
	ok(seam_granule_next(space, &at, UINT64_MAX, SEAM_GRANULE_MIXED, &g) && g.start == AT(16) &&
		   at == AT(32) && g.differ == SEAM_GRANULE_PROT && g.prot_any == RW &&
		   g.prot_all == R && g.areas == 3,
	   "one within does");
	seam_space_destroy(space);
	space = granular(0, 0);
	map(space, 0, 1, RW, 0);
	at = 0;
	ok(!seam_granule_next(space, &at, UINT64_MAX, SEAM_GRANULE_MIXED, &g),
	   "granules of a page");
	seam_space_destroy(space);
	options.page_shift = 14;
	options.host_page_shift = 12;
	ok(seam_space_create(&options, &space) == -SEAM_EINVAL, "granules below a page");
	options.page_shift = 17;
	ok(seam_space_create(&options, &space) == -SEAM_EINVAL, "pages beyond 64 KiB");
}

/* The last granule of all addresses ends at 2^64, which is told as 0; a walk ends there too. */
static void top_of_addresses(void)
{
	struct seam_space_options options = space_options("plain");
	uint64_t start = UINT64_C(0xffffffffffff0000), at, found = 0;
	struct seam_mmap args = { .addr = start, .len = PAGE, .prot = RW, .flags = ANON | FIXED };
	struct seam_granule g;
	struct seam_space *space;

	options.host_page_shift = 16;
	options.user_end = UINT64_C(0) - PAGE;
	space = space_new(&options);
	seam_space_mmap(space, &args, &at);
	args.addr += PAGE;
	args.prot = R;
	seam_space_mmap(space, &args, &at);
	seam_granule_at(space, start, &g);
	ok(g.start == start && !g.end && g.mapped == 2 * PAGE && g.areas == 2,
	   "the last granule of all addresses");
	at = 0;
	while (found < 9 && seam_granule_next(space, &at, UINT64_MAX, SEAM_GRANULE_MIXED, &g))
		found++;
	ok(found == 1 && g.start == start, "a walk finds it once: %u", (unsigned int)found);
	at = 0;
	ok(!seam_granule_next(space, &at, UINT64_MAX, SEAM_GRANULE_FILE, &g),
	   "or passes it and ends");
	seam_space_destroy(space);
}

/* The layout follows the page: what it places is aligned to it, up to the top of user space. */
static void placed(uint32_t page_shift, enum seam_arch arch)
{
	struct seam_space_options options = space_options("linux-6.18");
	uint64_t page = UINT64_C(1) << page_shift, at, last = 0;
	struct seam_mmap args = { .len = 1, .prot = RW, .flags = ANON };
	struct seam_space *space;
	bool good = true;

	options.page_shift = page_shift;
	options.arch = arch;
	space = space_new(&options);
	for (unsigned int i = 0; i < 50; i++, last = at, args.prot ^= SEAM_PROT_WRITE)
		good = good && !seam_space_mmap(space, &args, &at) && !(at % page) &&
		       (!last || at == last - page);
	args.addr = 0x20000000;
	args.len = 3 * page + 1;
	good = good && !seam_space_mmap(space, &args, &at) && at == args.addr &&
	       !seam_space_munmap(space, at, 4 * page) && seam_space_areas(space) == 50;
	ok(good && !seam_space_check(space), "arch %d, pages of %u KiB", arch,
	   1u << (page_shift - 10));
	seam_space_destroy(space);
}

int main(void)
{
	edges();
	top_of_addresses();
	against_pages(12, 12);
	against_pages(12, 14);
	against_pages(12, 16);
	against_pages(12, 21);
	against_pages(14, 16);
	for (uint32_t shift = 12; shift <= 16; shift++) {
		placed(shift, SEAM_ARCH_X86_64);
		placed(shift, SEAM_ARCH_I386);
	}
	return tap_done();
}
