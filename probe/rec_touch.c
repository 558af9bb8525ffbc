/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which memory has been touched decides what joins, and no call tells it. Here pagemap is asked, for
 * the areas that a call cuts or may join, as long as they are not known to be faulted; once an area is
 * so, it and all that is made of it stay so. Needs PAGEMAP_SCAN (6.7) and PROCMAP_QUERY (6.11).
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <seam/ops.h>

#include "probe/pagemap.h"
#include "probe/rec.h"

#define PAGE 4096
#define MAX_ASKED 16384 /* areas in one go */

/*
 * The first page in [start, end) that anonymous memory has: present or swapped, of no file, and not
 * the zero page, which reading brings in. 1 and *ret_page, 0 none, -1 not to be had.
 */
static int find_anonymous(int fd, uint64_t start, uint64_t end, uint64_t *ret_page)
{
	struct pagemap_region region;
	struct pagemap_scan scan = {
		.size = sizeof(scan),
		.start = start,
		.end = end,
		.vec = (uintptr_t)&region,
		.vec_len = 1,
		.max_pages = 1,
		.category_inverted = PAGEMAP_IS_FILE | PAGEMAP_IS_ZERO,
		.category_mask = PAGEMAP_IS_FILE | PAGEMAP_IS_ZERO,
		.category_anyof_mask = PAGEMAP_IS_PRESENT | PAGEMAP_IS_SWAPPED,
		.return_mask = PAGEMAP_IS_PRESENT,
	};
	int found = ioctl(fd, PAGEMAP_SCAN_IOCTL, &scan);

	if (found > 0)
		*ret_page = region.start;
	return found;
}

bool rec_can_ask(void)
{
	int maps = procmap_open(0), pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t page;
	bool can = sysconf(_SC_PAGESIZE) == PAGE && maps >= 0 && procmap_works(maps) &&
		   pages >= 0 &&
		   find_anonymous(pages, (uintptr_t)&page & ~(uintptr_t)(PAGE - 1),
				  ((uintptr_t)&page | (PAGE - 1)) + 1, &page) == 1;

	if (maps >= 0)
		close(maps);
	if (pages >= 0)
		close(pages);
	return can;
}

static int pagemap_fd(const struct rec_task *task)
{
	struct rec_space *space = task->space;
	char path[32];

	if (space->pagemap_fd == -1) {
		snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)task->tid);
		space->pagemap_fd = open(path, O_RDONLY | O_CLOEXEC);
		if (space->pagemap_fd < 0)
			space->pagemap_fd = -2;
	}
	return space->pagemap_fd;
}

/*
 * Asks for [start, end), which lies in one private area that is not known to be faulted, by the
 * pagemap @fd.
 */
static void ask_range(struct rec *rec, const struct rec_task *task, int fd, uint64_t start,
		      uint64_t end)
{
	struct rec_range range = { start, end, NULL };
	struct event touch = { .kind = EVENT_TOUCH };
	uint64_t page;

	if (start >= end || fd < 0 || find_anonymous(fd, start, end, &page) != 1)
		return;
	touch.arg[0] = page;
	touch.arg[1] = page + PAGE;
	rec_write(rec, task, &touch);
	rec_ranges_cut(rec, &task->space->touched, start, end);
	rec_ranges_insert(&task->space->touched, &range);
}

/* The part [start, end) of an area; shared memory has no anon_vma. */
static void ask_part(struct rec *rec, const struct rec_task *task, const struct procmap_area *area,
		     uint64_t start, uint64_t end)
{
	if (!(area->flags & SEAM_VM_MAYSHARE) &&
	    !rec_ranges_meet(&task->space->touched, area->start, area->end))
		ask_range(rec, task, pagemap_fd(task), start, end);
}

static void ask_area(struct rec *rec, const struct rec_task *task, const struct procmap_area *area)
{
	ask_part(rec, task, area, area->start, area->end);
}

