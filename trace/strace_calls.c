/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one call of an strace log says: which map it changes and how, or what it tells of threads,
 * processes and descriptors.
 */
#include <errno.h>
#include <string.h>

#include <seam/ops.h>
#include <seam/space.h>

#include "trace/grow.h"
#include "trace/scan.h"
#include "trace/strace.h"

#define PAGE_SIZE UINT64_C(4096)
#define PR_SET_NAME 15
#define PR_SET_MM 35
#define PR_SET_THP_DISABLE 41
#define PR_SET_MDWE 65
#define PR_SET_MEMORY_MERGE 67
#define PR_SET_VMA 0x53564d41
#define ARCH_SHSTK_ENABLE 0x5001
#define ARCH_SHSTK_DISABLE 0x5002
#define PERSONALITY_QUERY 0xffffffff
#define UFFDIO_REGISTER UINT64_C(0xc020aa00)
#define UFFDIO_UNREGISTER UINT64_C(0x8010aa01)
#define F_DUPFD 0
#define F_DUPFD_CLOEXEC 1030
#define O_RDWR 2
#define O_CLOEXEC 02000000
#define MFD_CLOEXEC 1

/* A call on its way to become an event. */
struct making {
	struct strace *s;
	uint32_t process; /* index */
	const struct strace_call *call;
	struct event *event;
	struct strace_effect effect;
	bool nothing; /* it changes no map after all */
};

static struct strace_process *process_of(const struct making *m)
{
	return &m->s->processes[m->process];
}

static bool succeeded(const struct strace_call *call)
{
	return call->result == STRACE_RESULT_VALUE;
}

/* Whole pages around [addr, addr + len); empty when that does not fit. */
static struct range pages(uint64_t addr, uint64_t len)
{
	uint64_t end;

	if (!len || __builtin_add_overflow(addr, len, &end) || end > UINT64_MAX - PAGE_SIZE)
		return (struct range) { 0, 0 };
	return (struct range) { addr & -PAGE_SIZE, (end + PAGE_SIZE - 1) & -PAGE_SIZE };
}

static uint64_t page_above(uint64_t addr)
{
	return addr > UINT64_MAX - PAGE_SIZE ? addr & -PAGE_SIZE
					     : (addr + PAGE_SIZE - 1) & -PAGE_SIZE;
}

static int expected_arg(struct strace *s, const struct strace_call *call, unsigned int i,
			const char *expected)
{
	struct slice slice = { "", "" };

	if (i < call->nr_args && i < STRACE_MAX_ARGS)
		slice = call->arg[i];
	return strace_expected(s, slice, expected);
}

/* The first @nr arguments as numbers. */
static int read_numbers(struct making *m, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (i >= m->call->nr_args || !strace_value(m->call->arg[i], &m->event->arg[i]))
			return expected_arg(
				m->s, m->call, i,
				"a number or names that are known here, in each argument");
	return 0;
}

/* A call on a range that must have been mapped: [arg 0, + arg 1). */
static void needs_range(struct making *m)
{
	struct range range = pages(m->event->arg[0], m->event->arg[1]);

	if (succeeded(m->call)) {
		m->effect.needs = range;
	} else if (m->call->result == STRACE_RESULT_ERROR && m->call->value == -SEAM_ENOMEM) {
		m->effect.needs = range;
		m->effect.needs_hole = true;
	}
}

static int do_range(struct making *m)
{
	int r = read_numbers(m, (unsigned int)trace_call_args(m->event->call));

	if (!r)
		needs_range(m);
	return r;
}

static int do_numbers(struct making *m)
{
	return read_numbers(m, (unsigned int)trace_call_args(m->event->call));
}

