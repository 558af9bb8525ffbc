/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that make and take away mappings. */
#include <fcntl.h>
#include <sys/shm.h>

#include "replay/call.h"
#include "replay/shm.h"

/* ids of files that calls make themselves: far from those of the trace */
#define FILE_OF_FD (UINT64_C(1) << 61)
#define FILE_OF_SHM (UINT64_C(1) << 62)

static const struct seam_file *file_of(const struct call *call, struct seam_file *file)
{
	const struct event *event = call->event;

	if (call->arg[3] & SEAM_MAP_ANONYMOUS)
		return NULL;
	*file = (struct seam_file) {
		.traits = SEAM_FILE_READ | SEAM_FILE_WRITE,
		.seals = (event->flags & EVENT_SEAL_WRITE ? F_SEAL_WRITE : 0) |
			 (event->flags & EVENT_SEAL_FUTURE_WRITE ? F_SEAL_FUTURE_WRITE : 0),
	};
	if (event->file) {
		file->id = event->file;
		if (call->file && call->file->traits)
			file->traits = call->file->traits;
		return file;
	}
	/* there was a file behind the number, unless that is what was wrong */
	if (!call->known || event->result == -SEAM_EBADF)
		return NULL;
	file->id = FILE_OF_FD | (call->arg[4] & UINT32_MAX);
	return file;
}

static bool is_touchable(const struct seam_mmap *args)
{
	return args->flags & SEAM_MAP_ANONYMOUS && (args->flags & SEAM_MAP_TYPE) != SEAM_MAP_SHARED;
}

/* One mapping was made at @at. */
static void mapped(struct call *call, const struct seam_mmap *args, uint64_t at)
{
	uint64_t start, end;

	if (!whole_pages(call, at, args->len, &start, &end))
		return;
	if (is_touchable(args))
		memory_made(call, start, end - start, args->prot & SEAM_PROT_WRITE);
	else
		memory_gone(call, start, end - start);
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

		if (has_memory(piece.kind)) {
			if (!seam_area_find(call->space, piece.at, &area) ||
			    area.start >= piece.at + len)
				continue;
			call_check(call, seam_space_forget(call->space, piece.at, piece.at + len));
			memory_gone(call, piece.at, len);
		}
		if (piece.kind == GROUND_MOVED)
			call_keep(call, ground_release(ground, piece.at, len));
	}
}

/* Recorded memory came to lie at @recorded; under this kernel the call gave @err or @at. */
static void settle(struct call *call, uint64_t recorded, uint64_t len, int err, uint64_t at)
{
	struct ground *ground = &call->mm->ground;

	if (err)
		call_keep(call, ground_lose(ground, recorded, len));
	else
		call_keep(call, ground_settle(ground, recorded, len, at));
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
		call_keep(call, ground_take(ground, start, end - start));
	call_finish(call, err ? err : (int64_t)at);
}

/* What the record replaced within [start, end), where the newcomer goes elsewhere. */
void call_unmap(struct call *call, uint64_t start, uint64_t end)
{
	struct piece piece;

	for (; ground_next(&call->mm->ground, start, end, &piece); start = piece.end) {
		uint64_t len = piece.end - piece.start;

		if (!has_memory(piece.kind))
			continue;
		call_check(call, seam_space_munmap(call->space, piece.at, len));
		memory_gone(call, piece.at, len);
		if (piece.kind == GROUND_MOVED)
			call_keep(call, ground_release(&call->mm->ground, piece.at, len));
	}
}

static bool is_free(const struct seam_space *space, uint64_t at, uint64_t len)
{
	struct seam_area area;

	return !seam_area_find(space, at, &area) || area.start >= at + len;
}

bool call_next_target(struct call *call, uint64_t start, uint64_t end, struct target *ret)
{
	struct ground *ground = &call->mm->ground;
	struct piece next;

	ret->refills = false;
	if (!ground_next_recorded(ground, start, end, &ret->piece))
		return false;
	if (ret->piece.kind == GROUND_HERE && ground_is_taken(ground, start, ret->piece.end))
		ret->piece.kind = GROUND_TAKEN;
	if (ret->piece.kind == GROUND_FREED) {
		ret->refills = is_free(call->space, ret->piece.at, ret->piece.end - start);
		ret->piece.kind = ret->refills ? GROUND_MOVED : GROUND_TAKEN;
	}
	/* memory that has moved together stays together, with holes in it that are to be filled */
	while (ret->piece.kind == GROUND_MOVED &&
	       ground_next_recorded(ground, ret->piece.end, end, &next) &&
	       (next.kind == GROUND_MOVED || next.kind == GROUND_FREED) &&
	       next.at - next.start == ret->piece.at - start) {
		if (next.kind == GROUND_FREED &&
		    !is_free(call->space, next.at, next.end - next.start))
			break;
		ret->refills |= next.kind == GROUND_FREED;
		ret->piece.end = next.end;
	}
	return true;
}

