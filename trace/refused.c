/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/refused.h"

#include <stdbool.h>
#include <stddef.h>

#include "trace/maps_line.h"
#include "trace/paste.h"
#include "trace/scan.h"

/* "1000-2000": what begins so was meant to be a line of maps. */
static bool has_range(const char *at, const char *end)
{
	uint64_t value;

	at = unquote(at, end, NULL);
	if (at == end || hex_value(*at) < 0)
		return false;
	while (at < end && hex_value(*at) >= 0)
		at++;
	return scan_char(&at, end, '-') &&
	       (at == end || scan_hex(&at, end, &value) || hex_value(*at) >= 0);
}

int refused_text(const struct source *source, struct trace_error *ret_error)
{
	const char *at = source->data, *end = at + source->size;
	const char *expected = NULL;
	struct maps_line line;
	size_t len;

	if (!source->size)
		return trace_fail(ret_error, source->line, "empty: expected maps");
	if (source->zero_byte)
		return trace_fail(ret_error, source->line, ZERO_BYTE, source->zero_byte);
	for (uint64_t nr = 1; nr < source->line && at < end; nr++)
		at = line_end(at, end) + 1;
	if (at >= end)
		at = end;
	end = line_end(at, end);
	len = (size_t)(end - at);
	if (maps_line_parse(at, end, &line, &expected) == MAPS_LINE_BROKEN)
		return trace_fail(ret_error, source->line, "'%.*s': expected %s",
				  (int)(len > 60 ? 60 : len), at, expected);
	if (has_range(at, end))
		return trace_fail(ret_error, source->line,
				  "'%.*s': expected two addresses of at most 16 hexadecimal digits "
				  "and a blank",
				  (int)(len > 60 ? 60 : len), at);
	return trace_fail(ret_error, source->line, "not a map: expected " LIKE_MAPS);
}

int refused_elf(const struct source *source, struct trace_error *ret_error)
{
	const unsigned char *p = (const unsigned char *)source->data;
	const unsigned int head = 20, type_at = 16;

	if (source->size < head)
		return trace_fail(
			ret_error, 0,
			"byte %zu: the head of an ELF file ends here; expected 64 bytes (52 "
			"where it is a 32-bit one)",
			source->size);
	return trace_fail(
		ret_error, 0,
		"byte %u: an ELF file of type %u, a program or library, or broken; expected "
		"a core file (type 4)",
		type_at,
		p[5] == 2 ? p[type_at] << 8 | p[type_at + 1] : p[type_at + 1] << 8 | p[type_at]);
}