/* mmap2 of old straces counts its offset in pages, later ones print bytes. */
static int map(struct making *m, bool in_pages)
{
	struct event *event = m->event;
	struct slice path;
	int32_t fd;
	int r = read_numbers(m, 4);

	if (r)
		return r;
	if (m->call->nr_args < 6 || !strace_fd(m->call->arg[4], &fd, &path))
		return expected_arg(m->s, m->call, 4, "a descriptor, the fifth of six arguments");
	if (!strace_value(m->call->arg[5], &event->arg[5]))
		return expected_arg(m->s, m->call, 5, "an offset");
	if (in_pages)
		event->arg[5] *= PAGE_SIZE;
	event->arg[3] &= UINT32_MAX;
	event->arg[4] = (uint64_t)(int64_t)fd;
	if (fd >= 0 && !(event->arg[3] & SEAM_MAP_ANONYMOUS)) {
		r = strace_files_find(m->s, process_of(m)->files, fd, path, &event->file);
		if (r)
			return r;
	}
	if (!succeeded(m->call))
		return 0;
	m->effect.makes = pages((uint64_t)m->call->value, event->arg[1]);
	m->effect.needs_free = !(event->arg[3] & SEAM_MAP_FIXED);
	m->effect.placed = m->effect.needs_free && !event->arg[0];
	return 0;
}

static int do_mmap(struct making *m)
{
	return map(m, false);
}

static int do_mmap2(struct making *m)
{
	return map(m, m->s->survey.mmap2_in_pages);
}

static int do_munmap(struct making *m)
{
	int r = read_numbers(m, 2);

	if (!r && succeeded(m->call))
		m->effect.frees = pages(m->event->arg[0], m->event->arg[1]);
	return r;
}

static int do_mremap(struct making *m)
{
	struct event *event = m->event;
	int r = read_numbers(m, 4);
	struct range old;

	if (r)
		return r;
	if (m->call->nr_args > 4 && !strace_value(m->call->arg[4], &event->arg[4]))
		return expected_arg(m->s, m->call, 4, "an address");
	old = pages(event->arg[0], event->arg[1]);
	if (succeeded(m->call)) {
		m->effect.needs = old;
		m->effect.makes = pages((uint64_t)m->call->value, event->arg[2]);
		if (!(event->arg[3] & SEAM_MREMAP_DONTUNMAP))
			m->effect.frees = old;
		m->effect.needs_free = !(event->arg[3] & SEAM_MREMAP_FIXED) &&
				       (uint64_t)m->call->value != event->arg[0];
	} else if (m->call->value == -SEAM_EFAULT) {
		m->effect.needs = old;
		m->effect.needs_hole = true;
	}
	return 0;
}

/* A question for the break that gives another than the last one: there is a new program. */
static int find_new_program(struct making *m)
{
	const struct strace_space *space = &m->s->spaces[m->event->space];
	int r;

	if (m->event->arg[0] || !space->brk || space->brk == (uint64_t)m->call->value)
		return 0;
	trace_incomplete(m->s->trace, "exec not in log");
	r = strace_exec(m->s, m->event->tid, (struct slice) { "", "" }, m->event);
	m->event->space = process_of(m)->space;
	return r;
}

static int do_brk(struct making *m)
{
	struct strace_space *space;
	uint64_t now = (uint64_t)m->call->value;
	int r = read_numbers(m, 1);

	if (r || !succeeded(m->call))
		return r;
	r = find_new_program(m);
	if (r)
		return r;
	space = &m->s->spaces[m->event->space];
	/* the page that holds the lower of the two stays as it is */
	if (space->brk && now > space->brk)
		m->effect.makes = (struct range) { page_above(space->brk), page_above(now) };
	else if (space->brk > now)
		m->effect.frees = (struct range) { page_above(now), page_above(space->brk) };
	space->brk = now;
	return 0;
}

/* "[0x1, 0x2]": the first word. */
static bool read_mask(struct slice slice, uint64_t *ret_mask)
{
	const char *at = slice.at;

	scan_blanks(&at, slice.end);
	if (!scan_char(&at, slice.end, '['))
		return strace_value(slice, ret_mask);
	scan_blanks(&at, slice.end);
	scan_text(&at, slice.end, "0x");
	*ret_mask = 0;
	return scan_hex(&at, slice.end, ret_mask) || (at < slice.end && *at == ']');
}

