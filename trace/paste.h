/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/paste.h - what people and programs do to a line when they paste, quote, shorten it. */
#ifndef TRACE_PASTE_H
#define TRACE_PASTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Behind indentation, "> " marks (also as "&gt;"), HTML tags and what docker, syslog and their like
 * put in front of a line. *@ret_quoted: there was more than blanks.
 */
const char *unquote(const char *at, const char *end, bool *ret_quoted);
/* "....", "<snip>", "... 12 lines ...", "[...]". */
bool elision_line(const char *at, const char *end);
/* Takes "<tag>", "</tag>" or "<tag attributes>" of HTML at *@at. */
bool scan_tag(const char **at, const char *end);
/* As trim_right, also without the HTML tags that end a line. */
void trim_markup(const char *at, const char **end);
/* Takes blanks at *@at, also those of HTML and the one that does not break. Any? */
bool scan_wide_blanks(const char **at, const char *end);
/* Takes a number at *@at, also one in groups of three as people write it: "2,238", "2.238". */
bool scan_count(const char **at, const char *end, uint64_t *ret_count);
/* Puts characters for "&lt;" and its like, in place; the new length. */
size_t decode_entities(char *text, size_t len);

/*
 * Takes the encoding "quoted-printable" off a mail, in place; the new length. Lines keep their
 * numbers: what a soft break has split is joined, and empty lines follow in its stead.
 */
size_t decode_quoted_printable(char *text, size_t len);

#endif
