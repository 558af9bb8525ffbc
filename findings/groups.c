/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each recogniser marks, among the areas that no earlier one has taken, those of its shape. What
 * has GROUP_AREAS of them becomes a group. The order of the table is the order of asking: shapes
 * that tell much come before those that tell little.
 */
#include "findings/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "findings/causes.h"
#include "trace/scan.h"

#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)
#define RW (SEAM_VM_READ | SEAM_VM_WRITE)

/* All areas of one file, by device and inode. */
struct file_use {
	size_t areas;
	size_t executable, writable, shared;
};

struct shapes {
	struct findings *findings;
	const struct snapshot_area *areas;
	size_t nr;
	const uint32_t *pair;
	uint8_t *group_of;
	bool *marked;	   /* by the recogniser that is being asked */
	uint32_t *file_of; /* per area: index into files, or NO_FILE */
	struct file_use *files;
	struct group_row row; /* what the recogniser tells besides */
};
#define NO_FILE UINT32_MAX

static const char *const group_names[] = { "",
#define GROUP_NAME(name, json, text) json,
					   GROUPS(GROUP_NAME)
#undef GROUP_NAME
};

static const char *const group_texts[] = { "",
#define GROUP_TEXT(name, json, text) text,
					   GROUPS(GROUP_TEXT)
#undef GROUP_TEXT
};

const char *group_name(enum group group)
{
	return group_names[group];
}

const char *group_text(enum group group)
{
	return group_texts[group];
}

static uint64_t bytes_of(const struct snapshot_area *area)
{
	return area->area.end - area->area.start;
}

static uint64_t access_of(const struct snapshot_area *area)
{
	return area->area.flags & SEAM_VM_RWX;
}

static bool is_shared(const struct snapshot_area *area)
{
	return area->area.flags & (SEAM_VM_SHARED | SEAM_VM_MAYSHARE);
}

/* Private memory of no file: not the stack of exec, nor what the kernel maps by itself. */
static bool is_anonymous(const struct snapshot_area *area)
{
	if (is_shared(area) || area->inode || area->area.file ||
	    area->area.flags & (SEAM_VM_SPECIAL | SEAM_VM_GROWSDOWN))
		return false;
	return !area->name[0] || begins_with(area->name, "[heap]") ||
	       begins_with(area->name, "[anon:");
}

static bool touches_next(const struct shapes *s, size_t i)
{
	return s->pair[i] != NO_PAIR;
}

static bool is_free(const struct shapes *s, size_t i)
{
	return s->group_of[i] == GROUP_NONE;
}

static bool mark(struct shapes *s, size_t i)
{
	if (!is_free(s, i))
		return false;
	s->marked[i] = true;
	return true;
}

static bool file_is_elf(const struct shapes *s, size_t i)
{
	const struct file_use *file;

	if (s->file_of[i] == NO_FILE)
		return false;
	file = &s->files[s->file_of[i]];
	return file->executable && file->shared < file->executable;
}

/* Both are memory that a program splits by itself: no segments of programs and libraries. */
static bool is_data_pair(const struct shapes *s, size_t left)
{
	return touches_next(s, left) && !file_is_elf(s, left) && !file_is_elf(s, left + 1) &&
	       !((s->areas[left].area.flags | s->areas[left + 1].area.flags) & SEAM_VM_SPECIAL);
}

static bool is_anonymous_pair(const struct shapes *s, size_t left)
{
	return touches_next(s, left) && is_anonymous(&s->areas[left]) &&
	       is_anonymous(&s->areas[left + 1]);
}

/* What the history of touching leaves behind, seen or hidden. */
#define HISTORY (SEAM_CAUSE(anon_vma) | SEAM_CAUSE(fork) | SEAM_CAUSE(untried) | SEAM_CAUSE(unseen))