static int do_mbind(struct making *m)
{
	struct event *event = m->event;
	int r = read_numbers(m, 3);

	if (r)
		return r;
	if (m->call->nr_args < 6 || !read_mask(m->call->arg[3], &event->arg[3]) ||
	    !strace_value(m->call->arg[4], &event->arg[4]) ||
	    !strace_value(m->call->arg[5], &event->arg[5]))
		return expected_arg(m->s, m->call, 3, "a node mask like [0x1], a size and flags");
	needs_range(m);
	return 0;
}

static int do_set_mempolicy(struct making *m)
{
	int r = read_numbers(m, 1);

	if (r)
		return r;
	if (m->call->nr_args < 3 || !read_mask(m->call->arg[1], &m->event->arg[1]) ||
	    !strace_value(m->call->arg[2], &m->event->arg[2]))
		return expected_arg(m->s, m->call, 1, "a node mask like [0x1] and a size");
	return 0;
}

/* The segment of an id; without the shmget that made it its size is not known. */
static int get_segment(struct strace *s, int64_t id, struct strace_segment **ret_segment)
{
	struct trace_file file = {
		.traits = SEAM_FILE_READ | SEAM_FILE_WRITE | SEAM_FILE_SHMEM,
		.known = 1,
	};
	struct strace_segment segment = { 0 };
	uint32_t number;
	bool new;

	if (grow(&s->segments, s->nr_segments, &s->room_segments, sizeof(*s->segments)))
		return -ENOMEM;
	number = intern_number(&s->segment_ids, &id, sizeof(id), UINT32_MAX, &new);
	if (!number)
		return -ENOMEM;
	if (new) {
		file.description = ++s->nr_descriptions;
		segment.file = trace_add_file(s->trace, &file, "/SYSV", 5);
		s->segments[s->nr_segments++] = segment;
	}
	*ret_segment = &s->segments[number - 1];
	return (*ret_segment)->file ? 0 : -ENOMEM;
}

/* Where the size of what is attached at @addr of a space is kept. */
static int attached_size(struct strace *s, uint32_t space, uint64_t addr, uint64_t **ret_size)
{
	uint64_t key[2] = { space, addr };
	uint32_t number;
	bool new;

	if (grow(&s->attached_sizes, s->nr_attached, &s->room_attached, sizeof(*s->attached_sizes)))
		return -ENOMEM;
	number = intern_number(&s->attachments, key, sizeof(key), UINT32_MAX, &new);
	if (!number)
		return -ENOMEM;
	if (new)
		s->attached_sizes[s->nr_attached++] = 0;
	*ret_size = &s->attached_sizes[number - 1];
	return 0;
}

static int do_shmat(struct making *m)
{
	struct strace *s = m->s;
	struct event *event = m->event;
	struct strace_segment *segment;
	uint64_t *size;
	int r = read_numbers(m, 3);

	if (r)
		return r;
	r = get_segment(s, (int64_t)event->arg[0], &segment);
	if (r)
		return r;
	event->file = segment->file;
	event->arg[3] = segment->size;
	if (!succeeded(m->call))
		return 0;
	if (!segment->size)
		trace_incomplete(s->trace, "shmat of unknown size");
	m->effect.makes = pages((uint64_t)m->call->value, segment->size);
	m->effect.needs_free = true;
	r = attached_size(s, event->space, (uint64_t)m->call->value, &size);
	if (!r)
		*size = segment->size;
	return r;
}

static int do_shmdt(struct making *m)
{
	uint64_t *size;
	int r = read_numbers(m, 1);

	if (r || !succeeded(m->call))
		return r;
	r = attached_size(m->s, m->event->space, m->event->arg[0], &size);
	if (r)
		return r;
	m->effect.frees = pages(m->event->arg[0], *size);
	*size = 0;
	return 0;
}

