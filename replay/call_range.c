/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls over a range that change what areas are: protection, advice, locks, policies, names. */
#include "replay/call.h"

#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#define PR_SET_THP_DISABLE 41
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#define PR_SET_MEMORY_MERGE 67
#define UFFD_REGISTER 0xaa00
#define UFFD_UNREGISTER 0xaa01
#define UFFD_MODES 7 /* missing, write protection, minor faults */

static int protect(struct call *call, uint64_t at, uint64_t len)
{
	bool with_key = call->event->call == TRACE_CALL_pkey_mprotect;
	uint32_t prot = (uint32_t)call->arg[2];
	int key = with_key ? (int)call->arg[3] : -1;
	uint64_t start, end;
	int err;

	if (!call->lane->options->guard_markers || with_key ||
	    !guards_protect(call, at, len, prot, &err))
		err = seam_space_mprotect(call->space, at, len, prot, key);
	if (prot & SEAM_PROT_WRITE && !range_map_is_empty(&call->mm->untouched) &&
	    whole_pages(call, at, len, &start, &end))
		touch_after_protect(call, start, end - start);
	return err;
}

/* Which keys the program has got, or the processor has, no trace tells; nothing is changed then. */
static bool lacks_key(const struct call *call)
{
	return call->event->call == TRACE_CALL_pkey_mprotect && call->known &&
	       call->event->result == -SEAM_EINVAL;
}

void call_mprotect(struct call *call)
{
	if (lacks_key(call)) {
		call_finish(call, -SEAM_EINVAL);
		return;
	}
	call_over_range(call, call->arg[0], call->arg[1], protect, NEEDS_MEM);
}

static int advise(struct call *call, uint64_t at, uint64_t len)
{
	return seam_space_madvise(call->space, at, len, (int)call->arg[2]);
}

void call_madvise(struct call *call)
{
	call_over_range(call, call->arg[0], call->arg[1], advise, GOES_ON | NEEDS_MEM);
}

static int lock(struct call *call, uint64_t at, uint64_t len)
{
	uint32_t flags = call->event->call == TRACE_CALL_mlock2 ? (uint32_t)call->arg[2] : 0;

	return seam_space_mlock(call->space, at, len, flags);
}

void call_mlock(struct call *call)
{
	call_over_range(call, call->arg[0], call->arg[1], lock, ROUNDS | NEEDS_MEM);
}

static int unlock(struct call *call, uint64_t at, uint64_t len)
{
	return seam_space_munlock(call->space, at, len);
}

void call_munlock(struct call *call)
{
	call_over_range(call, call->arg[0], call->arg[1], unlock, ROUNDS | NEEDS_MEM);
}

void call_mlockall(struct call *call)
{
	uint32_t flags = (uint32_t)call->arg[0];
	int err = call_check(call, seam_space_mlockall(call->space, flags));

	if (!err)
		call->mm->future_locks = flags & SEAM_MCL_FUTURE ? flags & ~SEAM_MCL_CURRENT : 0;
	call_finish(call, err);
}

void call_munlockall(struct call *call)
{
	call->mm->future_locks = 0;
	call_finish(call, call_check(call, seam_space_munlockall(call->space)));
}

static int seal(struct call *call, uint64_t at, uint64_t len)
{
	return seam_space_mseal(call->space, at, len, call->arg[2]);
}

void call_mseal(struct call *call)
{
	call_over_range(call, call->arg[0], call->arg[1], seal, NEEDS_MEM);
}

