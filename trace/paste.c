/* SPDX-License-Identifier: BSD-2-Clause */
/* What people and programs do to a line when they paste, quote, shorten or publish it. */
#include <string.h>

#include "trace/paste.h"
#include "trace/scan.h"

static const char *const html_tags[] = {
	"pre", "code", "p", "br", "div", "span", "td", "tr", "li", "tt", "samp", "blockquote", "b",
};

bool scan_tag(const char **at, const char *end)
{
	const char *p = *at;
	size_t len;

	if (!scan_char(&p, end, '<'))
		return false;
	scan_char(&p, end, '/');
	len = word_length(p, end);
	for (size_t i = 0; i < sizeof(html_tags) / sizeof(html_tags[0]); i++) {
		if (!word_is(p, len, html_tags[i]))
			continue;
		p = memchr(p, '>', (size_t)(end - p));
		if (!p)
			return false;
		*at = p + 1;
		return true;
	}
	return false;
}

/* ">", "| ", ": " and "JD> " */
static bool scan_quote(const char **at, const char *end)
{
	const char *p = *at;

	if (scan_char(at, end, '>') || scan_text(at, end, "&gt;"))
		return true;
	if (p + 1 < end && (*p == '|' || *p == ':') && is_blank(p[1])) {
		*at = p + 2;
		return true;
	}
	while (p < end && p - *at < 3 && *p >= 'A' && *p <= 'Z')
		p++;
	if (p == *at || p + 1 >= end || *p != '>' || !is_blank(p[1]))
		return false;
	*at = p + 2;
	return true;
}

/* Takes what has the form of @shape at *@at: '0' stands for a digit, 'a' for a letter. */
static bool scan_shape(const char **at, const char *end, const char *shape)
{
	const char *p = *at;

	for (; *shape; shape++, p++) {
		if (p == end)
			return false;
		if (*shape == '0'   ? !is_digit(*p)
		    : *shape == 'a' ? !is_word(*p) || is_digit(*p)
				    : *p != *shape)
			return false;
	}
	*at = p;
	return true;
}

/* "2026-12-01T04:33:02.123456789Z " of docker, and "stdout F " behind it of Kubernetes. */
static bool scan_log_time(const char **at, const char *end)
{
	const char *p = *at;

	if (!scan_shape(&p, end, "0000-00-00T00:00:00"))
		return false;
	if (scan_char(&p, end, '.') || scan_char(&p, end, ','))
		while (p < end && is_digit(*p))
			p++;
	if (!scan_char(&p, end, 'Z') && !scan_shape(&p, end, "+00:00") &&
	    !scan_shape(&p, end, "-00:00"))
		return false;
	if (p < end && !is_blank(*p))
		return false;
	if (!scan_text(&p, end, " stdout F ") && !scan_text(&p, end, " stderr F "))
		p += p < end;
	*at = p;
	return true;
}

/* "Dec  1 04:33:01 host program[123]: " of syslog and journalctl. */
static bool scan_log_sender(const char **at, const char *end)
{
	const char *p = *at;
	uint64_t pid;

	if ((!scan_shape(&p, end, "aaa 00 00:00:00 ") && !scan_shape(&p, end, "aaa  0 00:00:00 ")))
		return false;
	while (p < end && !is_blank(*p))
		p++;
	scan_blanks(&p, end);
	while (p < end && !is_blank(*p) && *p != '[' && *p != ':')
		p++;
	if (scan_char(&p, end, '[') && (!scan_decimal(&p, end, &pid) || !scan_char(&p, end, ']')))
		return false;
	if (!scan_char(&p, end, ':') || (p < end && !is_blank(*p)))
		return false;
	*at = p + (p < end);
	return true;
}

/* "web-1  | " of docker compose: names of services have no capitals. */
static bool scan_log_service(const char **at, const char *end)
{
	const char *p = *at;

	while (p < end &&
	       ((*p >= 'a' && *p <= 'z') || is_digit(*p) || *p == '-' || *p == '_' || *p == '.'))
		p++;
	if (p == *at || p == end || !is_blank(*p))
		return false;
	scan_blanks(&p, end);
	if (!scan_char(&p, end, '|') || (p < end && !is_blank(*p)))
		return false;
	*at = p + (p < end);
	return true;
}

/* What a keeper of logs puts in front of each line. */
static bool scan_log_leader(const char **at, const char *end)
{
	return scan_log_time(at, end) || scan_log_sender(at, end) || scan_log_service(at, end);
}

