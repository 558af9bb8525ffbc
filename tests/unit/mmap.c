/* SPDX-License-Identifier: BSD-2-Clause */
/* mmap: what joins, which flags areas get, which errors in which order. */
#include "tests/unit/space.h"

/* Each policy that fills a gap from the left, and those that do it from the right. */
static void fill_gap(void)
{
	static const struct {
		const char *policy, *two_anons, *unfaulted_left, *unfaulted_right;
	} rows[] = {
		{ "linux-5.10", "0-2rw:1 2-3rw:2", "0-3rw:1", "0-3rw:1" },
		{ "linux-6.1", "0-1rw:1 1-3rw:2", "0-1rw 1-3rw:1", "0-3rw:1" },
		{ "linux-6.12", "0-2rw:1 2-3rw:2", "0-3rw:1", "0-3rw:1" },
		{ "linux-6.18", "0-2rw:1 2-3rw:2", "0-3rw:1", "0-3rw:1" },
		{ "linux-7.3", "0-2rw:1 2-3rw:2", "0-3rw:1", "0-3rw:1" },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seam_space *space = space_of(rows[i].policy);
		struct seam_stats stats;

		map(space, 0, 1, RW, 0);
		map(space, 2, 1, RW, 0);
		touch(space, 0, 1);
		touch(space, 2, 1);
		map(space, 1, 1, RW, 0);
		holds(space, 0, rows[i].two_anons, "a gap between two that were touched apart");
		seam_space_get_stats(space, &stats);
		ok(stats.join_tries == 2 && stats.joins == 1, "two compared, one joined");
		seam_space_destroy(space);

		space = space_of(rows[i].policy);
		map(space, 0, 1, RW, 0);
		map(space, 2, 1, RW, 0);
		touch(space, 2, 1);
		map(space, 1, 1, RW, 0);
		holds(space, 0, rows[i].unfaulted_left, "a gap, the right side touched");
		seam_space_destroy(space);

		space = space_of(rows[i].policy);
		map(space, 0, 1, RW, 0);
		map(space, 2, 1, RW, 0);
		touch(space, 0, 1);
		map(space, 1, 1, RW, 0);
		holds(space, 0, rows[i].unfaulted_right, "a gap, the left side touched");
		seam_space_destroy(space);
	}
}

static void joins(void)
{
	struct seam_space *space = space_of("linux-6.18.44");
	struct seam_stats stats;

	map(space, 4, 2, RW, 0);
	map(space, 2, 2, RW, 0);
	map(space, 6, 1, RW, 0);
	holds(space, 0, "2-7rw", "below and above");
	touch(space, 2, 5);
	map(space, 4, 1, RW, 0);
	holds(space, 0, "2-7rw:1", "over the middle of touched memory");
	map(space, 4, 1, NONE, 0);
	holds(space, 0, "2-4rw:1 4-5-- 5-7rw:1", "another protection");
	map(space, 7, 1, RW, SEAM_MAP_NORESERVE);
	map(space, 8, 1, RW, SEAM_MAP_LOCKED);
	map(space, 9, 1, RW, SEAM_MAP_STACK);
	holds(space, 0, "2-4rw:1 4-5-- 5-7rw:1 7-8rwN 8-9rwL:2 9-10rwH", "other flags");
	seam_space_destroy(space);

	space = space_of("linux-6.18.44");
	map(space, 0, 1, RW, SEAM_MAP_SHARED | SEAM_MAP_ANONYMOUS);
	map(space, 1, 1, RW, SEAM_MAP_SHARED | SEAM_MAP_ANONYMOUS);
	holds(space, 0, "0-1rws 1-2rws", "shared memory: each its own object");
	protect(space, 0, 1, R);
	protect(space, 0, 1, RW);
	seam_space_get_stats(space, &stats);
	ok(stats.join_tries == 3 && !stats.joins, "each touching neighbour is compared once");
	seam_space_destroy(space);
}

static const struct seam_file readable = { .id = 7, .traits = SEAM_FILE_READ };
static const struct seam_file writable = { .id = 8, .traits = SEAM_FILE_READ | SEAM_FILE_WRITE };