/* Takes in the neighbours that only their history keeps apart from marked ones. */
static void grow_marks(struct shapes *s)
{
	for (size_t i = 0; i + 1 < s->nr; i++)
		if (s->marked[i] && touches_next(s, i) && !(s->pair[i] & ~HISTORY))
			mark(s, i + 1);
	for (size_t i = s->nr; i-- > 1;)
		if (s->marked[i] && touches_next(s, i - 1) && !(s->pair[i - 1] & ~HISTORY))
			mark(s, i - 1);
}

/* Marks pairs that @cause keeps apart, and nothing but it and their history. */
static void mark_pairs(struct shapes *s, uint32_t cause)
{
	for (size_t i = 0; i + 1 < s->nr; i++) {
		if (!is_data_pair(s, i) || !(s->pair[i] & cause) || s->pair[i] & ~(cause | HISTORY))
			continue;
		if (is_free(s, i) && is_free(s, i + 1)) {
			mark(s, i);
			mark(s, i + 1);
		}
	}
}

/* The same for pairs whose flags differ, all within @bits. */
static void mark_flag_pairs(struct shapes *s, uint64_t bits)
{
	const struct seam_policy *policy = &s->findings->policy;

	for (size_t i = 0; i + 1 < s->nr; i++) {
		uint64_t differ;

		if (!is_data_pair(s, i) || !(s->pair[i] & SEAM_CAUSE(flags)) ||
		    s->pair[i] & ~(SEAM_CAUSE(flags) | SEAM_CAUSE(uffd) | HISTORY))
			continue;
		differ = seam_explain_flags(policy, &s->areas[i].area, &s->areas[i + 1].area);
		if (differ & ~bits || !is_free(s, i) || !is_free(s, i + 1))
			continue;
		mark(s, i);
		mark(s, i + 1);
		s->row.flags |= differ;
	}
	grow_marks(s);
}

static void find_guard_marker(struct shapes *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->areas[i].guard_pages && mark(s, i))
			s->row.units += s->areas[i].guard_pages;
}

/*
 * Code made at run time: what is executable and has no file, and what lies between such pieces.
 *	r-x | --- | rw- | --- | r-x
 */
static void find_jit_wx(struct shapes *s)
{
	size_t last = SIZE_MAX; /* marked before the areas being looked at */

	for (size_t i = 0; i < s->nr; i++) {
		if (!is_anonymous(&s->areas[i]) || !(access_of(&s->areas[i]) & SEAM_VM_EXEC))
			continue;
		mark(s, i);
		if (i && is_anonymous_pair(s, i - 1))
			mark(s, i - 1);
		if (i + 1 < s->nr && is_anonymous_pair(s, i))
			mark(s, i + 1);
	}
	for (size_t i = 0; i < s->nr; i++) {
		if (i && !is_anonymous_pair(s, i - 1))
			last = SIZE_MAX;
		if (!s->marked[i])
			continue;
		for (size_t between = last + 1; last != SIZE_MAX && i - last <= 3 && between < i;
		     between++)
			mark(s, between);
		last = i;
	}
}

/* One file mapped shared both to be written and to be run. */
static void find_jit_dual(struct shapes *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		const struct file_use *file;

		if (s->file_of[i] == NO_FILE)
			continue;
		file = &s->files[s->file_of[i]];
		if (!file->executable || !file->writable || file->shared != file->areas)
			continue;
		if (mark(s, i) && access_of(&s->areas[i]) & SEAM_VM_WRITE)
			s->row.units++;
	}
}

