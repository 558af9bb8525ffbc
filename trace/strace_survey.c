/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first pass over an strace log: pairs the two halves of calls that were interrupted, thread by
 * thread, and notes who made whom, so that the second pass never has to look ahead.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"
#include "trace/scan.h"
#include "trace/strace.h"

#define CLONE_VM 0x100
#define CLONE_VFORK 0x4000

/* More than one process was attached to. */
#define NOT_ONE UINT32_MAX

struct surveyor {
	struct strace_survey *survey;
	uint32_t first_bracketed; /* the least [pid N] that nobody announced */
	bool bracketed, bare;
	uint32_t torn; /* 1 + the pair whose second half may be the next line */
	uint32_t torn_tid;
};

static uint32_t slot_of(const struct strace_survey *survey, uint32_t tid)
{
	uint32_t mask = survey->room_pids - 1;
	uint32_t i = tid * UINT32_C(2654435761) & mask;

	while (survey->pids[i].in_use && survey->pids[i].tid != tid)
		i = (i + 1) & mask;
	return i;
}

struct strace_pid *strace_pid_find(const struct strace_survey *survey, uint32_t tid)
{
	struct strace_pid *pid;

	if (!survey->room_pids)
		return NULL;
	pid = &survey->pids[slot_of(survey, tid)];
	return pid->in_use ? pid : NULL;
}

static int grow_pids(struct strace_survey *survey)
{
	struct strace_pid *old = survey->pids;
	uint32_t room = survey->room_pids, more = room ? room * 2 : 64;
	struct strace_pid *pids = calloc(more, sizeof(*pids));

	if (!pids)
		return -ENOMEM;
	survey->pids = pids;
	survey->room_pids = more;
	for (uint32_t i = 0; i < room; i++)
		if (old[i].in_use)
			pids[slot_of(survey, old[i].tid)] = old[i];
	free(old);
	return 0;
}

/* What is known of a tid, from now on at least that there is one. NULL: no memory. */
static struct strace_pid *get_pid(struct strace_survey *survey, uint32_t tid)
{
	struct strace_pid *pid;

	if (survey->nr_pids >= survey->room_pids / 2 && grow_pids(survey))
		return NULL;
	pid = &survey->pids[slot_of(survey, tid)];
	if (!pid->in_use) {
		*pid = (struct strace_pid) { .tid = tid, .in_use = true };
		survey->nr_pids++;
	}
	return pid;
}

static int set_waiting(struct surveyor *v, uint32_t tid, uint32_t pair)
{
	struct strace_pid *pid = get_pid(v->survey, tid);

	if (!pid)
		return -ENOMEM;
	pid->pair = pair;
	return 0;
}

/* The pair that a thread waits with; 0 none. */
static uint32_t take_waiting(struct surveyor *v, uint32_t tid)
{
	struct strace_pid *pid = strace_pid_find(v->survey, tid);
	uint32_t pair = pid ? pid->pair : 0;

	if (pid)
		pid->pair = 0;
	return pair;
}

/* Does [at, end) end in @mark? */
static bool ends_in(const char *at, const char *end, const char *mark)
{
	size_t len = strlen(mark);

	return (size_t)(end - at) >= len && !memcmp(end - len, mark, len);
}

/* "PROT_NONE/usr/bin/strace: Process 123 attached": where the program's name begins. */
static const char *message_start(const char *at, const char *end)
{
	const char *message = find_text(at, end, "strace: Process ");
	const char *start = message;

	if (!message || message == at || message[-1] != '/')
		return message;
	for (const char *p = message - 1;
	     p >= at && (is_word(*p) || *p == '/' || *p == '.' || *p == '-'); p--)
		if (*p == '/')
			start = p;
	return start;
}

