/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One recorded call made under one kernel: its addresses are found anew, a range that lies in
 * several pieces there is gone through piece by piece, and what the call did is remembered.
 */
#include <errno.h>

#include "replay/lane.h"

/* ids of files that calls make themselves: far from those of the trace */
#define FILE_OF_FD (UINT64_C(1) << 61)
#define FILE_OF_SHM (UINT64_C(1) << 62)

#define PR_SET_VMA 0x53564d61
#define PR_SET_VMA_ANON_NAME 0
#define RLIMIT_DATA_NUMBER 2
#define RLIMIT_STACK_NUMBER 3
#define RLIMIT_MEMLOCK_NUMBER 8
#define RLIMIT_AS_NUMBER 9
#define UFFD_REGISTER 0xaa00
#define UFFD_UNREGISTER 0xaa01

static uint64_t page_mask(const struct call *call)
{
	return (UINT64_C(1) << seam_space_page_shift(call->space)) - 1;
}

/* Whole pages that [addr, addr + len) lies in; false when it wraps or is empty. */
static bool whole_pages(const struct call *call, uint64_t addr, uint64_t len, uint64_t *ret_start,
			uint64_t *ret_end)
{
	uint64_t mask = page_mask(call), end = addr + len;

	if (!len || end < addr || end + mask < end)
		return false;
	*ret_start = addr & ~mask;
	*ret_end = (end + mask) & ~mask;
	return true;
}

static void keep(struct call *call, int err)
{
	if (err)
		call->error = -SEAM_EALLOC;
}

static void finish(struct call *call, int64_t result)
{
	call->outcome = (struct replay_outcome) { .answer = ANSWER_MADE, .result = result };
}

static void skip(struct call *call)
{
	call->outcome = (struct replay_outcome) { .answer = ANSWER_SKIPPED };
}

/* Nothing is known of what it does to areas: taken as it was recorded. */
static void pass(struct call *call)
{
	call->outcome = (struct replay_outcome) {
		.answer = ANSWER_NOT_MODELLED,
		.result = call->known ? call->event->result : 0,
	};
}

/* What areas of memory that was there before the log began may look like. */
static struct seam_area unknown_area(const struct call *call, uint64_t start, uint64_t end)
{
	struct seam_area area = {
		.start = start,
		.end = end,
		.flags = SEAM_VM_READ | SEAM_VM_WRITE | SEAM_VM_MAYREAD | SEAM_VM_MAYWRITE |
			 SEAM_VM_MAYEXEC,
		.pgoff = start >> seam_space_page_shift(call->space),
	};

	/* 2.6.0 and later count writable memory */
	if (call->lane->version >= 0x020600)
		area.flags |= SEAM_VM_ACCOUNT;
	return area;
}

/* The log begins in the middle of a life: memory that a call worked on was there. */
static void take_as_it_comes(struct call *call, uint64_t start, uint64_t end)
{
	struct piece piece;
	struct seam_area next, area;

	if (!call->mm->starts_unknown || !call->worked)
		return;
	for (; ground_next(&call->mm->ground, start, end, &piece); start = piece.end) {
		uint64_t at = piece.start;

		if (piece.kind != GROUND_HERE)
			continue;
		while (at < piece.end) {
			uint64_t to = piece.end;

			if (seam_area_find(call->space, at, &next) && next.start < to)
				to = next.start;
			else
				next.end = piece.end;
			if (at < to) {
				area = unknown_area(call, at, to);
				if (call_check(call, seam_space_adopt(call->space, &area)))
					return;
				touch_made(call, at, to - at, true);
			}
			at = next.end;
		}
	}
}

/* One piece of a call over a range, at this kernel's address. */
typedef int make_piece(struct call *call, uint64_t at, uint64_t len);

enum {
	GOES_ON = 0x1,	 /* past memory that is not there, as madvise does */
	ROUNDS = 0x2,	 /* the address need not be aligned */
	NEEDS_MEM = 0x4, /* it fails where nothing is mapped */
};

static void over_pieces(struct call *call, uint64_t start, uint64_t end, make_piece *make,
			unsigned int how)
{
	struct piece piece;
	bool made = false;
	int result = 0;

	for (; ground_next(&call->mm->ground, start, end, &piece); start = piece.end) {
		int err;

		if (piece.kind == GROUND_GONE)
			continue;
		made = true;
		if (piece.kind == GROUND_TAKEN)
			err = how & NEEDS_MEM ? -SEAM_ENOMEM : 0;
		else
			err = call_check(call, make(call, piece.at, piece.end - piece.start));
		if (err && !result)
			result = err;
		if (err && !(how & GOES_ON && err == -SEAM_ENOMEM))
			break;
	}
	if (made)
		finish(call, result);
	else
		skip(call);
}

