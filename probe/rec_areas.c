/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The areas of a stopped task's space from /proc, with what a trace keeps of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <seam/ops.h>

#include "probe/procfs.h"
#include "probe/procmap.h"
#include "probe/rec.h"
#include "probe/rights.h"
#include "trace/intern.h"
#include "trace/maps_line.h"
#include "trace/scan.h"
#include "trace/vmflags.h"

#define READ_CHUNK (64u << 10)

struct rec_areas {
	char *text;
	size_t size, room;
	struct seam_area *list;
	size_t nr, list_room;
	struct intern names;	   /* of anonymous memory */
	uint64_t stack, stack_end; /* the main stack; 0: none seen */
	bool is_exec;		   /* the look is at what exec has made */
	bool is_unexplained;	   /* it shows what no call or report has told of */
	struct exec_file {
		uint64_t dev, ino, description;
	} exec_files[8];
	unsigned int nr_exec_files;
};

int rec_areas_new(struct rec *rec)
{
	rec->areas = calloc(1, sizeof(*rec->areas));
	return rec->areas ? 0 : -ENOMEM;
}

void rec_areas_free(struct rec *rec)
{
	if (!rec->areas)
		return;
	intern_free(&rec->areas->names);
	free(rec->areas->text);
	free(rec->areas->list);
	free(rec->areas);
	rec->areas = NULL;
}