const char *strace_cut(const struct strace_line *line)
{
	static const char *const marks[] = { "<unfinished ...>", "<detached ...>" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *cut = line->end - strlen(marks[i]);

		if (!ends_in(line->rest, line->end, marks[i]))
			continue;
		trim_right(line->rest, &cut);
		return cut;
	}
	/* "mprotect(0x7f, 4096, PROT_NONEstrace: Process 123 attached" */
	return ends_in(line->rest, line->end, " attached") ? message_start(line->rest, line->end)
							   : NULL;
}

static bool cut_by_message(const struct strace_line *line)
{
	return line->end[-1] == 'd';
}

static int add_pair(struct surveyor *v, const char *head)
{
	struct strace_survey *survey = v->survey;

	if (grow(&survey->pairs, survey->nr_pairs, &survey->room_pairs, sizeof(*survey->pairs)))
		return -ENOMEM;
	survey->pairs[survey->nr_pairs++] = (struct strace_pair) { .head = head };
	return 0;
}

static int complete_pair(struct strace_survey *survey, uint32_t pair, const char *tail,
			 const char *tail_end, const char *tail_line)
{
	struct strace_pair *p = &survey->pairs[pair - 1];

	if (grow(&survey->tails, survey->nr_tails, &survey->room_tails, sizeof(*survey->tails)))
		return -ENOMEM;
	survey->tails[survey->nr_tails++] = pair - 1;
	p->tail = tail;
	p->tail_end = tail_end;
	p->tail_line = tail_line;
	return 0;
}

static int announce(struct surveyor *v, uint32_t tid)
{
	struct strace_pid *pid = get_pid(v->survey, tid);

	if (!pid)
		return -ENOMEM;
	pid->announced = true;
	return 0;
}

/* A number may be given again: the births of a child form a chain. */
static int add_birth(struct surveyor *v, uint32_t parent, uint32_t child, uint64_t flags)
{
	struct strace_survey *survey = v->survey;
	struct strace_pid *pid = get_pid(survey, child);

	if (!pid ||
	    grow(&survey->births, survey->nr_births, &survey->room_births, sizeof(*survey->births)))
		return -ENOMEM;
	pid->announced = true;
	survey->births[survey->nr_births++] =
		(struct strace_birth) { .parent = parent, .child = child, .flags = flags };
	if (pid->birth)
		survey->births[pid->last_birth - 1].next = survey->nr_births;
	else
		pid->birth = survey->nr_births;
	pid->last_birth = survey->nr_births;
	return 0;
}

static int add_signal(struct surveyor *v, uint32_t parent, uint32_t child)
{
	struct strace_survey *survey = v->survey;
	struct strace_pid *pid = get_pid(survey, child);

	if (!pid || grow(&survey->signals, survey->nr_signals, &survey->room_signals,
			 sizeof(*survey->signals)))
		return -ENOMEM;
	survey->signals[survey->nr_signals++] =
		(struct strace_birth) { .parent = parent, .child = child };
	if (!pid->signal)
		pid->signal = survey->nr_signals;
	return 0;
}

/* "CLONE_VM|CLONE_FS|SIGCHLD": names that are not known (signals) say nothing about memory. */
static uint64_t known_flags(struct slice flags)
{
	uint64_t value = 0, flag;

	for (const char *at = flags.at; at < flags.end; at++) {
		const char *stop = memchr(at, '|', (size_t)(flags.end - at));

		if (!stop)
			stop = flags.end;
		if (strace_value((struct slice) { at, stop }, &flag))
			value |= flag;
		at = stop;
	}
	return value;
}

/*
 * The flags of clone and clone3, where "flags=" stands or, raw, as clone's first argument. False:
 * not told (clone3 by its address).
 */
static bool clone_flags(const char *at, const char *end, uint64_t *ret_flags)
{
	struct slice flags;

	if (strace_member((struct slice) { at, end }, "flags", &flags)) {
		*ret_flags = known_flags(flags);
		return true;
	}
	return scan_text(&at, end, "0x") && scan_hex(&at, end, ret_flags) &&
	       *ret_flags <= UINT32_MAX;
}

