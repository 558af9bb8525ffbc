/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/importer.h - what stands behind trace/trace.h: one importer a format, and what they share.
 */
#ifndef TRACE_IMPORTER_H
#define TRACE_IMPORTER_H

#include "trace/intern.h"
#include "trace/trace.h"

/* One text format. @next gives 1, 0 at the end, or -errno after trace_fail. */
struct importer {
	enum source_kind kind;
	const char *format; /* struct trace_facts, format */
	int (*open)(struct trace *trace);
	int (*next)(struct trace *trace, struct event *ret_event);
	/* NULL: what trace_add_file and the stacks have kept */
	const struct trace_file *(*file)(const struct trace *trace, uint32_t id);
	const char *(*stack)(const struct trace *trace, uint32_t id);
	void (*close)(struct trace *trace); /* also after an open that failed */
};

extern const struct importer importer_data, importer_live, importer_mail, importer_ops,
	importer_strace;

struct trace {
	const struct importer *importer;
	const struct source *source;
	struct trace_options options;
	struct trace_facts facts;
	struct trace_error error;
	struct trace_file *files; /* ids count from 1 */
	uint32_t nr_files, room_files;
	struct intern stacks;
	void *state; /* the importer's own */
};

/* Frees what all importers share. */
void trace_free(struct trace *trace);
/* Says that something is missing, once for each text. */
void trace_incomplete(struct trace *trace, const char *reason);
/* A new file; the id, or 0 without memory. @path is copied. */
uint32_t trace_add_file(struct trace *trace, const struct trace_file *file, const char *path,
			size_t path_len);
#endif