static void files(void)
{
	static const struct seam_file closing = {
		.id = 9,
		.traits = SEAM_FILE_READ | SEAM_FILE_CLOSE,
	};
	struct seam_space *space = space_of("linux-6.18.44");
	struct seam_area area;

	map_file(space, &readable, 0, 2, R, SEAM_MAP_PRIVATE, 5);
	map_file(space, &readable, 2, 1, R, SEAM_MAP_PRIVATE, 7);
	map_file(space, &readable, 3, 1, R, SEAM_MAP_PRIVATE, 7);
	map_file(space, &writable, 4, 1, R, SEAM_MAP_PRIVATE, 8);
	holds(space, 0, "0-3r- 3-4r- 4-5r-", "one file, offsets that continue");
	map_file(space, &readable, 10, 1, R, SEAM_MAP_SHARED, 0);
	seam_area_find(space, AT(10), &area);
	ok(area.flags == 0xd1, "shared on a file open for reading: flags %llx",
	   (unsigned long long)area.flags);
	seam_space_destroy(space);

	/* [a][new][b]: b goes away when all three join, which its driver forbids */
	for (int i = 0; i < 2; i++) {
		space = space_of(i ? "linux-6.18.44" : "linux-6.1");
		map_file(space, &closing, 0, 1, R, SEAM_MAP_PRIVATE, 0);
		map_file(space, &closing, 2, 1, R, SEAM_MAP_PRIVATE, 2);
		map_file(space, &closing, 1, 1, R, SEAM_MAP_PRIVATE, 1);
		holds(space, 0, i ? "0-2r- 2-3r-" : "0-1r- 1-2r- 2-3r-",
		      "a close operation: from 6.4 on it only keeps its own area");
		seam_space_destroy(space);
	}
}

static void flags(void)
{
	static const struct {
		const char *policy;
		uint32_t prot, flags;
		uint64_t area;
	} rows[] = {
		{ "linux-6.18", RW, ANON, 0x100073 },
		{ "linux-6.18", NONE, ANON, 0x70 },
		{ "linux-6.18", RW, ANON | SEAM_MAP_NORESERVE, 0x200073 },
		{ "linux-6.18", RW, ANON | SEAM_MAP_GROWSDOWN, 0x100173 },
		{ "linux-6.18", RW, SEAM_MAP_SHARED | SEAM_MAP_ANONYMOUS, 0xfb },
		{ "linux-6.18", RW, SEAM_MAP_DROPPABLE | SEAM_MAP_ANONYMOUS, 0x10006200073 },
		{ "linux-6.18", RW, ANON | SEAM_MAP_STACK, 0x40100073 },
		{ "linux-6.1", RW, ANON | SEAM_MAP_STACK, 0x100073 },
		{ "linux-6.18", RW, ANON | SEAM_MAP_LOCKED, 0x102073 },
		{ "linux-6.18", RW, ANON | SEAM_MAP_SYNC, 0x900073 },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seam_space *space = space_of(rows[i].policy);
		struct seam_area area = { 0 };

		map(space, 0, 1, rows[i].prot, rows[i].flags);
		seam_area_find(space, 0, &area);
		ok(area.flags == rows[i].area, "%s: prot %x, flags %x give %llx", rows[i].policy,
		   rows[i].prot, rows[i].flags, (unsigned long long)area.flags);
		seam_space_destroy(space);
	}
}

static const struct seam_file directory = { .id = 9, .traits = SEAM_FILE_READ | SEAM_FILE_NO_MMAP };
static const struct seam_file noexec = { .id = 10, .traits = SEAM_FILE_READ | SEAM_FILE_NOEXEC };
static const struct seam_file sealed = { .id = 11,
					 .traits = SEAM_FILE_READ | SEAM_FILE_WRITE,
					 .seals = 0x8 };