/* The number behind the last '=': the child's pid. 0: the call failed, or there is no result. */
static uint32_t result_pid(const char *at, const char *end)
{
	const char *equals = end;
	uint64_t pid = 0;

	while ((equals = find_last(at, equals, '='))) {
		const char *p = equals + 1;

		scan_blanks(&p, end);
		if (equals == at || !is_blank(equals[-1]))
			continue;
		if (scan_text(&p, end, "0x") ? !scan_hex(&p, end, &pid)
					     : !scan_decimal(&p, end, &pid))
			return 0;
		return pid <= INT32_MAX ? (uint32_t)pid : 0;
	}
	return 0;
}

/* Offsets of mmap2 that are not whole pages can only be numbers of pages. */
static void survey_mmap2(struct strace_survey *survey, const struct strace_line *line)
{
	struct strace_call call;
	uint64_t offset;

	if (survey->mmap2_in_pages || !word_is(line->name, line->name_len, "mmap2") ||
	    strace_call_parse(line->rest, line->end, &call) || call.nr_args != 6)
		return;
	if (strace_value(call.arg[5], &offset) && offset & 0xfff)
		survey->mmap2_in_pages = true;
}

/* What a call that makes others says of the one it made; its result stands in [tail, tail_end). */
static int survey_birth(struct surveyor *v, enum strace_kind kind, uint32_t tid, struct slice head,
			struct slice tail)
{
	uint64_t flags = 0;
	uint32_t child;

	v->survey->has_births = true;
	child = result_pid(tail.at, tail.end);
	if (!child)
		return 0;
	if (kind == KNOWN_VFORK)
		flags = CLONE_VM | CLONE_VFORK;
	else if (kind == KNOWN_CLONE && !clone_flags(head.at, head.end, &flags))
		return announce(v, child);
	return add_birth(v, tid, child, flags);
}

/* What a whole call says that the first pass has to know. */
static int survey_known(struct surveyor *v, const struct strace_line *line,
			const struct strace_known *known, uint32_t tid, struct slice tail)
{
	switch (known->kind) {
	case KNOWN_CLONE:
	case KNOWN_FORK:
	case KNOWN_VFORK:
		return survey_birth(v, known->kind, tid, (struct slice) { line->rest, line->end },
				    tail);
	case KNOWN_OPEN:
	case KNOWN_CLOSE:
	case KNOWN_DUP:
		v->survey->has_opens = true;
		return 0;
	case KNOWN_MEMORY:
		survey_mmap2(v->survey, line);
		return 0;
	default:
		return 0;
	}
}

/* "SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=123, ...": 123 is a child's process. */
static int survey_signal(struct surveyor *v, const struct strace_line *line, uint32_t tid)
{
	struct slice slice = { line->rest, line->end }, value;
	const char *at = line->rest;
	uint64_t pid;

	if (!scan_text(&at, line->end, "SIGCHLD ") || !strace_member(slice, "si_pid", &value) ||
	    !scan_decimal(&value.at, value.end, &pid) || pid > INT32_MAX)
		return 0;
	return add_signal(v, tid, (uint32_t)pid);
}

/* The first call of a tid: does it come from nowhere, and is it a new program's? */
static int survey_first_call(struct surveyor *v, const struct strace_line *line,
			     const struct strace_known *known, uint32_t tid)
{
	struct strace_pid *pid = get_pid(v->survey, tid);
	const char *at = line->rest;

	if (!pid)
		return -ENOMEM;
	if (pid->called)
		return 0;
	pid->called = true;
	v->survey->nr_strangers += !pid->birth;
	pid->fresh = known->kind == KNOWN_EXEC ||
		     (known->call == TRACE_CALL_brk && known->kind == KNOWN_MEMORY &&
		      (scan_text(&at, line->end, "NULL") || scan_text(&at, line->end, "0)") ||
		       scan_text(&at, line->end, "0 ")));
	return 0;
}

