/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ui/terminal.h - what output is shown on, and a whole screen with single keys for what is looked at
 * again and again.
 */
#ifndef UI_TERMINAL_H
#define UI_TERMINAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <termios.h>

bool terminal_is(FILE *out);
/* Of the terminal behind @out; SIZE_MAX when there is none, or it does not tell. */
size_t terminal_columns(FILE *out);
size_t terminal_rows(FILE *out);
/* True on a terminal that has them, unless NO_COLOR is set to anything. */
bool terminal_colours(FILE *out);

struct terminal {
	FILE *out;
	struct termios saved;
	sigset_t signals; /* as they were blocked before */
	bool has_keys;	  /* standard input is a terminal too */
};

/* What terminal_key gives beside characters. */
enum key {
	KEY_NONE = 256, /* time is over */
	KEY_STOP,	/* a signal says so, or there is no more input */
	KEY_RESIZED,
	KEY_UP,
	KEY_DOWN,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
	KEY_F1,
	KEY_F10,
	KEY_OTHER,
};

/* Takes the whole screen behind @out, which is a terminal, and single keys if there are any. */
void terminal_open(struct terminal *terminal, FILE *out);
/* Gives the screen back as it was. */
void terminal_close(struct terminal *terminal);
/* Shows @text, as much of it as fits: lines and columns behind the edges are cut. */
void terminal_show(struct terminal *terminal, const char *text);
/* Waits for a key. Suspends and comes back by itself. */
int terminal_key(struct terminal *terminal, int timeout_ms);

#endif
