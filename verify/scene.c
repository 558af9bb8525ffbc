/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/scene.h"

#include <errno.h>
#include <string.h>

#include <seam/ops.h>

#include "verify/model.h"

#define PAGE 4096
#define MAX_SPAN (UINT64_C(1) << 40)

/* Flags that an advice gives. */
static const struct {
	uint64_t flag;
	int advice;
} advices[] = {
	{ SEAM_VM_RAND_READ, SEAM_MADV_RANDOM },
	{ SEAM_VM_SEQ_READ, SEAM_MADV_SEQUENTIAL },
	{ SEAM_VM_DONTCOPY, SEAM_MADV_DONTFORK },
	{ SEAM_VM_MERGEABLE, SEAM_MADV_MERGEABLE },
	{ SEAM_VM_HUGEPAGE, SEAM_MADV_HUGEPAGE },
	{ SEAM_VM_NOHUGEPAGE, SEAM_MADV_NOHUGEPAGE },
	{ SEAM_VM_DONTDUMP, SEAM_MADV_DONTDUMP },
	{ SEAM_VM_WIPEONFORK, SEAM_MADV_WIPEONFORK },
	{ SEAM_VM_MAYBE_GUARD, SEAM_MADV_GUARD_INSTALL },
};

/* What a scene must have alike. */
#define ALIKE                                                                                      \
	(SEAM_VM_RWX | SEAM_VM_MAYSHARE | SEAM_VM_GROWSDOWN | SEAM_VM_ACCOUNT |                    \
	 SEAM_VM_NORESERVE | SEAM_VM_LOCKED | SEAM_VM_RAND_READ | SEAM_VM_SEQ_READ |               \
	 SEAM_VM_DONTCOPY | SEAM_VM_MERGEABLE | SEAM_VM_HUGEPAGE | SEAM_VM_NOHUGEPAGE |            \
	 SEAM_VM_DONTDUMP | SEAM_VM_WIPEONFORK)

struct scene {
	struct script *script;
	uint64_t base; /* of the range that the script finds */
	const struct history *before;
	uint64_t file[NR_FDS]; /* of the areas; by number from FIRST_FD */
	bool impossible;
};

static struct op *add(struct scene *scene, enum trace_call call)
{
	struct script *script = scene->script;
	struct op *op = &script->op[script->nr];

	if (script->nr == SCRIPT_MAX) {
		scene->impossible = true;
		return op;
	}
	script->nr++;
	*op = (struct op) { .call = (uint8_t)call };
	return op;
}

/* An address, as it lies in what operation 1 has found. */
static void set_addr(const struct scene *scene, struct op *op, int arg, uint64_t addr)
{
	op->arg[arg] = addr - scene->base;
	op->ref[arg] = 1;
}

static void add_range(struct scene *scene, enum trace_call call, uint64_t start, uint64_t len,
		      uint64_t third)
{
	struct op *op = add(scene, call);

	set_addr(scene, op, 0, start);
	op->arg[1] = len;
	op->arg[2] = third;
}

/* ---- files ---- */

/* Numbers of docs/ops.md that may be written, then those that may not. */
static const int fds[] = { 3, 4, 5, 8, 9 };
#define NR_WRITABLE 2

