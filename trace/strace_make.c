/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/strace_make.h"

#include <errno.h>
#include <string.h>

#include <seam/ops.h>
#include <seam/space.h>

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

struct range making_pages(uint64_t addr, uint64_t len)
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

/* What is wrong with argument @i, for the user. -EINVAL. */
static int expected_arg(struct strace *s, const struct strace_call *call, unsigned int i,
			const char *expected)
{
	struct slice slice = { "", "" };

	if (i < call->nr_args && i < STRACE_MAX_ARGS)
		slice = call->arg[i];
	return strace_expected(s, slice, expected);
}

int making_numbers(struct making *m, unsigned int nr)
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
	struct range range = making_pages(m->event->arg[0], m->event->arg[1]);

	if (succeeded(m->call)) {
		m->effect.needs = range;
	} else if (m->call->result == STRACE_RESULT_ERROR && m->call->value == -SEAM_ENOMEM) {
		m->effect.needs = range;
		m->effect.needs_hole = true;
	}
}

int make_range(struct making *m)
{
	int r = making_numbers(m, (unsigned int)trace_call_args(m->event->call));

	if (!r)
		needs_range(m);
	return r;
}

int make_numbers(struct making *m)
{
	return making_numbers(m, (unsigned int)trace_call_args(m->event->call));
}

/* mmap2 of old straces counts its offset in pages, later ones print bytes. */
static int map(struct making *m, bool in_pages)
{
	struct event *event = m->event;
	struct slice path;
	int32_t fd;
	int r = making_numbers(m, 4);

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
		r = strace_files_find(m->s, making_process(m)->files, fd, path, &event->file);
		if (r)
			return r;
	}
	if (!succeeded(m->call))
		return 0;
	m->effect.makes = making_pages((uint64_t)m->call->value, event->arg[1]);
	m->effect.needs_free = !(event->arg[3] & SEAM_MAP_FIXED);
	m->effect.placed = m->effect.needs_free && !event->arg[0];
	return 0;
}

int make_mmap(struct making *m)
{
	return map(m, false);
}

int make_mmap2(struct making *m)
{
	return map(m, m->s->survey.mmap2_in_pages);
}

int make_munmap(struct making *m)
{
	int r = making_numbers(m, 2);

	if (!r && succeeded(m->call))
		m->effect.frees = making_pages(m->event->arg[0], m->event->arg[1]);
	return r;
}

int make_mremap(struct making *m)
{
	struct event *event = m->event;
	int r = making_numbers(m, 4);
	struct range old;

	if (r)
		return r;
	if (m->call->nr_args > 4 && !strace_value(m->call->arg[4], &event->arg[4]))
		return expected_arg(m->s, m->call, 4, "an address");
	old = making_pages(event->arg[0], event->arg[1]);
	if (succeeded(m->call)) {
		m->effect.needs = old;
		m->effect.makes = making_pages((uint64_t)m->call->value, event->arg[2]);
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
	m->event->space = making_process(m)->space;
	return r;
}

int make_brk(struct making *m)
{
	struct strace_space *space;
	uint64_t now = (uint64_t)m->call->value;
	int r = making_numbers(m, 1);

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

int make_mbind(struct making *m)
{
	struct event *event = m->event;
	int r = making_numbers(m, 3);

	if (r)
		return r;
	if (m->call->nr_args < 6 || !read_mask(m->call->arg[3], &event->arg[3]) ||
	    !strace_value(m->call->arg[4], &event->arg[4]) ||
	    !strace_value(m->call->arg[5], &event->arg[5]))
		return expected_arg(m->s, m->call, 3, "a node mask like [0x1], a size and flags");
	needs_range(m);
	return 0;
}

int make_set_mempolicy(struct making *m)
{
	int r = making_numbers(m, 1);

	if (r)
		return r;
	if (m->call->nr_args < 3 || !read_mask(m->call->arg[1], &m->event->arg[1]) ||
	    !strace_value(m->call->arg[2], &m->event->arg[2]))
		return expected_arg(m->s, m->call, 1, "a node mask like [0x1] and a size");
	return 0;
}

static int set_thread_name(struct making *m)
{
	struct slice name = unquoted(m->call->arg[1]);

	m->nothing = true;
	if (m->event->tid != making_process(m)->pid || !succeeded(m->call) || m->call->nr_args < 2)
		return 0;
	return strace_set_comm(m->s, making_process(m), name.at, (size_t)(name.end - name.at),
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
int make_prctl(struct making *m)
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
			       : making_numbers(m, 4);

		if (r)
			return r;
		if (succeeded(m->call))
			m->effect.needs = making_pages(event->arg[2], event->arg[3]);
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
int make_ioctl(struct making *m)
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
		m->effect.needs = making_pages(event->arg[2], event->arg[3]);
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

int make_setrlimit(struct making *m)
{
	return set_limit(m, 0, 1);
}

int make_prlimit(struct making *m)
{
	uint64_t pid;

	/* another's limits: not of this space */
	if (!m->call->nr_args || !strace_value(m->call->arg[0], &pid) ||
	    (pid && pid != making_process(m)->pid)) {
		m->nothing = true;
		return 0;
	}
	return set_limit(m, 1, 2);
}

int make_personality(struct making *m)
{
	m->nothing = !m->call->nr_args || !strace_value(m->call->arg[0], &m->event->arg[0]) ||
		     (m->event->arg[0] & UINT32_MAX) == PERSONALITY_QUERY;
	return 0;
}

/* Only shadow stacks are memory. */
int make_arch_prctl(struct making *m)
{
	m->nothing =
		!m->call->nr_args || !strace_value(m->call->arg[0], &m->event->arg[0]) ||
		(m->event->arg[0] != ARCH_SHSTK_ENABLE && m->event->arg[0] != ARCH_SHSTK_DISABLE);
	if (!m->nothing && m->call->nr_args > 1)
		strace_value(m->call->arg[1], &m->event->arg[1]);
	return 0;
}

int make_map_shadow_stack(struct making *m)
{
	int r = making_numbers(m, 3);

	if (!r && succeeded(m->call)) {
		m->effect.makes = making_pages((uint64_t)m->call->value, m->event->arg[1]);
		m->effect.needs_free = true;
	}
	return r;
}

/* "io_setup(128, [0x7f1234567000]) = 0": a map of the kernel's own making. */
int make_io_setup(struct making *m)
{
	m->nothing = m->call->nr_args < 2 || !strace_value(m->call->arg[0], &m->event->arg[0]) ||
		     !read_mask(m->call->arg[1], &m->event->arg[1]);
	return 0;
}
