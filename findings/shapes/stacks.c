/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks of threads and fibers. */
#include <string.h>

#include "findings/shapes/shapes.h"

/*
 * Stacks:  guard (---, one or two areas) | stack (rw-, at least three times as large)
 * They come in few sizes. Memory given back piece by piece looks alike, but in many sizes.
 * MAP_STACK leaves the flag of MADV_NOHUGEPAGE behind (6.7-): with it a stack may be as small as its
 * guard.
 */
#define MAX_GUARD KIB(256)
#define MAX_STACK_SIZES 64

struct stack {
	size_t first, last; /* areas */
	uint64_t guard, bytes;
	bool fits; /* it is large enough for one with such a guard */
};

struct stack_size {
	uint64_t guard, bytes;
	bool fits;
	size_t nr;
};

static bool stack_at(const struct shapes *s, size_t i, struct stack *ret_stack)
{
	struct stack stack = { .first = i, .last = i };

	if (!is_anonymous(&s->areas[i]) || (access_of(&s->areas[i]) & RW) != RW || !is_free(s, i))
		return false;
	while (stack.first && i - stack.first < 2 && is_anonymous_pair(s, stack.first - 1) &&
	       !access_of(&s->areas[stack.first - 1]) && is_free(s, stack.first - 1) &&
	       stack.guard + bytes_of(&s->areas[stack.first - 1]) <= MAX_GUARD)
		stack.guard += bytes_of(&s->areas[--stack.first]);
	stack.bytes = stack.guard + bytes_of(&s->areas[i]);
	stack.fits = stack.guard * (s->areas[i].area.flags & SEAM_VM_NOHUGEPAGE ? 2 : 4) <=
		     stack.bytes;
	*ret_stack = stack;
	return stack.guard;
}

static struct stack_size *size_of_stack(struct stack_size *sizes, size_t *nr,
					const struct stack *stack)
{
	for (size_t i = 0; i < *nr; i++)
		if (sizes[i].guard == stack->guard && sizes[i].bytes == stack->bytes &&
		    sizes[i].fits == stack->fits)
			return &sizes[i];
	if (*nr == MAX_STACK_SIZES)
		return NULL;
	sizes[*nr] = (struct stack_size) { stack->guard, stack->bytes, stack->fits, 0 };
	return &sizes[(*nr)++];
}

/* Whether the two commonest sizes are most of what has a guard of this size. */
static bool sizes_are_few(const struct stack_size *sizes, size_t nr, uint64_t guard)
{
	size_t all = 0, most = 0, next = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t fits = sizes[i].fits ? sizes[i].nr : 0;

		if (sizes[i].guard != guard)
			continue;
		all += sizes[i].nr;
		if (fits > most) {
			next = most;
			most = fits;
		} else if (fits > next) {
			next = fits;
		}
	}
	return (most + next) * 10 >= all * 6;
}

static bool is_stack_size(const struct stack_size *size, const struct stack_size *sizes, size_t nr)
{
	return size && size->fits && size->nr * 2 >= GROUP_AREAS &&
	       sizes_are_few(sizes, nr, size->guard);
}

static void mark_stacks(struct shapes *s)
{
	struct stack_size sizes[MAX_STACK_SIZES], *commonest = NULL;
	struct stack stack;
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++) {
		struct stack_size *size;

		if (stack_at(s, i, &stack) && (size = size_of_stack(sizes, &nr, &stack)))
			size->nr++;
	}
	for (size_t i = 0; i < s->nr; i++) {
		struct stack_size *size;

		if (!stack_at(s, i, &stack))
			continue;
		size = size_of_stack(sizes, &nr, &stack);
		if (!is_stack_size(size, sizes, nr))
			continue;
		for (size_t k = stack.first; k <= stack.last; k++)
			shapes_mark(s, k);
		s->row.units++;
		if (!commonest || size->nr > commonest->nr)
			commonest = size;
	}
	if (commonest) {
		s->row.unit_bytes = commonest->bytes;
		s->row.guard_bytes = commonest->guard;
	}
}

bool group_is_glibc_arena(const struct snapshot *snapshot, size_t index)
{
	const uint64_t heap = MIB(64);
	const struct snapshot_area *area = &snapshot->areas[index];
	uint64_t start = area->area.start & ~(heap - 1);
	size_t i = index;

	if (!is_anonymous(area) || area->area.end > start + heap)
		return false;
	while (i && snapshot->areas[i - 1].area.start >= start &&
	       snapshot->areas[i - 1].area.end == snapshot->areas[i].area.start)
		i--;
	if (snapshot->areas[i].area.start != start || access_of(&snapshot->areas[i]) != RW)
		return false;
	while (i + 1 < snapshot->nr_areas && snapshot->areas[i].area.end < start + heap &&
	       snapshot->areas[i].area.end == snapshot->areas[i + 1].area.start)
		i++;
	return snapshot->areas[i].area.end == start + heap && !access_of(&snapshot->areas[i]);
}

/*
 * Who runs on the stacks? A living process tells how many threads it has. Of a text the rest of the
 * map must tell: threads have malloc arenas and are given much room; MAP_NORESERVE is no habit of
 * thread libraries.
 */
static bool stacks_are_threads(const struct shapes *s)
{
	const struct snapshot *snapshot = s->findings->snapshot;
	size_t arenas = 0;

	/* Ended threads leave some stacks in glibc's cache. */
	if (snapshot->threads)
		return s->row.units <= snapshot->threads + snapshot->threads / 4 + 8;
	for (size_t i = 0; i < s->nr; i++) {
		if (s->marked[i] && access_of(&s->areas[i]) &&
		    s->areas[i].area.flags & SEAM_VM_NORESERVE)
			return false;
		arenas += group_is_glibc_arena(snapshot, i);
	}
	return arenas >= 4 || s->row.unit_bytes >= MIB(1);
}

void shape_thread_stack(struct shapes *s)
{
	mark_stacks(s);
	if (!stacks_are_threads(s))
		memset(s->marked, 0, s->nr * sizeof(*s->marked));
}

void shape_fiber_stack(struct shapes *s)
{
	mark_stacks(s);
}