/* One piece of a mapping at a fixed address. */
static int map_piece(struct call *call, const struct seam_mmap *args, const struct target *target)
{
	const struct piece *piece = &target->piece;
	struct seam_mmap part = *args;
	uint64_t at = 0;
	int err;

	part.pgoff += (piece->start - args->addr) >> seam_space_page_shift(call->space);
	part.len = piece->end - piece->start;
	part.addr = piece->at;
	if (piece->kind != GROUND_TAKEN) {
		err = map_one(call, &part, &at);
		if (!err && target->refills && call->worked)
			settle(call, piece->start, part.len, 0, at);
		return err;
	}
	/* another map is there under this kernel: the newcomer is placed anew */
	if (!call->worked)
		return (int)call->event->result;
	call_unmap(call, piece->start, piece->end);
	part.flags &= ~(SEAM_MAP_FIXED | SEAM_MAP_FIXED_NOREPLACE);
	part.addr = 0;
	err = map_one(call, &part, &at);
	settle(call, piece->start, part.len, err, at);
	return err;
}

/* Takes away what lies within [start, end); *ret_made: something may have. The first error. */
static int unmap_pieces(struct call *call, uint64_t start, uint64_t end, bool freed, bool *ret_made)
{
	struct ground *ground = &call->mm->ground;
	struct piece piece;
	int result = 0;

	for (; ground_next(ground, start, end, &piece); start = piece.end) {
		uint64_t size = piece.end - piece.start;
		int err = 0;

		if (has_memory(piece.kind)) {
			err = call_check(call, seam_space_munmap(call->space, piece.at, size));
			if (!err)
				memory_gone(call, piece.at, size);
		}
		*ret_made |= piece.kind != GROUND_GONE;
		if (!err && piece.kind == GROUND_MOVED)
			call_keep(call, ground_release(ground, piece.at, size));
		if (freed)
			call_keep(call, ground_freed_piece(ground, &piece));
		if (err && !result)
			result = err;
	}
	return result;
}

/* The file itself refuses, and what it was to replace is gone. */
static void map_refused(struct call *call, const struct seam_mmap *args, uint64_t start,
			uint64_t end)
{
	bool made = false;
	uint64_t at;
	int err;

	if (!ground_is_plain(&call->mm->ground)) {
		err = unmap_pieces(call, start, end, true, &made);
		call_finish(call, err ? err : args->refused);
		return;
	}
	err = call_check(call, seam_space_mmap(call->space, args, &at));
	if (err == args->refused)
		memory_gone(call, start, end - start);
	call_finish(call, err);
}

/* At a fixed address, piece by piece of the ground there. */
static void map_fixed(struct call *call, struct seam_mmap *args)
{
	struct ground *ground = &call->mm->ground;
	uint64_t start, end, at = args->addr;
	struct target target;
	bool made = false;
	int err = 0;

	if (args->addr & page_mask(call) ||
	    !whole_pages(call, args->addr, args->len, &start, &end) ||
	    (ground_is_plain(ground) && !args->refused)) {
		err = map_one(call, args, &at);
		call_finish(call, err ? err : (int64_t)at);
		return;
	}
	if (args->refused) {
		map_refused(call, args, start, end);
		return;
	}
	for (; !err && call_next_target(call, start, end, &target); start = target.piece.end) {
		if (target.piece.kind == GROUND_GONE)
			continue;
		err = map_piece(call, args, &target);
		made = true;
	}
	if (made)
		call_finish(call, err ? err : (int64_t)ground_translate(ground, args->addr));
	else
		call_skip(call);
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

static bool is_a_limit(int64_t result)
{
	return result == -SEAM_ENOMEM || result == -SEAM_EAGAIN || result == -SEAM_EEXIST;
}

/*
 * How many huge pages the host had set aside, and how many were free. With MAP_NORESERVE none is asked
 * for beforehand (6.18 mm/hugetlb.c hugetlb_reserve_pages): it was a limit, which the model knows.
 */
static bool lacks_huge_pages(const struct call *call, const struct seam_mmap *args)
{
	return (args->flags & (SEAM_MAP_HUGETLB | SEAM_MAP_NORESERVE)) == SEAM_MAP_HUGETLB &&
	       call->event->result == -SEAM_ENOMEM;
}

/* What is sealed in the way refuses too, and leaves what was cut before it, as the model does. */
static bool may_be_sealed(const struct call *call, const struct seam_mmap *args)
{
	uint64_t at = args->addr, end = args->addr + args->len;
	struct seam_area area;

	if (!(args->flags & SEAM_MAP_FIXED) || call->event->result != -SEAM_EPERM)
		return false;
	while (at < end && seam_area_find(call->space, at, &area) && area.start < end) {
		if (area.flags & SEAM_VM_SEALED)
			return true;
		at = area.end;
	}
	return false;
}

/* Refusals whose reasons no trace tells: nothing is changed then. */
static bool is_refused_by_host(const struct call *call, const struct seam_mmap *args)
{
	return call->known && !(args->flags & SEAM_MAP_ANONYMOUS) && !args->refused &&
	       is_about_the_file(call->event->result) && !may_be_sealed(call, args);
}

/*
 * The error of the file's own map operation. The recorder has looked whether the range was clear
 * afterwards; of other logs it is known where no test before and no limit gives such an error.
 */
static int refusal_of_file(const struct call *call, const struct seam_mmap *args)
{
	int64_t result = call->event->result;

	if (call->event->flags & EVENT_CLEARED)
		return (int)result;
	if (!call->known || call->worked)
		return 0;
	if (lacks_huge_pages(call, args))
		return (int)result;
	if (args->flags & SEAM_MAP_ANONYMOUS || is_about_the_file(result) || is_a_limit(result))
		return 0;
	return (int)result;
}

void call_mmap(struct call *call)
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
		call_finish(call, -SEAM_EINVAL);
		return;
	}
	args.refused = refusal_of_file(call, &args);
	if (is_refused_by_host(call, &args)) {
		call_finish(call, call->event->result);
		return;
	}
	if (args.flags & (SEAM_MAP_FIXED | SEAM_MAP_FIXED_NOREPLACE) && call->known)
		map_fixed(call, &args);
	else
		map_placed(call, &args);
}