/* One call, everything wrong that stands in the row; the first test that fails decides. */
static const struct {
	struct seam_mmap args;
	int err;
	const char *what;
} refused[] = {
	{ { .len = 0, .flags = SEAM_MAP_PRIVATE }, -SEAM_EBADF, "no file, length 0" },
	{ { .len = 0, .flags = ANON }, -SEAM_EINVAL, "length 0" },
	{ { .len = UINT64_MAX, .flags = ANON }, -SEAM_ENOMEM, "a length that wraps" },
	{ { .len = PAGE, .flags = ANON, .pgoff = UINT64_MAX },
	  -SEAM_EOVERFLOW,
	  "an offset that wraps" },
	{ { .len = UINT64_C(1) << 60, .flags = ANON }, -SEAM_ENOMEM, "too long" },
	{ { .addr = AT(0) + 1, .len = PAGE, .flags = ANON | FIXED },
	  -SEAM_EINVAL,
	  "fixed, not aligned" },
	{ { .addr = UINT64_MAX, .len = PAGE, .flags = ANON | FIXED },
	  -SEAM_EPERM,
	  "fixed at -EPERM" },
	{ { .addr = UINT64_MAX - 4094, .len = PAGE, .flags = ANON | FIXED },
	  -4095,
	  "fixed at the last number of an error" },
	{ { .addr = UINT64_MAX - 4095, .len = PAGE, .flags = ANON | FIXED },
	  -SEAM_ENOMEM,
	  "fixed at the last page" },
	{ { .addr = UINT64_MAX, .len = UINT64_C(1) << 60, .flags = ANON | FIXED },
	  -SEAM_ENOMEM,
	  "fixed at -EPERM, too long" },
	{ { .addr = 0, .len = PAGE, .flags = SEAM_MAP_ANONYMOUS | FIXED },
	  -SEAM_EPERM,
	  "below vm.mmap_min_addr, of no type" },
	{ { .addr = AT(0), .len = PAGE, .flags = SEAM_MAP_FIXED_NOREPLACE },
	  -SEAM_EBADF,
	  "no file for a place that is taken" },
	{ { .addr = AT(0), .len = PAGE, .flags = ANON | SEAM_MAP_FIXED_NOREPLACE },
	  -SEAM_EEXIST,
	  "a place that is taken" },
	{ { .len = PAGE, .flags = SEAM_MAP_ANONYMOUS }, -SEAM_EINVAL, "no type" },
	{ { .len = PAGE, .flags = SEAM_MAP_SHARED_VALIDATE | SEAM_MAP_ANONYMOUS },
	  -SEAM_EINVAL,
	  "validated, anonymous" },
	{ { .len = PAGE, .flags = SEAM_MAP_SHARED | SEAM_MAP_ANONYMOUS | SEAM_MAP_GROWSDOWN },
	  -SEAM_EINVAL,
	  "shared, growing" },
	{ { .len = PAGE, .prot = RW, .flags = SEAM_MAP_SHARED, .file = &readable },
	  -SEAM_EACCES,
	  "writing to a file open for reading" },
	{ { .len = PAGE,
	    .prot = R,
	    .flags = SEAM_MAP_SHARED_VALIDATE | SEAM_MAP_SYNC,
	    .file = &readable },
	  -SEAM_EOPNOTSUPP,
	  "validated, a flag that is not known" },
	{ { .len = PAGE, .prot = R, .flags = SEAM_MAP_PRIVATE, .file = &directory },
	  -SEAM_ENODEV,
	  "a directory" },
	{ { .len = PAGE, .prot = R | SEAM_PROT_EXEC, .flags = SEAM_MAP_PRIVATE, .file = &noexec },
	  -SEAM_EPERM,
	  "executable, mounted noexec" },
	{ { .len = PAGE, .prot = RW, .flags = SEAM_MAP_SHARED, .file = &sealed },
	  -SEAM_EPERM,
	  "writing to a sealed memfd" },
	{ { .len = PAGE,
	    .prot = R,
	    .flags = SEAM_MAP_PRIVATE | SEAM_MAP_GROWSDOWN,
	    .file = &readable },
	  -SEAM_EINVAL,
	  "a file that grows" },
	{ { .len = PAGE, .flags = ANON, .place = 1, .at = AT(0) },
	  -SEAM_EINVAL,
	  "a given place that is taken" },
};

static void errors(void)
{
	struct seam_space_options options = space_options("linux-6.18.44");

	options.may = 0;
	for (unsigned int i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct seam_space *space = space_new(&options);
		uint64_t addr;
		int err;

		map(space, 0, 1, RW, 0);
		err = seam_space_mmap(space, &refused[i].args, &addr);
		ok(err == refused[i].err && !strcmp(shape_of(space, 0), "0-1rw"), "%s: %d",
		   refused[i].what, err);
		seam_space_destroy(space);
	}
}

