/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/hs_err.h"

#include "trace/scan.h"

static bool is_title(const char *at, const char *end)
{
	return scan_text(&at, end, "Dynamic libraries:");
}

static bool is_blank_line(const char *at, const char *end)
{
	trim_right(at, &end);
	return at == end;
}

/* Behind what follows, JDK 21 and later count the lines. */
static bool ends_section(const char *at, const char *end)
{
	return is_blank_line(at, end) || scan_text(&at, end, "Total number of mappings:");
}

bool hs_err_section(const struct source *log, struct source *ret_section, uint64_t *ret_lines)
{
	const char *at = log->data, *end = at + log->size, *stop = line_end(at, end), *first;
	uint64_t lines = 1;

	for (; !is_title(at, stop); lines++) {
		if (stop == end)
			return false;
		at = stop + 1;
		stop = line_end(at, end);
	}
	first = at = stop < end ? stop + 1 : end;
	while (at < end && !ends_section(at, stop = line_end(at, end)))
		at = stop < end ? stop + 1 : end;
	*ret_section = *log;
	ret_section->data = first;
	ret_section->size = (size_t)(at - first);
	*ret_lines = lines;
	return true;
}