/* What stands between the quotes. */
static struct slice unquoted(struct slice slice)
{
	const char *close;

	scan_blanks(&slice.at, slice.end);
	if (!scan_char(&slice.at, slice.end, '"'))
		return slice;
	close = find_last(slice.at, slice.end, '"');
	return (struct slice) { slice.at, close ? close : slice.end };
}

static int set_thread_name(struct making *m)
{
	struct slice name = unquoted(m->call->arg[1]);

	m->nothing = true;
	if (m->event->tid != process_of(m)->pid || !succeeded(m->call) || m->call->nr_args < 2)
		return 0;
	return strace_set_comm(m->s, process_of(m), name.at, (size_t)(name.end - name.at),
			       m->event);
}

/* Equal names get equal numbers; NULL takes a name away. */
static int name_number(struct making *m, struct slice slice)
{
	struct slice name = unquoted(slice);
	uint64_t value;
	uint32_t number;
	bool new;

	if (name.at == slice.at && strace_value(slice, &value) && !value)
		return 0;
	number = intern_number(&m->s->texts, name.at, (size_t)(name.end - name.at), UINT32_MAX,
			       &new);
	if (!number)
		return -ENOMEM;
	m->event->arg[4] = number;
	m->event->text = intern_text(&m->s->texts, number);
	return 0;
}

/* Only what concerns maps; most of prctl does not. */
static int do_prctl(struct making *m)
{
	struct event *event = m->event;
	unsigned int nr = m->call->nr_args < 5 ? m->call->nr_args : 5;

	if (!nr || !strace_value(m->call->arg[0], &event->arg[0])) {
		m->nothing = true;
		return 0;
	}
	switch (event->arg[0]) {
	case PR_SET_NAME:
		return set_thread_name(m);
	case PR_SET_VMA: {
		int r = nr < 5 ? expected_arg(m->s, m->call, nr, "five arguments")
			       : read_numbers(m, 4);

		if (r)
			return r;
		if (succeeded(m->call))
			m->effect.needs = pages(event->arg[2], event->arg[3]);
		return name_number(m, m->call->arg[4]);
	}
	case PR_SET_MM:
	case PR_SET_THP_DISABLE:
	case PR_SET_MDWE:
	case PR_SET_MEMORY_MERGE:
		for (unsigned int i = 1; i < nr; i++)
			strace_value(m->call->arg[i], &event->arg[i]);
		return 0;
	default:
		m->nothing = true;
		return 0;
	}
}

static bool member_value(struct slice slice, const char *name, uint64_t *ret_value)
{
	struct slice value;

	return strace_member(slice, name, &value) && strace_value(value, ret_value);
}

/* "{range={start=0x7f, len=0x1000}, mode=UFFDIO_REGISTER_MODE_MISSING, ...}" */
static int do_ioctl(struct making *m)
{
	struct event *event = m->event;
	struct slice path;
	int32_t fd;

	m->nothing = true;
	if (m->call->nr_args < 3 || !strace_fd(m->call->arg[0], &fd, &path) ||
	    !strace_value(m->call->arg[1], &event->arg[1]) ||
	    (event->arg[1] != UFFDIO_REGISTER && event->arg[1] != UFFDIO_UNREGISTER))
		return 0;
	m->nothing = false;
	event->arg[0] = (uint64_t)(int64_t)fd;
	if (!member_value(m->call->arg[2], "start", &event->arg[2]) ||
	    !member_value(m->call->arg[2], "len", &event->arg[3]))
		return expected_arg(m->s, m->call, 2, "a structure with start= and len=");
	member_value(m->call->arg[2], "mode", &event->arg[4]);
	if (succeeded(m->call))
		m->effect.needs = pages(event->arg[2], event->arg[3]);
	return 0;
}

