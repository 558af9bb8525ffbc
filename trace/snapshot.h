/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/snapshot.h - the areas of one process at one moment, and how much its source could see.
 * Filled by trace/maps_text.c (text), trace/core.c (core files), probe/ (live processes).
 */
#ifndef TRACE_SNAPSHOT_H
#define TRACE_SNAPSHOT_H

#include "trace/event.h"
#include "trace/intern.h"
#include "trace/source.h"

struct snapshot_area {
	struct seam_area area; /* identities are numbers of this snapshot */
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	const char *name;	  /* as maps prints it, or "" */
	uint64_t anonymous_bytes; /* smaps Anonymous: + Swap:; 0 proves nothing */
	uint64_t guard_pages;	  /* with SEES_GUARDS */
	uint64_t line;		  /* of a text */
};

struct snapshot {
	const char *source; /* the JSON contract's word: "bpf", "procmap", "smaps", "maps", ... */
	uint32_t sees;	    /* SEES_* */
	int32_t pid;	    /* -1: a file */
	char comm[64];
	struct snapshot_area *areas; /* without [vsyscall] */
	size_t nr_areas;
	uint64_t counted; /* what a text says of itself ("wc -l": 2238); 0 when it does not */
	uint64_t cut;	  /* places where a text says that lines were left out */
	uint64_t bad_lines;
	uint64_t read_ns;   /* how long the kernel was read; without loading and parsing */
	uint64_t map_count; /* the kernel's own, where it can be read; else 0 */
	uint64_t def_flags;
	uint32_t threads;     /* of a live process; 0 when not known */
	const char *notes[8]; /* what a person should know: constant texts */
	unsigned int nr_notes;
	struct intern *texts; /* where names lie: snapshot_text */
};

struct trace_error;
/* From whatever holds a map. -EINVAL with *ret_error: the line that broke it. */
int snapshot_from_source(const struct source *source, bool skip_bad, struct snapshot *ret_snapshot,
			 struct trace_error *ret_error);
/* From text, also that of a JVM's error log. */
int snapshot_from_text(const struct source *source, bool skip_bad, struct snapshot *ret_snapshot,
		       struct trace_error *ret_error);
/* Adds to its notes, as long as there is room. */
void snapshot_note(struct snapshot *snapshot, const char *text);
/* The number of a text, the same for the same bytes; *ret_text (may be NULL) lives as long as
 * the snapshot. 0 without memory. */
uint32_t snapshot_text(struct snapshot *snapshot, const void *data, size_t len,
		       const char **ret_text);
/* Gives back all that the snapshot holds; a zeroed one is allowed. */
void snapshot_free(struct snapshot *snapshot);

#endif
