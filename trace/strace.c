/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The importer of strace logs: reads line by line and gives out events. trace/strace.h tells how the
 * parts work together.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/clock.h"
#include "trace/grow.h"
#include "trace/scan.h"
#include "trace/strace.h"

#define NS_PER_DAY (24 * 3600 * NS_PER_S)
/* Seconds below this are no date of our days: times from line to line (-r). */
#define LEAST_DATE (UINT64_C(100000000) * NS_PER_S)

uint32_t strace_source_line(const struct strace *s, uint64_t line)
{
	return s->text.lines && line ? s->text.lines[line - 1] : (uint32_t)line;
}

int strace_emit(struct strace *s, const struct event *event)
{
	if (s->trial)
		return 0;
	if (grow(&s->queue, s->nr_queue, &s->room_queue, sizeof(*s->queue)))
		return -ENOMEM;
	s->queue[s->nr_queue++] = *event;
	return 0;
}

int strace_expected(struct strace *s, struct slice found, const char *expected)
{
	size_t len = (size_t)(found.end - found.at);

	return trace_fail(&s->trace->error, strace_source_line(s, s->line), "'%.*s': expected %s",
			  (int)(len > 80 ? 80 : len), found.at, expected);
}

/* The time of a line, from the first one; the last one's when it has none. */
static uint64_t take_time(struct strace *s, const struct strace_line *line)
{
	uint64_t now = line->time_ns;

	if (line->clock == STRACE_CLOCK_NONE)
		return s->last_time_ns;
	if (!s->has_time)
		s->relative_clock = line->clock == STRACE_CLOCK_SECONDS && now < LEAST_DATE;
	if (s->relative_clock) {
		s->last_time_ns += s->has_time ? now : 0;
		s->has_time = true;
		return s->last_time_ns;
	}
	if (!s->has_time)
		s->first_time_ns = now;
	s->has_time = true;
	now += s->day_ns;
	/* past midnight */
	if (line->clock == STRACE_CLOCK_DAY &&
	    now + NS_PER_DAY / 2 < s->first_time_ns + s->last_time_ns) {
		s->day_ns += NS_PER_DAY;
		now += NS_PER_DAY;
	}
	s->last_time_ns = now > s->first_time_ns ? now - s->first_time_ns : 0;
	return s->last_time_ns;
}

/* Lines without [pid N] come from the first process, or from the only one that is left. */
static uint32_t bare_tid(const struct strace *s)
{
	return s->nr_threads == 1 ? s->tids : s->survey.first_pid;
}

/* The call stack (-k) in the lines from @at on; 0 none. */
static int take_stack(struct strace *s, const char *at, uint32_t *ret_stack)
{
	const char *start = at, *end = s->end;
	struct strace_line line;
	bool new;

	*ret_stack = 0;
	while (at < end && *at == ' ') {
		const char *stop = line_end(at, end);

		strace_line_parse(at, stop, &line);
		if (line.kind != STRACE_LINE_STACK)
			break;
		at = stop < end ? stop + 1 : end;
	}
	if (at == start || s->trial)
		return 0;
	*ret_stack =
		intern_number(&s->trace->stacks, start, (size_t)(at - start), UINT32_MAX, &new);
	return *ret_stack ? 0 : -ENOMEM;
}

static const char *next_line(const char *at, const char *end)
{
	at = line_end(at, end);
	return at < end ? at + 1 : end;
}

/* Both halves of a call in one text; ") = ?" for a second one that never came. */
static int join_halves(struct strace *s, struct slice head, const struct strace_pair *pair,
		       struct slice *ret_text)
{
	static const char none[] = ") = ?";
	const char *tail = pair->tail ? pair->tail : none;
	size_t head_len = (size_t)(head.end - head.at);
	size_t tail_len = pair->tail ? (size_t)(pair->tail_end - tail) : sizeof(none) - 1;

	if (!s->scratch || head_len + tail_len > s->room_scratch) {
		char *p = realloc(s->scratch, head_len + tail_len + 256);

		if (!p)
			return -ENOMEM;
		s->scratch = p;
		s->room_scratch = head_len + tail_len + 256;
	}
	memcpy(s->scratch, head.at, head_len);
	memcpy(s->scratch + head_len, tail, tail_len);
	*ret_text = (struct slice) { s->scratch, s->scratch + head_len + tail_len };
	return 0;
}

/* Works out a call whose text is whole. */
static int do_call(struct strace *s, uint32_t tid, const struct strace_line *line,
		   const struct strace_known *known, struct slice text, struct event *event,
		   const char *tail_line)
{
	struct strace_call call;
	const char *expected = strace_call_parse(text.at, text.end, &call);

	if (expected)
		return strace_expected(s, (struct slice) { line->name, line->end }, expected);
	if (call.result == STRACE_RESULT_NOT_MADE)
		return 0;
	event->duration_ns = call.duration_ns;
	return strace_do_call(s, tid, known, &call, event, tail_line);
}

