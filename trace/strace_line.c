/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line of an strace log. The order of what stands in front of a call is strace's own: pid, time,
 * time since the last line, instruction pointer, call number, call.
 */
#include <string.h>

#include "trace/clock.h"
#include "trace/scan.h"
#include "trace/strace_line.h"

static const char *const signals[] = {
	[1] = "SIGHUP",	    [2] = "SIGINT",   [3] = "SIGQUIT",	 [4] = "SIGILL",   [5] = "SIGTRAP",
	[6] = "SIGABRT",    [7] = "SIGBUS",   [8] = "SIGFPE",	 [9] = "SIGKILL",  [10] = "SIGUSR1",
	[11] = "SIGSEGV",   [12] = "SIGUSR2", [13] = "SIGPIPE",	 [14] = "SIGALRM", [15] = "SIGTERM",
	[16] = "SIGSTKFLT", [17] = "SIGCHLD", [18] = "SIGCONT",	 [19] = "SIGSTOP", [20] = "SIGTSTP",
	[21] = "SIGTTIN",   [22] = "SIGTTOU", [23] = "SIGURG",	 [24] = "SIGXCPU", [25] = "SIGXFSZ",
	[26] = "SIGVTALRM", [27] = "SIGPROF", [28] = "SIGWINCH", [29] = "SIGIO",   [30] = "SIGPWR",
	[31] = "SIGSYS",
};