/* A collector that learns of writes by faults: pages of one memory that differ in W alone. */
static void find_write_barrier(struct shapes *s)
{
	const uint32_t allowed = SEAM_CAUSE(prot) | SEAM_CAUSE(flags) | HISTORY;

	for (size_t i = 0; i + 1 < s->nr; i++) {
		const struct seam_area *l = &s->areas[i].area, *r = &s->areas[i + 1].area;
		uint64_t differ = seam_explain_flags(&s->findings->policy, l, r);

		if (!is_data_pair(s, i) || !(s->pair[i] & SEAM_CAUSE(prot)) ||
		    s->pair[i] & ~allowed || differ & ~(SEAM_VM_WRITE | SEAM_VM_ACCOUNT))
			continue;
		if (l->flags & r->flags & SEAM_VM_READ && is_free(s, i) && is_free(s, i + 1)) {
			mark(s, i);
			mark(s, i + 1);
		}
	}
	grow_marks(s);
}

/*
 * Stacks:  guard (---, one or two areas) | stack (rw-, at least three times as large)
 * They come in few sizes. Memory given back piece by piece looks alike, but in many sizes.
 */
#define MAX_GUARD KIB(256)
#define MAX_STACK_SIZES 64

struct stack {
	size_t first, last; /* areas */
	uint64_t guard, bytes;
};

struct stack_size {
	uint64_t guard, bytes;
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
	*ret_stack = stack;
	return stack.guard;
}

static struct stack_size *size_of_stack(struct stack_size *sizes, size_t *nr,
					const struct stack *stack)
{
	for (size_t i = 0; i < *nr; i++)
		if (sizes[i].guard == stack->guard && sizes[i].bytes == stack->bytes)
			return &sizes[i];
	if (*nr == MAX_STACK_SIZES)
		return NULL;
	sizes[*nr] = (struct stack_size) { stack->guard, stack->bytes, 0 };
	return &sizes[(*nr)++];
}