/* The limits of @structure; without one nothing is set. */
static int set_limit(struct making *m, unsigned int resource, unsigned int structure)
{
	struct event *event = m->event;

	m->nothing = true;
	if (!succeeded(m->call) || m->call->nr_args <= structure ||
	    !strace_value(m->call->arg[resource], &event->arg[0]) ||
	    !member_value(m->call->arg[structure], "rlim_cur", &event->arg[1]) ||
	    !member_value(m->call->arg[structure], "rlim_max", &event->arg[2]))
		return 0;
	m->nothing = false;
	return 0;
}

static int do_setrlimit(struct making *m)
{
	return set_limit(m, 0, 1);
}

static int do_prlimit(struct making *m)
{
	uint64_t pid;

	/* another's limits: not of this space */
	if (!m->call->nr_args || !strace_value(m->call->arg[0], &pid) ||
	    (pid && pid != process_of(m)->pid)) {
		m->nothing = true;
		return 0;
	}
	return set_limit(m, 1, 2);
}

static int do_personality(struct making *m)
{
	m->nothing = !m->call->nr_args || !strace_value(m->call->arg[0], &m->event->arg[0]) ||
		     (m->event->arg[0] & UINT32_MAX) == PERSONALITY_QUERY;
	return 0;
}

/* Only shadow stacks are memory. */
static int do_arch_prctl(struct making *m)
{
	m->nothing =
		!m->call->nr_args || !strace_value(m->call->arg[0], &m->event->arg[0]) ||
		(m->event->arg[0] != ARCH_SHSTK_ENABLE && m->event->arg[0] != ARCH_SHSTK_DISABLE);
	if (!m->nothing && m->call->nr_args > 1)
		strace_value(m->call->arg[1], &m->event->arg[1]);
	return 0;
}

static int do_map_shadow_stack(struct making *m)
{
	int r = read_numbers(m, 3);

	if (!r && succeeded(m->call)) {
		m->effect.makes = pages((uint64_t)m->call->value, m->event->arg[1]);
		m->effect.needs_free = true;
	}
	return r;
}

/* "io_setup(128, [0x7f1234567000]) = 0": a map of the kernel's own making. */
static int do_io_setup(struct making *m)
{
	m->nothing = m->call->nr_args < 2 || !strace_value(m->call->arg[0], &m->event->arg[0]) ||
		     !read_mask(m->call->arg[1], &m->event->arg[1]);
	return 0;
}

/* In trials: does a stranger name memory of others? */
static int look_for_others(struct making *m)
{
	struct range named = m->effect.needs;

	if (named.start >= named.end)
		named = m->effect.frees;
	if (named.start >= named.end && m->event->call == TRACE_CALL_mmap && !m->effect.needs_free)
		named = m->effect.makes;
	if (m->effect.needs_hole)
		return 0;
	return strace_recognise(m->s, process_of(m), named);
}

/* A call that changes a map: an event. */
static int do_memory_call(struct strace *s, uint32_t tid, const struct strace_known *known,
			  const struct strace_call *call, struct event *event,
			  const char *tail_line)
{
	struct making m = { .s = s, .call = call, .event = event };
	struct strace_thread *thread;
	int r = strace_thread(s, tid, event, &thread);

	if (r)
		return r;
	m.process = thread->process;
	r = strace_space(s, process_of(&m), event, &event->space);
	if (r)
		return r;
	event->kind = EVENT_CALL;
	event->call = (uint8_t)known->call;
	event->pid = process_of(&m)->pid;
	event->result = call->value;
	if (process_of(&m)->compat)
		event->flags |= EVENT_COMPAT;
	if (call->result == STRACE_RESULT_UNKNOWN) {
		event->flags |= EVENT_NO_RESULT;
		trace_incomplete(s->trace, "calls without results");
	}
	r = known->make(&m);
	if (r || m.nothing)
		return r;
	if (s->trial) {
		r = look_for_others(&m);
		if (r)
			return r;
		event->space = process_of(&m)->space;
	}
	if (tail_line)
		return strace_defer(s, event, &m.effect, tail_line);
	return strace_commit(s, event, &m.effect);
}

