/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The importer of operation scripts (docs/ops.md): one operation a line, numbers hexadecimal.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <seam/ops.h>
#include <seam/space.h>

#include "trace/grow.h"
#include "trace/importer.h"
#include "trace/ops.h"
#include "trace/scan.h"

#define MAX_WORDS 8
#define PAGE_SHIFT 12
#define FIRST_FD 3
#define NR_FDS 12

struct word {
	const char *at;
	size_t len;
};

struct ops_state {
	const char *at, *end;
	uint64_t line;
	/* of each operation as written: its number among the events, 0 left out */
	uint32_t *events;
	uint32_t nr_written, room_written, nr_events;
	uint32_t nr_spaces; /* begun */
	uint32_t forked;    /* 1 + the parent of a space to begin; 0 none */
	bool *ended;	    /* spaces that an exit has ended */
	uint32_t room_ended;
	uint32_t nr_ended; /* at the end: told so far */
	char *text;	   /* the operation as written */
	size_t room_text;
};

/* The open files of all scripts; by number from FIRST_FD. */
static const uint32_t fd_traits[NR_FDS] = {
	SEAM_FILE_READ | SEAM_FILE_WRITE,
	SEAM_FILE_READ | SEAM_FILE_WRITE,
	SEAM_FILE_READ,
	SEAM_FILE_READ | SEAM_FILE_WRITE | SEAM_FILE_CLOSE,
	SEAM_FILE_WRITE,
	SEAM_FILE_READ,
	SEAM_FILE_READ,
	SEAM_FILE_READ | SEAM_FILE_WRITE | SEAM_FILE_SHMEM,
	SEAM_FILE_READ | SEAM_FILE_WRITE | SEAM_FILE_SHMEM,
	SEAM_FILE_READ | SEAM_FILE_WRITE | SEAM_FILE_SECRET,
	SEAM_FILE_READ | SEAM_FILE_WRITE | SEAM_FILE_NOEXEC,
	SEAM_FILE_READ | SEAM_FILE_NO_MMAP,
};
/* how they are sealed, and what one refuses by itself */
#define FD_SEALED_WRITE 0xau
#define FD_SEALED_FUTURE_WRITE 0xbu
#define FD_REFUSES 0xdu

static const char *const rlimit_names[] = {
	[TRACE_RLIMIT_AS] = "as",
	[TRACE_RLIMIT_DATA] = "data",
	[TRACE_RLIMIT_STACK] = "stack",
	[TRACE_RLIMIT_MEMLOCK] = "memlock",
};

static int min_args(int call)
{
	switch (call) {
	case TRACE_CALL_mremap:	    /* without NEW */
	case TRACE_CALL_shmat:	    /* without LEN */
	case TRACE_CALL_uffd_ioctl: /* without MODE */
		return trace_call_args((unsigned int)call) - 1;
	default:
		return trace_call_args((unsigned int)call);
	}
}

/* Up to @max words; one more means that there are more. */
static int split_words(const char *at, const char *end, struct word *words, int max)
{
	int nr = 0;

	for (scan_blanks(&at, end); at < end; scan_blanks(&at, end)) {
		const char *start = at;

		while (at < end && !is_blank(*at))
			at++;
		if (nr == max)
			return nr + 1;
		words[nr++] = (struct word) { start, (size_t)(at - start) };
	}
	return nr;
}

/* "[N]" in front of an operation. */
static void skip_space(const char **at, const char *end)
{
	const char *p = *at;
	uint64_t space;

	if (scan_char(&p, end, '[') && scan_decimal(&p, end, &space) && scan_char(&p, end, ']'))
		*at = p;
}

bool ops_line_looks(const char *at, const char *end)
{
	struct word words[MAX_WORDS];
	int nr, call;

	if (scan_text(&at, end, "#map-every "))
		return true;
	skip_space(&at, end);
	nr = split_words(at, end, words, MAX_WORDS);
	if (nr < 1 || nr > MAX_WORDS)
		return false;
	if (nr == 1 && word_is(words[0].at, words[0].len, "exit"))
		return true;
	call = trace_call_by_name(words[0].at, words[0].len);
	if (call < 0 || nr - 1 < min_args(call) || nr - 1 > trace_call_args((unsigned int)call))
		return false;
	for (int i = 1; i < nr; i++) {
		const char *p = words[i].at;
		uint64_t value;

		if (*p == '$' || *p == '-' || (i == 1 && call == TRACE_CALL_rlimit))
			continue;
		if (scan_hex(&p, words[i].at + words[i].len, &value) != words[i].len)
			return false;
	}
	return true;
}