/* Whether the two commonest sizes are most of what has a guard of this size. */
static bool sizes_are_few(const struct stack_size *sizes, size_t nr, uint64_t guard)
{
	size_t all = 0, most = 0, next = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t fits = sizes[i].guard * 4 <= sizes[i].bytes ? sizes[i].nr : 0;

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
	return size && size->guard * 4 <= size->bytes && size->nr * 2 >= GROUP_AREAS &&
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
			mark(s, k);
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

static void find_thread_stack(struct shapes *s)
{
	mark_stacks(s);
	if (!stacks_are_threads(s))
		memset(s->marked, 0, s->nr);
}

static void find_fiber_stack(struct shapes *s)
{
	mark_stacks(s);
}

/*
 * A large reserve, used from one end:  used (rw-) | reserve (---, at least 256 KiB) up to a round
 * address, or the other way round.
 */
static void find_reserve_commit(struct shapes *s)
{
	for (size_t i = 0; i + 1 < s->nr; i++) {
		const struct snapshot_area *l = &s->areas[i], *r = &s->areas[i + 1];
		bool up = access_of(l) && !access_of(r), down = !access_of(l) && access_of(r);

		if (!is_anonymous_pair(s, i) || (!up && !down))
			continue;
		if (bytes_of(up ? r : l) < KIB(256) ||
		    (l->area.start % MIB(1) && r->area.end % MIB(1)))
			continue;
		if (is_free(s, i) && is_free(s, i + 1)) {
			s->row.units += !s->marked[i] || !s->marked[i + 1];
			mark(s, i);
			mark(s, i + 1);
		}
	}
}

/* Accessible and closed pieces in turn. */
static void find_decommit(struct shapes *s)
{
	for (size_t i = 0; i + 1 < s->nr; i++) {
		const struct snapshot_area *l = &s->areas[i], *r = &s->areas[i + 1];

		if (!is_anonymous_pair(s, i) || !access_of(l) == !access_of(r) || !is_free(s, i) ||
		    !is_free(s, i + 1))
			continue;
		mark(s, i);
		mark(s, i + 1);
	}
	grow_marks(s);
}

#define ADVICE                                                                                     \
	(SEAM_VM_DONTDUMP | SEAM_VM_DONTCOPY | SEAM_VM_WIPEONFORK | SEAM_VM_HUGEPAGE |             \
	 SEAM_VM_NOHUGEPAGE | SEAM_VM_MERGEABLE | SEAM_VM_SEQ_READ | SEAM_VM_RAND_READ)

static void find_advice_stripes(struct shapes *s)
{
	mark_flag_pairs(s, ADVICE);
}

static void find_lock_stripes(struct shapes *s)
{
	mark_flag_pairs(s, SEAM_VM_LOCKED | SEAM_VM_LOCKONFAULT);
}

static void find_uffd_stripes(struct shapes *s)
{
	mark_flag_pairs(s, SEAM_VM_UFFD_MISSING | SEAM_VM_UFFD_WP | SEAM_VM_UFFD_MINOR);
	mark_pairs(s, SEAM_CAUSE(uffd));
	grow_marks(s);
}

static void find_numa_stripes(struct shapes *s)
{
	mark_pairs(s, SEAM_CAUSE(numa));
	grow_marks(s);
}

static void find_pkey_stripes(struct shapes *s)
{
	mark_pairs(s, SEAM_CAUSE(pkey));
	grow_marks(s);
}

/* Anonymous memory numbers its pages where it is mapped, and keeps the numbers when it moves. */
static void find_moved(struct shapes *s)
{
	for (size_t i = 0; i + 1 < s->nr; i++) {
		if (!is_anonymous_pair(s, i) || !(s->pair[i] & SEAM_CAUSE(offset)) ||
		    s->pair[i] & ~(SEAM_CAUSE(offset) | HISTORY) || !is_free(s, i) ||
		    !is_free(s, i + 1))
			continue;
		mark(s, i);
		mark(s, i + 1);
	}
}

/* The report of 2001: one page at a time, each equal to the one before. */
static void find_one_page_maps(struct shapes *s)
{
	const uint64_t page = UINT64_C(1) << snapshot_page_shift(s->findings->snapshot);

	for (size_t i = 0; i + 1 < s->nr; i++) {
		if (!is_anonymous_pair(s, i) || s->pair[i] & ~(SEAM_CAUSE(rule) | HISTORY) ||
		    bytes_of(&s->areas[i]) != page || bytes_of(&s->areas[i + 1]) != page)
			continue;
		mark(s, i);
		mark(s, i + 1);
	}
}

static void find_fork_leftover(struct shapes *s)
{
	mark_pairs(s, SEAM_CAUSE(fork));
}

static void find_touched_apart(struct shapes *s)
{
	mark_pairs(s, SEAM_CAUSE(anon_vma));
}

/* A file that has executable private areas is a program or a library, and all it maps are segments. */
static void find_elf_segments(struct shapes *s)
{
	uint32_t last = NO_FILE;

	for (size_t i = 0; i < s->nr; i++) {
		if (!file_is_elf(s, i) || !mark(s, i))
			continue;
		s->row.units += s->file_of[i] != last;
		last = s->file_of[i];
	}
}

static bool is_shared_memory(const struct snapshot_area *area)
{
	static const char *const names[] = { "/dev/zero", "/SYSV", "/memfd:", "[anon_shmem" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (begins_with(area->name, names[i]))
			return true;
	return false;
}

/* MAP_SHARED without a file makes an object of its own each time; none joins another. */
static void find_shared_anon_per_map(struct shapes *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->file_of[i] != NO_FILE && is_shared(&s->areas[i]) &&
		    is_shared_memory(&s->areas[i]) && s->files[s->file_of[i]].areas <= 2)
			s->row.units += mark(s, i);
}

static void find_file_per_map(struct shapes *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->file_of[i] != NO_FILE && s->files[s->file_of[i]].areas <= 2)
			s->row.units += mark(s, i);
}

static void find_file_windows(struct shapes *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->file_of[i] != NO_FILE && s->files[s->file_of[i]].areas > 2)
			mark(s, i);
}

static bool stands_alone(const struct shapes *s, size_t i)
{
	return !touches_next(s, i) && (!i || !touches_next(s, i - 1));
}

