/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/admit.h"

#include <seam/ops.h>

#include "probe/uapi.h"
#include "verify/chance.h"

/* Calls that go over areas take a range that ends beyond user space, but none that wraps. */
static bool allows(const struct world *world, uint64_t addr, uint64_t len)
{
	uint64_t start = addr & ~(PAGE - 1), end = (addr + len + PAGE - 1) & ~(PAGE - 1);

	return addr >> 47 || (len && end <= start) || world_allows(world, start, end - start);
}

/* Those that make or take away memory refuse it before they do anything. */
static bool allows_within(const struct world *world, uint64_t addr, uint64_t len)
{
	return len >> 47 || allows(world, addr, len);
}

/* Of huge pages whole ones are taken, whatever was said (6.18 ksys_mmap_pgoff, vrm_set_new_addr). */
static uint64_t in_huge_pages(uint64_t len)
{
	return len >> 47 ? len : (len + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

static uint64_t mapped_len(const uint64_t *args)
{
	return args[3] & SEAM_MAP_HUGETLB ? in_huge_pages(args[1]) : args[1];
}

static bool is_of_huge_pages(const struct world *world, uint64_t addr)
{
	struct seam_area area;

	return seam_area_find(world->space, addr, &area) && area.start <= addr &&
	       area.flags & SEAM_VM_HUGETLB;
}

static bool may_move(const struct world *world, const uint64_t *args)
{
	bool huge = is_of_huge_pages(world, args[0]);
	uint64_t old_len = huge ? in_huge_pages(args[1]) : args[1];
	uint64_t new_len = huge ? in_huge_pages(args[2]) : args[2];

	return allows_within(world, args[0], old_len) && allows_within(world, args[0], new_len) &&
	       (!(args[3] & SEAM_MREMAP_FIXED) || allows_within(world, args[4], new_len));
}

/* What lies between the new break and the old one goes; where there is something none grows. */
static bool allows_break(const struct world *world, uint64_t addr)
{
	uint64_t brk = seam_space_get_brk(world->space), old = (brk + PAGE - 1) & ~(PAGE - 1);
	uint64_t new = (addr + PAGE - 1) & ~(PAGE - 1);

	if (!addr || addr >= brk || new == old ||
	    (world->heap_known && addr < seam_space_get_start_brk(world->space)))
		return true;
	return world_allows(world, new, old - new);
}

bool admit_harmless(const struct world *world, const struct op *op, const uint64_t *args)
{
	switch (op->call) {
	case TRACE_CALL_mmap:
		return !(args[3] & SEAM_MAP_FIXED) ||
		       allows_within(world, args[0], mapped_len(args));
	case TRACE_CALL_mremap:
		return may_move(world, args);
	case TRACE_CALL_brk:
		return allows_break(world, args[0]);
	case TRACE_CALL_prctl:
		return args[0] != PR_SET_VMA || allows_within(world, args[2], args[3]);
	case TRACE_CALL_uffd_ioctl:
		return allows_within(world, args[2], args[3]);
	case TRACE_CALL_shmat:
		return allows_within(world, args[1], args[3]);
	case TRACE_CALL_shmdt:
		return allows_within(world, args[0], MAX_SEGMENT_LEN);
	case TRACE_CALL_rlimit:
	case TRACE_CALL_set_mempolicy:
	case TRACE_CALL_mlockall:
	case TRACE_CALL_munlockall:
	case TRACE_CALL_fork:
	case TRACE_CALL_limit:
	case OP_EXIT:
		return true;
	case TRACE_CALL_munmap:
		return allows_within(world, args[0], args[1]);
	default:
		return allows(world, args[0], args[1]);
	}
}

/* Whether it takes no more memory and time than a test should. */
static bool modest(const struct op *op, const uint64_t *args)
{
	bool fills =
		op_faults_in(op, args) || op->call == TRACE_CALL_remap_file_pages ||
		(op->call == TRACE_CALL_mmap && args[3] & (SEAM_MAP_POPULATE | SEAM_MAP_LOCKED)) ||
		(op->call == TRACE_CALL_madvise && args[2] >= SEAM_MADV_COLD);

	if (op->call == TRACE_CALL_madvise && args[2] == SEAM_MADV_COLLAPSE)
		return false;
	return !fills || args[1] <= 64 * PAGE || args[1] >> 47;
}

static bool meets_guards(const struct generator *gen, uint64_t start, uint64_t end)
{
	for (unsigned int i = 0; i < gen->nr_guarded; i++)
		if (start < gen->guarded[i].end && end > gen->guarded[i].start)
			return true;
	return false;
}

/* Small pages that were there keep a huge page away, and with it an anon_vma. */
static bool may_be_huge(const struct world *world, const struct seam_area *area)
{
	uint64_t first = (area->start + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	uint32_t options = world->host->options.flags;

	if (area->anon_vma || area->file || first + HUGE_PAGE > area->end)
		return false;
	return area->flags & SEAM_VM_HUGEPAGE || options & SEAM_SPACE_THP_ALWAYS;
}

static bool has_locked(const struct world *world, uint64_t start, uint64_t end)
{
	struct seam_area area;

	while (seam_area_next(world->space, &start, &area) && area.start < end)
		if (area.flags & SEAM_VM_LOCKED)
			return true;
	return false;
}

/* The range in which it faults in pages of memory that was there before. */
static bool range_of_faults(const struct world *world, const struct op *op, const uint64_t *args,
			    struct range *ret)
{
	*ret = (struct range) { args[0], args[0] + args[1] };
	switch (op->call) {
	case TRACE_CALL_mlockall:
		*ret = (struct range) { 0, world->host->options.user_end };
		return args[0] & SEAM_MCL_CURRENT && !(args[0] & SEAM_MCL_ONFAULT);
	case TRACE_CALL_mprotect:
	case TRACE_CALL_pkey_mprotect:
		/* of locked memory that becomes writable */
		return args[2] & SEAM_PROT_WRITE && !(args[1] >> 47) &&
		       has_locked(world, ret->start, ret->end);
	default:
		return op_faults_in(op, args) && !(args[1] >> 47);
	}
}

/* Whether a fault in the range may find what the model does not know: its outcome hangs on pages. */
static bool hangs_on_pages(const struct generator *gen, const struct world *world,
			   const struct op *op, const uint64_t *args)
{
	struct seam_area area;
	struct range range;
	uint64_t at;

	if (!range_of_faults(world, op, args, &range))
		return false;
	if (meets_guards(gen, range.start & ~(PAGE - 1), range.end))
		return true;
	at = range.start;
	while (seam_area_next(world->space, &at, &area)) {
		/* the first area above may grow down to the range */
		if (area.start >= range.end && !(area.flags & SEAM_VM_GROWSDOWN))
			break;
		if (area.flags & (SEAM_VM_UFFD_MISSING | SEAM_VM_HUGETLB) ||
		    (op->call != TRACE_CALL_touch && may_be_huge(world, &area)))
			return true;
		if (area.start >= range.end)
			break;
	}
	return false;
}

bool admit(const struct generator *gen, const struct world *world, const struct op *op,
	   const uint64_t *args)
{
	return admit_harmless(world, op, args) && modest(op, args) &&
	       !hangs_on_pages(gen, world, op, args);
}

static void add_guarded(struct generator *gen, uint64_t start, uint64_t end)
{
	if (gen->nr_guarded == MAX_GUARDED) {
		gen->guarded[0] = (struct range) { 0, UINT64_MAX };
		gen->nr_guarded = 1;
	} else {
		gen->guarded[gen->nr_guarded++] = (struct range) { start, end };
	}
}

/* What lay in the range is gone. A hole in the middle of a guarded range stays guarded. */
static void forget_guarded(struct generator *gen, uint64_t start, uint64_t end)
{
	for (unsigned int i = 0; i < gen->nr_guarded;) {
		struct range *range = &gen->guarded[i];

		if (range->start >= start && range->start < end)
			range->start = end;
		if (range->end > start && range->end <= end)
			range->end = start;
		if (range->start >= range->end)
			*range = gen->guarded[--gen->nr_guarded];
		else
			i++;
	}
}

/* A move of several areas leaves what it finds where they have gaps. */
static bool may_leave_gaps(const uint64_t *args)
{
	return args[3] & SEAM_MREMAP_FIXED &&
	       (args[1] + PAGE - 1) / PAGE == (args[2] + PAGE - 1) / PAGE;
}

/* Shared memory that has grown: there is nothing behind the end of the object. */
static void learn_growth(struct generator *gen, const struct world *world, const uint64_t *args,
			 uint64_t result)
{
	struct seam_area area;

	if (args[2] > args[1] && seam_area_find(world->space, result, &area) &&
	    area.flags & SEAM_VM_MAYSHARE)
		add_guarded(gen, result, result + args[2]);
}

/*
 * Untouched memory that the touched copy joined has its pages, and with the rule anon_lost no anon_vma:
 * whether writing to it faults hangs on each page.
 */
static void learn_lost(struct generator *gen, const struct world *world, uint64_t start,
		       uint64_t len)
{
	uint64_t at = start;
	struct seam_area area;

	while (seam_area_next(world->space, &at, &area) && area.start < start + len)
		if (!area.file && !area.anon_vma) {
			add_guarded(gen, start, start + len);
			return;
		}
}

bool admit_moves_touched(const struct world *world, const struct op *op, const uint64_t *args)
{
	uint64_t at = args[0];
	struct seam_area area;

	if (op->call != TRACE_CALL_mremap ||
	    !seam_space_policy(world->space)->rule[SEAM_RULE_anon_lost])
		return false;
	while (seam_area_next(world->space, &at, &area) && area.start - args[0] < args[1])
		if (area.anon_vma)
			return true;
	return false;
}

void admit_learn(struct generator *gen, const struct world *world, const struct op *op,
		 const uint64_t *args, int64_t result)
{
	bool moved_guards;

	switch (op->call) {
	case TRACE_CALL_madvise:
		if (args[2] == SEAM_MADV_GUARD_INSTALL && !(args[1] >> 47))
			add_guarded(gen, args[0], args[0] + args[1]);
		else if (args[2] == SEAM_MADV_GUARD_REMOVE && !result)
			forget_guarded(gen, args[0], args[0] + args[1]);
		break;
	case TRACE_CALL_munmap:
		if (!result)
			forget_guarded(gen, args[0], args[0] + args[1]);
		break;
	case TRACE_CALL_mmap:
		if (result >= 0)
			forget_guarded(gen, (uint64_t)result, (uint64_t)result + args[1]);
		break;
	case TRACE_CALL_mremap:
		moved_guards = !(args[1] >> 47) && meets_guards(gen, args[0], args[0] + args[1]);
		if (result >= 0 && (uint64_t)result != args[0] && !may_leave_gaps(args))
			forget_guarded(gen, (uint64_t)result, (uint64_t)result + args[2]);
		/* a move of several areas may have stopped half way */
		if (moved_guards && args[3] & SEAM_MREMAP_FIXED && !(args[2] >> 47))
			add_guarded(gen, args[4], args[4] + args[2]);
		if (moved_guards && result >= 0)
			add_guarded(gen, (uint64_t)result, (uint64_t)result + args[2]);
		break;
	default:
		break;
	}
	if (op->call == TRACE_CALL_mremap && result >= 0)
		learn_growth(gen, world, args, (uint64_t)result);
	if (gen->moves_touched && args[3] & SEAM_MREMAP_FIXED)
		learn_lost(gen, world, args[4], args[2]);
	else if (gen->moves_touched && result >= 0)
		learn_lost(gen, world, (uint64_t)result, args[2]);
}
