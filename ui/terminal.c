/* SPDX-License-Identifier: BSD-2-Clause */
#include "ui/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Control sequences that every terminal since the VT100 knows, and xterm's second screen. */
#define SECOND_SCREEN "\033[?1049h\033[?25l"
#define FIRST_SCREEN "\033[?25h\033[?1049l"
#define TO_TOP "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"

/* A sequence comes at once; a lone escape is followed by nothing for so long. */
#define SEQUENCE_MS 25

static volatile sig_atomic_t stopped, resized, suspended;

static void take_signal(int signal)
{
	if (signal == SIGWINCH)
		resized = 1;
	else if (signal == SIGTSTP)
		suspended = 1;
	else
		stopped = 1;
}

bool terminal_is(FILE *out)
{
	int fd = fileno(out);

	return fd >= 0 && isatty(fd);
}

static bool get_size(FILE *out, struct winsize *ret_size)
{
	return terminal_is(out) && !ioctl(fileno(out), TIOCGWINSZ, ret_size);
}

size_t terminal_columns(FILE *out)
{
	struct winsize size;

	return get_size(out, &size) && size.ws_col ? size.ws_col : SIZE_MAX;
}

size_t terminal_rows(FILE *out)
{
	struct winsize size;

	return get_size(out, &size) && size.ws_row ? size.ws_row : SIZE_MAX;
}

bool terminal_colours(FILE *out)
{
	const char *none = getenv("NO_COLOR"), *kind = getenv("TERM");

	return terminal_is(out) && !(none && *none) && kind && strcmp(kind, "dumb") != 0;
}

static void set_keys(struct terminal *terminal)
{
	struct termios keys;

	terminal->has_keys = isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &terminal->saved);
	if (!terminal->has_keys)
		return;
	keys = terminal->saved;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	terminal->has_keys = !tcsetattr(STDIN_FILENO, TCSANOW, &keys);
}

void terminal_open(struct terminal *terminal, FILE *out)
{
	static const struct sigaction action = { .sa_handler = take_signal };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP };
	sigset_t taken;

	terminal->out = out;
	sigemptyset(&taken);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaction(signals[i], &action, NULL);
		sigaddset(&taken, signals[i]);
	}
	/* taken only while a key is waited for, so that none is missed before */
	sigprocmask(SIG_BLOCK, &taken, &terminal->signals);
	set_keys(terminal);
	fputs(SECOND_SCREEN, out);
	fflush(out);
}

void terminal_close(struct terminal *terminal)
{
	fputs(FIRST_SCREEN, terminal->out);
	fflush(terminal->out);
	if (terminal->has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &terminal->saved);
	sigprocmask(SIG_SETMASK, &terminal->signals, NULL);
}

/* One line up to the edge. Control sequences ("\033[1m") take no room, nor do the later bytes of UTF-8. */
static const char *show_line(const char *at, size_t columns, FILE *out)
{
	bool sequence = false;

	for (; *at && *at != '\n'; at++) {
		bool starts = ((unsigned char)*at & 0xc0) != 0x80;

		if (*at == '\033')
			sequence = true;
		if (sequence) {
			fputc(*at, out);
			sequence = *at != 'm';
			continue;
		}
		if (starts && !columns)
			continue;
		columns -= starts;
		fputc(*at, out);
	}
	return *at ? at + 1 : at;
}

void terminal_show(struct terminal *terminal, const char *text)
{
	size_t rows = terminal_rows(terminal->out), columns = terminal_columns(terminal->out);

	fputs(TO_TOP, terminal->out);
	for (size_t row = 0; *text && row < rows; row++) {
		if (row)
			fputc('\n', terminal->out);
		text = show_line(text, columns, terminal->out);
		fputs(CLEAR_LINE, terminal->out);
	}
	fputs(CLEAR_BELOW, terminal->out);
	fflush(terminal->out);
}

static bool next_byte(char *ret_byte)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, SEQUENCE_MS) > 0 && read(STDIN_FILENO, ret_byte, 1) == 1;
}

/* What follows an escape, as xterm and the Linux console send it. */
static int read_sequence(void)
{
	static const struct {
		const char *bytes;
		int key;
	} sequences[] = {
		{ "[A", KEY_UP },    { "OA", KEY_UP },	     { "[B", KEY_DOWN },
		{ "OB", KEY_DOWN },  { "[5~", KEY_PAGE_UP }, { "[6~", KEY_PAGE_DOWN },
		{ "[H", KEY_HOME },  { "OH", KEY_HOME },     { "[1~", KEY_HOME },
		{ "[F", KEY_END },   { "OF", KEY_END },	     { "[4~", KEY_END },
		{ "OP", KEY_F1 },    { "[11~", KEY_F1 },     { "[[A", KEY_F1 },
		{ "[21~", KEY_F10 },
	};
	char bytes[8] = "";

	for (size_t len = 0; len + 1 < sizeof(bytes) && next_byte(&bytes[len]); len++)
		for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++)
			if (!strcmp(bytes, sequences[i].bytes))
				return sequences[i].key;
	return KEY_OTHER;
}

static void suspend(struct terminal *terminal)
{
	suspended = 0;
	terminal_close(terminal);
	raise(SIGSTOP);
	terminal_open(terminal, terminal->out);
}

int terminal_key(struct terminal *terminal, int timeout_ms)
{
	struct pollfd in = { .fd = terminal->has_keys ? STDIN_FILENO : -1, .events = POLLIN };
	const struct timespec timeout = { .tv_sec = timeout_ms / 1000,
					  .tv_nsec = timeout_ms % 1000 * 1000000L };
	int ready = ppoll(&in, 1, &timeout, &terminal->signals);
	unsigned char key;

	if (stopped)
		return KEY_STOP;
	if (suspended) {
		suspend(terminal);
		return KEY_RESIZED;
	}
	if (resized) {
		resized = 0;
		return KEY_RESIZED;
	}
	if (ready <= 0)
		return ready && errno != EINTR ? KEY_STOP : KEY_NONE;
	if (read(STDIN_FILENO, &key, 1) != 1)
		return KEY_STOP;
	return key == '\033' ? read_sequence() : key;
}
