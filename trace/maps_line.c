/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single lines of maps, smaps and numa_maps, as kernels print them and as people paste them.
 */
#include <string.h>

#include <seam/area.h>

#include "trace/maps_line.h"
#include "trace/paste.h"
#include "trace/scan.h"

static bool scan_flag(const char **at, const char *end, char flag, char *ret_flag)
{
	if (*at >= end || (**at != flag && **at != '-'))
		return false;
	*ret_flag = *(*at)++;
	return true;
}

static bool scan_perms(const char **at, const char *end, char *perms)
{
	if (!scan_flag(at, end, 'r', &perms[0]) || !scan_flag(at, end, 'w', &perms[1]) ||
	    !scan_flag(at, end, 'x', &perms[2]))
		return false;
	/* '-' instead of p or s: WSL 1 */
	return scan_flag(at, end, 'p', &perms[3]) || scan_flag(at, end, 's', &perms[3]);
}

/* "MAJOR:MINOR INODE", which some kernels leave out. */
static void scan_device(const char **at, const char *end, struct maps_line *line)
{
	const char *p = *at;
	uint64_t major, minor, inode;

	if (!scan_hex(&p, end, &major) || !scan_char(&p, end, ':') || !scan_hex(&p, end, &minor))
		return;
	scan_blanks(&p, end);
	if (!scan_decimal(&p, end, &inode) || (p < end && !is_blank(*p) && *p != '<'))
		return;
	line->dev_major = (uint32_t)major;
	line->dev_minor = (uint32_t)minor;
	line->inode = inode;
	*at = p;
}

/* The rest of the line, without the tags and blanks that a paste left behind it. */
static void take_name(const char *at, const char *end, struct maps_line *line)
{
	const char *tag;

	scan_blanks(&at, end);
	for (const char *p = at; p < end; p = tag + 1) {
		tag = memchr(p, '<', (size_t)(end - p));
		if (!tag)
			break;
		p = tag;
		if (scan_tag(&p, end)) {
			end = tag;
			break;
		}
	}
	trim_right(at, &end);
	line->name = at;
	line->name_len = (size_t)(end - at);
}

static enum maps_line_kind parse_area(const char *at, const char *end, struct maps_line *line,
				      const char **ret_expected)
{
	scan_blanks(&at, end);
	*ret_expected = "permissions like rw-p behind the addresses";
	if (!scan_perms(&at, end, line->perms) || (at < end && !is_blank(*at)))
		return MAPS_LINE_BROKEN;
	*ret_expected = "a hexadecimal offset behind the permissions";
	scan_blanks(&at, end);
	if (!scan_hex(&at, end, &line->offset) || (at < end && !is_blank(*at) && *at != '<'))
		return MAPS_LINE_BROKEN;
	scan_blanks(&at, end);
	scan_device(&at, end, line);
	take_name(at, end, line);
	*ret_expected = "addresses of whole pages (multiples of 0x1000)";
	if ((line->start | line->end) & 0xfff)
		return MAPS_LINE_BROKEN;
	*ret_expected = "an end that does not lie below the start";
	if (line->end < line->start)
		return MAPS_LINE_BROKEN;
	return MAPS_LINE_AREA;
}

static bool numa_policy(const char *at, const char *end)
{
	static const char *const policies[] = { "default",    "bind",  "prefer",
						"interleave", "local", "weighted" };
	size_t len = word_length(at, end);

	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		if (word_is(at, len, policies[i]))
			return true;
	return false;
}

static bool parse_numa(const char *at, const char *end, struct maps_line *line)
{
	const char *stop;

	scan_blanks(&at, end);
	if (!numa_policy(at, end))
		return false;
	stop = at;
	/* "prefer (many):0-1" is one policy of two words */
	while (stop < end && (!is_blank(*stop) || (stop + 1 < end && stop[1] == '(')))
		stop++;
	line->name = at;
	line->name_len = (size_t)(stop - at);
	line->end = line->start;
	return true;
}

/* "Word:   4 kB"; three keys have values of their own kind. */
static bool key_line(const char *at, const char *end)
{
	const char *name = at;
	size_t len = word_length(at, end);
	uint64_t value;

	at += len;
	if (!len || is_digit(*name) || !scan_char(&at, end, ':'))
		return false;
	if (word_is(name, len, "VmFlags"))
		return true;
	scan_blanks(&at, end);
	if (!scan_decimal(&at, end, &value))
		return false;
	scan_blanks(&at, end);
	return scan_text(&at, end, "kB") || word_is(name, len, "ProtectionKey") ||
	       word_is(name, len, "THPeligible");
}

/* A line that begins with an address; MAPS_LINE_NONE when it is some other text after all. */
static enum maps_line_kind parse_address(const char *at, const char *end, struct maps_line *line,
					 const char **ret_expected)
{
	if (!scan_hex(&at, end, &line->start) || at == end)
		return MAPS_LINE_NONE;
	if (is_blank(*at))
		return parse_numa(at, end, line) ? MAPS_LINE_NUMA : MAPS_LINE_NONE;
	if (!scan_char(&at, end, '-') || !scan_hex(&at, end, &line->end) || at == end ||
	    !is_blank(*at))
		return MAPS_LINE_NONE;
	return parse_area(at, end, line, ret_expected);
}

enum maps_line_kind maps_line_parse(const char *at, const char *end, struct maps_line *ret_line,
				    const char **ret_expected)
{
	struct maps_line line = { 0 };
	enum maps_line_kind kind;
	const char *unused;

	at = unquote(at, end, NULL);
	trim_markup(at, &end);
	if (at == end)
		return MAPS_LINE_BLANK;
	kind = parse_address(at, end, &line, ret_expected ? ret_expected : &unused);
	*ret_line = line;
	if (kind != MAPS_LINE_NONE)
		return kind;
	if (key_line(at, end))
		return MAPS_LINE_KEY;
	return elision_line(at, end) ? MAPS_LINE_ELISION : MAPS_LINE_NONE;
}

bool maps_line_continue(const char *at, const char *end, struct maps_line *line)
{
	const char *start;

	at = unquote(at, end, NULL);
	start = at;
	if (line->name_len)
		return false;
	if (!line->dev_major && !line->dev_minor && !line->inode)
		scan_device(&at, end, line);
	if (at == start && (!line->inode || at == end || *at != '/'))
		return false;
	take_name(at, end, line);
	return true;
}

void maps_key_split(const char *at, const char *end, struct maps_key *ret_key)
{
	at = unquote(at, end, NULL);
	ret_key->name = at;
	ret_key->name_len = word_length(at, end);
	at += ret_key->name_len;
	scan_char(&at, end, ':');
	scan_blanks(&at, end);
	trim_right(at, &end);
	ret_key->value = at;
	ret_key->value_end = end;
}

uint32_t maps_name_traits(const char *name)
{
	if (begins_with(name, "/dev/zero") || begins_with(name, "/memfd:") ||
	    begins_with(name, "/SYSV") || begins_with(name, "/dev/shm/") ||
	    begins_with(name, "[anon_shmem:"))
		return SEAM_TRAIT_SHMEM;
	if (!strcmp(name, "[vdso]") || begins_with(name, "[vvar"))
		return SEAM_TRAIT_NO_SPLIT;
	return 0;
}