static int read_text(struct rec_areas *areas, pid_t tid, const char *file)
{
	char path[48];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	areas->size = 0;
	do {
		if (areas->room - areas->size < READ_CHUNK) {
			char *text = realloc(areas->text, 2 * areas->room + 2 * READ_CHUNK);

			if (!text) {
				close(fd);
				return -ENOMEM;
			}
			areas->text = text;
			areas->room = 2 * areas->room + 2 * READ_CHUNK;
		}
		got = read(fd, areas->text + areas->size, areas->room - areas->size - 1);
		if (got > 0)
			areas->size += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	areas->text[areas->size] = 0;
	close(fd);
	return got < 0 ? -errno : 0;
}

static struct seam_area *add_area(struct rec_areas *areas)
{
	if (areas->nr == areas->list_room) {
		size_t room = areas->list_room ? areas->list_room * 2 : 256;
		struct seam_area *list = reallocarray(areas->list, room, sizeof(*list));

		if (!list)
			return NULL;
		areas->list = list;
		areas->list_room = room;
	}
	areas->list[areas->nr] = (struct seam_area) { 0 };
	return &areas->list[areas->nr++];
}

/* A line of maps, split. Source: 6.18 fs/proc/task_mmu.c show_map_vma. */
struct line {
	uint64_t start, end, offset, ino;
	uint32_t major, minor;
	char perms[5];
	const char *name;
};

static bool split_line(char *at, struct line *ret_line)
{
	char *end;

	ret_line->start = strtoull(at, &end, 16);
	if (end == at || *end != '-')
		return false;
	ret_line->end = strtoull(end + 1, &end, 16);
	if (*end != ' ' || strlen(end) < 6)
		return false;
	memcpy(ret_line->perms, end + 1, 4);
	ret_line->perms[4] = 0;
	ret_line->offset = strtoull(end + 5, &end, 16);
	ret_line->major = (uint32_t)strtoul(end, &end, 16);
	if (*end != ':')
		return false;
	ret_line->minor = (uint32_t)strtoul(end + 1, &end, 16);
	ret_line->ino = strtoull(end, &end, 10);
	ret_line->name = end + strspn(end, " ");
	return true;
}

/*
 * In the map that exec leaves, each file was opened once, by the kernel: the same file is the same
 * open description there, and nowhere else.
 */
static void describe_exec_file(struct rec *rec, struct trace_file *file)
{
	struct rec_areas *areas = rec->areas;
	struct exec_file *known = areas->exec_files;
	unsigned int i = 0;

	while (i < areas->nr_exec_files && (known[i].dev != file->dev || known[i].ino != file->ino))
		i++;
	if (i == sizeof(areas->exec_files) / sizeof(*known))
		return;
	if (i == areas->nr_exec_files)
		known[areas->nr_exec_files++] =
			(struct exec_file) { file->dev, file->ino, ++rec->nr_descriptions };
	file->known = 1;
	file->description = known[i].description;
	file->traits = SEAM_FILE_READ;
}

uint32_t rec_name_number(struct rec *rec, const char *name)
{
	bool is_new;

	return intern_number(&rec->areas->names, name, strlen(name), UINT32_MAX, &is_new);
}

static int set_identities(struct rec *rec, const struct line *line, struct seam_area *area)
{
	struct trace_file file = {
		.dev = (uint64_t)line->major << 20 | line->minor,
		.ino = line->ino,
		.traits = SEAM_FILE_READ | SEAM_FILE_WRITE,
		.path = line->name,
	};

	area->traits = maps_name_traits(line->name);
	if (begins_with(line->name, "[anon")) {
		area->name = rec_name_number(rec, line->name);
		if (!area->name)
			return -ENOMEM;
	}
	if (!line->ino && !line->major && !line->minor)
		return 0;
	if (rec->areas->is_exec)
		describe_exec_file(rec, &file);
	area->file = rec_write_file(rec, &file);
	area->pgoff = line->offset >> 12;
	return area->file ? 0 : -ENOMEM;
}

static int take_line(struct rec *rec, const struct line *line)
{
	struct seam_area *area;

	if (!strcmp(line->name, "[vsyscall]"))
		return 0;
	area = add_area(rec->areas);
	if (!area)
		return -ENOMEM;
	if (!strcmp(line->name, "[stack]")) {
		rec->areas->stack = line->start;
		rec->areas->stack_end = line->end;
	}
	area->start = line->start;
	area->end = line->end;
	area->flags = (line->perms[0] == 'r' ? SEAM_VM_READ : 0) |
		      (line->perms[1] == 'w' ? SEAM_VM_WRITE : 0) |
		      (line->perms[2] == 'x' ? SEAM_VM_EXEC : 0) |
		      (line->perms[3] == 's' ? SEAM_VM_SHARED | SEAM_VM_MAYSHARE : 0);
	return set_identities(rec, line, area);
}

/* "VmFlags: rd wr mr ..." and "ProtectionKey: 1" of the area before. */
static void take_key(struct rec_areas *areas, const char *line)
{
	struct seam_area *area = &areas->list[areas->nr - 1];
	uint64_t pkey = area->flags & SEAM_VM_PKEY;

	if (begins_with(line, "ProtectionKey:"))
		area->flags |= strtoull(line + 14, NULL, 10) << SEAM_VM_PKEY_SHIFT & SEAM_VM_PKEY;
	if (!begins_with(line, "VmFlags:"))
		return;
	area->flags = pkey;
	for (const char *at = line + 8; at[0] == ' ' && at[1] && at[2]; at += 3)
		area->flags |= vmflags_bit(at + 1);
}

static int parse_text(struct rec *rec)
{
	struct rec_areas *areas = rec->areas;
	bool in_gate = false;

	areas->nr = 0;
	for (char *at = areas->text, *end; *at; at = end + 1) {
		struct line line;
		int err;

		end = strchr(at, '\n');
		if (!end)
			break;
		*end = 0;
		if (split_line(at, &line)) {
			size_t before = areas->nr;

			err = take_line(rec, &line);
			if (err)
				return err;
			in_gate = areas->nr == before;
		} else if (areas->nr && !in_gate) {
			take_key(areas, at);
		}
	}
	return 0;
}

int rec_maps_fd(const struct rec_task *task)
{
	struct rec_space *space = task->space;

	if (space->maps_fd != -1)
		return space->maps_fd < 0 ? -1 : space->maps_fd;
	space->maps_fd = procmap_open(task->tid);
	if (space->maps_fd >= 0 && procmap_works(space->maps_fd))
		return space->maps_fd;
	if (space->maps_fd >= 0)
		close(space->maps_fd);
	space->maps_fd = -2;
	return -1;
}

int rec_find_area(const struct rec_task *task, uint64_t addr, struct procmap_area *ret_area)
{
	struct rec_asked *asked = &task->space->asked;
	int found;

	if (asked->is_valid && addr >= asked->from && (!asked->found || addr < asked->area.end)) {
		*ret_area = asked->area;
		return asked->found;
	}
	found = procmap_find(rec_maps_fd(task), addr, ret_area);
	*asked = (struct rec_asked) { found >= 0 && task->space->nr_users == 1, addr, found,
				      found == 1 ? *ret_area : (struct procmap_area) { 0 } };
	return found;
}

int rec_look(struct rec *rec, const struct rec_task *task, enum rec_look look,
	     const struct seam_area **ret_areas, size_t *ret_nr)
{
	struct rec_areas *areas = rec->areas;
	uint64_t start_ns = clock_ns();
	int err = read_text(areas, task->tid, look == REC_LOOK_MAPS ? "maps" : "smaps");

	areas->nr_exec_files = 0;
	areas->stack = areas->stack_end = 0;
	areas->is_exec = look == REC_LOOK_EXEC;
	if (!err)
		err = parse_text(rec);
	if (!err && !areas->nr)
		err = -ESRCH;
	if (err)
		return err;
	*ret_areas = areas->list;
	*ret_nr = areas->nr;
	task->space->nr_areas = areas->nr;
	task->space->calls_since_truth = 0;
	/* what the kernel has reported was looked at then */
	areas->is_unexplained = (!rec->has_reports || task->space->truth_ns < rec->reports_ns) &&
				rec_foresight_differs(task->space, areas->list, areas->nr);
	task->space->truth_ns = clock_ns();
	task->space->truth_cost_ns = task->space->truth_ns - start_ns;
	rec_foresight_begin(rec, task->space, areas->list, areas->nr);
	if (areas->nr > rec->result->areas_peak)
		rec->result->areas_peak = areas->nr;
	return 0;
}

static int look_into(struct rec *rec, const struct rec_task *task, enum rec_look look,
		     struct event *event)
{
	int err = rec_look(rec, task, look, &event->areas, &event->nr_areas);

	if (err)
		return err;
	event->flags |= EVENT_AREAS_KNOWN;
	event->sees = SEES_RANGE | SEES_OFFSET | SEES_NAME;
	event->sees |= look == REC_LOOK_EXEC ? SEES_FILE : SEES_INODE;
	if (look != REC_LOOK_MAPS)
		event->sees |= SEES_FLAGS | SEES_PKEY;
	return 0;
}

int record_look(const struct record_stop *stop, struct event *ret_truth)
{
	*ret_truth = (struct event) { .kind = EVENT_TRUTH };
	if (!stop->task->space)
		return -ESRCH;
	ret_truth->space = stop->task->space->number;
	return look_into(stop->rec, stop->task, REC_LOOK_FLAGS, ret_truth);
}

/*
 * A page fault that no call shows has made the stack of @space begin at @stack: told as the access
 * that it was, to the lowest page.
 */
void rec_write_growth(struct rec *rec, const struct rec_task *task, struct rec_space *space,
		      uint64_t stack)
{
	struct event touch = { .kind = EVENT_CALL, .call = TRACE_CALL_touch, .arg = { stack, 1 } };

	if (!stack || stack >= space->stack)
		return;
	rec_write_in(rec, task, space, &touch);
	space->stack = space->grown_to = stack;
}

static void set_stack(const struct rec_areas *areas, struct rec_space *space)
{
	space->stack = space->grown_to = areas->stack;
	space->stack_end = areas->stack_end;
}

void rec_write_areas(struct rec *rec, const struct rec_task *task, struct event *event,
		     enum rec_look look)
{
	struct event lost = { .kind = EVENT_LOST,
			      .arg = { 1 },
			      .text = "a map that could not be read" };

	if (look_into(rec, task, look, event)) {
		rec_write(rec, task, &lost);
		return;
	}
	if (event->kind == EVENT_TRUTH && rec->areas->is_unexplained) {
		rec_write_change(rec, task, "found at a checkpoint: nothing told of it before");
		return;
	}
	rec_write_growth(rec, task, task->space, rec->areas->stack);
	set_stack(rec->areas, task->space);
	rec_write(rec, task, event);
}

void rec_write_change(struct rec *rec, const struct rec_task *task, const char *what)
{
	struct event change = {
		.kind = EVENT_CHANGE,
		.arg = { 0, ~UINT64_C(0xfff) },
		.text = what,
	};

	rec_write_areas(rec, task, &change, REC_LOOK_FLAGS);
	/* who reads it forgets with the map what of it was touched */
	rec_ranges_free(rec, &task->space->touched);
	rec_ask_all(rec, task, task, change.areas, change.nr_areas);
}

void rec_write_truth(struct rec *rec, const struct rec_task *task)
{
	struct event truth = { .kind = EVENT_TRUTH };

	if (task->space->calls_since_truth || rec->listener_said)
		rec_write_areas(rec, task, &truth,
				rec->options->truth_calls ? REC_LOOK_FLAGS : REC_LOOK_MAPS);
}

/* Numbers 26, 27 and 45 to 47 of /proc/PID/stat, counted from 1; the second is in brackets. */
static void read_bounds(pid_t tid, struct event *event)
{
	static const struct {
		int field, arg;
	} wanted[] = { { 27, 2 }, { 45, 3 }, { 46, 4 }, { 47, 1 } };
	char text[2048], *at;
	size_t next = 0;

	if (procfs_read(text, sizeof(text), "/proc/%d/stat", (int)tid) < 0)
		return;
	at = strrchr(text, ')');
	for (int field = 3; at && next < sizeof(wanted) / sizeof(*wanted); field++) {
		at = strchr(at + 1, ' ');
		if (at && field == wanted[next].field)
			event->arg[wanted[next++].arg] = strtoull(at + 1, NULL, 10);
	}
}

static uint64_t read_personality(pid_t tid)
{
	char text[32];

	if (procfs_read(text, sizeof(text), "/proc/%d/personality", (int)tid) < 0)
		return 0;
	return strtoull(text, NULL, 16);
}

static void write_limits(struct rec *rec, const struct rec_task *task)
{
	static const int resources[] = { [TRACE_RLIMIT_AS] = RLIMIT_AS,
					 [TRACE_RLIMIT_DATA] = RLIMIT_DATA,
					 [TRACE_RLIMIT_STACK] = RLIMIT_STACK,
					 [TRACE_RLIMIT_MEMLOCK] = RLIMIT_MEMLOCK };

	for (unsigned int i = 0; i < sizeof(resources) / sizeof(*resources); i++) {
		struct event event = { .kind = EVENT_CALL, .call = TRACE_CALL_rlimit };
		struct rlimit limit;

		if (prlimit(task->tid, (__rlimit_resource_t)resources[i], NULL, &limit))
			continue;
		event.arg[0] = i;
		event.arg[1] = limit.rlim_cur;
		rec_write(rec, task, &event);
	}
}

static void write_comm(struct rec *rec, const struct rec_task *task)
{
	struct event event = { .kind = EVENT_COMM };
	char name[64];

	if (procfs_read_comm(name, sizeof(name), task->tid) <= 0)
		return;
	event.text = name;
	rec_write(rec, task, &event);
}

void rec_write_space(struct rec *rec, const struct rec_task *task, enum space_born born,
		     const struct rec_task *parent)
{
	struct event event = { .kind = EVENT_SPACE, .born = (uint8_t)born };
	enum rec_look look = born == BORN_EXEC	 ? REC_LOOK_EXEC
			     : born == BORN_FORK ? REC_LOOK_MAPS
						 : REC_LOOK_FLAGS;

	if (!task->space->number)
		rec_begin_writing(rec);
	if (parent)
		event.arg[0] = parent->space->number;
	read_bounds(task->tid, &event);
	event.arg[5] = read_personality(task->tid) | (uint64_t)rights_to_memory(task->tid) << 32;
	if (look_into(rec, task, look, &event))
		event.nr_areas = 0;
	else if (born == BORN_UNKNOWN)
		event.sees |= rec_add_anon(rec, task, rec->areas->list, rec->areas->nr);
	if (parent) {
		rec_ask_all(rec, parent, task, event.areas, event.nr_areas);
		rec_copy_files(task->space, parent->space, event.areas, event.nr_areas);
		rec_ranges_copy(&task->space->touched, &parent->space->touched);
		rec_ranges_copy(&task->space->unknown, &parent->space->unknown);
		task->space->has_sealed = parent->space->has_sealed;
		rec_foresight_copy(task->space, parent->space);
		rec_write_growth(rec, parent, parent->space, rec->areas->stack);
	}
	set_stack(rec->areas, task->space);
	task->space->born_ns = clock_ns();
	rec_write(rec, task, &event);
	if (born == BORN_UNKNOWN) { /* what it touched before it was recorded */
		rec_ask_all(rec, task, task, event.areas, event.nr_areas);
		if (!(event.sees & SEES_ANON_VMA))
			rec_mark_unknown(task->space, event.areas, event.nr_areas);
	}
	write_comm(rec, task);
	if (born != BORN_FORK)
		write_limits(rec, task);
}
