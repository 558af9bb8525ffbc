/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every allocation of every call fails once, alone or with all that follow: the call then gives
 * -SEAM_EALLOC and the space is as it was, to the last counter; done again with memory it works.
 */
#include "lib/calls.h"
#include "tests/unit/space.h"

struct allocator {
	uint64_t nr;	  /* allocations so far */
	uint64_t fail_at; /* 0: never */
	uint64_t held;	  /* bytes given out */
	bool lasting;	  /* and from then on, also while the call is taken back */
};

static bool fails(struct allocator *a)
{
	return ++a->nr == a->fail_at || (a->lasting && a->fail_at && a->nr > a->fail_at);
}

static void *alloc(void *ctx, size_t size)
{
	struct allocator *a = ctx;
	void *ptr = fails(a) ? NULL : malloc(size);

	if (ptr)
		a->held += size;
	return ptr;
}

static void release(void *ctx, void *ptr, size_t size)
{
	struct allocator *a = ctx;

	a->held -= size;
	free(ptr);
}

/* Always moves, so that a stale pointer is met by the sanitizers. */
static void *resize(void *ctx, void *ptr, size_t old_size, size_t size)
{
	void *fresh = alloc(ctx, size);

	if (fresh) {
		memcpy(fresh, ptr, old_size < size ? old_size : size);
		release(ctx, ptr, old_size);
	}
	return fresh;
}

#define MOST_AREAS 1024

/* All that can be seen of a space. */
struct picture {
	struct seam_area areas[MOST_AREAS];
	uint64_t nr;
	struct seam_stats stats;
	struct seam_totals totals;
	uint64_t brk;
};

static void take_picture(const struct seam_space *space, struct picture *ret)
{
	uint64_t at = 0;

	memset(ret, 0, sizeof(*ret));
	while (ret->nr < MOST_AREAS && seam_area_next(space, &at, &ret->areas[ret->nr]))
		ret->nr++;
	seam_space_get_stats(space, &ret->stats);
	seam_space_get_totals(space, &ret->totals);
	ret->brk = seam_space_get_brk(space);
}

static const struct seam_file file = { .id = 5, .traits = SEAM_FILE_READ | SEAM_FILE_WRITE };

static int call_mmap(struct seam_space *space)
{
	return map(space, 1, 1, RW, SEAM_MAP_POPULATE | SEAM_MAP_NORESERVE);
}

static int call_mmap_over(struct seam_space *space)
{
	return map(space, 3, 37, RW, SEAM_MAP_LOCKED);
}

static int call_mmap_file(struct seam_space *space)
{
	struct seam_mmap args = {
		.len = PAGE,
		.prot = RW,
		.flags = SEAM_MAP_PRIVATE | SEAM_MAP_POPULATE,
		.file = &file,
	};
	uint64_t addr;

	return seam_space_mmap(space, &args, &addr);
}

static int call_mmap_shared(struct seam_space *space)
{
	return map(space, 0, 2, RW, SEAM_MAP_SHARED | SEAM_MAP_ANONYMOUS);
}

static int call_munmap(struct seam_space *space)
{
	return unmap(space, 3, 40);
}

static int call_munmap_middle(struct seam_space *space)
{
	return unmap(space, 101, 1);
}

static int call_mprotect(struct seam_space *space)
{
	return protect(space, 101, 1, R);
}

static int call_mprotect_file(struct seam_space *space)
{
	return protect(space, 102, 3, SEAM_PROT_EXEC);
}

static int call_mremap_grow(struct seam_space *space)
{
	return remap(space, 100, 5, 8, SEAM_MREMAP_MAYMOVE, 0);
}

static int call_mremap_move(struct seam_space *space)
{
	return remap(space, 101, 2, 2, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 4);
}

static int call_mremap_dontunmap(struct seam_space *space)
{
	return remap(space, 101, 2, 2, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_DONTUNMAP, 0);
}

static int call_mremap_shrink(struct seam_space *space)
{
	return remap(space, 101, 3, 1, 0, 0);
}

static int call_madvise(struct seam_space *space)
{
	return seam_space_madvise(space, AT(101), PAGE, SEAM_MADV_DONTDUMP);
}

