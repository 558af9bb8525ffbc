/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the living kernels differ: the same calls under each, as kernels running answered them. */
#include "tests/unit/space.h"

enum { V5_10, V6_1, V6_12, V6_16, V6_17, V6_18, V6_18_44, V7_1, V7_2, V7_3, NR };

static const char *const policies[NR] = {
	"linux-5.10",	 "linux-6.1",	  "linux-6.12", "linux-6.16", "linux-6.17",
	"linux-6.18.15", "linux-6.18.44", "linux-7.1",	"linux-7.2",  "linux-7.3",
};

/* Never touched memory was writable once, and is beside memory that never was. */
static void accounting(struct seam_space *space)
{
	map(space, 0, 1, R, 0);
	map(space, 1, 1, RW, 0);
	protect(space, 1, 1, R);
}

static void accounting_touched(struct seam_space *space)
{
	map(space, 0, 1, R, 0);
	map(space, 1, 1, RW, 0);
	touch(space, 1, 1);
	protect(space, 1, 1, R);
}

static void touched_beside_untouched(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	map(space, 1, 1, R, 0);
	protect(space, 1, 1, RW | SEAM_PROT_EXEC);
	touch(space, 1, 1);
	protect(space, 1, 1, RW);
}

static void grown_to_the_next(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	map(space, 2, 1, RW, 0);
	remap(space, 0, 1, 2, 0, 0);
}

/* The guard flag lies on one side only. */
static void guarded(struct seam_space *space)
{
	map(space, 0, 2, RW, 0);
	touch(space, 0, 2);
	map(space, 4, 1, R, 0);
	seam_space_madvise(space, AT(0), PAGE, SEAM_MADV_GUARD_INSTALL);
	map(space, 2, 1, RW, 0);
}

static void on_fault(struct seam_space *space)
{
	map(space, 0, 1, NONE, 0);
	if (seam_space_mlock(space, AT(0), PAGE, SEAM_MLOCK_ONFAULT))
		map(space, 9, 1, NONE, 0);
}

static void several_moved(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	map(space, 1, 1, R, 0);
	remap(space, 0, 2, 2, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 10);
}

/*
 * Four pages may be locked: two are the source's, which stay counted but for 6.1.192, 6.12.117 and
 * 7.2; do those of its copy count?
 */
static void locked_copy(struct seam_space *space)
{
	map(space, 0, 2, RW, SEAM_MAP_LOCKED);
	remap(space, 0, 2, 2, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_DONTUNMAP, 10);
	map(space, 20, 2, NONE, 0);
	seam_space_set_limit(space, SEAM_LIMIT_MEMLOCK, 4 * PAGE);
	seam_space_mlock(space, AT(20), 2 * PAGE, 0);
}

static void copied_from_the_middle(struct seam_space *space)
{
	map(space, 0, 3, RW, 0);
	map(space, 4, 1, R, 0);
	remap(space, 1, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_DONTUNMAP | SEAM_MREMAP_FIXED, 10);
}

static void copied_beside(struct seam_space *space)
{
	map(space, 0, 3, RW, 0);
	map(space, 5, 1, R, 0);
	remap(space, 1, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_DONTUNMAP | SEAM_MREMAP_FIXED, 3);
}

/* Moved back home, between memory that nobody has touched. */
static void moved_beside_untouched(struct seam_space *space)
{
	map(space, 2, 1, RW, 0);
	touch(space, 2, 1);
	remap(space, 2, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 10);
	map(space, 1, 1, RW, 0);
	remap(space, 10, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 2);
}

static void populated_over_a_hole(struct seam_space *space)
{
	map(space, 0, 1, RW, 0);
	map(space, 2, 1, RW, 0);
	seam_space_madvise(space, AT(0), 3 * PAGE, SEAM_MADV_POPULATE_WRITE);
}

/* Memory watched for writes too, then only for being missing: its upper half. */
static void registered_anew(struct seam_space *space)
{
	map(space, 0, 2, RW, 0);
	seam_space_uffd_register(space, AT(0), 2 * PAGE, 1, SEAM_VM_UFFD_WP);
	seam_space_uffd_register(space, AT(1), PAGE, 1, SEAM_VM_UFFD_MISSING);
}

static const struct {
	const char *what;
	void (*calls)(struct seam_space *space);
	const char *maps[NR]; /* NULL: as the one before */
} rows[] = {
	{ "rw to r of untouched memory, beside r", accounting, { "0-1r- 1-2r-A", NULL, "0-2r-" } },
	{ "rw to r of touched memory, beside r", accounting_touched, { "0-1r- 1-2r-A:1" } },
	{ "touched memory made to fit untouched",
	  touched_beside_untouched,
	  { "0-1rwA 1-2rwA:1", NULL, NULL, "0-2rwA:1" } },
	{ "growth up to the next area", grown_to_the_next, { "0-2rwA 2-3rwA", "0-3rwA" } },
	{ "a guard, and a new neighbour", guarded, { "0-3rwA:1 4-5r-" } },
	{ "lock on fault where no access is allowed", on_fault, { "0-1--L 9-10--", "0-1--L" } },
	{ "populating over a hole",
	  populated_over_a_hole,
	  { "0-1rwA 2-3rwA", "0-1rwA:1 2-3rwA:2", "0-1rwA:1 2-3rwA" } },
	{ "locked memory copied",
	  locked_copy,
	  { "0-2rwA 10-12rwLA:1 20-22--L", NULL, NULL, "0-2rw 10-12rwLA:1 20-22--",
	    "0-2rwA 10-12rwLA:1 20-22--", NULL, NULL, NULL, "0-2rwA 10-12rwLA:1 20-22--L" } },
	{ "a copy out of the middle, and the area behind",
	  copied_from_the_middle,
	  { "0-3rwA 4-5r-A 10-11rwA", "0-3rwA 4-5r- 10-11rwA", NULL, "0-3rw 4-5r- 10-11rwA",
	    "0-3rwA 4-5r- 10-11rwA" } },
	{ "registered anew without write protection",
	  registered_anew,
	  { "0-1rwAU 1-2rwAU", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "0-2rwAU" } },
	{ "a copy that joins its source, and the area behind",
	  copied_beside,
	  { "0-4rwA 5-6r-", NULL, NULL, "0-4rw 5-6r-", "0-4rwA 5-6r-", NULL, NULL, NULL,
	    "0-3rwA 3-4rwA 5-6r-" } },
	{ "touched memory moved beside untouched memory",
	  moved_beside_untouched,
	  { "1-2rwA 2-3rwA:1", NULL, NULL, "1-3rwA", NULL, "1-3rwA:1" } },
	{ "two areas moved at once",
	  several_moved,
	  { "0-1rwA 1-2r-", NULL, NULL, NULL, "10-11rwA 11-12r-" } },
};

int main(void)
{
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *expected = NULL;

		for (unsigned int v = 0; v < NR; v++) {
			struct seam_space_options options = space_options(policies[v]);
			struct seam_space *space;

			options.may = 0;
			space = space_new(&options);
			expected = rows[i].maps[v] ? rows[i].maps[v] : expected;
			rows[i].calls(space);
			holds(space, SHOW_ACCOUNT, expected, rows[i].what);
			seam_space_destroy(space);
		}
	}
	return tap_done();
}
