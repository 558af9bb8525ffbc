/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/maps_line.h - single lines of maps, smaps and numa_maps, and of the texts they are pasted in.
 */
#ifndef TRACE_MAPS_LINE_H
#define TRACE_MAPS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps_line {
	uint64_t start, end;
	char perms[4]; /* 'r' or '-', 'w' or '-', 'x' or '-', 'p', 's' or '-' */
	uint64_t offset;
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	const char *name; /* in the text, not terminated; as maps prints it */
	size_t name_len;
};

enum maps_line_kind {
	MAPS_LINE_NONE,	   /* some other text */
	MAPS_LINE_AREA,	   /* *ret_line is filled */
	MAPS_LINE_BROKEN,  /* begins like an area and does not go on like one */
	MAPS_LINE_KEY,	   /* "Rss:   4 kB" of smaps; use maps_key */
	MAPS_LINE_NUMA,	   /* a line of numa_maps: start and name are filled */
	MAPS_LINE_ELISION, /* says that lines were left out */
	MAPS_LINE_BLANK,
};

/*
 * What the line [at, end) is, behind quote marks, indentation and HTML tags. For a broken line
 * *ret_expected says what was missing.
 */
enum maps_line_kind maps_line_parse(const char *at, const char *end, struct maps_line *ret_line,
				    const char **ret_expected);

/*
 * Takes the rest of an area whose line was broken in front of its device or its name: fills what
 * @line lacks. False: the text is no such rest.
 */
bool maps_line_continue(const char *at, const char *end, struct maps_line *line);

/* SEAM_TRAIT_*: what the name of an area tells of it. */
uint32_t maps_name_traits(const char *name);

struct maps_key {
	const char *name; /* without ':' */
	size_t name_len;
	const char *value, *value_end;
};
/* Splits a MAPS_LINE_KEY. */
void maps_key_split(const char *at, const char *end, struct maps_key *ret_key);

#endif