/* munmap */

void call_munmap(struct call *call)
{
	struct ground *ground = &call->mm->ground;
	uint64_t start, end, addr = call->arg[0], len = call->arg[1];
	bool made = false, plain = ground_is_plain(ground);
	int result = 0;

	if (addr & page_mask(call) || !whole_pages(call, addr, len, &start, &end)) {
		addr = ground_translate(ground, addr);
		call_finish(call, call_check(call, seam_space_munmap(call->space, addr, len)));
		return;
	}
	if (plain) {
		result = call_check(call, seam_space_munmap(call->space, addr, len));
		if (!result)
			memory_gone(call, start, end - start);
		call_finish(call, result);
		return;
	}
	result = unmap_pieces(call, start, end, call->worked, &made);
	if (made)
		call_finish(call, result);
	else
		call_skip(call);
}

void call_shmat(struct call *call)
{
	struct seam_file file;
	struct seam_mmap args;

	shm_mapping(call->space, call->arg, &file, &args);
	if (!args.len || !call->worked) {
		call_pass(call);
		return;
	}
	file.id = FILE_OF_SHM | ++call->lane->nr_segments;
	if (args.addr && call->arg[2] & SHM_REMAP) {
		args.flags |= SEAM_MAP_FIXED;
		map_fixed(call, &args);
	} else {
		map_placed(call, &args);
	}
}

/* Does the area still lie where the attachment at @base has put it? */
static bool is_attached(const struct call *call, const struct seam_area *area, uint64_t base)
{
	return area->file & FILE_OF_SHM && area->start >= base &&
	       (area->start - base) >> seam_space_page_shift(call->space) == area->pgoff;
}

/*
 * Takes away what is left of the attachment: the first area whose offset tells that it belongs to one
 * at this address says which. Source: 6.18 ipc/shm.c ksys_shmdt.
 */
void call_shmdt(struct call *call)
{
	uint64_t base = ground_translate(&call->mm->ground, call->arg[0]), at = base, file = 0;
	struct seam_area area;

	while (!call->error && seam_area_find(call->space, at, &area)) {
		uint64_t len = area.end - area.start;
		uint64_t recorded = call->arg[0] + (area.start - base);

		at = area.end;
		if (!is_attached(call, &area, base) || (file && area.file != file))
			continue;
		file = area.file;
		/* what is sealed stays, and the call goes on */
		if (call_check(call, seam_space_munmap(call->space, area.start, len)))
			continue;
		call_keep(call, ground_freed(&call->mm->ground, recorded, recorded + len));
		call_keep(call, ground_release(&call->mm->ground, area.start, len));
	}
	if (file)
		call_finish(call, 0);
	else
		call_pass(call);
}

/* Refused when the range was clear already, as recorded: nothing else has happened. */
static void clear_refused(struct call *call, uint64_t addr, uint64_t len)
{
	uint64_t mask = page_mask(call), start = addr & ~mask;
	bool made = false;
	int err = unmap_pieces(call, start, start + (len & ~mask), true, &made);

	if (err || made)
		call_finish(call, err ? err : call->event->result);
	else
		call_skip(call);
}

/* Since 4.0 a mapping anew of the same file; before, other pages in the same area. */
void call_remap_file_pages(struct call *call)
{
	const uint64_t *arg = call->arg;
	uint64_t at = ground_translate(&call->mm->ground, arg[0]);

	if (call->lane->version < 0x040000) {
		call_pass(call);
		return;
	}
	if (call->event->flags & EVENT_CLEARED) {
		clear_refused(call, arg[0], arg[1]);
		return;
	}
	call_finish(call, call_check(call, seam_space_remap_file_pages(call->space, at, arg[1],
								       (uint32_t)arg[2], arg[3],
								       (uint32_t)arg[4])));
}