const char *unquote(const char *at, const char *end, bool *ret_quoted)
{
	bool quoted = false;

	for (;;) {
		scan_blanks(&at, end);
		if (scan_quote(&at, end) || scan_tag(&at, end) || scan_log_leader(&at, end))
			quoted = true;
		else if (!scan_text(&at, end, "&nbsp;"))
			break;
	}
	if (ret_quoted)
		*ret_quoted = quoted;
	return at;
}

void trim_markup(const char *at, const char **end)
{
	for (;;) {
		const char *tag, *p;

		trim_right(at, end);
		tag = p = *end > at && (*end)[-1] == '>' ? find_last(at, *end, '<') : NULL;
		if (!tag || !scan_tag(&p, *end) || p != *end)
			return;
		*end = tag;
	}
}

/* U+00A0, as it is in UTF-8 */
static const char no_break_space[] = "\xc2\xa0";

bool scan_wide_blanks(const char **at, const char *end)
{
	const char *start = *at;

	do
		scan_blanks(at, end);
	while (scan_text(at, end, "&nbsp;") || scan_text(at, end, no_break_space));
	return *at > start;
}

bool scan_count(const char **at, const char *end, uint64_t *ret_count)
{
	/* the last: U+202F, a narrow space that does not break */
	static const char *const separators[] = { ",", ".", "'", no_break_space, "\xe2\x80\xaf" };
	const size_t nr = sizeof(separators) / sizeof(separators[0]);
	const char *p = *at, *group;
	uint64_t count, three;
	size_t i, chosen = nr;

	if (!scan_decimal(&p, end, &count))
		return false;
	while (count <= UINT32_MAX && (chosen < nr || p - *at <= 3)) {
		group = p;
		for (i = chosen < nr ? chosen : 0; i < nr && !scan_text(&group, end, separators[i]);
		     i++)
			;
		if (i == nr || (chosen < nr && i != chosen) ||
		    scan_decimal(&group, end, &three) != 3)
			break;
		chosen = i;
		count = count * 1000 + three;
		p = group;
	}
	*at = p;
	*ret_count = count;
	return true;
}

/* "... 12 lines ...", "...": dots first, and nothing but words and dots behind. */
static bool dots_line(const char *at, const char *end)
{
	const char *p = at;

	while (p < end && *p == '.')
		p++;
	if (p - at < 3)
		return false;
	scan_blanks(&p, end);
	return p == end || (find_text(p, end, "line") && end[-1] == '.');
}

bool elision_line(const char *at, const char *end)
{
	at = unquote(at, end, NULL);
	trim_right(at, &end);
	if (at == end)
		return false;
	if (dots_line(at, end))
		return true;
	if (*at != '[' && *at != '(' && *at != '<' && *at != '-' && *at != '*' && *at != '&')
		return false;
	at++;
	return find_text(at, end, "snip") || find_text(at, end, "SNIP") ||
	       find_text(at, end, "cut") || find_text(at, end, "omitted") ||
	       find_text(at, end, "truncated") ||
	       ((size_t)(end - at) >= 3 && !memcmp(at, "...", 3) && end - at <= 5);
}

size_t decode_entities(char *text, size_t len)
{
	static const struct {
		const char *entity;
		char c;
	} entities[] = {
		{ "&lt;", '<' },   { "&gt;", '>' },  { "&quot;", '"' },
		{ "&nbsp;", ' ' }, { "&amp;", '&' },
	};
	const char *from = text, *end = text + len;
	char *to = text;

	while (from < end) {
		size_t i, nr = sizeof(entities) / sizeof(entities[0]);

		for (i = 0; i < nr && !scan_text(&from, end, entities[i].entity); i++)
			;
		*to++ = i < nr ? entities[i].c : *from++;
	}
	return (size_t)(to - text);
}

size_t decode_quoted_printable(char *text, size_t len)
{
	const char *from = text, *end = text + len;
	size_t broken = 0;
	char *to = text;

	while (from < end) {
		if (*from == '=' && end - from > 1 && from[1] == '\n') {
			from += 2;
			broken++;
		} else if (*from == '=' && end - from > 2 && from[1] == '\r' && from[2] == '\n') {
			from += 3;
			broken++;
		} else if (*from == '=' && end - from > 2 && hex_value(from[1]) >= 0 &&
			   hex_value(from[2]) >= 0) {
			*to++ = (char)(hex_value(from[1]) << 4 | hex_value(from[2]));
			from += 3;
		} else {
			if (*from == '\n')
				for (; broken; broken--)
					*to++ = '\n';
			*to++ = *from++;
		}
	}
	return (size_t)(to - text);
}
