/* SPDX-License-Identifier: BSD-2-Clause */
#include <seam/space.h>

#include <string.h>

#include "lib/area.h"
#include "lib/changes.h"
#include "lib/export.h"
#include "lib/memory.h"
#include "lib/payload.h"
#include "lib/scratch.h"
#include "lib/shared.h"
#include "lib/steps/steps.h"
#include "lib/table.h"

#ifndef SEAM_VERSION
#define SEAM_VERSION "0.1.0"
#endif

#define OLD_MAX_AREAS 65536
#define MAX_AREAS 65530
#define STACK_GAP_PAGES 256
#define MOST_PAGE_SHIFT 16
#define MOST_HOST_PAGE_SHIFT 30

static uint64_t or_default(uint64_t value, uint64_t otherwise)
{
	return value ? value : otherwise;
}

/* The options as this library knows them, however long the caller's struct is. */
static int read_options(const struct seam_space_options *given, struct seam_space_options *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (!given)
		return 0;
	if (given->size < offsetof(struct seam_space_options, flags))
		return -SEAM_EINVAL;
	memcpy(ret, given, given->size < sizeof(*ret) ? given->size : sizeof(*ret));
	return 0;
}

static int set_layout(struct seam_space *space, const struct seam_space_options *options)
{
	const struct arch *arch = arch_at(options->arch);
	uint64_t base, mask;

	if (!arch)
		return -SEAM_EINVAL;
	space->arch = arch;
	space->page_shift = (unsigned int)or_default(options->page_shift, arch->page_shift);
	space->host_page_shift =
		(unsigned int)or_default(options->host_page_shift, space->page_shift);
	if (space->page_shift < arch->page_shift || space->page_shift > MOST_PAGE_SHIFT ||
	    space->host_page_shift < space->page_shift ||
	    space->host_page_shift > MOST_HOST_PAGE_SHIFT)
		return -SEAM_EINVAL;
	index_init(&space->index, &space->alloc, space->page_shift);
	space->flags = options->flags;
	space->may = options->may;
	space->overcommit = options->overcommit;
	space->exec_only_pkey = options->exec_only_pkey;
	space->step_sink = options->step_sink;
	space->user_end = or_default(options->user_end, page_down(space, arch->user_end));
	/* a small space is searched as by kernels: from a third of it (TASK_UNMAPPED_BASE) */
	base = page_down(space, arch->mmap_base);
	space->mmap_base =
		or_default(options->mmap_base, base < space->user_end ? base : space->user_end);
	base = page_up(space, arch->legacy_base);
	space->legacy_base =
		or_default(options->legacy_base,
			   base < space->user_end ? base : page_up(space, space->user_end / 3));
	space->min_addr = options->min_addr;
	space->min_addr_sysctl = options->min_addr_sysctl;
	space->stack_gap = or_default(options->stack_gap, STACK_GAP_PAGES << space->page_shift);
	space->commit_limit_pages = or_default(options->commit_limit_pages, SEAM_NO_LIMIT);
	space->limit[SEAM_LIMIT_AREAS] =
		or_default(options->max_areas, policy_of(space)->old ? OLD_MAX_AREAS : MAX_AREAS);
	space->limit[SEAM_LIMIT_AS] = or_default(options->limit_as, SEAM_NO_LIMIT);
	space->limit[SEAM_LIMIT_DATA] = or_default(options->limit_data, SEAM_NO_LIMIT);
	space->limit[SEAM_LIMIT_STACK] = or_default(options->limit_stack, SEAM_NO_LIMIT);
	space->limit[SEAM_LIMIT_MEMLOCK] = or_default(options->limit_memlock, SEAM_NO_LIMIT);
	space->offset_mask = (arch->top_of_offsets >> (space->page_shift - arch->page_shift)) - 1;
	if (!rule(space, SEAM_RULE_byte_offsets))
		space->offset_mask = word(space, UINT64_MAX);
	mask = page_size(space) - 1;
	/* what a kernel's own structures would look like is not kept for readers or forks */
	if (space->flags & SEAM_SPACE_READERS &&
	    (!WITH_READERS || space->flags & SEAM_SPACE_COUNT_STEPS))
		return -SEAM_EINVAL;
	if (space->overcommit > 2 || space->exec_only_pkey > MAX_PKEY ||
	    (space->user_end | space->mmap_base | space->legacy_base) & mask ||
	    space->mmap_base > space->user_end || space->legacy_base > space->user_end)
		return -SEAM_EINVAL;
	return 0;
}

/* A space without areas, family and steps. */
static struct seam_space *space_new(const struct seam_alloc *alloc)
{
	struct seam_space *space = memory_zeroed(alloc, sizeof(struct space_memory));

	if (!space)
		return NULL;
	space->alloc = *alloc;
	journal_init(&space->journal);
	return space;
}

void space_join_family(struct seam_space *space, struct family *family)
{
	space->family = family;
	space->next_in_family = family->members;
	WRITE_RELEASE(family->members, space);
}