static int fail_word(struct trace *trace, const struct word *word, const char *expected)
{
	struct ops_state *s = trace->state;

	return trace_fail(&trace->error, s->line, "'%.*s': expected %s",
			  (int)(word->len > 40 ? 40 : word->len), word->at, expected);
}

static int read_number(struct trace *trace, const struct word *word, uint64_t *ret_value)
{
	const char *p = word->at;
	unsigned int digits = scan_hex(&p, word->at + word->len, ret_value);

	if (!digits || digits != word->len)
		return fail_word(trace, word, "a hexadecimal number without 0x, or $K");
	return 0;
}

/* "$K", "$K+HEX" or "$K-HEX". */
static int read_reference(struct trace *trace, const struct word *word, uint32_t *ret_ref,
			  uint64_t *ret_addend)
{
	struct ops_state *s = trace->state;
	const char *p = word->at + 1, *end = word->at + word->len;
	uint64_t op, addend = 0;
	bool minus;

	if (!scan_decimal(&p, end, &op))
		return fail_word(trace, word, "the number of an operation behind $");
	if (!op || op >= s->nr_written || !s->events[op - 1])
		return fail_word(trace, word, "the number of an earlier operation");
	if (p < end) {
		minus = *p == '-';
		if ((*p != '+' && *p != '-') || (p++, !scan_hex(&p, end, &addend)) || p != end)
			return fail_word(trace, word, "$K, $K+HEX or $K-HEX");
		if (minus)
			addend = -addend;
	}
	*ret_ref = s->events[op - 1];
	*ret_addend = addend;
	return 0;
}

static int read_fd(struct trace *trace, const struct word *word, struct event *event)
{
	uint64_t fd = 0;

	if (word_is(word->at, word->len, "-1")) {
		event->arg[4] = UINT64_MAX;
		return 0;
	}
	if (read_number(trace, word, &fd))
		return fail_word(trace, word, "a file: -1 for none, or 3 to e");
	event->arg[4] = fd;
	if (fd >= FIRST_FD && fd < FIRST_FD + NR_FDS)
		event->file = (uint32_t)(fd - FIRST_FD + 1);
	if (fd == FD_SEALED_WRITE)
		event->flags |= EVENT_SEAL_WRITE;
	else if (fd == FD_SEALED_FUTURE_WRITE)
		event->flags |= EVENT_SEAL_FUTURE_WRITE;
	if (fd == FD_REFUSES) {
		event->flags |= EVENT_CLEARED;
		event->result = -SEAM_ENODEV;
	}
	return 0;
}

/* Offsets stand in pages, and events hold bytes. */
static int read_pgoff(struct trace *trace, const struct word *word, struct event *event)
{
	uint64_t pages = 0;

	if (read_number(trace, word, &pages) || pages >> (64 - PAGE_SHIFT))
		return fail_word(trace, word, "an offset in pages, hexadecimal");
	event->arg[5] = pages << PAGE_SHIFT;
	return 0;
}

static int read_rlimit_name(struct trace *trace, const struct word *word, struct event *event)
{
	for (size_t i = 0; i < sizeof(rlimit_names) / sizeof(rlimit_names[0]); i++) {
		if (word_is(word->at, word->len, rlimit_names[i])) {
			event->arg[0] = i;
			return 0;
		}
	}
	return fail_word(trace, word, "as, data, stack or memlock");
}

static int read_arg(struct trace *trace, const struct word *word, int i, struct event *event)
{
	bool maps = event->call == TRACE_CALL_mmap || event->call == TRACE_CALL_kmmap;

	if (maps && i == 4)
		return read_fd(trace, word, event);
	if (maps && i == 5)
		return read_pgoff(trace, word, event);
	if (event->call == TRACE_CALL_rlimit && i == 0)
		return read_rlimit_name(trace, word, event);
	if (word->at[0] == '$')
		return read_reference(trace, word, &event->ref[i], &event->arg[i]);
	return read_number(trace, word, &event->arg[i]);
}

