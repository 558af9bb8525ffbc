/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/trace.h - reading any trace: one reader interface, one importer a format.
 *
 *	struct trace *t;
 *	trace_open(source, &options, &t);
 *	while ((r = trace_next(t, &event)) > 0) ...
 *	facts = trace_facts(t);
 *
 * Errors are told through struct trace_error: where (the line, of a text) and what was expected.
 */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include "trace/event.h"
#include "trace/source.h"

#define TRACE_MAX_REASONS 16

/* What is known of the host where the trace was made; 0 or "" when not told. */
struct trace_host {
	char release[80];
	uint32_t page_shift, address_bits;
	uint64_t max_areas, min_addr, stack_gap;
	uint32_t overcommit;
	uint32_t
		tells_touches; /* 1: what joining depends on was asked, and stands in EVENT_TOUCHes */
	char thp[16];
};

struct trace_facts {
	const char *format; /* "seam.data", "strace", "ops", "mail" */
	bool complete;	    /* nothing is missing that could change an area */
	const char *incomplete_because[TRACE_MAX_REASONS]; /* constant texts */
	unsigned int nr_reasons;
	uint64_t calls;		   /* calls that change maps, as read so far */
	uint64_t bad_lines;	   /* left out with skip_bad */
	uint64_t reused_addresses; /* handed out twice: taken as freed between */
	uint64_t bytes_missing;	   /* behind the last whole block */
	uint32_t map_every; /* operation scripts: print the map after every Nth, 0 at the end */
	struct trace_host host;
};

struct trace_module;

struct trace_options {
	/*
	 * Names a place in a module for trace_stack: the function at @offset of its file, and how far
	 * into it. NULL: nothing is named. sym/symbols.h has one.
	 */
	const char *(*symbol)(void *symbols, const struct trace_module *module, uint64_t offset,
			      uint64_t *ret_into);
	void *symbols;
	bool skip_bad; /* leave out what cannot be read, and count it */
};

struct trace_error {
	uint64_t line;	/* from 1; 0: not a text */
	char text[256]; /* what was found and what was expected */
};
/* Says what is wrong at @line (0: no line). Returns -EINVAL. */
int trace_fail(struct trace_error *error, uint64_t line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct trace;

/*
 * The source must stay open until trace_close.
 *  -EINVAL  not a trace, or a line that cannot be read; trace_last_error tells
 *  -ENOMEM
 */
int trace_open(struct source *source, const struct trace_options *options, struct trace **ret_trace,
	       struct trace_error *ret_error);
/* 1 and *ret_event; 0 at the end; -EINVAL or -ENOMEM, then *trace_last_error(). */
int trace_next(struct trace *trace, struct event *ret_event);
const struct trace_error *trace_last_error(const struct trace *trace);
/* Complete only after trace_next returned 0. */
const struct trace_facts *trace_facts(const struct trace *trace);
/* NULL: 0, or not one of the trace's. */
const struct trace_file *trace_file(const struct trace *trace, uint32_t id);
/* The text of a call stack, a frame a line, innermost first; until the next call. NULL: none. */
const char *trace_stack(const struct trace *trace, uint32_t id);
void trace_close(struct trace *trace);

#endif