/* Over the commit limit: the range is gone already where MAP_FIXED clears first. */
static void fails_late(void)
{
	for (int i = 0; i < 2; i++) {
		struct seam_space_options options =
			space_options(i ? "linux-6.18.44" : "linux-6.1");
		struct seam_space *space;

		options.commit_limit_pages = 8;
		space = space_new(&options);
		map(space, 0, 4, NONE, 0);
		ok(map(space, 2, 9, RW, 0) == -SEAM_ENOMEM, "more than may be committed");
		holds(space, 0, i ? "0-2-- 2-4--" : "0-2--", "what is left behind");
		seam_space_destroy(space);
	}
}

/* Memory that is writable and executable (PR_SET_MDWE), of a file sealed against writing. */
static void denied_and_sealed(void)
{
	static const struct seam_file no_writers = { 11, SEAM_FILE_READ | SEAM_FILE_WRITE, 0x8 };
	static const struct {
		const char *policy;
		int err;
	} rows[] = { { "linux-6.12", -SEAM_EACCES }, { "linux-6.12.118", -SEAM_EPERM } };

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seam_space_options options = space_options(rows[i].policy);
		const struct seam_mmap args = {
			.len = PAGE,
			.prot = SEAM_PROT_READ | SEAM_PROT_WRITE | SEAM_PROT_EXEC,
			.flags = SEAM_MAP_SHARED,
			.file = &no_writers,
		};
		struct seam_space *space;
		uint64_t addr;

		options.flags |= SEAM_SPACE_MDWE;
		space = space_new(&options);
		ok(seam_space_mmap(space, &args, &addr) == rows[i].err, "%s: which comes first",
		   rows[i].policy);
		seam_space_destroy(space);
	}
}

/* A process that asked for same-page merging: its areas are marked before they join, or after. */
static void same_pages(void)
{
	static const struct {
		const char *policy, *found;
	} rows[] = {
		{ "linux-5.14", "0-3rw" },
		{ "linux-6.6", "0-1rwM 1-2rwM 2-3rwM" },
		{ "linux-6.16", "0-1rwM 1-2rwM 2-3rwM" },
		{ "linux-6.17", "0-3rwM" },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seam_space_options options = space_options(rows[i].policy);
		struct seam_space *space;

		options.flags |= SEAM_SPACE_MERGE_ANY;
		space = space_new(&options);
		for (unsigned int page = 0; page < 3; page++)
			map(space, page, 1, RW, 0);
		holds(space, 0, rows[i].found, rows[i].policy);
		seam_space_destroy(space);
	}
}

/* What a joining map at address 0 looks for below it lies above all areas: the whole tree's depth. */
static void looks_below_zero(void)
{
	struct seam_space_options options = space_options("linux-2.4.3");
	struct seam_mmap first = { .len = PAGE, .prot = SEAM_PROT_READ };
	struct seam_stats before, after;
	struct seam_space *space;
	uint64_t addr;

	first.flags = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS | SEAM_MAP_FIXED;
	options.flags |= SEAM_SPACE_COUNT_STEPS;
	space = space_new(&options);
	for (unsigned int page = 0; page < 80; page += 2)
		map(space, page, 1, RW, 0);
	seam_space_get_stats(space, &before);
	ok(!seam_space_mmap(space, &first, &addr), "a map at 0");
	seam_space_get_stats(space, &after);
	ok(after.steps.find - before.steps.find >= 5, "%d steps to find nothing below it",
	   (int)(after.steps.find - before.steps.find));
	seam_space_destroy(space);
}

/*
 * The file itself refuses, as the caller knows: all that the policy tests comes before it, and then what
 * was to be replaced is gone, under every kernel.
 */
