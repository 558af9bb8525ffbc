/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The importer of mails and issue texts: takes the lines of strace out of the prose, without quote
 * marks, markup and the line breaks of mailers, and hands them to the importer of strace logs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"
#include "trace/mail.h"
#include "trace/paste.h"
#include "trace/scan.h"
#include "trace/strace.h"

/* A call is broken over this many lines at most. */
#define MAX_WRAPPED 8

/* The lines of strace found so far. */
struct excerpt {
	char *text;
	size_t size, room;
	uint32_t *lines; /* where each stood */
	uint32_t nr_lines, room_lines;
	size_t line_start; /* of the last line, which may still grow */
	uint32_t open;	   /* lines that a wrapped call has so far; 0: the last line is whole */
	char *decoded;	   /* the present line without the entities of HTML */
	bool elided;
};

static int append(struct excerpt *excerpt, const char *at, const char *end)
{
	size_t len = (size_t)(end - at);

	if (excerpt->room - excerpt->size < len + 1) {
		size_t room = (excerpt->room + len) * 2 + 256;
		char *p = realloc(excerpt->text, room);

		if (!p)
			return -ENOMEM;
		excerpt->text = p;
		excerpt->room = room;
	}
	memcpy(excerpt->text + excerpt->size, at, len);
	excerpt->size += len;
	return 0;
}

static int begin_line(struct excerpt *excerpt, uint32_t number)
{
	if (grow(&excerpt->lines, excerpt->nr_lines, &excerpt->room_lines, sizeof(*excerpt->lines)))
		return -ENOMEM;
	excerpt->lines[excerpt->nr_lines++] = number;
	excerpt->line_start = excerpt->size;
	return 0;
}

static int end_line(struct excerpt *excerpt)
{
	static const char newline[] = "\n";

	excerpt->open = 0;
	return append(excerpt, newline, newline + 1);
}

/* Takes the last line back: a call of which the rest never came. */
static void drop_line(struct excerpt *excerpt)
{
	excerpt->size = excerpt->line_start;
	excerpt->nr_lines--;
	excerpt->open = 0;
}

/* Is the last line a whole one? Only a call can be wrapped. */
static bool is_whole(const struct excerpt *excerpt)
{
	const char *end = excerpt->text + excerpt->size;
	struct strace_line line;
	struct strace_call call;

	strace_line_parse(excerpt->text + excerpt->line_start, end, &line);
	return line.kind != STRACE_LINE_CALL || strace_cut(&line) ||
	       !strace_call_parse(line.rest, line.end, &call);
}

static int take_line(struct excerpt *excerpt, const char *at, const char *end, uint32_t number)
{
	int r = begin_line(excerpt, number);

	if (!r)
		r = append(excerpt, at, end);
	if (r)
		return r;
	if (is_whole(excerpt))
		return end_line(excerpt);
	excerpt->open = 1;
	return 0;
}

/* A mailer has broken the call here: at a blank, which it has taken away. */
static int continue_line(struct excerpt *excerpt, const char *at, const char *end)
{
	static const char blank[] = " ";
	int r = append(excerpt, blank, blank + 1);

	if (!r)
		r = append(excerpt, at, end);
	if (r)
		return r;
	if (is_whole(excerpt))
		return end_line(excerpt);
	if (++excerpt->open == MAX_WRAPPED)
		drop_line(excerpt);
	return 0;
}

/* The line as it was before it became HTML. */
static int decode(struct excerpt *excerpt, const char **at, const char **end)
{
	size_t len = (size_t)(*end - *at);

	if (!len || !memchr(*at, '&', len))
		return 0;
	free(excerpt->decoded);
	excerpt->decoded = malloc(len);
	if (!excerpt->decoded)
		return -ENOMEM;
	memcpy(excerpt->decoded, *at, len);
	*at = excerpt->decoded;
	*end = *at + decode_entities(excerpt->decoded, len);
	return 0;
}

static int read_line(struct excerpt *excerpt, const char *at, const char *end, uint32_t number)
{
	at = unquote(at, end, NULL);
	if (decode(excerpt, &at, &end))
		return -ENOMEM;
	trim_markup(at, &end);
	if (at < end && strace_line_looks(at, end)) {
		if (excerpt->open)
			drop_line(excerpt);
		return take_line(excerpt, at, end, number);
	}
	if (at == end || elision_line(at, end)) {
		excerpt->elided |= at < end;
		if (excerpt->open)
			drop_line(excerpt);
		return 0;
	}
	return excerpt->open ? continue_line(excerpt, at, end) : 0;
}

