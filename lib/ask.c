/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls in two steps. ask makes the call, takes it back by its journal and keeps that; commit makes
 * the edits of the journal anew. The index and the tables have given back no memory in between, so
 * that needs none.
 */
#include <seam/ask.h>

#include "lib/area.h"
#include "lib/changes.h"
#include "lib/compiler.h"
#include "lib/export.h"
#include "lib/scratch.h"

/* A call that the generation has. */
#define MAKE(member, ...)                                                                          \
	(calls_of(space)->member ? calls_of(space)->member(space, __VA_ARGS__) : -SEAM_ENOSYS)

static int make_call(struct seam_space *space, const struct seam_call *call, uint64_t *ret_value)
{
	switch (call->op) {
	case SEAM_OP_MMAP:
		return MAKE(mmap, call->mmap, ret_value);
	case SEAM_OP_MUNMAP:
		return MAKE(munmap, call->addr, call->len);
	case SEAM_OP_MPROTECT:
		return MAKE(mprotect, call->addr, call->len, (uint32_t)call->flags, call->pkey);
	case SEAM_OP_MREMAP:
		return MAKE(mremap, call->mremap, ret_value);
	case SEAM_OP_MADVISE:
		return MAKE(madvise, call->addr, call->len, (int)call->flags);
	case SEAM_OP_MLOCK:
		return MAKE(mlock, call->addr, call->len, (uint32_t)call->flags);
	case SEAM_OP_MUNLOCK:
		return MAKE(munlock, call->addr, call->len);
	case SEAM_OP_MLOCKALL:
		return MAKE(mlockall, (uint32_t)call->flags);
	case SEAM_OP_MUNLOCKALL:
		return calls_of(space)->munlockall ? calls_of(space)->munlockall(space)
						   : -SEAM_ENOSYS;
	case SEAM_OP_MSEAL:
		return MAKE(mseal, call->addr, call->len, call->flags);
	case SEAM_OP_BRK:
		return MAKE(brk, call->addr, ret_value);
	case SEAM_OP_TOUCH:
		return MAKE(touch, call->addr, call->len, call->flags != 0, ret_value);
	case SEAM_OP_MBIND:
		return MAKE(mbind, call->addr, call->len, call->id);
	case SEAM_OP_UFFD_REGISTER:
		return MAKE(uffd_register, call->addr, call->len, call->id, call->flags);
	case SEAM_OP_UFFD_UNREGISTER:
		return MAKE(uffd_unregister, call->addr, call->len, call->id);
	case SEAM_OP_SET_NAME:
		return MAKE(set_name, call->addr, call->len, call->id);
	case SEAM_OP_SET_TAG:
		return MAKE(set_tag, call->addr, call->len, call->flags);
	}
	return -SEAM_EINVAL;
}

static bool is_call(const struct seam_call *call)
{
	if ((unsigned int)call->op > SEAM_OP_SET_TAG)
		return false;
	return (call->op != SEAM_OP_MMAP || call->mmap) &&
	       (call->op != SEAM_OP_MREMAP || call->mremap);
}

/* Room for all inserts of the journal, wherever they go. */
static int reserve_redo(struct seam_space *space)
{
	size_t inserts = 0;

	for (size_t i = 0; i < space->journal.nr; i++)
		inserts += space->journal.edits[i].kind != EDIT_REMOVE;
	return index_reserve_apart(&space->index, inserts);
}

SEAM_EXPORT int seam_space_ask(struct seam_space *space, const struct seam_call *call,
			       struct seam_answer *ret_answer)
{
	struct seam_answer *answer = &scratch_of(space)->answer;

	if (space_busy(space))
		return -SEAM_EBUSY;
	if (!is_call(call))
		return -SEAM_EINVAL;
	call_begin(space);
	*answer = (struct seam_answer) { 0 };
	answer->result = make_call(space, call, &answer->value);
	if (call->op != SEAM_OP_TOUCH)
		call_count(space, answer->result);
	if (call->op == SEAM_OP_MREMAP)
		changes_note_move(space, call->mremap, answer->result, answer->value);
	answer->areas = index_count(&space->index);
	if (!space->no_memory && changes_make(space))
		space->no_memory = true;
	if (space->no_memory)
		return call_end(space, -SEAM_EALLOC);
	answer->nr_changes = space->changes->nr;
	call_suspend(space);
	if (reserve_redo(space)) {
		space->no_memory = true;
		space->journal.nr = 0;
		return call_end(space, -SEAM_EALLOC);
	}
	space->pending = true;
	*ret_answer = *answer;
	return 0;
}

