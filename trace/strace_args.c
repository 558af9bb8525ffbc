/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arguments and the result of one call as strace prints them, of whatever age and options:
 * names or raw numbers (-X), comments, paths behind descriptors (-y), structures, strings.
 */
#include <errno.h>
#include <string.h>

#include "trace/scan.h"
#include "trace/strace_args.h"

/* "/" "* ... *" "/" */
static bool skip_comment(const char **at, const char *end)
{
	const char *close;

	if (end - *at < 4 || (*at)[0] != '/' || (*at)[1] != '*')
		return false;
	close = find_text(*at + 2, end, "*/");
	*at = close ? close + 2 : end;
	return true;
}

static void skip_string(const char **at, const char *end)
{
	const char *p = *at + 1;

	while (p < end && *p != '"')
		p += *p == '\\' ? 2 : 1;
	*at = p < end ? p + 1 : end;
}

/* Could '<' at @at open the path of a descriptor: "3<", "AT_FDCWD<", and not "21<<MAP_HUGE_SHIFT"? */
static bool opens_path(const char *start, const char *at, const char *end)
{
	return *at == '<' && at > start && is_word(at[-1]) && at + 1 < end && at[1] != '<';
}

/* Does the path end here, at '>'? What follows must go on as an argument or a result does. */
static bool closes_path(const char *at, const char *end)
{
	const char *p = at + 1;

	scan_text(&p, end, "(deleted)");
	return p == end || *p == ',' || *p == ')' || *p == ' ' || *p == '}' || *p == ']' ||
	       *p == '>' || *p == '\n';
}

/* Behind "<path>" or "<path<char 1:5>>(deleted)"; "->" of sockets closes nothing. */
static const char *skip_path(const char *at, const char *end)
{
	unsigned int depth = 0;

	for (; at < end; at++) {
		if (*at == '<')
			depth++;
		else if (*at == '>' && at[-1] != '-' && depth-- <= 1 && closes_path(at, end))
			break;
		if (depth > 64)
			depth = 1;
	}
	if (at < end)
		at++;
	scan_text(&at, end, "(deleted)");
	return at;
}

/* The characters at which splitting has something to do. */
static const bool special[256] = {
	['"'] = true, ['/'] = true, ['<'] = true, ['{'] = true, ['['] = true,
	['('] = true, ['}'] = true, [']'] = true, [')'] = true, [','] = true,
};

static void add_arg(struct strace_call *call, const char *start, const char *end)
{
	if (call->nr_args < STRACE_MAX_ARGS)
		call->arg[call->nr_args] = (struct slice) { start, end };
	call->nr_args++;
}

static bool is_empty(struct slice slice)
{
	scan_blanks(&slice.at, slice.end);
	return slice.at == slice.end;
}

/* Behind what begins at @at: a string, a comment, the path of a descriptor, or one character. */
static const char *skip_token(const char *start, const char *at, const char *end)
{
	if (*at == '"')
		skip_string(&at, end);
	else if (opens_path(start, at, end))
		at = skip_path(at, end);
	else if (!skip_comment(&at, end))
		at++;
	return at;
}

/* Splits at the commas outside of everything; stops behind the ')' that closes the call. */
static bool split_args(const char **at_text, const char *end, struct strace_call *call)
{
	const char *start = *at_text, *at = start;
	unsigned int depth = 0;

	while (at < end) {
		char c = *at;

		if (!special[(unsigned char)c]) {
			at++;
			continue;
		}
		if (c == ')' && !depth) {
			add_arg(call, start, at);
			/* "munlockall()" has none */
			if (call->nr_args == 1 && is_empty(call->arg[0]))
				call->nr_args = 0;
			*at_text = at + 1;
			return true;
		}
		if (c == ',' && !depth) {
			add_arg(call, start, at);
			start = at + 1;
		}
		depth += c == '{' || c == '[' || c == '(';
		depth -= depth && (c == '}' || c == ']' || c == ')');
		at = skip_token(start, at, end);
	}
	return false;
}

/* "ENOMEM (Cannot allocate memory)", "(errno 12)", "errno=12 (...)", "ERRNO_512". */
static bool read_error(const char *at, const char *end, struct strace_call *call)
{
	size_t len = word_length(at, end);
	uint64_t number;

	if (scan_text(&at, end, "(errno ") || scan_text(&at, end, "errno=") ||
	    scan_text(&at, end, "ERRNO_")) {
		if (!scan_decimal(&at, end, &number) || !number || number > 4095)
			return false;
	} else if (!len || *at != 'E' || !strace_symbol(at, len, &number)) {
		return false;
	}
	call->result = STRACE_RESULT_ERROR;
	call->value = -(int64_t)number;
	return true;
}