static void over_range(struct call *call, uint64_t addr, uint64_t len, make_piece *make,
		       unsigned int how)
{
	struct ground *ground = &call->mm->ground;
	uint64_t start, end;
	struct piece piece;

	if (!whole_pages(call, addr, len, &start, &end) ||
	    (!(how & ROUNDS) && addr & page_mask(call))) {
		finish(call, call_check(call, make(call, ground_translate(ground, addr), len)));
		return;
	}
	if (how & NEEDS_MEM)
		take_as_it_comes(call, start, end);
	if (ground_is_plain(ground)) {
		finish(call, call_check(call, make(call, addr, len)));
		return;
	}
	ground_next(ground, start, end, &piece);
	if (piece.end == end && (piece.kind == GROUND_HERE || piece.kind == GROUND_MOVED))
		finish(call, call_check(call, make(call, piece.at + (addr - start), len)));
	else
		over_pieces(call, start, end, make, how);
}

/* mmap */

static const struct seam_file *file_of(const struct call *call, struct seam_file *file)
{
	const struct event *event = call->event;
	const struct trace_file *known;

	if (call->arg[3] & SEAM_MAP_ANONYMOUS)
		return NULL;
	*file = (struct seam_file) { .traits = SEAM_FILE_READ | SEAM_FILE_WRITE };
	if (event->file) {
		known = trace_file(call->lane->trace, event->file);
		file->id = event->file;
		if (known && known->traits)
			file->traits = known->traits;
		return file;
	}
	/* it was mapped, so there was a file behind the number */
	if (!call->worked)
		return NULL;
	file->id = FILE_OF_FD | (call->arg[4] & UINT32_MAX);
	return file;
}

static bool is_touchable(const struct seam_mmap *args)
{
	return args->flags & SEAM_MAP_ANONYMOUS && (args->flags & SEAM_MAP_TYPE) != SEAM_MAP_SHARED;
}

/* One mapping made at @at: what eager touches need to know. */
static void mapped(struct call *call, const struct seam_mmap *args, uint64_t at)
{
	uint64_t start, end;

	if (call->lane->touch != TOUCH_EAGER || !whole_pages(call, at, args->len, &start, &end))
		return;
	if (is_touchable(args))
		touch_made(call, start, end - start, args->prot & SEAM_PROT_WRITE);
	else
		touch_gone(call, start, end - start);
}

static int map_one(struct call *call, const struct seam_mmap *args, uint64_t *ret_addr)
{
	int err = call_check(call, seam_space_mmap(call->space, args, ret_addr));

	if (!err)
		mapped(call, args, *ret_addr);
	return err;
}

/* The record hands out [start, end) anew, and nothing freed it: it was freed unseen. */
static void take_as_freed(struct call *call, uint64_t start, uint64_t end)
{
	struct ground *ground = &call->mm->ground;
	struct seam_area area;
	struct piece piece;

	for (; ground_next(ground, start, end, &piece); start = piece.end) {
		uint64_t len = piece.end - piece.start;

		if (piece.kind == GROUND_HERE || piece.kind == GROUND_MOVED) {
			if (!seam_area_find(call->space, piece.at, &area) ||
			    area.start >= piece.at + len)
				continue;
			call_check(call, seam_space_forget(call->space, piece.at, piece.at + len));
			touch_gone(call, piece.at, len);
		}
		if (piece.kind == GROUND_MOVED)
			keep(call, ground_release(ground, piece.at, len));
	}
}

/* Recorded memory came to lie at @recorded; under this kernel the call gave @err or @at. */
static void settle(struct call *call, uint64_t recorded, uint64_t len, int err, uint64_t at)
{
	struct ground *ground = &call->mm->ground;

	if (err)
		keep(call, ground_lose(ground, recorded, len));
	else
		keep(call, ground_settle(ground, recorded, len, at));
}

/*
 * A hint names an address in memory that the program has, or the end of it, or just below it; it
 * goes with that memory.
 */
static uint64_t translate_hint(struct ground *ground, uint64_t hint, uint64_t len)
{
	uint64_t at;

	if (!hint || range_map_is_empty(&ground->moved))
		return hint;
	at = ground_translate(ground, hint);
	if (at != hint)
		return at;
	at = ground_translate(ground, hint - 1) + 1;
	if (at != hint)
		return at;
	return ground_translate(ground, hint + len) - len;
}