SEAM_EXPORT int seam_space_change(const struct seam_space *space, size_t n,
				  struct seam_change *ret_change)
{
	if (!space->pending || n >= space->changes->nr)
		return 0;
	*ret_change = space->changes->list[n];
	return 1;
}

SEAM_EXPORT void seam_space_commit(struct seam_space *space)
{
	if (!space->pending)
		return;
	space->pending = false;
	call_resume(space);
	call_tell(space);
}

SEAM_EXPORT void seam_space_abort(struct seam_space *space)
{
	if (!space->pending)
		return;
	space->pending = false;
	space->journal.nr = 0;
	call_end(space, 0);
}

SEAM_EXPORT int seam_space_call(struct seam_space *space, const struct seam_call *call,
				struct seam_answer *ret_answer)
{
	int err = seam_space_ask(space, call, ret_answer);

	if (!err)
		seam_space_commit(space);
	return err;
}

SEAM_EXPORT void seam_space_set_hook(struct seam_space *space, seam_hook *hook, void *ctx)
{
	space->hook = hook;
	space->hook_ctx = ctx;
}

/* Following a map that another rules */

static noinline_for_stack void place_call(struct forced *forced, const struct seam_call *call,
					  int result, uint64_t value)
{
	forced->call = *call;
	forced->result = result;
	forced->value = value;
	if (call->op == SEAM_OP_MMAP) {
		forced->mmap = *call->mmap;
		forced->mmap.place = 1;
		forced->mmap.at = value;
		forced->call.mmap = &forced->mmap;
	} else if (call->op == SEAM_OP_MREMAP) {
		forced->mremap = *call->mremap;
		forced->mremap.place = 1;
		forced->mremap.at = value;
		forced->call.mremap = &forced->mremap;
	}
}

static bool gives_value(enum seam_op op)
{
	return op == SEAM_OP_MMAP || op == SEAM_OP_MREMAP || op == SEAM_OP_BRK;
}

static noinline_for_stack void lift_limits(struct seam_space *space, struct forced *forced)
{
	for (unsigned int i = 0; i < NR_LIMITS; i++) {
		forced->limit[i] = space->limit[i];
		space->limit[i] = SEAM_NO_LIMIT;
	}
	forced->commit_limit_pages = space->commit_limit_pages;
	forced->min_addr = space->min_addr;
	forced->min_addr_sysctl = space->min_addr_sysctl;
	forced->may = space->may;
	forced->overcommit = space->overcommit;
	space->commit_limit_pages = SEAM_NO_LIMIT;
	space->min_addr = space->min_addr_sysctl = 0;
	space->may = UINT32_MAX;
	space->overcommit = 1;
}

static noinline_for_stack void restore_limits(struct seam_space *space, const struct forced *forced)
{
	for (unsigned int i = 0; i < NR_LIMITS; i++)
		space->limit[i] = forced->limit[i];
	space->commit_limit_pages = forced->commit_limit_pages;
	space->min_addr = forced->min_addr;
	space->min_addr_sysctl = forced->min_addr_sysctl;
	space->may = forced->may;
	space->overcommit = forced->overcommit;
}

/* What was asked is what the kernel did. */
static bool agrees(const struct forced *forced, const struct seam_answer *answer)
{
	return answer->result == forced->result &&
	       (forced->result || !gives_value(forced->call.op) || answer->value == forced->value);
}

static int force(struct seam_space *space, struct forced *forced)
{
	int err;

	lift_limits(space, forced);
	err = seam_space_ask(space, &forced->call, &forced->answer);
	restore_limits(space, forced);
	if (err)
		return err;
	if (!agrees(forced, &forced->answer)) {
		seam_space_abort(space);
		return -SEAM_EINVAL;
	}
	seam_space_commit(space);
	return 0;
}

SEAM_EXPORT int seam_space_apply(struct seam_space *space, const struct seam_call *call, int result,
				 uint64_t value, int *ret_agrees)
{
	struct forced *forced = &scratch_of(space)->forced;
	int err = seam_space_ask(space, call, &forced->answer);

	if (err)
		return err;
	place_call(forced, call, result, value);
	*ret_agrees = agrees(forced, &forced->answer);
	if (*ret_agrees) {
		seam_space_commit(space);
		return 0;
	}
	seam_space_abort(space);
	return forced->result ? 0 : force(space, forced);
}