static int find_lines(const struct source *source, struct excerpt *excerpt)
{
	const char *at = source->data, *end = at + source->size;
	uint32_t number = 0;
	int r = 0;

	while (!r && at < end) {
		const char *stop = line_end(at, end);

		r = read_line(excerpt, at, stop, ++number);
		at = stop + 1;
	}
	if (excerpt->open)
		drop_line(excerpt);
	return r;
}

static int mail_open(struct trace *trace)
{
	struct excerpt excerpt = { 0 };
	int r = find_lines(trace->source, &excerpt);

	free(excerpt.decoded);
	if (!r && !excerpt.nr_lines)
		r = trace_fail(&trace->error, 0,
			       "no calls in this text; expected lines of strace (maps that "
			       "stand in it are read by seam show)");
	if (r) {
		free(excerpt.text);
		free(excerpt.lines);
		return r;
	}
	if (excerpt.elided)
		trace_incomplete(trace, "parts left out in the text");
	return strace_begin(trace, &(struct strace_text) {
					   .data = excerpt.text,
					   .size = excerpt.size,
					   .owned = excerpt.text,
					   .lines = excerpt.lines,
					   .excerpt = true,
				   });
}

const struct importer importer_mail = {
	.kind = SOURCE_MAIL,
	.format = "mail",
	.open = mail_open,
	.next = strace_next,
	.close = strace_close,
};

/* "0m3.434s", "3.43", "1h2m3.4s". */
static bool scan_duration(const char **at, const char *end, uint64_t *ret_ns)
{
	const char *p = *at;
	uint64_t value, seconds = 0, fraction = 0, unit = UINT64_C(1000000000);

	for (;;) {
		if (!scan_decimal(&p, end, &value) || value > UINT32_MAX)
			return false;
		if (scan_char(&p, end, 'h'))
			seconds += value * 3600;
		else if (scan_char(&p, end, 'm'))
			seconds += value * 60;
		else
			break;
	}
	seconds += value;
	if (scan_char(&p, end, '.') || scan_char(&p, end, ','))
		for (; p < end && is_digit(*p); p++)
			fraction += (uint64_t)(*p - '0') * (unit /= 10);
	scan_char(&p, end, 's');
	if (p < end && !is_blank(*p))
		return false;
	*at = p;
	*ret_ns = seconds * UINT64_C(1000000000) + fraction;
	return true;
}

/* "real    0m3.434s": the value behind @word. */
static bool timing_line(const char *at, const char *end, const char *word, uint64_t *ret_ns)
{
	return scan_text(&at, end, word) && scan_wide_blanks(&at, end) &&
	       scan_duration(&at, end, ret_ns) && at == end;
}

size_t mail_timings(const struct source *source, struct mail_timing *ret_timings, size_t max)
{
	const char *at = source->data, *end = at + source->size;
	struct mail_timing timing = { 0 };
	struct slice title = { NULL, NULL };
	uint64_t line = 0;
	size_t nr = 0;

	while (at < end) {
		const char *stop = line_end(at, end);
		const char *text = unquote(at, stop, NULL), *text_end = stop;
		uint64_t ns;

		line++;
		at = stop + 1;
		trim_markup(text, &text_end);
		if (timing_line(text, text_end, "real", &ns)) {
			timing = (struct mail_timing) { .real_ns = ns, .line = line };
		} else if (timing_line(text, text_end, "user", &ns)) {
			timing.user_ns = ns;
		} else if (timing_line(text, text_end, "sys", &ns) && timing.line) {
			timing.sys_ns = ns;
			timing.title = title.at;
			timing.title_len = (size_t)(title.end - title.at);
			if (nr < max)
				ret_timings[nr] = timing;
			nr++;
			timing.line = 0;
			title = (struct slice) { NULL, NULL };
		} else if (text_end > text && text_end[-1] == ':') {
			title = (struct slice) { text, text_end - 1 };
		}
	}
	return nr;
}