/* A mapping that the kernel finds a place for. */
static void map_placed(struct call *call, struct seam_mmap *args)
{
	struct ground *ground = &call->mm->ground;
	uint64_t recorded = 0, start, end, at = 0;
	bool settles = call->worked && !((uint64_t)call->event->result & page_mask(call));
	int err;

	if (settles) {
		recorded = (uint64_t)call->event->result;
		settles = whole_pages(call, recorded, args->len, &start, &end);
	}
	if (settles && call->lane->may_be_reused)
		take_as_freed(call, start, end);
	if (call->lane->place_recorded && settles) {
		args->place = 1;
		args->at = recorded;
	} else if (call->known) {
		args->addr = translate_hint(ground, args->addr, args->len);
	}
	err = map_one(call, args, &at);
	if (settles)
		settle(call, start, end - start, err, at);
	else if (!err && call->known && whole_pages(call, at, args->len, &start, &end))
		keep(call, ground_take(ground, start, end - start));
	finish(call, err ? err : (int64_t)at);
}

/* What the record replaced within [start, end), where the newcomer goes elsewhere. */
static void unmap_here(struct call *call, uint64_t start, uint64_t end)
{
	struct piece piece;

	for (; ground_next(&call->mm->ground, start, end, &piece); start = piece.end) {
		uint64_t len = piece.end - piece.start;

		if (piece.kind != GROUND_HERE && piece.kind != GROUND_MOVED)
			continue;
		call_check(call, seam_space_munmap(call->space, piece.at, len));
		touch_gone(call, piece.at, len);
		if (piece.kind == GROUND_MOVED)
			keep(call, ground_release(&call->mm->ground, piece.at, len));
	}
}

/* One piece of a mapping at a fixed address. */
static int map_piece(struct call *call, const struct seam_mmap *args, const struct piece *piece)
{
	struct seam_mmap part = *args;
	uint64_t at = 0;
	int err;

	part.pgoff += (piece->start - args->addr) >> seam_space_page_shift(call->space);
	part.len = piece->end - piece->start;
	part.addr = piece->at;
	if (piece->kind != GROUND_TAKEN)
		return map_one(call, &part, &at);
	/* another map is there under this kernel: the newcomer is placed anew */
	if (!call->worked)
		return (int)call->event->result;
	unmap_here(call, piece->start, piece->end);
	part.flags &= ~(SEAM_MAP_FIXED | SEAM_MAP_FIXED_NOREPLACE);
	part.addr = 0;
	err = map_one(call, &part, &at);
	settle(call, piece->start, part.len, err, at);
	return err;
}

static void map_fixed(struct call *call, struct seam_mmap *args)
{
	struct ground *ground = &call->mm->ground;
	uint64_t start, end, at = args->addr;
	struct piece piece;
	bool made = false;
	int err = 0;

	if (ground_is_plain(ground) || args->addr & page_mask(call) ||
	    !whole_pages(call, args->addr, args->len, &start, &end)) {
		err = map_one(call, args, &at);
		finish(call, err ? err : (int64_t)at);
		return;
	}
	ground_next_whole(ground, start, end, &piece);
	if (piece.end == end && (piece.kind == GROUND_HERE || piece.kind == GROUND_MOVED)) {
		args->addr = piece.at;
		err = map_one(call, args, &at);
		finish(call, err ? err : (int64_t)at);
		return;
	}
	for (; !err && ground_next_whole(ground, start, end, &piece); start = piece.end) {
		if (piece.kind == GROUND_GONE)
			continue;
		err = map_piece(call, args, &piece);
		made = true;
	}
	if (made)
		finish(call, err ? err : (int64_t)ground_translate(ground, args->addr));
	else
		skip(call);
}

/* Errors that tell of files and permissions, of which a trace tells too little to find them. */
static bool is_about_the_file(int64_t result)
{
	switch (result) {
	case -SEAM_EACCES:
	case -SEAM_EPERM:
	case -SEAM_ENODEV:
	case -SEAM_EBADF:
	case -SEAM_ETXTBSY:
	case -SEAM_EOPNOTSUPP:
		return true;
	default:
		return false;
	}
}

static void call_mmap(struct call *call)
{
	const uint64_t *arg = call->arg;
	struct seam_file file;
	struct seam_mmap args = {
		.addr = arg[0],
		.len = arg[1],
		.prot = (uint32_t)arg[2],
		.flags = (uint32_t)arg[3],
		.pgoff = arg[5] >> seam_space_page_shift(call->space),
		.file = file_of(call, &file),
		.kernel = call->event->call == TRACE_CALL_kmmap,
	};

	if (arg[5] & page_mask(call)) {
		finish(call, -SEAM_EINVAL);
		return;
	}
	if (call->known && !(args.flags & SEAM_MAP_ANONYMOUS) &&
	    is_about_the_file(call->event->result)) {
		finish(call, call->event->result);
		return;
	}
	if (args.flags & (SEAM_MAP_FIXED | SEAM_MAP_FIXED_NOREPLACE) && call->known)
		map_fixed(call, &args);
	else
		map_placed(call, &args);
}