/* Policies are equal by value: mode and nodes make one number, 0 for the default. */
static uint32_t policy_number(uint64_t mode, uint64_t nodes)
{
	uint64_t mix = (mode << 1 | 1) * UINT64_C(0x9e3779b97f4a7c15) ^ nodes;

	if (!(mode & 0xff))
		return 0;
	mix = (mix ^ mix >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(mix >> 32) | 1;
}

static int bind(struct call *call, uint64_t at, uint64_t len)
{
	return seam_space_mbind(call->space, at, len, policy_number(call->arg[2], call->arg[3]));
}

void call_mbind(struct call *call)
{
	call_over_range(call, call->arg[0], call->arg[1], bind, NEEDS_MEM);
}

/* The policy of a task: no area takes it over (6.18 mm/mempolicy.c do_set_mempolicy). */
void call_set_mempolicy(struct call *call)
{
	call_finish(call, call->known ? call->event->result : 0);
}

static int set_name(struct call *call, uint64_t at, uint64_t len)
{
	return seam_space_set_name(call->space, at, len, (uint32_t)call->arg[4]);
}

/*
 * A kernel that was built without CONFIG_ANON_VMA_NAME refuses, and so does one that does not like
 * the name, of which a trace has a number only. Nothing is changed then.
 */
static bool refuses_names(const struct call *call)
{
	return call->lane->place_recorded && call->known && call->event->result == -SEAM_EINVAL;
}

static void call_set_vma(struct call *call)
{
	if (refuses_names(call))
		call_finish(call, -SEAM_EINVAL);
	else if (call->arg[1] == PR_SET_VMA_ANON_NAME)
		call_over_range(call, call->arg[2], call->arg[3], set_name, GOES_ON | NEEDS_MEM);
	else
		call_pass(call);
}

#define PR_SET_MM 35
#define PR_SET_MM_MAP 14

/*
 * Where data and heap are said to be. A recorder has read of PR_SET_MM_MAP what the first and the last
 * bound of the heap are: arg[2], arg[3].
 */
static void call_set_mm(struct call *call)
{
	const uint64_t *arg = call->arg;
	int err = 0;

	if (call->known && !call->worked)
		err = (int)call->event->result;
	else if (arg[1] == PR_SET_MM_MAP)
		seam_space_set_brk(call->space, arg[2], arg[3]);
	else if (arg[1] < SEAM_BOUND_START_DATA || arg[1] > SEAM_BOUND_BRK || arg[1] == 5)
		return call_pass(call);
	else if (arg[3] || arg[4])
		err = -SEAM_EINVAL;
	else
		err = call_check(
			call, seam_space_set_bound(call->space, (enum seam_bound)arg[1], arg[2]));
	call->mm->heap_known |= !err;
	call_finish(call, err);
}

/* What a process changes of its own nature. Whether it may is for the kernel to say. */
static void call_set_nature(struct call *call)
{
	bool works = call->worked || !call->known;

	if (call->arg[0] == PR_SET_MDWE && call->arg[1] & PR_MDWE_REFUSE_EXEC_GAIN && works)
		seam_space_set_flags(call->space, SEAM_SPACE_MDWE, 0);
	else if (call->arg[0] == PR_SET_MEMORY_MERGE && works)
		call_check(call, seam_space_set_memory_merge(call->space, !!call->arg[1]));
	call_finish(call, call->known ? call->event->result : 0);
}

void call_prctl(struct call *call)
{
	switch (call->arg[0]) {
	case PR_SET_VMA:
		call_set_vma(call);
		break;
	case PR_SET_MM:
		call_set_mm(call);
		break;
	case PR_SET_MDWE:
	case PR_SET_MEMORY_MERGE:
	case PR_SET_THP_DISABLE:
		call_set_nature(call);
		break;
	default:
		call_pass(call);
	}
}

static int watch(struct call *call, uint64_t at, uint64_t len)
{
	uint64_t flags = 0, mode = call->arg[4];
	uint32_t uffd = (uint32_t)call->arg[0] + 1;

	if ((call->arg[1] & 0xffff) == UFFD_UNREGISTER)
		return seam_space_uffd_unregister(call->space, at, len, uffd);
	flags |= mode & 1 ? SEAM_VM_UFFD_MISSING : 0;
	flags |= mode & 2 ? SEAM_VM_UFFD_WP : 0;
	flags |= mode & 4 ? SEAM_VM_UFFD_MINOR : 0;
	return seam_space_uffd_register(call->space, at, len, uffd, flags);
}

void call_uffd_ioctl(struct call *call)
{
	uint64_t request = call->arg[1] & 0xffff;

	/* protection of reads and writes (7.3) is none of the model's */
	if (request == UFFD_REGISTER && call->arg[4] & ~(uint64_t)UFFD_MODES)
		call_pass(call);
	else if (request == UFFD_REGISTER || request == UFFD_UNREGISTER)
		call_over_range(call, call->arg[2], call->arg[3], watch, NEEDS_MEM);
	else
		call_pass(call);
}
