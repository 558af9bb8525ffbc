/* SPDX-License-Identifier: BSD-2-Clause */
/* mremap: memory that grows, shrinks and moves, as recorded and under this kernel. */
#include "replay/call.h"

/* The target of MREMAP_FIXED under this kernel; false: it must be placed anew. */
static bool fixed_target(struct call *call, uint64_t start, uint64_t end, uint64_t *ret_at)
{
	struct target target;

	if (!call_next_target(call, start, end, &target) || target.piece.end != end ||
	    !has_memory(target.piece.kind))
		return false;
	*ret_at = target.piece.at;
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
		call_keep(call, ground_freed(ground, move->old_start, move->old_end));
		call_keep(call, ground_release(ground, move->old_at, old_len));
	}
	if (move->new_end)
		call_keep(call, ground_settle(ground, move->new_start, len, at));
	else if (call->known && at != move->old_start) /* it failed as recorded */
		call_keep(call, ground_settle(ground, move->old_start, common, at));
	if (old_len > len)
		memory_gone(call, move->old_at + len, old_len - len);
	memory_moved(call, move->old_at, common, at);
	if (call->lane->touch != TOUCH_EAGER || !seam_area_find(call->space, at, &area) ||
	    area.start > at || !is_private_anonymous(&area))
		return;
	if (len > old_len)
		memory_made(call, at + old_len, len - old_len, area.flags & SEAM_VM_WRITE);
	if (call->arg[3] & SEAM_MREMAP_DONTUNMAP)
		memory_made(call, move->old_at, old_len, area.flags & SEAM_VM_WRITE);
}

/* It failed here and had worked: what it made does not exist. */
static void not_moved(struct call *call, const struct move *move)
{
	uint64_t old_len = move->old_end - move->old_start;
	uint64_t new_len = move->new_end - move->new_start;

	if (!move->new_end)
		return;
	if (move->new_start != move->old_start)
		call_keep(call, ground_lose(&call->mm->ground, move->new_start, new_len));
	else if (new_len > old_len)
		call_keep(call, ground_lose(&call->mm->ground, move->old_end, new_len - old_len));
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
		call_unmap(call, start, end);
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
	call_finish(call, err ? err : (int64_t)at);
}

/* The last piece of a range grows, wherever it finds room; the pieces before it stay. */
static int grow_last(struct call *call, const struct piece *last, uint64_t grown, uint64_t *ret_at)
{
	struct seam_mremap args = {
		.old_addr = last->at,
		.old_len = last->end - last->start,
		.new_len = last->end - last->start + grown,
		.flags = (uint32_t)call->arg[3] & SEAM_MREMAP_MAYMOVE,
	};
	int err = call_check(call, seam_space_mremap(call->space, &args, ret_at));

	if (err)
		return err;
	memory_moved(call, last->at, args.old_len, *ret_at);
	memory_made(call, *ret_at + args.old_len, grown, true);
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
		call_finish(call, call->known ? call->event->result : -SEAM_EFAULT);
		return;
	}
	if (ground_copy(ground, &old)) {
		call->error = -SEAM_EALLOC;
		return;
	}
	if (call->arg[3] & SEAM_MREMAP_FIXED)
		call_unmap(call, move->new_start, move->new_end);
	call_keep(call, ground_freed(ground, move->old_start, move->old_end));
	for (; !err && ground_next(&old, at, move->old_end, &piece); at = piece.end) {
		uint64_t offset = piece.start - move->old_start, size = piece.end - piece.start;
		uint64_t target = move->new_start + offset, grown = 0;

		if (offset + size > len) { /* cut */
			uint64_t keeps = offset < len ? len - offset : 0;

			if (has_memory(piece.kind)) {
				err = call_check(call,
						 seam_space_munmap(call->space, piece.at + keeps,
								   size - keeps));
				memory_gone(call, piece.at + keeps, size - keeps);
			}
			size = keeps;
		} else if (piece.end == move->old_end && len > old_len) {
			grown = len - old_len;
		}
		if (!size)
			continue;
		if (!has_memory(piece.kind)) {
			call_keep(call, ground_lose(ground, target, size + grown));
			continue;
		}
		if (grown) {
			call_keep(call, ground_release(ground, piece.at, size));
			err = grow_last(call, &piece, grown, &piece.at);
			if (err)
				call_keep(call, ground_lose(ground, target + size, grown));
			else
				size += grown;
		}
		call_keep(call, ground_settle(ground, target, size, piece.at));
	}
	ground_free(&old);
	call_finish(call, err ? err : (int64_t)ground_translate(ground, move->new_start));
}

void call_mremap(struct call *call)
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

		call_finish(call, err ? err : (int64_t)at);
		return;
	}
	call_needs(call, move.old_start, move.old_end);
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
			call_keep(call, ground_forget(ground, move.old_start, move.old_end));
			call_keep(call, ground_lose(ground, move.new_start,
						    move.new_end - move.new_start));
		}
		call_skip(call);
	} else if (!has_memory(piece.kind)) {
		call_finish(call, -SEAM_EFAULT);
	} else {
		remap_piece(call, &move);
	}
}