/* munmap */

static void call_munmap(struct call *call)
{
	struct ground *ground = &call->mm->ground;
	uint64_t start, end, addr = call->arg[0], len = call->arg[1];
	bool made = false, plain = ground_is_plain(ground);
	struct piece piece;
	int result = 0;

	if (addr & page_mask(call) || !whole_pages(call, addr, len, &start, &end)) {
		addr = ground_translate(ground, addr);
		finish(call, call_check(call, seam_space_munmap(call->space, addr, len)));
		return;
	}
	if (plain) {
		result = call_check(call, seam_space_munmap(call->space, addr, len));
		if (!result)
			touch_gone(call, start, end - start);
		finish(call, result);
		return;
	}
	for (; ground_next(ground, start, end, &piece); start = piece.end) {
		uint64_t size = piece.end - piece.start;
		int err = 0;

		if (piece.kind == GROUND_HERE || piece.kind == GROUND_MOVED) {
			err = call_check(call, seam_space_munmap(call->space, piece.at, size));
			if (!err)
				touch_gone(call, piece.at, size);
		}
		made |= piece.kind != GROUND_GONE;
		if (!err && piece.kind == GROUND_MOVED)
			keep(call, ground_release(ground, piece.at, size));
		if (call->worked && piece.kind != GROUND_HERE && piece.kind != GROUND_TAKEN)
			keep(call, ground_forget(ground, piece.start, piece.end));
		if (err && !result)
			result = err;
	}
	if (made)
		finish(call, result);
	else
		skip(call);
}

/* mprotect */

static int protect(struct call *call, uint64_t at, uint64_t len)
{
	bool with_key = call->event->call == TRACE_CALL_pkey_mprotect;
	uint32_t prot = (uint32_t)call->arg[2];
	int key = with_key ? (int)call->arg[3] : -1;
	int err = seam_space_mprotect(call->space, at, len, prot, key);
	uint64_t start, end;

	if (prot & SEAM_PROT_WRITE && !range_map_is_empty(&call->mm->untouched) &&
	    whole_pages(call, at, len, &start, &end))
		touch_after_protect(call, start, end - start);
	return err;
}

static void call_mprotect(struct call *call)
{
	over_range(call, call->arg[0], call->arg[1], protect, NEEDS_MEM);
}

/* madvise, locks, seals, policies, names: all over a range */

static int advise(struct call *call, uint64_t at, uint64_t len)
{
	return seam_space_madvise(call->space, at, len, (int)call->arg[2]);
}

static void call_madvise(struct call *call)
{
	over_range(call, call->arg[0], call->arg[1], advise, GOES_ON | NEEDS_MEM);
}

static int lock(struct call *call, uint64_t at, uint64_t len)
{
	uint32_t flags = call->event->call == TRACE_CALL_mlock2 ? (uint32_t)call->arg[2] : 0;

	return seam_space_mlock(call->space, at, len, flags);
}

static void call_mlock(struct call *call)
{
	over_range(call, call->arg[0], call->arg[1], lock, ROUNDS | NEEDS_MEM);
}

static int unlock(struct call *call, uint64_t at, uint64_t len)
{
	return seam_space_munlock(call->space, at, len);
}

static void call_munlock(struct call *call)
{
	over_range(call, call->arg[0], call->arg[1], unlock, ROUNDS | NEEDS_MEM);
}

static void call_mlockall(struct call *call)
{
	finish(call, call_check(call, seam_space_mlockall(call->space, (uint32_t)call->arg[0])));
}

static void call_munlockall(struct call *call)
{
	finish(call, call_check(call, seam_space_munlockall(call->space)));
}

static int seal(struct call *call, uint64_t at, uint64_t len)
{
	return seam_space_mseal(call->space, at, len, call->arg[2]);
}