/* ffffffff was "none" when addresses had 32 bits, and has stayed it. */
static void widen_rlimit(struct event *event)
{
	if (event->call == TRACE_CALL_rlimit && event->arg[1] == UINT32_MAX)
		event->arg[1] = SEAM_NO_LIMIT;
}

static int keep_text(struct ops_state *s, const char *at, const char *end)
{
	size_t len = (size_t)(end - at);

	if (len >= s->room_text) {
		char *p = realloc(s->text, len + 128);

		if (!p)
			return -ENOMEM;
		s->text = p;
		s->room_text = len + 128;
	}
	memcpy(s->text, at, len);
	s->text[len] = 0;
	return 0;
}

/* "[N]" in front of an operation: the space that makes it. */
static int read_space(struct trace *trace, const char **at, const char *end, struct event *event)
{
	struct ops_state *s = trace->state;
	uint64_t space;

	if (!scan_char(at, end, '['))
		return 0;
	if (!scan_decimal(at, end, &space) || !scan_char(at, end, ']'))
		return trace_fail(&trace->error, s->line, "expected [N], the number of a space");
	if (space >= s->nr_spaces)
		return trace_fail(&trace->error, s->line,
				  "[%llu]: expected a space that a fork has made",
				  (unsigned long long)space);
	event->space = (uint32_t)space;
	return 0;
}

static int read_operation(struct trace *trace, const char *at, const char *end, struct event *event)
{
	struct ops_state *s = trace->state;
	struct word words[MAX_WORDS];
	int nr, call, r;

	r = grow(&s->events, s->nr_written, &s->room_written, sizeof(*s->events));
	if (r)
		return r;
	s->events[s->nr_written++] = 0;
	r = keep_text(s, at, end);
	if (!r)
		r = read_space(trace, &at, end, event);
	if (r)
		return r;
	nr = split_words(at, end, words, MAX_WORDS);
	if (!nr)
		return trace_fail(&trace->error, s->line, "expected an operation behind the space");
	if (s->ended[event->space])
		return trace_fail(&trace->error, s->line,
				  "an operation of a space that an exit has ended");
	if (nr == 1 && word_is(words[0].at, words[0].len, "exit")) {
		s->ended[event->space] = true;
		event->kind = EVENT_END;
		return 1;
	}
	call = trace_call_by_name(words[0].at, words[0].len);
	if (call < 0)
		return fail_word(trace, &words[0], "the name of an operation (docs/ops.md)");
	if (nr - 1 < min_args(call) || nr - 1 > trace_call_args((unsigned int)call))
		return trace_fail(
			&trace->error, s->line, "%s: expected %d arguments, found %s%d",
			trace_call_name((unsigned int)call), trace_call_args((unsigned int)call),
			nr > MAX_WORDS ? "over " : "", nr > MAX_WORDS ? MAX_WORDS - 1 : nr - 1);
	event->kind = EVENT_CALL;
	event->call = (uint8_t)call;
	event->flags = EVENT_NO_RESULT;
	for (int i = 1; i < nr; i++) {
		r = read_arg(trace, &words[i], i - 1, event);
		if (r)
			return r;
	}
	widen_rlimit(event);
	event->text = s->text;
	trace->facts.calls += call < TRACE_CALL_kmmap;
	s->events[s->nr_written - 1] = ++s->nr_events;
	if (call == TRACE_CALL_fork)
		s->forked = event->space + 1;
	return 1;
}

static int read_comment(struct trace *trace, const char *at, const char *end)
{
	struct ops_state *s = trace->state;
	uint64_t every;

	if (!scan_text(&at, end, "#map-every"))
		return 0;
	scan_blanks(&at, end);
	if (!scan_decimal(&at, end, &every) || at != end || every > UINT32_MAX)
		return trace_fail(&trace->error, s->line, "#map-every: expected a decimal number");
	trace->facts.map_every = (uint32_t)every;
	return 0;
}