/*
 * From here on, until NULL, the child of a fork(2) finds a member half made or half ended
 * (seam_space_after_fork).
 */
static void family_take_in_hand(struct family *family, struct seam_space *space)
{
	WRITE_RELEASE(family->in_hand, space);
}

void space_unlink(struct family *family, const struct seam_space *space)
{
	struct seam_space **link = &family->members;

	while (*link && *link != space)
		link = &(*link)->next_in_family;
	if (*link)
		WRITE_RELEASE(*link, space->next_in_family);
}

static void leave_family(struct seam_space *space)
{
	struct family *family = space->family;
	bool last = family->spaces == 1;

	space_unlink(family, space);
	family_drop(family);
	if (!last)
		family_take_in_hand(family, NULL);
}

int space_init_readers(struct seam_space *space)
{
	int err;

	if (!WITH_READERS)
		return -SEAM_EINVAL;
	err = index_share(&space->index);
	space->history = space->index.history;
	space->attrs.shared = true;
	return err;
}

/* What only some spaces have. -SEAM_EALLOC. */
static int init_extras(struct seam_space *space)
{
	if (space->flags & SEAM_SPACE_READERS && space_init_readers(space))
		return -SEAM_EALLOC;
	return space->flags & SEAM_SPACE_COUNT_STEPS ? steps_init(space) : 0;
}

/* The first of a family. -SEAM_EALLOC. */
static int init_family(struct seam_space *space)
{
	struct family *family = family_new(&space->alloc, space->flags & SEAM_SPACE_READERS);

	if (!family)
		return -SEAM_EALLOC;
	space_join_family(space, family);
	return 0;
}

SEAM_EXPORT int seam_space_create(const struct seam_space_options *given,
				  struct seam_space **ret_space)
{
	struct seam_space_options options;
	struct seam_space *space;
	int err = read_options(given, &options);

	if (err)
		return err;
#ifndef SEAM_FREESTANDING
	if (!options.alloc)
		options.alloc = &seam_alloc_malloc;
#endif
	if (!options.policy)
		options.policy = seam_policy_at(0); /* plain, where it is built in */
	if (!options.alloc || !options.policy || !policy_built_in(options.policy))
		return -SEAM_EINVAL;
	space = space_new(options.alloc);
	if (!space)
		return -SEAM_EALLOC;
	space->policy = *options.policy;
	err = set_layout(space, &options);
	if (!err)
		err = payload_init(space, options.payload);
	if (!err)
		err = init_family(space);
	if (!err)
		err = init_extras(space);
	if (err) {
		seam_space_destroy(space);
		return err;
	}
	*ret_space = space;
	return 0;
}

/* The family's other spaces must not find what this one had. */
static void drop_identities(struct seam_space *space)
{
	struct cursor cursor;
	struct area area;

	for_each_area(space, 0, &cursor, &area)
		anon_drop(space->family, area.anon);
	for (uint32_t i = 0; i < space->adopted_room; i++)
		anon_drop(space->family, space->adopted[i].link);
	anon_sweep(space->family);
}

SEAM_EXPORT void seam_space_destroy(struct seam_space *space)
{
	struct seam_alloc alloc;

	if (!space)
		return;
	alloc = space->alloc;
	payload_release_all(space);
	if (space->family && space->family->spaces > 1) {
		family_take_in_hand(space->family, space);
		if (WITH_KERNELS)
			drop_identities(space);
	}
	if (space->family)
		leave_family(space);
	steps_free(space);
	changes_free(space);
	if (WITH_KERNELS)
		table_free(&alloc, space->adopted);
	index_destroy(&space->index);
	attr_destroy(&space->attrs, &alloc);
	if (space->journal.edits != space->journal.few)
		memory_free(&alloc, space->journal.edits,
			    space->journal.room * sizeof(*space->journal.edits));
	memory_free(&alloc, space, sizeof(struct space_memory));
}

struct seam_space *space_like(const struct seam_space *from)
{
	struct seam_space *space = from->alloc.alloc(from->alloc.ctx, sizeof(struct space_memory));

	if (!space)
		return NULL;
	*space = *from;
	index_init(&space->index, &space->alloc, space->page_shift);
	space->history = NULL;
	memset(&space->attrs, 0, sizeof(space->attrs));
	space->family = NULL;
	space->next_in_family = NULL;
	space->adopted = NULL;
	space->nr_adopted = space->adopted_room = 0;
	journal_init(&space->journal);
	space->changes = NULL;
	space->hook = NULL;
	space->steps = NULL;
	space->payload.retain = space->payload.release = NULL;
	return space;
}

/* Of what a space has used and counted a child begins anew. */
static void inherit(struct seam_space *child, const struct seam_space *parent)
{
	space_join_family(child, parent->family);
	family_hold(child->family);
	child->mm.locked_lost_pages = 0;
	memset(&child->mm.totals, 0, sizeof(child->mm.totals));
	memset(&child->mm.stats, 0, sizeof(child->mm.stats));
}