static int call_guard(struct seam_space *space)
{
	return seam_space_madvise(space, AT(110), PAGE, SEAM_MADV_GUARD_INSTALL);
}

static int call_mlock(struct seam_space *space)
{
	return seam_space_mlock(space, AT(110), PAGE, 0);
}

static int call_mlockall(struct seam_space *space)
{
	return seam_space_mlockall(space, SEAM_MCL_CURRENT | SEAM_MCL_FUTURE);
}

static int call_munlock(struct seam_space *space)
{
	return seam_space_munlock(space, AT(115), PAGE);
}

static int call_mseal(struct seam_space *space)
{
	return seam_space_mseal(space, AT(111), PAGE, 0);
}

static int call_brk(struct seam_space *space)
{
	uint64_t brk;

	return seam_space_brk(space, AT(230), &brk);
}

static int call_touch(struct seam_space *space)
{
	return touch(space, 110, 4);
}

static int call_grow(struct seam_space *space)
{
	return touch(space, 5000, 1);
}

static int call_stack(struct seam_space *space)
{
	return seam_space_stack(space, AT(900), 4 * PAGE);
}

static int call_mbind(struct seam_space *space)
{
	return seam_space_mbind(space, AT(111), PAGE, 3);
}

static int call_uffd(struct seam_space *space)
{
	return seam_space_uffd_register(space, AT(111), PAGE, 3, SEAM_VM_UFFD_MISSING);
}

static int call_set_name(struct seam_space *space)
{
	return seam_space_set_name(space, AT(111), PAGE, 3);
}

static int call_remap_file_pages(struct seam_space *space)
{
	return seam_space_remap_file_pages(space, AT(5501), PAGE, 0, 5, 0);
}

static int call_memory_merge(struct seam_space *space)
{
	return seam_space_set_memory_merge(space, 1);
}

static int call_set_bound(struct seam_space *space)
{
	return seam_space_set_bound(space, SEAM_BOUND_BRK, AT(200000));
}

static int call_munlockall(struct seam_space *space)
{
	return seam_space_munlockall(space);
}

static int call_uffd_unregister(struct seam_space *space)
{
	return seam_space_uffd_unregister(space, AT(5601), PAGE, 0);
}

static int call_set_tag(struct seam_space *space)
{
	return seam_space_set_tag(space, AT(111), PAGE, 7);
}

static int call_adopt(struct seam_space *space)
{
	struct seam_area area = {
		.start = AT(2),
		.end = AT(300),
		.flags = SEAM_VM_READ | SEAM_VM_MAYREAD,
		.anon_vma = 17,
		.anon_chain = 2,
	};

	return seam_space_adopt(space, &area);
}

static int call_forget(struct seam_space *space)
{
	return seam_space_forget(space, AT(101), AT(103));
}

static int call_fork(struct seam_space *space)
{
	struct seam_space *child;
	int err = seam_space_fork(space, &child);

	if (!err)
		seam_space_destroy(child);
	return err;
}

static int call_snapshot(struct seam_space *space)
{
	struct seam_space *copy;
	int err = seam_space_snapshot(space, &copy);

	if (!err)
		seam_space_destroy(copy);
	return err;
}

/* A member of the table of calls, by its place there; what is no call of a kernel has none. */
#define MEMBER(call) (1 + offsetof(struct seam_calls, call) / sizeof(void (*)(void)))
#define NR_MEMBERS (sizeof(struct seam_calls) / sizeof(void (*)(void)))

