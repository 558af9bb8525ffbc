/* SPDX-License-Identifier: BSD-2-Clause */
/* libseam through its public calls: mmap at a fixed place, munmap, mprotect. */
#include <stdlib.h>

#include <seam/seam.h>

#include "bench/bench.h"
#include "lib/space.h"

/* Four kinds of memory that never join one another. */
static const uint32_t prots[] = { 0, SEAM_PROT_READ, SEAM_PROT_READ | SEAM_PROT_WRITE,
				  SEAM_PROT_READ | SEAM_PROT_EXEC,
				  SEAM_PROT_READ | SEAM_PROT_WRITE | SEAM_PROT_EXEC };

static void *create(const char *policy, uint32_t flags)
{
	struct seam_space_options options = { .size = sizeof(options),
					      .policy = seam_policy_find(policy),
					      .flags = flags,
					      .max_areas = SEAM_NO_LIMIT };
	struct seam_space *space;

	if (seam_space_create(&options, &space))
		abort();
	return space;
}

static void *create_plain(void)
{
	return create("plain", 0);
}

static void *create_rules(void)
{
	return create("linux-6.18", 0);
}

static void *create_readers(void)
{
	return create("plain", SEAM_SPACE_READERS);
}

static void destroy(void *map)
{
	seam_space_destroy(map);
}

static void set(void *map, uint64_t start, uint64_t end, uint32_t value)
{
	struct seam_mmap args = { .addr = start,
				  .len = end - start,
				  .prot = prots[value],
				  .flags = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS | SEAM_MAP_FIXED };
	uint64_t at;

	if (seam_space_mmap(map, &args, &at))
		abort();
}

static void clear(void *map, uint64_t start, uint64_t end)
{
	if (seam_space_munmap(map, start, end - start))
		abort();
}

static void change(void *map, uint64_t start, uint64_t end, uint32_t value)
{
	if (seam_space_mprotect(map, start, end - start, prots[value], -1))
		abort();
}

static uint64_t find(const void *map, uint64_t addr, uint64_t *ret_end)
{
	struct seam_area area;

	if (!seam_area_find(map, addr, &area))
		return NO_RANGE;
	*ret_end = area.end;
	return area.start;
}

static uint64_t gap(const void *map, uint64_t len, uint64_t hi)
{
	const struct seam_space *space = map;
	struct gap found;

	if (!index_gap_highest(&space->index, len, 0, hi, &found))
		return NO_RANGE;
	return found.end - len;
}

static size_t count(const void *map)
{
	return seam_space_areas(map);
}

static void touch_all(void *map)
{
	struct seam_area area;
	uint64_t at = 0;

	while (seam_area_next(map, &at, &area))
		seam_space_touch(map, area.start, PAGE, 1, NULL);
}

static void *fork_space(void *map)
{
	struct seam_space *child;

	if (seam_space_fork(map, &child))
		abort();
	return child;
}

static void *snapshot(const void *map)
{
	struct seam_space *copy;

	if (seam_space_snapshot(map, &copy))
		abort();
	return copy;
}

static uint64_t read_beside(const void *map, uint64_t addr, uint64_t *ret_end)
{
	struct seam_area area;

	if (seam_read_area(map, addr, &area) != 1)
		return NO_RANGE;
	*ret_end = area.end;
	return area.start;
}

const struct impl impl_seam_readers = {
	.name = "libseam",
	.create = create_readers,
	.destroy = destroy,
	.set = set,
	.clear = clear,
	.change = change,
	.find = find,
	.count = count,
	.read = read_beside,
};

const struct impl impl_seam = {
	.name = "libseam",
	.create = create_plain,
	.destroy = destroy,
	.set = set,
	.clear = clear,
	.change = change,
	.find = find,
	.gap = gap,
	.count = count,
	.snapshot = snapshot,
};

const struct impl impl_seam_rules = {
	.name = "libseam",
	.create = create_rules,
	.destroy = destroy,
	.set = set,
	.clear = clear,
	.change = change,
	.find = find,
	.gap = gap,
	.count = count,
	.touch_all = touch_all,
	.fork = fork_space,
};