static int do_birth(struct strace *s, uint32_t tid, const struct strace_call *call,
		    const struct event *event)
{
	const struct strace_pid *pid;

	if (!succeeded(call) || call->value <= 0 || call->value > INT32_MAX)
		return 0;
	pid = strace_pid_find(&s->survey, (uint32_t)call->value);
	/* the first pass has read its flags; none left: born when its first line was read */
	if (!pid || !pid->birth)
		return 0;
	return strace_born(s, tid, (uint32_t)call->value, s->survey.births[pid->birth - 1].flags,
			   event);
}

static int do_exec(struct strace *s, uint32_t tid, const struct strace_known *known,
		   const struct strace_call *call, const struct event *event)
{
	unsigned int path = (unsigned int)known->path;
	struct slice text;

	if (!succeeded(call) || call->nr_args <= path)
		return 0;
	text = call->arg[path];
	scan_blanks(&text.at, text.end);
	/* raw: only its address */
	text = text.at < text.end && *text.at == '"' ? unquoted(text) : (struct slice) { "", "" };
	return strace_exec(s, tid, text, event);
}

/* The process ends; where no "+++ exited" follows, at the end of the log. */
static int do_exit(struct strace_process *process, const struct strace_known *known,
		   const struct strace_call *call)
{
	/* exit ends a thread, the others a process */
	if (word_is(known->name, known->len, "exit") && process->nr_threads > 1)
		return 0;
	process->exiting = true;
	if (call->nr_args)
		strace_value(call->arg[0], &process->status);
	process->status &= 0xff;
	return 0;
}

static uint64_t open_flags(const struct strace_known *known, const struct strace_call *call)
{
	uint64_t flags = 0, value = 0;
	struct slice slice;

	if (known->flags < 0 || call->nr_args <= (unsigned int)known->flags)
		return 0;
	slice = call->arg[known->flags];
	strace_member(slice, "flags", &slice); /* openat2 */
	if (strace_value(slice, &value))
		flags = value;
	if (known->kind == KNOWN_MEMFD)
		return O_RDWR | (flags & MFD_CLOEXEC ? O_CLOEXEC : 0);
	return flags;
}

/* The path by -y, else as it was asked for. */
static int do_open(struct strace *s, struct strace_process *process,
		   const struct strace_known *known, const struct strace_call *call)
{
	static const char prefix[] = "/memfd:";
	struct slice path = call->path;
	char memfd[300];

	if (!succeeded(call) || call->value < 0 || call->value > INT32_MAX)
		return 0;
	if (!path.at)
		path = call->nr_args > (unsigned int)known->path ? unquoted(call->arg[known->path])
								 : (struct slice) { "", "" };
	if (!call->path.at && known->kind == KNOWN_MEMFD) {
		size_t start = sizeof(prefix) - 1, len = (size_t)(path.end - path.at);

		if (len > sizeof(memfd) - start)
			len = sizeof(memfd) - start;
		memcpy(memfd, prefix, start);
		memcpy(memfd + start, path.at, len);
		path = (struct slice) { memfd, memfd + start + len };
	}
	return strace_files_open(s, process->files, (int32_t)call->value, open_flags(known, call),
				 path);
}

/* dup and its like, and fcntl where it does the same. */
static int do_dup(struct strace *s, struct strace_process *process,
		  const struct strace_known *known, const struct strace_call *call)
{
	struct slice path;
	uint64_t flags = 0;
	int32_t from;

	if (!succeeded(call) || !call->nr_args || !strace_fd(call->arg[0], &from, &path) ||
	    call->value < 0 || call->value > INT32_MAX)
		return 0;
	if (known->flags >= 0 && call->nr_args > (unsigned int)known->flags)
		strace_value(call->arg[known->flags], &flags);
	if (known->kind == KNOWN_FCNTL) {
		if (call->nr_args < 2 || (flags != F_DUPFD && flags != F_DUPFD_CLOEXEC))
			return 0;
		flags = flags == F_DUPFD_CLOEXEC ? O_CLOEXEC : 0;
	}
	return strace_files_dup(s, process->files, from, (int32_t)call->value, flags & O_CLOEXEC);
}