static int read_whole_call(struct strace *s, uint32_t tid, const struct strace_line *line,
			   struct event *event)
{
	const struct strace_known *known = strace_known(line->name, line->name_len);

	if (!known)
		return 0;
	if (known->kind == KNOWN_MEMORY && take_stack(s, s->at, &event->stack))
		return -ENOMEM;
	return do_call(s, tid, line, known, (struct slice) { line->rest, line->end }, event, NULL);
}

/* The first half of a call. Calls on memory are worked out now, though they wait for their order. */
static int read_head(struct strace *s, uint32_t tid, const struct strace_line *line,
		     const char *cut, struct event *event)
{
	const struct strace_pair *pair = &s->survey.pairs[s->next_pair++];
	const struct strace_known *known = strace_known(line->name, line->name_len);
	enum strace_moment moment = strace_moment(known);
	struct slice text;
	int r;

	if (moment == STRACE_NEVER || (moment == STRACE_AT_TAIL && pair->tail))
		return 0;
	r = join_halves(s, (struct slice) { line->rest, cut }, pair, &text);
	if (!r && moment == STRACE_AT_HEAD && pair->tail)
		r = take_stack(s, next_line(pair->tail_line, s->end), &event->stack);
	return r ? r : do_call(s, tid, line, known, text, event, pair->tail_line);
}

/* The second half of a call. */
static int read_tail(struct strace *s, uint32_t tid, struct event *event)
{
	const struct strace_pair *pair = &s->survey.pairs[s->survey.tails[s->next_tail++]];
	const struct strace_known *known;
	struct strace_line head;
	struct slice text;
	const char *cut;
	int r;

	strace_line_parse(pair->head, line_end(pair->head, s->end), &head);
	cut = strace_cut(&head);
	known = strace_known(head.name, head.name_len);
	switch (strace_moment(known)) {
	case STRACE_AT_HEAD:
		return strace_settle(s, pair->tail_line);
	case STRACE_AT_TAIL:
		r = join_halves(s, (struct slice) { head.rest, cut }, pair, &text);
		return r ? r : do_call(s, tid, &head, known, text, event, NULL);
	default:
		return 0;
	}
}

static bool is_tail(const struct strace *s, const char *start)
{
	const struct strace_survey *survey = &s->survey;

	return s->next_tail < survey->nr_tails &&
	       survey->pairs[survey->tails[s->next_tail]].tail_line == start;
}

static int set_mode(struct strace *s, const struct strace_line *line, const struct event *event)
{
	struct strace_thread *thread;
	int r = strace_thread(s, (uint32_t)line->value, event, &thread);

	if (!r)
		s->processes[thread->process].compat = line->bits == 32;
	return r;
}

/* A line that is none of strace's. */
static int read_other(struct strace *s, const struct strace_line *line, const char *start,
		      bool whole)
{
	const char *at = start;

	scan_blanks(&at, line->end);
	if (s->text.excerpt || scan_text(&at, line->end, "<unfinished ...>"))
		return 0;
	if (!whole) {
		trace_incomplete(s->trace, "cut in its last line");
		return 0;
	}
	return strace_expected(s, (struct slice) { start, line->end },
			       "a line of strace: name(arguments) = result");
}

static int read_comm(struct strace *s, uint32_t tid, const struct strace_line *line,
		     const struct event *event)
{
	struct strace_thread *thread;
	struct strace_process *process;
	int r = strace_thread(s, tid, event, &thread);

	if (r)
		return r;
	process = &s->processes[thread->process];
	if (tid != process->pid)
		return 0;
	return strace_set_comm(s, process, line->comm, line->comm_len, event);
}

static int read_line_kind(struct strace *s, const struct strace_line *line, uint32_t tid,
			  const char *start, bool whole, struct event *event)
{
	const char *cut;

	switch (line->kind) {
	case STRACE_LINE_CALL:
		cut = strace_cut(line);
		return cut ? read_head(s, tid, line, cut, event)
			   : read_whole_call(s, tid, line, event);
	case STRACE_LINE_RESUMED:
		if (strace_moment(strace_known(line->name, line->name_len)) == STRACE_AT_HEAD)
			trace_incomplete(s->trace, "calls without beginnings");
		return 0;
	case STRACE_LINE_EXITED:
	case STRACE_LINE_KILLED:
		return strace_exit(s, tid, line->value, event);
	case STRACE_LINE_MODE:
		return set_mode(s, line, event);
	case STRACE_LINE_OTHER:
		return read_other(s, line, start, whole);
	default:
		return 0;
	}
}

/* An error in the last line of a log that was cut is no error. */
static int forgive(struct strace *s, int r, bool whole)
{
	if (r != -EINVAL)
		return r;
	if (!whole && !s->text.excerpt) {
		trace_incomplete(s->trace, "cut in its last line");
		return 0;
	}
	if (!s->text.excerpt && !s->trial && !s->trace->options.skip_bad)
		return r;
	s->trace->facts.bad_lines++;
	if (!s->text.excerpt)
		trace_incomplete(s->trace, "lines left out");
	return 0;
}