static void call_mseal(struct call *call)
{
	over_range(call, call->arg[0], call->arg[1], seal, NEEDS_MEM);
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

static void call_mbind(struct call *call)
{
	over_range(call, call->arg[0], call->arg[1], bind, NEEDS_MEM);
}

static int set_name(struct call *call, uint64_t at, uint64_t len)
{
	return seam_space_set_name(call->space, at, len, (uint32_t)call->arg[4]);
}

static void call_prctl(struct call *call)
{
	if (call->arg[0] == PR_SET_VMA && call->arg[1] == PR_SET_VMA_ANON_NAME)
		over_range(call, call->arg[2], call->arg[3], set_name, GOES_ON | NEEDS_MEM);
	else
		pass(call);
}

static int watch(struct call *call, uint64_t at, uint64_t len)
{
	uint64_t flags = 0, mode = call->arg[4];

	if ((call->arg[1] & 0xffff) == UFFD_UNREGISTER)
		return seam_space_uffd_unregister(call->space, at, len);
	flags |= mode & 1 ? SEAM_VM_UFFD_MISSING : 0;
	flags |= mode & 2 ? SEAM_VM_UFFD_WP : 0;
	flags |= mode & 4 ? SEAM_VM_UFFD_MINOR : 0;
	return seam_space_uffd_register(call->space, at, len, (uint32_t)call->arg[0] + 1, flags);
}

static void call_uffd_ioctl(struct call *call)
{
	uint64_t request = call->arg[1] & 0xffff;

	if (request == UFFD_REGISTER || request == UFFD_UNREGISTER)
		over_range(call, call->arg[2], call->arg[3], watch, NEEDS_MEM);
	else
		pass(call);
}

/* mremap */

/* The target of MREMAP_FIXED under this kernel; false: it must be placed anew. */
static bool fixed_target(struct call *call, uint64_t start, uint64_t end, uint64_t *ret_at)
{
	struct piece piece;

	ground_next_whole(&call->mm->ground, start, end, &piece);
	if (piece.end != end || (piece.kind != GROUND_HERE && piece.kind != GROUND_MOVED))
		return false;
	*ret_at = piece.at;
	return true;
}

/* The moved memory, old and new, as recorded and under this kernel. */
struct move {
	uint64_t old_start, old_end; /* recorded */
	uint64_t old_at;
	uint64_t new_start, new_end; /* recorded; empty when it failed or is not told */
	bool keeps_old;
};

static bool read_move(const struct call *call, struct move *move)
{
	const uint64_t *arg = call->arg;
	uint64_t result = (uint64_t)call->event->result;

	if (arg[0] & page_mask(call))
		return false;
	move->old_start = move->old_end = arg[0];
	if (arg[1] && !whole_pages(call, arg[0], arg[1], &move->old_start, &move->old_end))
		return false;
	move->new_start = move->new_end = 0;
	if (call->worked && !(result & page_mask(call)) &&
	    !whole_pages(call, result, arg[2], &move->new_start, &move->new_end))
		return false;
	move->keeps_old = !arg[1] || arg[3] & SEAM_MREMAP_DONTUNMAP;
	return true;
}

/* The call worked under this kernel and its memory is at @at. */
static void moved(struct call *call, const struct move *move, uint64_t at)
{
	struct ground *ground = &call->mm->ground;
	uint64_t old_len = move->old_end - move->old_start;
	uint64_t len = (call->arg[2] + page_mask(call)) & ~page_mask(call);
	uint64_t common = old_len < len ? old_len : len;
	struct seam_area area;

	if (!ground_is_plain(ground) && !move->keeps_old) {
		keep(call, ground_forget(ground, move->old_start, move->old_end));
		keep(call, ground_release(ground, move->old_at, old_len));
	}
	if (move->new_end)
		keep(call, ground_settle(ground, move->new_start, len, at));
	else if (call->known && at != move->old_start) /* it failed as recorded */
		keep(call, ground_settle(ground, move->old_start, common, at));
	if (call->lane->touch != TOUCH_EAGER)
		return;
	if (old_len > len)
		touch_gone(call, move->old_at + len, old_len - len);
	touch_moved(call, move->old_at, common, at);
	if (!seam_area_find(call->space, at, &area) || area.start > at ||
	    !is_private_anonymous(&area))
		return;
	if (len > old_len)
		touch_made(call, at + old_len, len - old_len, area.flags & SEAM_VM_WRITE);
	if (call->arg[3] & SEAM_MREMAP_DONTUNMAP)
		touch_made(call, move->old_at, old_len, area.flags & SEAM_VM_WRITE);
}

/* It failed here and had worked: what it made does not exist. */
static void not_moved(struct call *call, const struct move *move)
{
	uint64_t old_len = move->old_end - move->old_start;
	uint64_t new_len = move->new_end - move->new_start;

	if (!move->new_end)
		return;
	if (move->new_start != move->old_start)
		keep(call, ground_lose(&call->mm->ground, move->new_start, new_len));
	else if (new_len > old_len)
		keep(call, ground_lose(&call->mm->ground, move->old_end, new_len - old_len));
}

/* The old range is one piece. */
static void remap_piece(struct call *call, const struct move *move)
{
	const uint64_t *arg = call->arg;
	struct seam_mremap args = {
		.old_addr = move->old_at,
		.old_len = arg[1],
		.new_len = arg[2],
		.flags = (uint32_t)arg[3],
		.new_addr = arg[4],
	};
	uint64_t at = 0, start, end;
	int err;

	if (args.flags & SEAM_MREMAP_FIXED && call->known && !ground_is_plain(&call->mm->ground) &&
	    whole_pages(call, arg[4], arg[2], &start, &end) && !(arg[4] & page_mask(call)) &&
	    !fixed_target(call, start, end, &args.new_addr)) {
		unmap_here(call, start, end);
		args.flags &= ~SEAM_MREMAP_FIXED;
		args.new_addr = 0;
	}
	if (call->lane->place_recorded && move->new_end && !(args.flags & SEAM_MREMAP_FIXED)) {
		args.place = 1;
		args.at = move->new_start;
	}
	err = call_check(call, seam_space_mremap(call->space, &args, &at));
	if (err)
		not_moved(call, move);
	else
		moved(call, move, at);
	finish(call, err ? err : (int64_t)at);
}

/* The last piece of a range grows, wherever it finds room; the pieces before it stay. */
static int grow_last(struct call *call, const struct move *move, const struct piece *last,
		     uint64_t grown, uint64_t *ret_at)
{
	struct seam_mremap args = {
		.old_addr = last->at,
		.old_len = last->end - last->start,
		.new_len = last->end - last->start + grown,
		.flags = (uint32_t)call->arg[3] & SEAM_MREMAP_MAYMOVE,
	};
	int err = call_check(call, seam_space_mremap(call->space, &args, ret_at));

	if (err || call->lane->touch != TOUCH_EAGER)
		return err;
	touch_moved(call, last->at, args.old_len, *ret_at);
	touch_made(call, *ret_at + args.old_len, grown, true);
	return 0;
}

/*
 * What was one area when recorded lies in several pieces here. They keep their places, and only
 * the record's addresses for them change; a tail is cut off or the last piece grows.
 */
static void remap_pieces(struct call *call, const struct move *move)
{
	struct ground *ground = &call->mm->ground, old = { 0 };
	uint64_t old_len = move->old_end - move->old_start;
	uint64_t len = move->new_end - move->new_start, at = move->old_start;
	struct piece piece;
	int err = 0;

	if (!move->new_end || move->keeps_old) {
		finish(call, call->known ? call->event->result : -SEAM_EFAULT);
		return;
	}
	if (ground_copy(ground, &old)) {
		call->error = -SEAM_EALLOC;
		return;
	}
	if (call->arg[3] & SEAM_MREMAP_FIXED)
		unmap_here(call, move->new_start, move->new_end);
	keep(call, ground_forget(ground, move->old_start, move->old_end));
	for (; !err && ground_next(&old, at, move->old_end, &piece); at = piece.end) {
		uint64_t offset = piece.start - move->old_start, size = piece.end - piece.start;
		uint64_t target = move->new_start + offset, grown = 0;

		if (offset + size > len) { /* cut */
			uint64_t keeps = offset < len ? len - offset : 0;

			if (piece.kind == GROUND_HERE || piece.kind == GROUND_MOVED) {
				err = call_check(call,
						 seam_space_munmap(call->space, piece.at + keeps,
								   size - keeps));
				touch_gone(call, piece.at + keeps, size - keeps);
			}
			size = keeps;
		} else if (piece.end == move->old_end && len > old_len) {
			grown = len - old_len;
		}
		if (!size)
			continue;
		if (piece.kind == GROUND_GONE || piece.kind == GROUND_TAKEN) {
			keep(call, ground_lose(ground, target, size + grown));
			continue;
		}
		if (grown) {
			keep(call, ground_release(ground, piece.at, size));
			err = grow_last(call, move, &piece, grown, &piece.at);
			if (err)
				keep(call, ground_lose(ground, target + size, grown));
			else
				size += grown;
		}
		keep(call, ground_settle(ground, target, size, piece.at));
	}
	ground_free(&old);
	finish(call, err ? err : (int64_t)ground_translate(ground, move->new_start));
}

static void call_mremap(struct call *call)
{
	const uint64_t *arg = call->arg;
	struct ground *ground = &call->mm->ground;
	struct piece piece;
	struct move move;

	if (!call->known || !read_move(call, &move)) {
		struct seam_mremap args = {
			.old_addr = ground_translate(ground, arg[0]),
			.old_len = arg[1],
			.new_len = arg[2],
			.flags = (uint32_t)arg[3],
			.new_addr = arg[4],
		};
		uint64_t at = 0;
		int err = call_check(call, seam_space_mremap(call->space, &args, &at));

		finish(call, err ? err : (int64_t)at);
		return;
	}
	take_as_it_comes(call, move.old_start, move.old_end);
	move.old_at = ground_translate(ground, move.old_start);
	if (move.old_start == move.old_end) {
		remap_piece(call, &move);
		return;
	}
	ground_next(ground, move.old_start, move.old_end, &piece);
	if (piece.end != move.old_end) {
		remap_pieces(call, &move);
	} else if (piece.kind == GROUND_GONE) {
		if (move.new_end) {
			keep(call, ground_forget(ground, move.old_start, move.old_end));
			keep(call,
			     ground_lose(ground, move.new_start, move.new_end - move.new_start));
		}
		skip(call);
	} else {
		remap_piece(call, &move);
	}
}

/* brk */

/* The first break that the log shows is where the heap begins. */
static void learn_heap(struct call *call)
{
	uint64_t result = (uint64_t)call->event->result, start = result;
	struct seam_area area;

	call->mm->heap_known = true;
	if (seam_space_get_brk(call->space))
		return;
	/* attached: the heap is there already */
	if (seam_area_find_below(call->space, result, &area) && area.end >= result &&
	    is_private_anonymous(&area) && area.flags & SEAM_VM_WRITE)
		start = area.start;
	seam_space_set_brk(call->space, start, result);
}

static void call_brk(struct call *call)
{
	uint64_t asked = call->arg[0], before, after = 0, mask = page_mask(call);
	int err;

	if (call->known && call->event->result > 0 && !call->mm->heap_known)
		learn_heap(call);
	before = (seam_space_get_brk(call->space) + mask) & ~mask;
	err = call_check(call, seam_space_brk(call->space, asked, &after));
	if (err) {
		finish(call, err);
		return;
	}
	if (after == asked && asked) {
		uint64_t now = (after + mask) & ~mask;

		if (now > before)
			touch_made(call, before, now - before, true);
		else if (now < before)
			touch_gone(call, now, before - now);
	}
	finish(call, (int64_t)after);
}

/* SysV shared memory: each attachment is a file of its own, with a close operation. */
static void call_shmat(struct call *call)
{
	const uint64_t shm_readonly = 010000, shm_remap = 040000;
	struct seam_file file = {
		.traits = SEAM_FILE_READ | SEAM_FILE_WRITE | SEAM_FILE_CLOSE | SEAM_FILE_SHMEM,
	};
	struct seam_mmap args = {
		.addr = call->arg[1],
		.len = call->arg[3],
		.prot = SEAM_PROT_READ | (call->arg[2] & shm_readonly ? 0 : SEAM_PROT_WRITE),
		.flags = SEAM_MAP_SHARED,
		.file = &file,
	};

	if (!args.len || !call->worked) {
		pass(call);
		return;
	}
	file.id = FILE_OF_SHM | (uint64_t)call->event->result;
	if (args.addr && call->arg[2] & shm_remap) {
		args.flags |= SEAM_MAP_FIXED;
		map_fixed(call, &args);
	} else {
		map_placed(call, &args);
	}
}

static void call_shmdt(struct call *call)
{
	uint64_t at = ground_translate(&call->mm->ground, call->arg[0]), file;
	struct seam_area area;
	int err = -SEAM_EINVAL;

	if (!seam_area_find(call->space, at, &area) || area.start != at ||
	    !(area.file & FILE_OF_SHM)) {
		pass(call);
		return;
	}
	for (file = area.file; area.file == file && area.start == at; at = area.end) {
		uint64_t len = area.end - area.start;

		err = call_check(call, seam_space_munmap(call->space, at, len));
		if (err)
			break;
		keep(call, ground_forget(&call->mm->ground, call->arg[0], call->arg[0] + len));
		keep(call, ground_release(&call->mm->ground, at, len));
		if (!seam_area_find(call->space, at, &area))
			break;
	}
	finish(call, err);
}

/* Since 4.0 a mapping anew of the same file (6.18 mm/mmap.c remap_file_pages). */
static void call_remap_file_pages(struct call *call)
{
	uint64_t at = ground_translate(&call->mm->ground, call->arg[0]);
	struct seam_file file;
	struct seam_area area;
	struct seam_mmap args;

	if (call->lane->version < 0x040000 || !seam_area_find(call->space, at, &area) ||
	    area.start > at || !(area.flags & SEAM_VM_MAYSHARE)) {
		pass(call);
		return;
	}
	file = (struct seam_file) { .id = area.file, .traits = SEAM_FILE_READ | SEAM_FILE_WRITE };
	args = (struct seam_mmap) {
		.addr = at,
		.len = call->arg[1],
		.prot = (uint32_t)(area.flags & SEAM_VM_RWX),
		.flags = SEAM_MAP_SHARED | SEAM_MAP_FIXED,
		.pgoff = call->arg[3],
		.file = &file,
	};
	finish(call, call_check(call, seam_space_mmap(call->space, &args, &at)));
}

/* limits */

static void call_prlimit(struct call *call)
{
	enum seam_limit limit;

	switch (call->arg[0]) {
	case RLIMIT_DATA_NUMBER:
		limit = SEAM_LIMIT_DATA;
		break;
	case RLIMIT_STACK_NUMBER:
		limit = SEAM_LIMIT_STACK;
		break;
	case RLIMIT_MEMLOCK_NUMBER:
		limit = SEAM_LIMIT_MEMLOCK;
		break;
	case RLIMIT_AS_NUMBER:
		limit = SEAM_LIMIT_AS;
		break;
	default:
		finish(call, 0);
		return;
	}
	if (!call->known || call->worked)
		seam_space_set_limit(call->space, limit, call->arg[1]);
	finish(call, 0);
}

static void call_rlimit(struct call *call)
{
	static const enum seam_limit limits[] = {
		[TRACE_RLIMIT_AS] = SEAM_LIMIT_AS,
		[TRACE_RLIMIT_DATA] = SEAM_LIMIT_DATA,
		[TRACE_RLIMIT_STACK] = SEAM_LIMIT_STACK,
		[TRACE_RLIMIT_MEMLOCK] = SEAM_LIMIT_MEMLOCK,
	};

	if (call->arg[0] < sizeof(limits) / sizeof(limits[0]))
		seam_space_set_limit(call->space, limits[call->arg[0]], call->arg[1]);
	finish(call, 0);
}

static void call_limit(struct call *call)
{
	seam_space_set_limit(call->space, SEAM_LIMIT_AREAS, call->arg[0]);
	finish(call, 0);
}

/* what the program loader does */

static void call_exec(struct call *call)
{
	seam_space_set_code(call->space, call->arg[0], call->arg[1], call->arg[2]);
	seam_space_set_brk(call->space, call->arg[2], call->arg[2]);
	call->mm->heap_known = true;
	finish(call, 0);
}

static void call_stack(struct call *call)
{
	int err = call_check(call, seam_space_stack(call->space, call->arg[0], call->arg[1]));

	finish(call, err ? err : (int64_t)call->arg[0]);
}

static int touch_piece(struct call *call, uint64_t at, uint64_t len)
{
	bool write = call->event->call == TRACE_CALL_touch;

	return touch_range(call->lane, call->mm, at, len, write, NULL);
}

static void call_touch(struct call *call)
{
	if (call->lane->touch == TOUCH_NEVER)
		finish(call, 0);
	else
		over_range(call, call->arg[0], call->arg[1], touch_piece, ROUNDS);
}

/* The child comes with the event of its space. */
static void call_fork(struct call *call)
{
	finish(call, 0);
}

static void (*const calls[TRACE_NR_CALLS])(struct call *call) = {
	[TRACE_CALL_mmap] = call_mmap,
	[TRACE_CALL_kmmap] = call_mmap,
	[TRACE_CALL_munmap] = call_munmap,
	[TRACE_CALL_mprotect] = call_mprotect,
	[TRACE_CALL_pkey_mprotect] = call_mprotect,
	[TRACE_CALL_mremap] = call_mremap,
	[TRACE_CALL_madvise] = call_madvise,
	[TRACE_CALL_mlock] = call_mlock,
	[TRACE_CALL_mlock2] = call_mlock,
	[TRACE_CALL_munlock] = call_munlock,
	[TRACE_CALL_mlockall] = call_mlockall,
	[TRACE_CALL_munlockall] = call_munlockall,
	[TRACE_CALL_brk] = call_brk,
	[TRACE_CALL_mseal] = call_mseal,
	[TRACE_CALL_mbind] = call_mbind,
	[TRACE_CALL_prctl] = call_prctl,
	[TRACE_CALL_uffd_ioctl] = call_uffd_ioctl,
	[TRACE_CALL_shmat] = call_shmat,
	[TRACE_CALL_shmdt] = call_shmdt,
	[TRACE_CALL_remap_file_pages] = call_remap_file_pages,
	[TRACE_CALL_prlimit] = call_prlimit,
	[TRACE_CALL_rlimit] = call_rlimit,
	[TRACE_CALL_limit] = call_limit,
	[TRACE_CALL_exec] = call_exec,
	[TRACE_CALL_stack] = call_stack,
	[TRACE_CALL_touch] = call_touch,
	[TRACE_CALL_rtouch] = call_touch,
	[TRACE_CALL_fork] = call_fork,
};

void call_apply(struct call *call)
{
	const struct event *event = call->event;
	int missing = call_missing(call->lane, event);

	if (missing)
		finish(call, missing);
	else if (calls[event->call])
		calls[event->call](call);
	else
		pass(call);
}