/* What makes areas alike when nothing tells what they are for. */
struct likeness {
	uint64_t bytes, access;
	size_t index;
};

static int by_likeness(const void *left, const void *right)
{
	const struct likeness *l = left, *r = right;

	if (l->bytes != r->bytes)
		return l->bytes < r->bytes ? -1 : 1;
	if (l->access != r->access)
		return l->access < r->access ? -1 : 1;
	return l->index < r->index ? -1 : l->index > r->index;
}

/* Marks the largest set of equal size and access among those for which @fits says yes. */
static void mark_commonest(struct shapes *s, bool (*fits)(const struct shapes *s, size_t i))
{
	struct likeness *all = malloc(s->nr * sizeof(*all));
	size_t nr = 0, best = 0, best_len = 0;

	if (!all)
		return;
	for (size_t i = 0; i < s->nr; i++)
		if (is_free(s, i) && fits(s, i))
			all[nr++] = (struct likeness) { bytes_of(&s->areas[i]),
							access_of(&s->areas[i]), i };
	qsort(all, nr, sizeof(*all), by_likeness);
	for (size_t i = 0, run = 0; i < nr; i++) {
		if (all[i].bytes != all[run].bytes || all[i].access != all[run].access)
			run = i;
		if (i - run + 1 > best_len) {
			best = run;
			best_len = i - run + 1;
		}
	}
	for (size_t i = best; i < best + best_len; i++)
		mark(s, all[i].index);
	if (best_len)
		s->row.unit_bytes = all[best].bytes;
	free(all);
}

static bool is_chunk(const struct shapes *s, size_t i)
{
	return is_anonymous(&s->areas[i]) && stands_alone(s, i) &&
	       !(s->areas[i].area.start % KIB(64)) && bytes_of(&s->areas[i]) >= KIB(64);
}

static void find_aligned_chunks(struct shapes *s)
{
	mark_commonest(s, is_chunk);
}

static bool is_unnamed(const struct shapes *s, size_t i)
{
	return !s->areas[i].name[0];
}

/* Neighbours with nothing between them that can be seen; else what is alike in size and access. */
static void find_other(struct shapes *s)
{
	size_t nr = 0;

	for (size_t i = 0; i + 1 < s->nr; i++) {
		if (!is_anonymous_pair(s, i) || s->pair[i] & ~HISTORY)
			continue;
		nr += mark(s, i);
		nr += mark(s, i + 1);
	}
	if (nr >= GROUP_AREAS)
		return;
	memset(s->marked, 0, s->nr * sizeof(*s->marked));
	mark_commonest(s, is_unnamed);
}

static const struct recogniser {
	enum group what;
	void (*find)(struct shapes *s);
} recognisers[] = {
	{ GROUP_elf_segments, find_elf_segments },
	{ GROUP_guard_marker, find_guard_marker },
	{ GROUP_jit_dual, find_jit_dual },
	{ GROUP_jit_wx, find_jit_wx },
	{ GROUP_thread_stack, find_thread_stack },
	{ GROUP_fiber_stack, find_fiber_stack },
	{ GROUP_reserve_commit, find_reserve_commit },
	{ GROUP_write_barrier, find_write_barrier },
	{ GROUP_decommit, find_decommit },
	{ GROUP_uffd_stripes, find_uffd_stripes },
	{ GROUP_numa_stripes, find_numa_stripes },
	{ GROUP_pkey_stripes, find_pkey_stripes },
	{ GROUP_lock_stripes, find_lock_stripes },
	{ GROUP_advice_stripes, find_advice_stripes },
	{ GROUP_shared_anon_per_map, find_shared_anon_per_map },
	{ GROUP_file_per_map, find_file_per_map },
	{ GROUP_file_windows, find_file_windows },
	{ GROUP_moved, find_moved },
	{ GROUP_one_page_maps, find_one_page_maps },
	{ GROUP_fork_leftover, find_fork_leftover },
	{ GROUP_touched_apart, find_touched_apart },
	{ GROUP_aligned_chunks, find_aligned_chunks },
	{ GROUP_other, find_other },
};