SEAM_EXPORT int seam_space_fork(struct seam_space *parent, struct seam_space **ret_child)
{
	struct seam_space *child;
	int err;

	if (!calls_of(parent)->fork)
		return -SEAM_ENOSYS;
	if (space_busy(parent))
		return -SEAM_EBUSY;
	child = space_like(parent);
	if (!child)
		return -SEAM_EALLOC;
	family_take_in_hand(parent->family, child);
	inherit(child, parent);
	if (child->flags & SEAM_SPACE_COUNT_STEPS && steps_init(child)) {
		seam_space_destroy(child);
		return -SEAM_EALLOC;
	}
	/* a child that cannot be made whole is dropped whole */
	call_begin(child);
	err = calls_of(child)->fork(parent, child);
	if (child->no_memory)
		err = -SEAM_EALLOC;
	err = call_end(child, err);
	/* nobody reads it before it is whole */
	if (!err && child->flags & SEAM_SPACE_READERS)
		err = space_init_readers(child);
	if (err) {
		seam_space_destroy(child);
		return err;
	}
	child->payload = parent->payload;
	payload_retain_all(child);
	*ret_child = child;
	family_take_in_hand(parent->family, NULL);
	return 0;
}

SEAM_EXPORT void seam_space_set_brk(struct seam_space *space, uint64_t start_brk, uint64_t brk)
{
	space->mm.start_brk = start_brk;
	space->mm.brk = brk;
}

SEAM_EXPORT void seam_space_set_code(struct seam_space *space, uint64_t end_code,
				     uint64_t start_data, uint64_t end_data)
{
	space->mm.end_code = end_code;
	space->mm.start_data = start_data;
	space->mm.end_data = end_data;
}

SEAM_EXPORT void seam_space_set_flags(struct seam_space *space, uint32_t set, uint32_t clear)
{
	const uint32_t changeable = SEAM_SPACE_READ_IMPLIES_EXEC | SEAM_SPACE_MDWE;

	space->flags = (space->flags & ~(clear & changeable)) | (set & changeable);
}

SEAM_EXPORT void seam_space_set_may(struct seam_space *space, uint32_t may)
{
	space->may = may;
}

SEAM_EXPORT void seam_space_set_limit(struct seam_space *space, enum seam_limit limit,
				      uint64_t value)
{
	if ((unsigned int)limit < NR_LIMITS)
		space->limit[limit] = value;
}

SEAM_EXPORT uint64_t seam_space_limit(const struct seam_space *space, enum seam_limit limit)
{
	return (unsigned int)limit < NR_LIMITS ? space->limit[limit] : SEAM_NO_LIMIT;
}

SEAM_EXPORT uint64_t seam_space_areas(const struct seam_space *space)
{
	return index_count(&space->index);
}

SEAM_EXPORT uint64_t seam_space_get_brk(const struct seam_space *space)
{
	return space->mm.brk;
}

SEAM_EXPORT uint64_t seam_space_get_start_brk(const struct seam_space *space)
{
	return space->mm.start_brk;
}

SEAM_EXPORT unsigned int seam_space_page_shift(const struct seam_space *space)
{
	return space->page_shift;
}

SEAM_EXPORT const struct seam_policy *seam_space_policy(const struct seam_space *space)
{
	return &space->policy;
}

SEAM_EXPORT void seam_space_get_stats(const struct seam_space *space, struct seam_stats *ret_stats)
{
	*ret_stats = space->mm.stats;
}

SEAM_EXPORT void seam_space_get_totals(const struct seam_space *space,
				       struct seam_totals *ret_totals)
{
	*ret_totals = space->mm.totals;
	ret_totals->locked_pages += space->mm.locked_lost_pages;
}

SEAM_EXPORT int seam_area_find(const struct seam_space *space, uint64_t addr,
			       struct seam_area *ret_area)
{
	struct cursor cursor;
	struct area area;

	if (!index_look_up(&space->index, addr, &cursor))
		return 0;
	index_load(&space->index, &cursor, &area);
	area_show(space, &area, ret_area);
	return 1;
}

SEAM_EXPORT int seam_area_find_below(const struct seam_space *space, uint64_t addr,
				     struct seam_area *ret_area)
{
	struct cursor cursor;
	struct area area;

	if (!addr)
		return 0;
	/* the one that holds addr - 1, else the one before the first that ends behind it */
	if (index_seek(&space->index, addr - 1, &cursor)) {
		index_load(&space->index, &cursor, &area);
		if (area.start >= addr && !index_prev(&space->index, &cursor))
			return 0;
	} else if (!index_last(&space->index, &cursor)) {
		return 0;
	}
	index_load(&space->index, &cursor, &area);
	area_export(space, &area, ret_area);
	return 1;
}

SEAM_EXPORT const char *seam_version(void)
{
	return "libseam " SEAM_VERSION;
}