static bool read_result_value(const char *at, const char *end, struct strace_call *call)
{
	bool minus = scan_char(&at, end, '-');
	uint64_t value;

	if (!minus && scan_text(&at, end, "0x")) {
		if (!scan_hex(&at, end, &value))
			return false;
	} else if (!scan_decimal(&at, end, &value)) {
		return false;
	}
	scan_blanks(&at, end);
	if (minus && value == 1 && read_error(at, end, call))
		return true;
	if (minus && at < end && *at == 'E')
		return false; /* an error of which nothing is known */
	call->value = minus ? -(int64_t)value : (int64_t)value;
	/* a raw -12 is an error too */
	call->result = minus && value < 4096 ? STRACE_RESULT_ERROR : STRACE_RESULT_VALUE;
	if (at < end && *at == '<') {
		call->path = (struct slice) { at + 1, skip_path(at, end) };
		call->path.end = find_last(at, call->path.end, '>');
		if (!call->path.end)
			call->path = (struct slice) { 0 };
	}
	return true;
}

/* "<0.000075>" at the end (-T). */
static void read_duration(const char *at, const char *end, struct strace_call *call)
{
	const char *open = find_last(at, end, '<');
	uint64_t seconds, fraction;
	unsigned int digits;

	if (end == at || end[-1] != '>' || !open)
		return;
	open++;
	if (!scan_decimal(&open, end, &seconds) || !scan_char(&open, end, '.') ||
	    seconds > UINT32_MAX)
		return;
	digits = scan_decimal(&open, end, &fraction);
	if (!digits || digits > 9 || open + 1 != end)
		return;
	for (; digits < 9; digits++)
		fraction *= 10;
	call->duration_ns = seconds * UINT64_C(1000000000) + fraction;
}

const char *strace_call_parse(const char *at, const char *end, struct strace_call *ret_call)
{
	struct strace_call call = { 0 };

	trim_right(at, &end);
	if (!split_args(&at, end, &call))
		return "')' behind the arguments";
	scan_blanks(&at, end);
	/* "=> {parent_tid=[123]}" belongs to the arguments of a call that was resumed */
	if (!scan_char(&at, end, '='))
		return "'= result' behind the arguments";
	scan_blanks(&at, end);
	read_duration(at, end, &call);
	if (find_text(at, end, "(INJECTED)")) {
		call.result = STRACE_RESULT_NOT_MADE;
	} else if (scan_char(&at, end, '?')) {
		call.result = find_text(at, end, "ERESTART") ? STRACE_RESULT_NOT_MADE
							     : STRACE_RESULT_UNKNOWN;
	} else if (!read_result_value(at, end, &call)) {
		return "a result: a number, -1 and an errno, or ?";
	}
	*ret_call = call;
	return NULL;
}

/* One number or name of a value. */
static bool read_term(const char **at, const char *end, uint64_t *ret_value)
{
	bool minus, ok;
	size_t len;

	scan_blanks(at, end);
	minus = scan_char(at, end, '-');
	if (*at < end && is_digit(**at)) {
		if (scan_text(at, end, "0x"))
			ok = scan_hex(at, end, ret_value) != 0;
		else
			ok = scan_decimal(at, end, ret_value) != 0;
	} else {
		len = word_length(*at, end);
		ok = strace_symbol(*at, len, ret_value);
		*at += len;
	}
	if (ok && minus)
		*ret_value = -*ret_value;
	return ok;
}

static void skip_space(const char **at, const char *end)
{
	do
		scan_blanks(at, end);
	while (skip_comment(at, end));
}

bool strace_value(struct slice slice, uint64_t *ret_value)
{
	const char *at = slice.at, *end = slice.end;
	uint64_t value = 0, term, factor;

	do {
		skip_space(&at, end);
		if (!read_term(&at, end, &term))
			return false;
		skip_space(&at, end);
		if (scan_text(&at, end, "<<")) {
			if (!read_term(&at, end, &factor) || factor > 63)
				return false;
			term <<= factor;
		} else if (scan_char(&at, end, '*')) {
			if (!read_term(&at, end, &factor))
				return false;
			term *= factor;
		}
		skip_space(&at, end);
		value |= term;
	} while (scan_char(&at, end, '|'));
	if (at != end)
		return false;
	*ret_value = value;
	return true;
}

bool strace_fd(struct slice slice, int32_t *ret_fd, struct slice *ret_path)
{
	const char *at = slice.at, *end = slice.end;
	uint64_t value;

	*ret_path = (struct slice) { 0 };
	skip_space(&at, end);
	if (!read_term(&at, end, &value))
		return false;
	if (at < end && *at == '<') {
		const char *stop = skip_path(at, end);
		const char *close = find_last(at, stop, '>');

		if (!close)
			return false;
		*ret_path = (struct slice) { at + 1, close };
		at = stop;
	}
	skip_space(&at, end);
	/* raw: 0xffffffff */
	*ret_fd = (int32_t)(uint32_t)value;
	return at == end && (value <= UINT32_MAX || value >= (uint64_t)INT64_MIN);
}

bool strace_member(struct slice slice, const char *name, struct slice *ret_value)
{
	size_t len = strlen(name);

	for (const char *at = slice.at; (at = find_text(at, slice.end, name)); at += len) {
		const char *p = at + len, *stop;

		if ((at > slice.at && is_word(at[-1])) || !scan_char(&p, slice.end, '='))
			continue;
		for (stop = p; stop < slice.end && *stop != ',' && *stop != '}' && *stop != ' ';)
			stop++;
		*ret_value = (struct slice) { p, stop };
		return true;
	}
	return false;
}