/* The areas that touch or meet [start, end). */
static void ask_around(struct rec *rec, const struct rec_task *task, uint64_t start, uint64_t end)
{
	uint64_t at = start ? start - 1 : 0;
	int left = MAX_ASKED;
	struct procmap_area area;

	while (left-- && rec_find_area(task, at, &area) == 1 && area.start <= end) {
		if (area.end >= start)
			ask_area(rec, task, &area);
		if (area.end > end)
			return;
		at = area.end;
	}
}

/* The area that holds @addr and begins before it: it will be cut there. */
static void ask_cut(struct rec *rec, const struct rec_task *task, uint64_t addr)
{
	struct procmap_area area;

	if (rec_find_area(task, addr, &area) == 1 && area.start < addr)
		ask_area(rec, task, &area);
}

static uint64_t end_of(uint64_t addr, uint64_t len)
{
	return (addr + len + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/*
 * The areas that lie across either end of the range; most often one query tells that there is none.
 * True: nothing is to stop its removal. Of one area as a whole, or of one end of private memory in
 * small pages, no area comes into being that could be one too many, and no driver is asked.
 */
static bool ask_cuts(struct rec *rec, const struct rec_task *task, uint64_t addr, uint64_t len)
{
	uint64_t end = end_of(addr, len);
	struct procmap_area area;

	if (rec_find_area(task, addr, &area) != 1 || area.start >= end)
		return false;
	if (area.start < addr || area.end > end)
		ask_area(rec, task, &area);
	if (area.end < end)
		ask_cut(rec, task, end);
	if (area.start == addr && area.end == end)
		return true;
	return (area.start == addr ? area.end > end : area.start < addr && area.end == end) &&
	       !(area.flags & SEAM_VM_MAYSHARE) && area.page_size == PAGE;
}

bool rec_is_free(const struct rec_task *task, uint64_t start, uint64_t end)
{
	struct procmap_area area;
	int found = rec_find_area(task, start, &area);

	return !found || (found == 1 && area.start >= end);
}

/*
 * Whether a munmap has done its work can be seen at the task's next stop, as long as nobody else
 * changes this map: so one that cannot fail need not stop at its exit, which is half of what a call
 * costs. Sealed memory stays.
 */
bool rec_is_alone(const struct rec *rec, const struct rec_task *task)
{
	return !rec->all_calls && !rec->options->exits && task->space->nr_users == 1 &&
	       !task->space->has_sealed;
}

void rec_ask_before(struct rec *rec, const struct rec_task *task, struct rec_call *call)
{
	const uint64_t *arg = call->arg;

	if (rec->no_touches || call->kind != REC_CALL)
		return;
	switch (call->call) {
	case TRACE_CALL_mmap:
		if (arg[3] & SEAM_MAP_FIXED)
			ask_cuts(rec, task, arg[0], arg[1]);
		break;
	case TRACE_CALL_munmap:
		call->exit_unseen = ask_cuts(rec, task, arg[0], arg[1]) && rec_is_alone(rec, task);
		call->foreseen = (struct rec_foreseen) { arg[0], arg[0] + arg[1], false, 0 };
		break;
	case TRACE_CALL_mremap:
		ask_around(rec, task, arg[0], end_of(arg[0], arg[1]));
		if (arg[3] & SEAM_MREMAP_FIXED)
			ask_cuts(rec, task, arg[4], arg[2]);
		break;
	case TRACE_CALL_prctl: /* PR_SET_VMA names memory; all that is left changes no area by range */
		ask_around(rec, task, arg[2], end_of(arg[2], arg[3]));
		break;
	case TRACE_CALL_uffd_ioctl:
		ask_around(rec, task, arg[2], end_of(arg[2], arg[3]));
		break;
	case TRACE_CALL_mlockall:
	case TRACE_CALL_munlockall:
		ask_around(rec, task, 0, UINT64_MAX);
		break;
	default:
		if (trace_call_names_range(call->call))
			ask_around(rec, task, arg[0], end_of(arg[0], arg[1]));
	}
}

/*
 * New memory [start, end) lies in @area by now, joined or not. It joins a neighbour whatever that
 * one's state; that matters only where there is one on either side.
 */
static void ask_neighbours(struct rec *rec, const struct rec_task *task,
			   const struct procmap_area *area, uint64_t start, uint64_t end)
{
	struct procmap_area left = *area, right = *area;
	bool has_left = area->start<start, has_right = area->end> end;

	if (!has_left && !has_right)
		return;
	if (!has_left)
		has_left = rec_find_area(task, start - 1, &left) == 1 && left.end == start;
	if (!has_right)
		has_right = rec_find_area(task, end, &right) == 1 && right.start == end;
	if (!has_left || !has_right)
		return;
	ask_part(rec, task, &left, left.start, start);
	ask_part(rec, task, &right, end, right.end);
}

bool rec_ask_room(struct rec *rec, const struct rec_task *task, uint64_t start, uint64_t end)
{
	struct procmap_area left, right;
	int found = rec_find_area(task, start - 1, &left);

	if (found <= 0 || left.start >= start) /* as it is most often: nothing touches it below */
		return !found || (found == 1 && left.start >= end);
	if (left.end > start)
		return false;
	found = rec_find_area(task, start, &right);
	if (found <= 0 || right.start != end)
		return !found || (found == 1 && right.start > end);
	ask_part(rec, task, &left, left.start, start);
	ask_part(rec, task, &right, end, right.end);
	return true;
}

void rec_ask_after(struct rec *rec, const struct rec_task *task, const struct rec_call *call,
		   int64_t result)
{
	uint64_t addr = (uint64_t)result, len;
	struct procmap_area area;

	if (rec->no_touches || call->kind != REC_CALL || result <= 0)
		return;
	if (call->call == TRACE_CALL_mmap)
		len = call->arg[1];
	else if (call->call == TRACE_CALL_mremap)
		len = call->arg[2];
	else
		return;
	if (rec_find_area(task, addr, &area) == 1 && area.start <= addr)
		ask_neighbours(rec, task, &area, addr, end_of(addr, len));
}

void rec_ask_all(struct rec *rec, const struct rec_task *parent, const struct rec_task *child,
		 const struct seam_area *areas, size_t nr_areas)
{
	if (rec->no_touches)
		return;
	for (size_t i = 0; i < nr_areas && i < MAX_ASKED; i++)
		if (!(areas[i].flags & SEAM_VM_MAYSHARE) &&
		    !rec_ranges_meet(&parent->space->touched, areas[i].start, areas[i].end))
			ask_range(rec, parent, pagemap_fd(child), areas[i].start, areas[i].end);
}

static void move(struct rec *rec, struct rec_ranges *ranges, const struct rec_call *call,
		 uint64_t to)
{
	uint64_t old = call->arg[0], old_end = end_of(old, call->arg[1]);
	struct rec_range range = { to, end_of(to, call->arg[2]), NULL };
	bool moved = rec_ranges_meet(ranges, old, old_end);

	if (!(call->arg[3] & SEAM_MREMAP_DONTUNMAP))
		rec_ranges_cut(rec, ranges, old, old_end);
	rec_ranges_cut(rec, ranges, range.start, range.end);
	if (moved)
		rec_ranges_insert(ranges, &range);
}

void rec_move_ranges(struct rec *rec, struct rec_ranges *ranges, const struct rec_call *call,
		     int64_t result)
{
	uint64_t addr = (uint64_t)result;

	if (result < 0 || call->kind != REC_CALL || !ranges->nr)
		return;
	if (call->call == TRACE_CALL_mmap)
		rec_ranges_cut(rec, ranges, addr, end_of(addr, call->arg[1]));
	else if (call->call == TRACE_CALL_munmap)
		rec_ranges_cut(rec, ranges, call->arg[0], end_of(call->arg[0], call->arg[1]));
	else if (call->call == TRACE_CALL_mremap)
		move(rec, ranges, call, addr);
}