static int do_close(struct strace_process *process, const struct strace_call *call)
{
	struct slice path;
	int32_t fd;

	if (succeeded(call) && call->nr_args && strace_fd(call->arg[0], &fd, &path))
		strace_files_close(process->files, fd);
	return 0;
}

/* "shmget(IPC_PRIVATE, 4096, IPC_CREAT|0600) = 12" */
static int do_shmget(struct strace *s, const struct strace_call *call)
{
	struct strace_segment *segment;
	uint64_t size;
	int r;

	if (!succeeded(call) || call->nr_args < 2 || !strace_value(call->arg[1], &size))
		return 0;
	r = get_segment(s, call->value, &segment);
	if (!r && size)
		segment->size = size;
	return r;
}

#define MEMORY(name, call, make)                                                                   \
	{                                                                                          \
		name, sizeof(name) - 1, KNOWN_MEMORY, call, make, -1, -1                           \
	}
#define OTHER(name, kind, path, flags)                                                             \
	{                                                                                          \
		name, sizeof(name) - 1, kind, 0, NULL, path, flags                                 \
	}

/* Every call that says something about maps, the frequent ones first. */
static const struct strace_known known_calls[] = {
	MEMORY("mmap", TRACE_CALL_mmap, do_mmap),
	MEMORY("munmap", TRACE_CALL_munmap, do_munmap),
	MEMORY("mprotect", TRACE_CALL_mprotect, do_range),
	MEMORY("madvise", TRACE_CALL_madvise, do_range),
	MEMORY("brk", TRACE_CALL_brk, do_brk),
	MEMORY("mremap", TRACE_CALL_mremap, do_mremap),
	OTHER("close", KNOWN_CLOSE, -1, -1),
	OTHER("openat", KNOWN_OPEN, 1, 2),
	OTHER("open", KNOWN_OPEN, 0, 1),
	MEMORY("old_mmap", TRACE_CALL_mmap, do_mmap),
	MEMORY("mmap2", TRACE_CALL_mmap, do_mmap2),
	MEMORY("ioctl", TRACE_CALL_uffd_ioctl, do_ioctl),
	OTHER("fcntl", KNOWN_FCNTL, -1, 1),
	OTHER("fcntl64", KNOWN_FCNTL, -1, 1),
	MEMORY("prctl", TRACE_CALL_prctl, do_prctl),
	OTHER("clone", KNOWN_CLONE, -1, -1),
	OTHER("clone3", KNOWN_CLONE, -1, -1),
	OTHER("fork", KNOWN_FORK, -1, -1),
	OTHER("vfork", KNOWN_VFORK, -1, -1),
	OTHER("execve", KNOWN_EXEC, 0, -1),
	OTHER("execveat", KNOWN_EXEC, 1, -1),
	OTHER("exit_group", KNOWN_EXIT, -1, -1),
	OTHER("exit", KNOWN_EXIT, -1, -1),
	OTHER("_exit", KNOWN_EXIT, -1, -1),
	MEMORY("mlock", TRACE_CALL_mlock, do_range),
	MEMORY("munlock", TRACE_CALL_munlock, do_range),
	MEMORY("mlock2", TRACE_CALL_mlock2, do_range),
	MEMORY("mlockall", TRACE_CALL_mlockall, do_numbers),
	MEMORY("munlockall", TRACE_CALL_munlockall, do_numbers),
	MEMORY("pkey_mprotect", TRACE_CALL_pkey_mprotect, do_range),
	MEMORY("mseal", TRACE_CALL_mseal, do_range),
	MEMORY("mbind", TRACE_CALL_mbind, do_mbind),
	MEMORY("set_mempolicy", TRACE_CALL_set_mempolicy, do_set_mempolicy),
	MEMORY("remap_file_pages", TRACE_CALL_remap_file_pages, do_range),
	OTHER("shmget", KNOWN_SHMGET, -1, -1),
	MEMORY("shmat", TRACE_CALL_shmat, do_shmat),
	MEMORY("shmdt", TRACE_CALL_shmdt, do_shmdt),
	MEMORY("prlimit64", TRACE_CALL_prlimit, do_prlimit),
	MEMORY("setrlimit", TRACE_CALL_prlimit, do_setrlimit),
	MEMORY("personality", TRACE_CALL_personality, do_personality),
	MEMORY("arch_prctl", TRACE_CALL_arch_prctl, do_arch_prctl),
	MEMORY("map_shadow_stack", TRACE_CALL_map_shadow_stack, do_map_shadow_stack),
	MEMORY("io_setup", TRACE_CALL_io_setup, do_io_setup),
	/* by number, where strace is older than the call */
	MEMORY("syscall_0x1ce", TRACE_CALL_mseal, do_range),
	MEMORY("syscall_462", TRACE_CALL_mseal, do_range),
	MEMORY("syscall_0x1c5", TRACE_CALL_map_shadow_stack, do_map_shadow_stack),
	MEMORY("syscall_453", TRACE_CALL_map_shadow_stack, do_map_shadow_stack),
	MEMORY("syscall_325", TRACE_CALL_mlock2, do_range),
	MEMORY("syscall_329", TRACE_CALL_pkey_mprotect, do_range),
	OTHER("openat2", KNOWN_OPEN, 1, 2),
	OTHER("creat", KNOWN_OPEN, 0, -1),
	OTHER("memfd_create", KNOWN_MEMFD, 0, 1),
	OTHER("dup", KNOWN_DUP, -1, -1),
	OTHER("dup2", KNOWN_DUP, -1, -1),
	OTHER("dup3", KNOWN_DUP, -1, 2),
};