/* Makes a group of what is marked, if it is enough. */
static void settle(struct shapes *s, enum group what)
{
	struct findings *findings = s->findings;
	struct group_row row = s->row;

	row.what = what;
	row.example = SIZE_MAX;
	for (size_t i = 0; i < s->nr; i++) {
		if (!s->marked[i])
			continue;
		if (row.example == SIZE_MAX)
			row.example = i;
		row.areas++;
		row.bytes += bytes_of(&s->areas[i]);
	}
	if (row.areas < GROUP_AREAS)
		return;
	for (size_t i = 0; i < s->nr; i++)
		if (s->marked[i])
			s->group_of[i] = (uint8_t)what;
	findings->groups[findings->nr_groups++] = row;
}

static int more_areas(const void *left, const void *right)
{
	const struct group_row *l = left, *r = right;

	if (l->areas != r->areas)
		return l->areas < r->areas ? 1 : -1;
	return l->what < r->what ? -1 : l->what > r->what;
}

/* A file as an area tells it; inode 0 is no file. */
struct file_key {
	uint64_t dev, inode;
	size_t index;
};

static int by_file(const void *left, const void *right)
{
	const struct file_key *l = left, *r = right;

	if (l->dev != r->dev)
		return l->dev < r->dev ? -1 : 1;
	return l->inode < r->inode ? -1 : l->inode > r->inode;
}

static void count_use(struct file_use *file, const struct snapshot_area *area)
{
	file->areas++;
	file->executable += !!(access_of(area) & SEAM_VM_EXEC);
	file->writable += !!(access_of(area) & SEAM_VM_WRITE);
	file->shared += is_shared(area);
}

static int find_files(struct shapes *s)
{
	struct file_key *keys = malloc((s->nr + 1) * sizeof(*keys));
	size_t nr = 0;
	uint32_t nr_files = 0;

	s->files = calloc(s->nr + 1, sizeof(*s->files));
	s->file_of = malloc((s->nr + 1) * sizeof(*s->file_of));
	if (!keys || !s->files || !s->file_of) {
		free(keys);
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->nr; i++) {
		const struct snapshot_area *area = &s->areas[i];

		s->file_of[i] = NO_FILE;
		if (area->inode)
			keys[nr++] = (struct file_key) {
				(uint64_t)area->dev_major << 32 | area->dev_minor, area->inode, i
			};
	}
	qsort(keys, nr, sizeof(*keys), by_file);
	for (size_t i = 0; i < nr; i++) {
		if (!i || by_file(&keys[i - 1], &keys[i]))
			nr_files++;
		s->file_of[keys[i].index] = nr_files - 1;
		count_use(&s->files[nr_files - 1], &s->areas[keys[i].index]);
	}
	free(keys);
	return 0;
}

int groups_find(struct findings *findings)
{
	struct shapes s = {
		.findings = findings,
		.areas = findings->snapshot->areas,
		.nr = findings->snapshot->nr_areas,
		.pair = findings->pair,
		.group_of = findings->group_of,
	};
	int r = find_files(&s);

	s.marked = malloc((s.nr + 1) * sizeof(*s.marked));
	if (!s.marked)
		r = -ENOMEM;
	for (size_t i = 0; !r && i < sizeof(recognisers) / sizeof(recognisers[0]); i++) {
		memset(s.marked, 0, s.nr * sizeof(*s.marked));
		memset(&s.row, 0, sizeof(s.row));
		recognisers[i].find(&s);
		settle(&s, recognisers[i].what);
	}
	qsort(findings->groups, findings->nr_groups, sizeof(findings->groups[0]), more_areas);
	free(s.marked);
	free(s.file_of);
	free(s.files);
	return r;
}
