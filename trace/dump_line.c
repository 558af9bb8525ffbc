/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/dump_line.h"

#include <string.h>

#include "trace/scan.h"

#define PAGE UINT64_C(4096)

/* "0000108000-0000108fff": the last byte, not the one behind it */
static bool scan_range(const char **at, const char *end, struct maps_line *line)
{
	if (!scan_hex(at, end, &line->start) || !scan_char(at, end, '-') ||
	    !scan_hex(at, end, &line->end))
		return false;
	line->end++;
	return line->start < line->end && !((line->start | line->end) & (PAGE - 1));
}

/* "r-x--": what follows x is Valgrind's own */
static bool take_perms(const char *at, size_t len, char *perms)
{
	if (len != 5 || !strchr("r-", at[0]) || !strchr("w-", at[1]) || !strchr("x-", at[2]))
		return false;
	memcpy(perms, at, 3);
	perms[3] = 'p';
	return true;
}

/* "d=0xfe00 i=335486  o=4096": device numbers as stat gives them */
static void scan_valgrind_file(const char *at, const char *end, struct maps_line *line)
{
	uint64_t dev = 0, inode = 0, offset = 0;

	scan_blanks(&at, end);
	if (!scan_text(&at, end, "d=0x") || !scan_hex(&at, end, &dev))
		return;
	scan_blanks(&at, end);
	if (!scan_text(&at, end, "i=") || !scan_decimal(&at, end, &inode))
		return;
	scan_blanks(&at, end);
	if (scan_text(&at, end, "o="))
		scan_decimal(&at, end, &offset);
	line->dev_major = (uint32_t)(dev >> 8 & 0xfff);
	line->dev_minor = (uint32_t)((dev & 0xff) | (dev >> 12 & 0xfff00));
	line->inode = inode;
	line->offset = offset;
}

/* " 3: FILE 0058001000-0058197fff 1667072 r-x-- d=0xfe00 i=335486  o=4096 (0,4)" */
static bool parse_valgrind(const char *at, const char *end, struct maps_line *line)
{
	static const char *const kinds[] = { "anon", "ANON", "file", "FILE", "shm" };
	const char *list = find_text(at, end, "aspacem ");
	bool mapped = false;
	uint64_t number;
	size_t len;

	if (!list)
		return false;
	at = list + strlen("aspacem ");
	scan_blanks(&at, end);
	if (!scan_decimal(&at, end, &number) || !scan_char(&at, end, ':'))
		return false;
	scan_blanks(&at, end);
	len = word_length(at, end);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		mapped |= word_is(at, len, kinds[i]);
	at += len;
	scan_blanks(&at, end);
	if (!mapped || !scan_range(&at, end, line))
		return false;
	scan_blanks(&at, end);
	while (at < end && !is_blank(*at)) /* the size, for people */
		at++;
	scan_blanks(&at, end);
	for (len = 0; at + len < end && !is_blank(at[len]); len++)
		;
	if (!take_perms(at, len, line->perms))
		return false;
	scan_valgrind_file(at + len, end, line);
	return true;
}

/* "\t0x000000400000-0x000000452000\t/bin/cat" */
static bool parse_asan(const char *at, const char *end, struct maps_line *line)
{
	scan_blanks(&at, end);
	if (!scan_text(&at, end, "0x") || !scan_hex(&at, end, &line->start) ||
	    !scan_text(&at, end, "-0x") || !scan_hex(&at, end, &line->end) ||
	    line->start >= line->end || (line->start | line->end) & (PAGE - 1))
		return false;
	scan_blanks(&at, end);
	trim_right(at, &end);
	memcpy(line->perms, "---p", 4);
	line->name = at;
	line->name_len = (size_t)(end - at);
	return true;
}

bool dump_line_parse(enum source_kind kind, const char *at, const char *end,
		     struct maps_line *ret_line)
{
	struct maps_line line = { .name = "" };
	bool taken = kind == SOURCE_ASAN ? parse_asan(at, end, &line)
					 : parse_valgrind(at, end, &line);

	if (taken)
		*ret_line = line;
	return taken;
}