const struct strace_known *strace_known(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(known_calls) / sizeof(known_calls[0]); i++)
		if (known_calls[i].len == len && !memcmp(known_calls[i].name, name, len))
			return &known_calls[i];
	return NULL;
}

enum strace_moment strace_moment(const struct strace_known *known)
{
	if (!known)
		return STRACE_NEVER;
	switch (known->kind) {
	case KNOWN_MEMORY:
	case KNOWN_CLONE:
	case KNOWN_FORK:
	case KNOWN_VFORK:
		return STRACE_AT_HEAD;
	default:
		return STRACE_AT_TAIL;
	}
}

static int do_process_call(struct strace *s, uint32_t tid, const struct strace_known *known,
			   const struct strace_call *call, const struct event *event)
{
	struct strace_process *process;
	struct strace_thread *thread;
	int r = strace_thread(s, tid, event, &thread);

	if (r)
		return r;
	process = &s->processes[thread->process];
	switch (known->kind) {
	case KNOWN_EXIT:
		return do_exit(process, known, call);
	case KNOWN_OPEN:
	case KNOWN_MEMFD:
		return do_open(s, process, known, call);
	case KNOWN_DUP:
	case KNOWN_FCNTL:
		return do_dup(s, process, known, call);
	case KNOWN_CLOSE:
		return do_close(process, call);
	default:
		return do_shmget(s, call);
	}
}

int strace_do_call(struct strace *s, uint32_t tid, const struct strace_known *known,
		   const struct strace_call *call, struct event *event, const char *tail_line)
{
	switch (known->kind) {
	case KNOWN_MEMORY:
		return do_memory_call(s, tid, known, call, event, tail_line);
	case KNOWN_CLONE:
	case KNOWN_FORK:
	case KNOWN_VFORK:
		return do_birth(s, tid, call, event);
	case KNOWN_EXEC:
		return do_exec(s, tid, known, call, event);
	default:
		return do_process_call(s, tid, known, call, event);
	}
}