static int survey_cut(struct surveyor *v, const struct strace_line *line, const char *cut,
		      uint32_t tid, const char *start)
{
	if (add_pair(v, start))
		return -ENOMEM;
	v->torn = v->survey->nr_pairs;
	v->torn_tid = tid;
	if (cut_by_message(line)) {
		struct strace_line message;

		strace_line_parse(cut, line->end, &message);
		if (message.kind == STRACE_LINE_ATTACHED && announce(v, (uint32_t)message.value))
			return -ENOMEM;
	}
	return set_waiting(v, tid, v->survey->nr_pairs);
}

static int survey_call(struct surveyor *v, const struct strace_line *line, uint32_t tid,
		       const char *start)
{
	const struct strace_known *known = strace_known(line->name, line->name_len);
	const char *cut = strace_cut(line);

	if (known) {
		v->survey->has_exit_calls |= known->kind == KNOWN_EXIT;
		if (survey_first_call(v, line, known, tid))
			return -ENOMEM;
	}
	if (cut)
		return survey_cut(v, line, cut, tid, start);
	return known ? survey_known(v, line, known, tid, (struct slice) { line->rest, line->end })
		     : 0;
}

static void parse_head(const struct surveyor *v, uint32_t pair, const char *end,
		       struct strace_line *ret_head)
{
	const char *start = v->survey->pairs[pair - 1].head;

	strace_line_parse(start, line_end(start, end), ret_head);
}

/*
 * The pair that a second half belongs to. The first process's lines lose and gain their [pid N] as
 * others come and go.
 */
static uint32_t find_head(struct surveyor *v, const struct strace_line *line, uint32_t tid,
			  const char *start, struct strace_line *ret_head)
{
	uint32_t tids[] = { tid, tid ? 0 : v->first_bracketed };

	for (int i = 0; i < 2; i++) {
		struct strace_pid *pid = strace_pid_find(v->survey, tids[i]);

		if (!pid || !pid->pair)
			continue;
		parse_head(v, pid->pair, start, ret_head);
		if (line->name_len == ret_head->name_len &&
		    !memcmp(line->name, ret_head->name, line->name_len))
			return take_waiting(v, tids[i]);
	}
	return 0;
}

/* Both halves of a call are known. */
static int survey_pair(struct surveyor *v, uint32_t pair, const struct strace_line *head,
		       uint32_t tid, struct slice tail, const char *tail_line)
{
	const struct strace_known *known = strace_known(head->name, head->name_len);
	int r = complete_pair(v->survey, pair, tail.at, tail.end, tail_line);

	return r || !known ? r : survey_known(v, head, known, tid, tail);
}

static int survey_resumed(struct surveyor *v, const struct strace_line *line, uint32_t tid,
			  const char *start)
{
	struct strace_line head;
	uint32_t pair = find_head(v, line, tid, start, &head);

	if (!pair)
		return 0;
	return survey_pair(v, pair, &head, tid, (struct slice) { line->rest, line->end }, start);
}

/* ") = 0", perhaps with arguments in front. */
static bool ends_call(const char *at, const char *end)
{
	while ((at = memchr(at, ')', (size_t)(end - at)))) {
		at++;
		scan_blanks(&at, end);
		if (at < end && *at == '=')
			return true;
	}
	return false;
}

/*
 * A line without beginning that follows a first half: a message of strace tore the call in two, or
 * its buffer did (-z). 1 when it was taken.
 */
static int survey_torn(struct surveyor *v, const struct strace_line *line, const char *start,
		       const char *end)
{
	uint32_t pair = v->torn;
	struct strace_line head;
	int r;

	if (!pair || line->kind == STRACE_LINE_ATTACHED || line->kind == STRACE_LINE_MESSAGE)
		return 0;
	v->torn = 0;
	if (line->kind != STRACE_LINE_OTHER || !ends_call(start, end))
		return 0;
	take_waiting(v, v->torn_tid);
	trim_right(start, &end);
	parse_head(v, pair, start, &head);
	r = survey_pair(v, pair, &head, v->torn_tid, (struct slice) { start, end }, start);
	return r ? r : 1;
}