/* By its name; 0 when it is not known. */
static unsigned int signal_number(const char *name, size_t len)
{
	for (unsigned int i = 1; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (word_is(name, len, signals[i]))
			return i;
	return 0;
}

/* The digits behind a decimal point, as nanoseconds. */
static bool scan_fraction(const char **at, const char *end, uint64_t *ret_ns)
{
	uint64_t ns = 0, unit = NS_PER_S / 10;
	const char *p = *at;

	for (; p < end && is_digit(*p); p++, unit /= 10)
		ns += (uint64_t)(*p - '0') * unit;
	if (p == *at)
		return false;
	*at = p;
	*ret_ns = ns;
	return true;
}

/* What follows the hours of "10:59:55.985404", blank included. */
static bool scan_clock(const char **at, const char *end, uint64_t hours, uint64_t *ret_ns)
{
	const char *p = *at;
	uint64_t minutes, seconds, ns = 0;

	if (!scan_char(&p, end, ':') || scan_decimal(&p, end, &minutes) != 2 ||
	    !scan_char(&p, end, ':') || scan_decimal(&p, end, &seconds) != 2 || hours > 23)
		return false;
	if (scan_char(&p, end, '.') && !scan_fraction(&p, end, &ns))
		return false;
	if (p < end && !is_blank(*p))
		return false;
	*ret_ns = ((hours * 60 + minutes) * 60 + seconds) * NS_PER_S + ns;
	*at = p;
	return true;
}

/* The "<comm>" of -Y behind a pid; true also when there is none. */
static bool scan_comm(const char **at, const char *end, struct strace_line *line)
{
	const char *p = *at, *close;

	if (!scan_char(&p, end, '<'))
		return true;
	close = memchr(p, '>', (size_t)(end - p));
	if (!close)
		return false;
	line->comm = p;
	line->comm_len = (size_t)(close - p);
	*at = close + 1;
	return true;
}

/* "[pid 123] "; the number may be padded. */
static bool scan_bracketed_pid(const char **at, const char *end, struct strace_line *line)
{
	const char *p = *at;
	uint64_t pid;

	if (!scan_text(&p, end, "[pid"))
		return false;
	scan_blanks(&p, end);
	if (!scan_decimal(&p, end, &pid) || pid > INT32_MAX)
		return false;
	if (!scan_comm(&p, end, line) || !scan_char(&p, end, ']'))
		return false;
	line->has_pid = line->bracketed = true;
	line->pid = (uint32_t)pid;
	scan_blanks(&p, end);
	*at = p;
	return true;
}

/* "123 " or "123<comm> ", once the number was read. */
static bool take_pid(const char **at, const char *end, uint64_t pid, struct strace_line *line)
{
	const char *p = *at;

	if (line->has_pid || line->clock != STRACE_CLOCK_NONE || pid > INT32_MAX)
		return false;
	if (!scan_comm(&p, end, line) || (p < end && !is_blank(*p)))
		return false;
	line->has_pid = true;
	line->pid = (uint32_t)pid;
	*at = p;
	return true;
}

/* One of the numbers in front: a pid or a time. */
static bool scan_leading_number(const char **at, const char *end, struct strace_line *line)
{
	const char *p = *at;
	uint64_t value, ns;

	if (!scan_decimal(&p, end, &value))
		return false;
	if (p < end && *p == ':') {
		if (!scan_clock(&p, end, value, &line->time_ns))
			return false;
		line->clock = STRACE_CLOCK_DAY;
	} else if (p < end && *p == '.') {
		p++;
		if (!scan_fraction(&p, end, &ns) || (p < end && !is_blank(*p)) ||
		    value > UINT64_MAX / NS_PER_S - 1)
			return false;
		line->clock = STRACE_CLOCK_SECONDS;
		line->time_ns = value * NS_PER_S + ns;
	} else if (!take_pid(&p, end, value, line)) {
		return false;
	}
	*at = p;
	return true;
}

/* "[00007f...]" of -i, "[  25]" of -n, "(+ 0.000012)" of -r beside -t: nothing that we need. */
static bool skip_group(const char **at, const char *end)
{
	const char *p = *at;
	uint64_t value;

	if (scan_text(&p, end, "(+")) {
		p = memchr(p, ')', (size_t)(end - p));
		if (!p)
			return false;
		*at = p + 1;
		return true;
	}
	if (!scan_char(&p, end, '['))
		return false;
	scan_blanks(&p, end);
	while (scan_char(&p, end, '?'))
		;
	if (p < end && *p != ']' && !scan_hex(&p, end, &value))
		return false;
	if (!scan_char(&p, end, ']'))
		return false;
	*at = p;
	return true;
}

static void scan_leader(const char **at, const char *end, struct strace_line *line)
{
	scan_blanks(at, end);
	scan_bracketed_pid(at, end, line);
	do
		scan_blanks(at, end);
	while (scan_leading_number(at, end, line) || skip_group(at, end));
}

/* "strace: ", which may be told with its path. */
static bool scan_program(const char **at, const char *end)
{
	const char *p = *at;

	if (p < end && *p == '/')
		while (p < end && !is_blank(*p) && *p != ':')
			p++;
	if (p > *at) {
		static const char name[] = "/strace";
		size_t len = sizeof(name) - 1;

		if ((size_t)(p - *at) < len || memcmp(p - len, name, len))
			return false;
	} else if (!scan_text(&p, end, "strace")) {
		return false;
	}
	if (!scan_text(&p, end, ": "))
		return false;
	*at = p;
	return true;
}

/* "Process 123 attached": a new thread or process; "... with 3 threads": one that had run before. */
static bool parse_attached(const char *at, const char *end, struct strace_line *line)
{
	scan_program(&at, end);
	if (!scan_text(&at, end, "Process ") || !scan_decimal(&at, end, &line->value) ||
	    !scan_text(&at, end, " attached"))
		return false;
	line->kind = STRACE_LINE_ATTACHED;
	line->whole = scan_text(&at, end, " with ");
	return true;
}

/* "[ Process PID=123 runs in 32 bit mode. ]" */
static bool parse_mode(const char *at, const char *end, struct strace_line *line)
{
	uint64_t bits;

	if (!scan_text(&at, end, "[ Process PID="))
		return false;
	line->kind = STRACE_LINE_MESSAGE;
	if (scan_decimal(&at, end, &line->value) && scan_text(&at, end, " runs in ") &&
	    scan_decimal(&at, end, &bits)) {
		line->kind = STRACE_LINE_MODE;
		line->bits = (unsigned int)bits;
	}
	return true;
}

static bool parse_message(const char *at, const char *end, struct strace_line *line)
{
	uint64_t pid;

	if (parse_attached(at, end, line) || parse_mode(at, end, line))
		return true;
	if (scan_program(&at, end) ||
	    (scan_text(&at, end, "Process ") && scan_decimal(&at, end, &pid))) {
		line->kind = STRACE_LINE_MESSAGE;
		return true;
	}
	return false;
}

/* "+++ exited with 0 +++" and its like. */
static void parse_end(const char *at, const char *end, struct strace_line *line)
{
	line->kind = STRACE_LINE_MESSAGE;
	scan_blanks(&at, end);
	if (scan_text(&at, end, "exited with ") && scan_decimal(&at, end, &line->value)) {
		line->kind = STRACE_LINE_EXITED;
	} else if (scan_text(&at, end, "killed by ")) {
		line->kind = STRACE_LINE_KILLED;
		line->value = 128 + signal_number(at, word_length(at, end));
	} else if (scan_text(&at, end, "superseded by execve in pid ") &&
		   scan_decimal(&at, end, &line->value)) {
		line->kind = STRACE_LINE_REPLACED;
	}
}

/* "<... mmap resumed>": rest is what follows. */
static void parse_resumed(const char *at, const char *end, struct strace_line *line)
{
	static const char mark[] = " resumed>";
	const char *name = at, *p = at + word_length(at, end);

	/* between the two, a flag of old kernels or nothing */
	p = find_text(p, end, mark);
	if (!p)
		return;
	line->kind = STRACE_LINE_RESUMED;
	line->name = name;
	line->name_len = word_length(name, end);
	line->rest = p + sizeof(mark) - 1;
}

/* "% time     seconds  usecs/call", "------ -----------", "  0.00    0.000000 ...". */
static bool parse_table(const char *at, const char *end, struct strace_line *line)
{
	const char *p = at;
	uint64_t value;

	if (!scan_text(&p, end, "% time ") && !scan_text(&p, end, "------ -----------")) {
		if (!scan_decimal(&p, end, &value) || !scan_char(&p, end, '.') ||
		    scan_decimal(&p, end, &value) != 2 || end - p < 4 || !is_blank(*p))
			return false;
		scan_blanks(&p, end);
		if (!scan_decimal(&p, end, &value) || !scan_char(&p, end, '.') ||
		    scan_decimal(&p, end, &value) != 6)
			return false;
		/* "0.00 0.000000 0 39 2 mmap": numbers to the name at the end */
		while (p < end && (is_blank(*p) || is_digit(*p)))
			p++;
		if (p + word_length(p, end) != end)
			return false;
	}
	line->kind = STRACE_LINE_TABLE;
	return true;
}

/* What stands behind pid and time. */
static void parse_body(const char *at, const char *end, struct strace_line *line)
{
	size_t len = word_length(at, end);

	line->name = at;
	line->name_len = len;
	if (len && !is_digit(*at) && at + len < end && at[len] == '(') {
		line->kind = STRACE_LINE_CALL;
		line->rest = at + len + 1;
	} else if (scan_text(&at, end, "+++ ")) {
		parse_end(at, end, line);
	} else if (scan_text(&at, end, "--- ")) {
		line->kind = STRACE_LINE_SIGNAL;
		line->rest = at;
	} else if (scan_text(&at, end, "<... ")) {
		parse_resumed(at, end, line);
	} else {
		parse_message(at, end, line);
	}
}

void strace_line_parse(const char *at, const char *end, struct strace_line *ret_line)
{
	struct strace_line line = { .kind = STRACE_LINE_OTHER };
	const char *text = at;

	trim_right(at, &end);
	line.end = line.rest = end;
	scan_blanks(&text, end);
	if (text == end) {
		line.kind = STRACE_LINE_BLANK;
	} else if (*text == '>' && text > at && end[-1] == ']') {
		line.kind = STRACE_LINE_STACK;
	} else if (!parse_message(text, end, &line) && !parse_table(text, end, &line)) {
		scan_leader(&at, end, &line);
		parse_body(at, end, &line);
	}
	*ret_line = line;
}

/* Is [at, end) what strace writes for a first argument that is an address? */
static bool address_argument(const char *at, const char *end)
{
	return end - at > 1 && (is_digit(*at) || !memcmp(at, "NU", 2));
}

/*
 * Of the calls that say something about maps, processes and files: is this the first half of one
 * that a mailer has wrapped? It is told from C code and prose by what stands behind the '('.
 */
static bool first_half(const struct strace_line *line)
{
	static const struct {
		const char *name;
		const char *argument; /* NULL: an address */
	} halves[] = {
		{ "mmap", NULL },	  { "old_mmap", NULL },
		{ "mmap2", NULL },	  { "munmap", NULL },
		{ "mprotect", NULL },	  { "mremap", NULL },
		{ "madvise", NULL },	  { "brk", NULL },
		{ "mlock", NULL },	  { "mlock2", NULL },
		{ "munlock", NULL },	  { "mbind", NULL },
		{ "mseal", NULL },	  { "pkey_mprotect", NULL },
		{ "shmat", NULL },	  { "remap_file_pages", NULL },
		{ "prctl", "PR_SET_" },	  { "clone", "child_stack=" },
		{ "clone", "stack=" },	  { "clone", "flags=" },
		{ "clone3", "{flags=" },  { "execve", "\"" },
		{ "openat", "AT_FDCWD" }, { "memfd_create", "\"" },
	};

	if (line->end > line->rest && line->end[-1] == ';')
		return false;
	for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
		const char *at = line->rest;

		if (word_is(line->name, line->name_len, halves[i].name) &&
		    (halves[i].argument ? scan_text(&at, line->end, halves[i].argument)
					: address_argument(at, line->end)))
			return true;
	}
	return false;
}