static int read_line(struct trace *trace, struct event *event)
{
	struct ops_state *s = trace->state;
	const char *at = s->at, *end = line_end(at, s->end), *zero;

	s->at = end < s->end ? end + 1 : end;
	s->line++;
	event->line = (uint32_t)s->line;
	zero = memchr(at, 0, (size_t)(end - at));
	if (zero)
		return trace_fail(&trace->error, s->line, ZERO_BYTE, (size_t)(zero - at) + 1);
	scan_blanks(&at, end);
	trim_right(at, &end);
	if (at == end)
		return 0;
	if (*at == '#')
		return read_comment(trace, at, end);
	return read_operation(trace, at, end, event);
}

/* 1 for an operation, 0 for a line without one (or one left out), or an error. */
static int take_line(struct trace *trace, struct event *event)
{
	int r;

	memset(event, 0, sizeof(*event));
	r = read_line(trace, event);
	if (r != -EINVAL || !trace->options.skip_bad)
		return r;
	trace->facts.bad_lines++;
	return 0;
}

static int begin_space(struct ops_state *s, struct event *event)
{
	int r = grow(&s->ended, s->nr_spaces, &s->room_ended, sizeof(*s->ended));

	if (r)
		return r;
	s->ended[s->nr_spaces] = false;
	event->kind = EVENT_SPACE;
	event->space = s->nr_spaces++;
	if (s->forked) {
		event->born = BORN_FORK;
		event->arg[0] = s->forked - 1;
		s->forked = 0;
	} else {
		event->born = BORN_EXEC;
		event->flags = EVENT_AREAS_KNOWN;
		event->sees = SEES_RANGE;
	}
	event->line = (uint32_t)s->line;
	return 1;
}

static int ops_next(struct trace *trace, struct event *ret_event)
{
	struct ops_state *s = trace->state;
	int r;

	memset(ret_event, 0, sizeof(*ret_event));
	if (!s->nr_spaces || s->forked)
		return begin_space(s, ret_event);
	while (s->at < s->end) {
		r = take_line(trace, ret_event);
		if (r)
			return r;
	}
	memset(ret_event, 0, sizeof(*ret_event));
	while (s->nr_ended < s->nr_spaces && s->ended[s->nr_ended])
		s->nr_ended++;
	if (s->nr_ended == s->nr_spaces)
		return 0;
	ret_event->kind = EVENT_END;
	ret_event->flags = EVENT_EXIT_AT_END;
	ret_event->space = s->nr_ended++;
	ret_event->line = (uint32_t)s->line;
	return 1;
}

static int add_files(struct trace *trace)
{
	for (uint32_t i = 0; i < NR_FDS; i++) {
		struct trace_file file = {
			.description = FIRST_FD + i,
			.traits = fd_traits[i],
			.known = 1,
		};

		if (!trace_add_file(trace, &file, "", 0))
			return -ENOMEM;
	}
	return 0;
}

/* Is there no operation in the next line? */
static bool at_comment(const struct ops_state *s)
{
	const char *at = s->at, *end = line_end(at, s->end);

	scan_blanks(&at, end);
	return at == end || *at == '#';
}

/* Takes the comments that stand in front, so that their facts are known from the start. */
static int read_head(struct trace *trace)
{
	struct ops_state *s = trace->state;
	struct event unused;
	int r = 0;

	while (!r && s->at < s->end && at_comment(s))
		r = take_line(trace, &unused);
	return r;
}

static int ops_open(struct trace *trace)
{
	struct ops_state *s = calloc(1, sizeof(*s));
	int r;

	trace->state = s;
	if (!s)
		return -ENOMEM;
	s->at = trace->source->data;
	s->end = s->at + trace->source->size;
	r = add_files(trace);
	return r ? r : read_head(trace);
}

static void ops_close(struct trace *trace)
{
	struct ops_state *s = trace->state;

	if (!s)
		return;
	free(s->text);
	free(s->events);
	free(s->ended);
	free(s);
}

const struct importer importer_ops = {
	.kind = SOURCE_OPS,
	.format = "ops",
	.open = ops_open,
	.next = ops_next,
	.close = ops_close,
};