static void refused_by_file(void)
{
	static const char *const kernels[] = { "linux-2.4.2", "linux-2.6.24", "linux-5.10",
					       "linux-6.12",  "linux-6.18",   "linux-7.3" };

	for (unsigned int i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		struct seam_space *space = space_of(kernels[i]);
		struct seam_mmap args = {
			.addr = AT(2),
			.len = 2 * PAGE,
			.prot = RW,
			.flags = SEAM_MAP_PRIVATE | FIXED,
			.file = &writable,
			.refused = -SEAM_EIO,
		};
		struct seam_totals totals;
		uint64_t addr = 7;

		map(space, 0, 6, RW, 0);
		args.addr++;
		ok(seam_space_mmap(space, &args, &addr) == -SEAM_EINVAL, "other errors come first");
		holds(space, 0, "0-6rw", "and change nothing");
		args.addr--;
		ok(seam_space_mmap(space, &args, &addr) == -SEAM_EIO && addr == 7,
		   "%s: what the file says", kernels[i]);
		holds(space, 0, "0-2rw 4-6rw", "a hole");
		seam_space_get_totals(space, &totals);
		ok(totals.total_pages == 4 && !seam_space_check(space), "counted");
		args.flags |= SEAM_MAP_ANONYMOUS;
		ok(!seam_space_mmap(space, &args, &addr), "memory without a file has none to ask");
		seam_space_destroy(space);
	}
}

/* Where all that is committed counts, what was refused is given back. */
static void refused_is_not_charged(void)
{
	struct seam_space_options options = space_options("linux-6.18");
	struct seam_mmap args = {
		.addr = AT(2),
		.len = 60 * PAGE,
		.prot = RW,
		.flags = SEAM_MAP_PRIVATE | FIXED,
		.file = &writable,
		.refused = -SEAM_EIO,
	};
	struct seam_space *space;
	uint64_t addr;

	options.overcommit = 2;
	options.commit_limit_pages = 100;
	space = space_new(&options);
	for (int i = 0; i < 3; i++)
		ok(seam_space_mmap(space, &args, &addr) == -SEAM_EIO, "refused once more");
	args.refused = 0;
	ok(!seam_space_mmap(space, &args, &addr), "and there is room yet");
	seam_space_destroy(space);
}

/* Memory that may only be executed, where the processor has keys and the first is free. */
static void executed_alone(void)
{
	struct seam_space_options options = space_options("linux-6.18");
	struct seam_space *space;
	struct seam_area area = { 0 };
	uint64_t done;

	options.exec_only_pkey = 16;
	ok(seam_space_create(&options, &space) == -SEAM_EINVAL, "no processor has as many keys");
	options.exec_only_pkey = 1;
	space = space_new(&options);
	map(space, 0, 1, SEAM_PROT_EXEC, 0);
	map(space, 1, 2, RW, 0);
	protect(space, 1, 1, SEAM_PROT_EXEC);
	seam_area_find(space, AT(1), &area);
	ok(area.start == AT(0) && area.end == AT(2) &&
		   (area.flags & SEAM_VM_PKEY) >> SEAM_VM_PKEY_SHIFT == 1,
	   "mapped and changed they are one, with the key");
	ok(seam_space_touch(space, AT(0), PAGE, 0, &done) == -SEAM_EFAULT &&
		   seam_space_mlock(space, AT(0), PAGE, 0) == -SEAM_ENOMEM,
	   "nobody reads it, nor does the kernel for him");
	protect(space, 1, 1, NONE);
	seam_area_find(space, AT(1), &area);
	ok(!(area.flags & SEAM_VM_PKEY), "with any other protection the key goes");
	ok(!seam_space_mprotect(space, AT(1), PAGE, SEAM_PROT_EXEC, 2), "a key of one's own stays");
	seam_area_find(space, AT(1), &area);
	ok((area.flags & SEAM_VM_PKEY) >> SEAM_VM_PKEY_SHIFT == 2, "as it was given");
	protect(space, 1, 1, R);
	seam_area_find(space, AT(1), &area);
	ok((area.flags & SEAM_VM_PKEY) >> SEAM_VM_PKEY_SHIFT == 2, "also by mprotect");
	seam_space_destroy(space);
}

int main(void)
{
	executed_alone();
	refused_by_file();
	refused_is_not_charged();
	fill_gap();
	joins();
	files();
	flags();
	errors();
	fails_late();
	denied_and_sealed();
	same_pages();
	looks_below_zero();
	return tap_done();
}