static const struct {
	const char *name;
	size_t member;
	int (*call)(struct seam_space *space);
	bool needs_none; /* it changes no area */
} calls[] = {
	{ "mmap", MEMBER(mmap), call_mmap },
	{ "mmap over many", MEMBER(mmap), call_mmap_over },
	{ "mmap of a file", MEMBER(mmap), call_mmap_file },
	{ "mmap, shared", MEMBER(mmap), call_mmap_shared },
	{ "munmap", MEMBER(munmap), call_munmap },
	{ "munmap of a middle", MEMBER(munmap), call_munmap_middle },
	{ "mprotect", MEMBER(mprotect), call_mprotect },
	{ "mprotect of several", MEMBER(mprotect), call_mprotect_file },
	{ "mremap, growing", MEMBER(mremap), call_mremap_grow },
	{ "mremap, moving", MEMBER(mremap), call_mremap_move },
	{ "mremap DONTUNMAP", MEMBER(mremap), call_mremap_dontunmap },
	{ "mremap, shrinking", MEMBER(mremap), call_mremap_shrink },
	{ "madvise", MEMBER(madvise), call_madvise },
	{ "madvise GUARD_INSTALL", MEMBER(madvise), call_guard },
	{ "mlock", MEMBER(mlock), call_mlock },
	{ "mlockall", MEMBER(mlockall), call_mlockall },
	{ "munlock", MEMBER(munlock), call_munlock },
	{ "munlockall", MEMBER(munlockall), call_munlockall },
	{ "mseal", MEMBER(mseal), call_mseal },
	{ "brk", MEMBER(brk), call_brk },
	{ "touch", MEMBER(touch), call_touch },
	{ "stack growth", MEMBER(touch), call_grow },
	{ "stack", MEMBER(stack), call_stack },
	{ "mbind", MEMBER(mbind), call_mbind },
	{ "uffd_register", MEMBER(uffd_register), call_uffd },
	{ "uffd_unregister", MEMBER(uffd_unregister), call_uffd_unregister },
	{ "set_name", MEMBER(set_name), call_set_name },
	{ "set_tag", MEMBER(set_tag), call_set_tag },
	{ "remap_file_pages", MEMBER(remap_file_pages), call_remap_file_pages },
	{ "memory_merge", MEMBER(memory_merge), call_memory_merge },
	{ "set_bound", MEMBER(set_bound), call_set_bound, true },
	{ "fork", MEMBER(fork), call_fork },
	{ "adopt", 0, call_adopt },
	{ "forget", 0, call_forget },
	{ "snapshot", 0, call_snapshot },
};

/* Areas of a node of the index, and so many that the first blocks for nodes are nearly used up. */
#define NODE 28
#define CROWD (11 * NODE)

/* What a space holds beside the areas that the calls are about. */
struct fill {
	unsigned int extra; /* areas that bring its tables to where they have to grow */
	unsigned int crowd; /* areas that fill the nodes of the index */
	uint32_t flags;
	bool lasting; /* where memory fails, it fails to the end */
};

static struct seam_space *prepared(struct allocator *a, const struct fill *fill)
{
	struct seam_alloc with = { .alloc = alloc, .free = release, .realloc = resize, .ctx = a };
	struct seam_space_options options = space_options("linux-6.18.44");
	struct seam_space *space;

	options.alloc = &with;
	options.flags |= fill->flags;
	space = space_new(&options);
	for (unsigned int i = 0; i < fill->crowd; i++)
		map(space, 1000 + 2 * i, 1, i & 1 ? R : RW, 0);
	map(space, 100, 5, RW, 0);
	touch(space, 100, 5);
	map(space, 105, 1, R, 0);
	map(space, 110, 4, RW, 0);
	map(space, 115, 3, RW, SEAM_MAP_LOCKED);
	/* unlocked, it is a set of its own */
	seam_space_mbind(space, AT(115), 3 * PAGE, 99);
	map(space, 5010, 2, RW, SEAM_MAP_GROWSDOWN);
	seam_space_set_brk(space, AT(220), AT(220));
	for (unsigned int i = 0; i < fill->extra; i++) {
		uint64_t page = (i < 40 ? 4 : 6000) + 2 * i;

		map(space, page, 1, RW, i & 1 ? SEAM_MAP_NORESERVE : 0);
		touch(space, page, 1);
		/* sets that nothing else has */
		seam_space_mbind(space, AT(page), PAGE, 100 + i);
	}
	map(space, 5600, 3, RW, 0);
	seam_space_uffd_register(space, AT(5600), 3 * PAGE, 4, SEAM_VM_UFFD_MISSING);
	/* mapped anew, it is a set without NORESERVE */
	map(space, 5500, 4, RW, SEAM_MAP_SHARED | SEAM_MAP_ANONYMOUS | SEAM_MAP_NORESERVE);
	return space;
}