/* One that stands for the file from here on. */
static int fd_of(struct scene *scene, uint64_t file, bool writes)
{
	unsigned int nr = writes ? NR_WRITABLE : sizeof(fds) / sizeof(fds[0]);

	for (unsigned int i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (scene->file[fds[i] - FIRST_FD] == file)
			return fds[i];
	for (unsigned int i = nr; i-- > 0;)
		if (!scene->file[fds[i] - FIRST_FD]) {
			scene->file[fds[i] - FIRST_FD] = file;
			return fds[i];
		}
	scene->impossible = true;
	return FIRST_FD;
}

/* ---- one area ---- */

static bool was_writable(const struct seam_area *area)
{
	return area->flags & (SEAM_VM_WRITE | SEAM_VM_ACCOUNT) ||
	       (area->anon_vma && !(area->flags & SEAM_VM_MAYSHARE));
}

static void add_map(struct scene *scene, const struct seam_area *area, uint64_t start, uint64_t end,
		    bool writable)
{
	struct op *op = add(scene, TRACE_CALL_mmap);
	bool shared = area->flags & SEAM_VM_MAYSHARE;
	bool is_anonymous = !area->file || area->file & SEAM_FILE_OWN;

	set_addr(scene, op, 0, start);
	op->arg[1] = end - start;
	op->arg[2] = area->flags & SEAM_VM_RWX;
	if (writable)
		op->arg[2] |= SEAM_PROT_READ | SEAM_PROT_WRITE;
	op->arg[3] = SEAM_MAP_FIXED | (shared ? SEAM_MAP_SHARED : SEAM_MAP_PRIVATE);
	op->arg[3] |= area->flags & SEAM_VM_GROWSDOWN ? SEAM_MAP_GROWSDOWN : 0;
	op->arg[3] |= area->flags & SEAM_VM_NORESERVE ? SEAM_MAP_NORESERVE : 0;
	if (is_anonymous) {
		op->arg[3] |= SEAM_MAP_ANONYMOUS;
		op->arg[4] = UINT64_MAX;
	} else {
		op->arg[4] = (uint64_t)fd_of(scene, area->file,
					     shared && area->flags & SEAM_VM_MAYWRITE);
		op->arg[5] = (area->pgoff << 12) + (start - area->start);
	}
}

static void add_area(struct scene *scene, const struct seam_area *area, uint64_t end)
{
	uint64_t start = area->start, len = end - start;
	bool writable = was_writable(area);

	add_map(scene, area, start, end, writable);
	if (area->anon_vma)
		add_range(scene, TRACE_CALL_touch, start, PAGE, 0);
	if (writable && !(area->flags & SEAM_VM_WRITE))
		add_range(scene, TRACE_CALL_mprotect, start, len, area->flags & SEAM_VM_RWX);
	for (unsigned int i = 0; i < sizeof(advices) / sizeof(advices[0]); i++)
		if (area->flags & advices[i].flag)
			add_range(scene, TRACE_CALL_madvise, start, len,
				  (uint64_t)advices[i].advice);
	if (area->flags & SEAM_VM_LOCKED)
		add_range(scene, TRACE_CALL_mlock, start, len, 0);
}

/* ---- all of them ---- */

/*
 * Two neighbours that are like but for their anon_vmas: the last page of the left one is left out
 * until both are faulted, and joins it then.
 */
static bool only_anon_differs(const struct seam_area *left, const struct seam_area *right)
{
	return left->end == right->start && left->anon_vma && right->anon_vma &&
	       left->anon_vma != right->anon_vma && left->flags == right->flags &&
	       left->end - left->start > PAGE;
}

static const struct seam_area *right_of(const struct history *before, const struct seam_area *area)
{
	for (unsigned int i = 0; i < before->nr; i++)
		if (before->area[i].start == area->end)
			return &before->area[i];
	return NULL;
}

static void add_areas(struct scene *scene)
{
	const struct history *before = scene->before;

	for (unsigned int i = 0; i < before->nr; i++) {
		const struct seam_area *area = &before->area[i], *right = right_of(before, area);
		bool apart = right && only_anon_differs(area, right);

		add_area(scene, area, apart ? area->end - PAGE : area->end);
	}
	for (unsigned int i = 0; i < before->nr; i++) {
		const struct seam_area *area = &before->area[i], *right = right_of(before, area);

		if (right && only_anon_differs(area, right))
			add_map(scene, area, area->end - PAGE, area->end,
				area->flags & SEAM_VM_WRITE);
	}
}

/* The range that all of it lies in, reserved and given back, so that nothing else is there. */
static void add_ground(struct scene *scene)
{
	uint64_t start = UINT64_MAX, end = 0;
	struct op *op;

	for (unsigned int i = 0; i < scene->before->nr; i++) {
		const struct seam_area *area = &scene->before->area[i];

		start = area->start < start ? area->start : start;
		end = area->end > end ? area->end : end;
	}
	for (unsigned int i = 0; i < scene->before->reach.nr; i++) {
		uint64_t from = scene->before->reach.range[i].start;
		uint64_t to = scene->before->reach.range[i].end;

		start = from < start ? from : start;
		end = to > end ? to : end;
	}
	if (start >= end || end - start > MAX_SPAN) {
		scene->impossible = true;
		return;
	}
	scene->base = start;
	op = add(scene, TRACE_CALL_mmap);
	op->arg[1] = end - start;
	op->arg[3] = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS | SEAM_MAP_NORESERVE;
	op->arg[4] = UINT64_MAX;
	add_range(scene, TRACE_CALL_munmap, start, end - start, 0);
}

/* ---- the call ---- */

static void add_mmap(struct scene *scene, const struct event *call)
{
	struct op *op = add(scene, TRACE_CALL_mmap);

	memcpy(op->arg, call->arg, sizeof(op->arg));
	if (call->result > 0) {
		op->arg[3] |= SEAM_MAP_FIXED; /* where the kernel placed it */
		set_addr(scene, op, 0, (uint64_t)call->result);
	} else if (call->arg[3] & (SEAM_MAP_FIXED | SEAM_MAP_FIXED_NOREPLACE)) {
		set_addr(scene, op, 0, call->arg[0]);
	}
	if (call->arg[3] & SEAM_MAP_ANONYMOUS)
		op->arg[4] = UINT64_MAX;
	else
		op->arg[4] = (uint64_t)fd_of(scene, call->file,
					     call->arg[2] & SEAM_PROT_WRITE &&
						     call->arg[3] & SEAM_MAP_SHARED);
}

static void add_mremap(struct scene *scene, const struct event *call)
{
	struct op *op = add(scene, TRACE_CALL_mremap);
	bool moved = call->result > 0 && (uint64_t)call->result != call->arg[0];

	memcpy(op->arg, call->arg, sizeof(op->arg));
	set_addr(scene, op, 0, call->arg[0]);
	if (moved || call->arg[3] & SEAM_MREMAP_FIXED)
		set_addr(scene, op, 4, moved ? (uint64_t)call->result : call->arg[4]);
	if (moved)
		op->arg[3] |= SEAM_MREMAP_FIXED | SEAM_MREMAP_MAYMOVE;
}

static void add_call(struct scene *scene, const struct event *call)
{
	struct op *op;

	switch (call->call) {
	case TRACE_CALL_mmap:
		add_mmap(scene, call);
		break;
	case TRACE_CALL_mremap:
		add_mremap(scene, call);
		break;
	default:
		if (!trace_call_names_range(call->call)) {
			/* the heap, segments, userfaultfds: not to be had at will */
			scene->impossible = true;
			break;
		}
		op = add(scene, call->call);
		memcpy(op->arg, call->arg, sizeof(op->arg));
		set_addr(scene, op, 0, call->arg[0]);
	}
}

/* ---- is it so? ---- */

static void set_files(struct model_files *files)
{
	memset(files, 0, sizeof(*files));
	for (unsigned int i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		files->file[fds[i] - FIRST_FD] = (struct seam_file) {
			.id = (uint64_t)fds[i],
			.traits = SEAM_FILE_READ | (i < NR_WRITABLE ? SEAM_FILE_WRITE : 0),
		};
}

/* All operations but the last one, in the model. */
static int play(const struct scene *scene, struct seam_space *space)
{
	static struct model_files files;
	const struct script *script = scene->script;

	set_files(&files);
	for (uint32_t i = 0; i + 1 < script->nr; i++) {
		struct outcome real = { 0 }, outcome;
		uint64_t args[OP_ARGS];

		if (!op_resolve(&script->op[i], script->result, args) ||
		    !model_call(space, &files, &script->op[i], args, &real, &outcome))
			return -EOPNOTSUPP;
		scene->script->result[i] = outcome.result;
		if (outcome.result == -SEAM_EALLOC)
			return -ENOMEM;
		if (outcome.result < 0)
			return -EOPNOTSUPP;
	}
	return 0;
}

static bool has_area(const struct scene *scene, const struct seam_space *space,
		     const struct seam_area *wanted)
{
	uint64_t shift = (uint64_t)scene->script->result[0] - scene->base;
	struct seam_area area;

	return seam_area_find(space, wanted->start + shift, &area) &&
	       area.start == wanted->start + shift && area.end == wanted->end + shift &&
	       !((area.flags ^ wanted->flags) & ALIKE) && !area.anon_vma == !wanted->anon_vma;
}

/* Neighbours share an anon_vma where they did. */
static bool has_border(const struct scene *scene, const struct seam_space *space,
		       const struct seam_area *left, const struct seam_area *right)
{
	uint64_t shift = (uint64_t)scene->script->result[0] - scene->base;
	struct seam_area l, r;

	if (!left->anon_vma || !right->anon_vma)
		return true;
	return seam_area_find(space, left->start + shift, &l) &&
	       seam_area_find(space, right->start + shift, &r) &&
	       (l.anon_vma == r.anon_vma) == (left->anon_vma == right->anon_vma);
}

static bool is_like(const struct scene *scene, const struct seam_space *space)
{
	const struct history *before = scene->before;

	for (unsigned int i = 0; i < before->nr; i++) {
		const struct seam_area *right = right_of(before, &before->area[i]);

		if (!has_area(scene, space, &before->area[i]) ||
		    (right && !has_border(scene, space, &before->area[i], right)))
			return false;
	}
	return true;
}

static int check(const struct scene *scene, const struct seam_policy *policy)
{
	const struct seam_space_options options = {
		.size = sizeof(options),
		.policy = policy,
		.flags = SEAM_SPACE_THP,
		.may = SEAM_MAY_IPC_LOCK,
	};
	struct seam_space *space;
	int err = seam_space_create(&options, &space);

	if (err)
		return -ENOMEM;
	err = play(scene, space);
	if (!err && !is_like(scene, space))
		err = -EOPNOTSUPP;
	seam_space_destroy(space);
	return err;
}

int scene_make(const struct history *before, const struct event *call,
	       const struct seam_policy *policy, struct script *ret_script)
{
	struct scene scene = { .script = ret_script, .before = before };

	ret_script->nr = 0;
	if (!before->whole)
		return -EOPNOTSUPP;
	add_ground(&scene);
	if (scene.impossible)
		return -EOPNOTSUPP;
	add_areas(&scene);
	add_call(&scene, call);
	return scene.impossible ? -EOPNOTSUPP : check(&scene, policy);
}