/* [pid N] of one that nobody announced is the process that strace started or attached to first. */
static void survey_pid(struct surveyor *v, const struct strace_line *line)
{
	const struct strace_pid *pid;

	if (line->has_pid)
		v->survey->has_pids = true;
	else
		v->bare = true;
	if (!line->bracketed || line->pid == v->first_bracketed)
		return;
	v->bracketed = true;
	if (v->first_bracketed && line->pid > v->first_bracketed)
		return;
	pid = strace_pid_find(v->survey, line->pid);
	if (!pid || !pid->announced)
		v->first_bracketed = line->pid;
}

/* Attached to one process that had run before: tids that come from nowhere are its threads. */
static int survey_attached(struct surveyor *v, const struct strace_line *line)
{
	struct strace_survey *survey = v->survey;

	if (line->whole)
		survey->attached = survey->attached ? NOT_ONE : (uint32_t)line->value;
	return announce(v, (uint32_t)line->value);
}

static int survey_line(struct surveyor *v, const char *start, const char *end)
{
	struct strace_line line;
	uint32_t tid, pair;
	int r;

	strace_line_parse(start, end, &line);
	r = survey_torn(v, &line, start, end);
	if (r)
		return r < 0 ? r : 0;
	tid = line.has_pid ? line.pid : 0;
	switch (line.kind) {
	case STRACE_LINE_CALL:
		survey_pid(v, &line);
		return survey_call(v, &line, tid, start);
	case STRACE_LINE_RESUMED:
		survey_pid(v, &line);
		return survey_resumed(v, &line, tid, start);
	case STRACE_LINE_SIGNAL:
		survey_pid(v, &line);
		return survey_signal(v, &line, tid);
	case STRACE_LINE_EXITED:
	case STRACE_LINE_KILLED:
		survey_pid(v, &line);
		take_waiting(v, tid);
		return 0;
	case STRACE_LINE_REPLACED:
		/* the rest of its execve comes under the leader's number */
		pair = take_waiting(v, (uint32_t)line.value);
		return pair ? set_waiting(v, tid, pair) : 0;
	case STRACE_LINE_ATTACHED:
		return survey_attached(v, &line);
	default:
		return 0;
	}
}

/* Bare lines come from the first process: give its births and signals their number. */
static void name_first(struct surveyor *v)
{
	struct strace_survey *survey = v->survey;

	if (!v->bracketed || !v->bare)
		return;
	survey->first_pid = v->first_bracketed;
	for (uint32_t i = 0; i < survey->nr_births; i++)
		if (!survey->births[i].parent)
			survey->births[i].parent = survey->first_pid;
	for (uint32_t i = 0; i < survey->nr_signals; i++)
		if (!survey->signals[i].parent)
			survey->signals[i].parent = survey->first_pid;
}

int strace_survey(const struct strace_text *text, struct strace_survey *ret_survey)
{
	struct surveyor v = { .survey = ret_survey };
	const char *at = text->data, *end = at + text->size;
	int r = 0;

	memset(ret_survey, 0, sizeof(*ret_survey));
	while (!r && at < end) {
		const char *stop = line_end(at, end);

		r = survey_line(&v, at, stop);
		at = stop + 1;
	}
	name_first(&v);
	if (ret_survey->attached == NOT_ONE)
		ret_survey->attached = 0;
	return r;
}

void strace_survey_free(struct strace_survey *survey)
{
	free(survey->pairs);
	free(survey->tails);
	free(survey->pids);
	free(survey->births);
	free(survey->signals);
	*survey = (struct strace_survey) { 0 };
}