/*
 * One call at one size, each of its allocations failing in turn. The number of failures. Copies for
 * readers are done without when there is no memory for them: then the call succeeds.
 */
static unsigned int try_call(unsigned int which, const struct fill *fill, bool *good)
{
	static struct picture before, after;
	unsigned int failures = 0;

	for (uint64_t n = 1;; n++) {
		struct allocator a = { 0 };
		struct seam_space *space = prepared(&a, fill);
		uint64_t fail_at = a.nr + n;
		int err, again;

		take_picture(space, &before);
		a.fail_at = fail_at;
		a.lasting = fill->lasting;
		err = calls[which].call(space);
		take_picture(space, &after);
		if (err == -SEAM_EALLOC) {
			failures++;
			a.fail_at = 0;
			if (memcmp(&before, &after, sizeof(before)) || seam_space_check(space))
				*good = false;
			again = calls[which].call(space);
			if (again)
				*good = false;
		} else if (err) {
			*good = false;
		}
		if (seam_space_check(space))
			*good = false;
		seam_space_destroy(space);
		if (a.held)
			*good = false;
		if (a.nr < fail_at || !*good)
			return failures;
	}
}

static unsigned int try_fills(unsigned int which, bool lasting, bool *good)
{
	struct fill fill = { .lasting = lasting };
	unsigned int failures = 0;

	for (fill.extra = 0; fill.extra < 70 && *good; fill.extra++)
		failures += try_call(which, &fill, good);
	fill.flags = SEAM_SPACE_COUNT_STEPS;
	for (fill.extra = 0; fill.extra < 70 && *good; fill.extra += 13)
		failures += try_call(which, &fill, good);
	fill.flags = SEAM_SPACE_READERS;
	for (fill.extra = 0; fill.extra < 70 && *good; fill.extra += 3)
		failures += try_call(which, &fill, good);
	/* one area more finds room in its node, but for some of these numbers */
	fill = (struct fill) { .lasting = lasting };
	for (fill.crowd = CROWD; fill.crowd < CROWD + 4 * NODE && *good; fill.crowd++)
		failures += try_call(which, &fill, good);
	return failures;
}

static void all_calls(void)
{
	for (unsigned int which = 0; which < sizeof(calls) / sizeof(calls[0]); which++) {
		bool good = true;
		unsigned int once = try_fills(which, false, &good);
		unsigned int lasting = try_fills(which, true, &good);

		ok(good && !once == calls[which].needs_none && !lasting == !once,
		   "%s: %u failures taken back, %u that lasted", calls[which].name, once, lasting);
	}
}

/* Every call that a kernel of the table has is among them. */
static void whole_table(void)
{
	for (size_t member = 1; member <= NR_MEMBERS; member++) {
		bool tried = false;

		for (unsigned int which = 0; which < sizeof(calls) / sizeof(calls[0]); which++)
			tried |= calls[which].member == member;
		ok(tried, "call %zu of the table of calls is tried", member);
	}
}

static void creation(uint32_t flags)
{
	bool good = true;
	int err = -SEAM_EALLOC;

	for (uint64_t n = 1; err && good; n++) {
		struct allocator a = { .fail_at = n };
		struct seam_alloc with = { .alloc = alloc, .free = release, .ctx = &a };
		struct seam_space_options options = space_options("linux-6.18.44");
		struct seam_space *space;

		options.alloc = &with;
		options.flags |= flags;
		err = seam_space_create(&options, &space);
		if (!err) {
			a.fail_at = 0;
			good = !map(space, 0, 1, RW, 0) && !seam_space_check(space);
			seam_space_destroy(space);
		}
		good = good && !a.held && (!err || err == -SEAM_EALLOC);
	}
	ok(good, "creation, flags %#x", flags);
}

int main(void)
{
	creation(SEAM_SPACE_COUNT_STEPS);
	creation(SEAM_SPACE_READERS);
	all_calls();
	whole_table();
	return tap_done();
}
