/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ui/plain.h - text that others chose (names of programs and files, a line of input) on a screen: what
 * a terminal would take as a command, or as another line, is shown as '?'.
 */
#ifndef UI_PLAIN_H
#define UI_PLAIN_H

#include <stdio.h>

/* In place, no longer than before. Returns @text. */
char *plain_text(char *text);
void print_plain(const char *text, FILE *out);
/* @utf8, our own text; @ascii where LC_ALL, LC_CTYPE or LANG, the first that is set, asks for "C". */
const char *beyond_ascii(const char *utf8, const char *ascii);

#endif
