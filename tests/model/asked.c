/* SPDX-License-Identifier: BSD-2-Clause */
/* The processor is asked once in a process which search it is best at, whatever it answers. */
#include "lib/index/search.h"
#include "tests/tap.h"

static unsigned int nr_asked;

/* The least of the answers first: it must not be taken for none. */
static enum search_kind answer(void)
{
	return nr_asked++ ? SEARCH_SIMD : SEARCH_PLAIN;
}

#define search_detect answer
#include "lib/index/tree.c"

int main(void)
{
	struct index indexes[3];

	for (int i = 0; i < 3; i++)
		index_init(&indexes[i], &seam_alloc_malloc, 12);
	ok(nr_asked == 1, "three indexes: asked %u times", nr_asked);
	ok(indexes[0].search == SEARCH_PLAIN && indexes[1].search == SEARCH_PLAIN &&
		   indexes[2].search == SEARCH_PLAIN,
	   "each has the first answer");
	index_destroy(&indexes[0]);
	ok(nr_asked == 1 && indexes[0].search == SEARCH_PLAIN, "and when it is emptied");
	return tap_done();
}
