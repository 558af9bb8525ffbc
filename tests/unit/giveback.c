/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * giveback [AREAS]: of a space that had many areas and has one, what is left of its memory is less
 * than a twentieth, and 2 MiB that any may keep; where there are readers it stays allocated, and its contents are given up. Then
 * it grows again.
 */
#include <inttypes.h>

#include "tests/unit/space.h"

static uint64_t held, most, discarded;

static void *alloc(void *ctx, size_t size)
{
	void *ptr = malloc(size);

	if (ptr)
		held += size;
	if (held - discarded > most)
		most = held - discarded;
	return ptr;
}

static void release(void *ctx, void *ptr, size_t size)
{
	held -= size;
	free(ptr);
}

/* What it holds may be anything afterwards. */
static void discard(void *ctx, void *ptr, size_t size)
{
	discarded += size;
	memset(ptr, 0, size);
}

static void fill(struct seam_space *space, uint64_t areas)
{
	for (uint64_t i = 0; i < areas; i++)
		map(space, 3 * i, 1 + i % 2, i % 3 ? RW : R, 0);
}

/* From the middle to both ends, so that the last area is in a chunk between others. */
static void empty(struct seam_space *space, uint64_t areas)
{
	for (uint64_t i = 0; i < areas; i++) {
		uint64_t at = (areas / 3 + i) % areas;

		if (at != areas / 2)
			seam_space_munmap(space, AT(3 * at), 2 * PAGE);
	}
}

static void shrink(uint64_t areas, uint32_t flags)
{
	struct seam_alloc counting = { .alloc = alloc, .free = release, .discard = discard };
	struct seam_space_options options = space_options("plain");
	struct seam_space *space;
	struct seam_area area;
	uint64_t kept;
	const char *wrong;

	held = most = discarded = 0;
	options.alloc = &counting;
	options.flags = flags;
	options.max_areas = SEAM_NO_LIMIT;
	space = space_new(&options);
	fill(space, areas);
	ok(seam_space_areas(space) == areas, "%" PRIu64 " areas: %" PRIu64 " bytes at most", areas,
	   most);
	empty(space, areas);
	ok(seam_space_areas(space) == 1 && held - discarded < most / 20 + (2 << 20),
	   "one: %" PRIu64 " bytes, of which %" PRIu64 " are given up", held, discarded);
	ok(!discarded == !(flags & SEAM_SPACE_READERS), "only readers keep what is empty");
	if (flags & SEAM_SPACE_READERS)
		ok(seam_read_try(space, AT(0), &area) == 1 && area.start == AT(3 * (areas / 2)),
		   "a reader finds it");
	kept = held;
	fill(space, areas);
	if (flags & SEAM_SPACE_READERS)
		ok(held < kept + kept / 4, "what is kept is used again: %" PRIu64 " bytes", held);
	wrong = seam_space_check(space);
	ok(seam_space_areas(space) == areas && !wrong, "all again: %s", wrong ? wrong : "well");
	seam_space_destroy(space);
	ok(!held, "and all is given back");
}

int main(int argc, char **argv)
{
	uint64_t areas = argc > 1 ? strtoull(argv[1], NULL, 0) : 600000;

	shrink(areas, 0);
	shrink(areas, SEAM_SPACE_READERS);
	return tap_done();
}