enum strace_looks strace_line_looks(const char *at, const char *end)
{
	struct strace_line line;

	strace_line_parse(at, end, &line);
	switch (line.kind) {
	case STRACE_LINE_CALL:
		break;
	case STRACE_LINE_RESUMED:
	case STRACE_LINE_EXITED:
	case STRACE_LINE_KILLED:
	case STRACE_LINE_REPLACED:
	case STRACE_LINE_ATTACHED:
	case STRACE_LINE_MODE:
		return STRACE_LOOKS_WHOLE;
	case STRACE_LINE_SIGNAL:
		return (size_t)(line.end - line.rest) > 3 && !memcmp(line.rest, "SIG", 3)
			       ? STRACE_LOOKS_WHOLE
			       : STRACE_LOOKS_OTHER;
	default:
		return STRACE_LOOKS_OTHER;
	}
	if (find_text(line.rest, line.end, ") = ") || find_text(line.rest, line.end, ")= ") ||
	    find_text(line.rest, line.end, "<unfinished"))
		return STRACE_LOOKS_WHOLE;
	/* padded to the column of results */
	if (find_text(line.rest, line.end, ")   ") && find_text(line.rest, line.end, " = "))
		return STRACE_LOOKS_WHOLE;
	return first_half(&line) ? STRACE_LOOKS_HALF : STRACE_LOOKS_OTHER;
}