static int read_line(struct strace *s)
{
	const char *start = s->at, *end = line_end(start, s->end);
	bool whole = end < s->end;
	struct event event = { 0 };
	struct strace_line line;
	uint32_t tid;
	int r = 0;

	s->at = whole ? end + 1 : end;
	s->line++;
	strace_line_parse(start, end, &line);
	tid = line.has_pid ? line.pid : bare_tid(s);
	event.line = strace_source_line(s, s->line);
	event.tid = tid;
	event.time_ns = take_time(s, &line);
	if (line.comm && line.kind != STRACE_LINE_EXITED && line.kind != STRACE_LINE_KILLED)
		r = read_comm(s, tid, &line, &event);
	if (r)
		return r;
	if (is_tail(s, start))
		r = read_tail(s, tid, &event);
	else
		r = read_line_kind(s, &line, tid, start, whole, &event);
	return forgive(s, r, whole);
}

/* The end of the log: what still waits has happened, what still lives goes on. */
static int finish(struct strace *s)
{
	int r = 0;

	s->ended = true;
	for (uint32_t i = 0; !r && i < s->nr_spaces; i++)
		if (!s->spaces[i].ended)
			r = strace_settle_space(s, i);
	return r ? r : strace_end_all(s);
}

int strace_next(struct trace *trace, struct event *ret_event)
{
	struct strace *s = trace->state;
	int r;

	while (s->queue_at == s->nr_queue) {
		s->queue_at = s->nr_queue = 0;
		if (s->ended)
			return 0;
		r = s->at < s->end ? read_line(s) : finish(s);
		if (r)
			return r;
	}
	*ret_event = s->queue[s->queue_at++];
	trace->facts.calls += ret_event->kind == EVENT_CALL;
	return 1;
}

static void free_state(struct strace *s)
{
	strace_tasks_free(s);
	free(s->pending);
	free(s->segments);
	free(s->attached_sizes);
	intern_free(&s->segment_ids);
	intern_free(&s->attachments);
	free(s->queue);
	free(s->path_files);
	free(s->scratch);
	intern_free(&s->texts);
	intern_free(&s->paths);
}

/*
 * Strangers (tids that call and that no clone has made) may be threads of a space that the log has
 * under another number. One reading of all calls, from which nothing else is kept, finds out.
 */
static int find_holders(struct strace *s)
{
	struct strace_survey *survey = &s->survey;
	size_t size = survey->room_pids * sizeof(*survey->pids);
	struct trace scratch = { .importer = s->trace->importer, .source = s->trace->source };
	struct strace trial = { .trace = &scratch, .text = s->text, .trial = true };
	struct strace_pid *pids;
	int r = 0;

	if (survey->nr_strangers < 2)
		return 0;
	pids = malloc(size);
	if (!pids)
		return -ENOMEM;
	memcpy(pids, survey->pids, size);
	trial.survey = *survey;
	trial.at = s->at;
	trial.end = s->end;
	while (!r && trial.at < trial.end)
		r = read_line(&trial);
	for (uint32_t i = 0; i < survey->room_pids; i++)
		pids[i].holder = survey->pids[i].holder;
	free(survey->pids);
	survey->pids = pids;
	free_state(&trial);
	trace_free(&scratch);
	return r;
}

static void tell_what_lacks(struct strace *s)
{
	const struct strace_survey *survey = &s->survey;

	trace_incomplete(s->trace, "no start areas");
	if (s->text.excerpt)
		trace_incomplete(s->trace, "excerpts of a text");
	/* without pids there is one thread, or the log would have to tell that it made no other */
	if (!survey->has_pids && (survey->has_births || !survey->has_exit_calls))
		trace_incomplete(s->trace, "no -f");
}

int strace_begin(struct trace *trace, const struct strace_text *text)
{
	struct strace *s = calloc(1, sizeof(*s));
	int r;

	trace->state = s;
	if (!s) {
		free(text->owned);
		free(text->lines);
		return -ENOMEM;
	}
	s->trace = trace;
	s->text = *text;
	s->at = text->data;
	s->end = text->data + text->size;
	r = strace_survey(text, &s->survey);
	if (!r)
		r = find_holders(s);
	if (!r)
		tell_what_lacks(s);
	return r;
}

static int strace_open(struct trace *trace)
{
	struct strace_text text = { .data = trace->source->data, .size = trace->source->size };

	return strace_begin(trace, &text);
}

void strace_close(struct trace *trace)
{
	struct strace *s = trace->state;

	if (!s)
		return;
	strace_survey_free(&s->survey);
	free(s->text.owned);
	free(s->text.lines);
	free_state(s);
	free(s);
}

const struct importer importer_strace = {
	.kind = SOURCE_STRACE,
	.format = "strace",
	.open = strace_open,
	.next = strace_next,
	.close = strace_close,
};
