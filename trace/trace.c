/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading any trace: finds the importer of the source's kind, and keeps what all importers share.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"
#include "trace/importer.h"

/* One line a format that can be read. */
static const struct importer *const importers[] = {
	&importer_data, &importer_live, &importer_mail, &importer_ops, &importer_strace,
};

static const struct importer *find_importer(enum source_kind kind)
{
	for (size_t i = 0; i < sizeof(importers) / sizeof(importers[0]); i++)
		if (importers[i]->kind == kind)
			return importers[i];
	return NULL;
}

static void refuse(const struct source *source, struct trace_error *ret_error)
{
	const char *kind = source_kind_name(source->kind);

	memset(ret_error, 0, sizeof(*ret_error));
	if (source->zero_byte) {
		trace_fail(ret_error, source->line, ZERO_BYTE, source->zero_byte);
	} else if (source->kind == SOURCE_UNKNOWN) {
		ret_error->line = source->line;
		snprintf(ret_error->text, sizeof(ret_error->text),
			 source->size ? "not a trace: neither seam.data, strace, an operation "
					"script, nor a text with excerpts of them"
				      : "empty: expected a trace");
	} else if (source->kind == SOURCE_STRACE_COUNTS) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			 "this is %s: it holds counts and no calls; expected a log (strace -f -o)",
			 kind);
	} else {
		snprintf(ret_error->text, sizeof(ret_error->text),
			 "this is %s, which cannot be read as a trace of calls; expected "
			 "seam.data, a strace log or an operation script",
			 kind);
	}
}

int trace_open(struct source *source, const struct trace_options *options, struct trace **ret_trace,
	       struct trace_error *ret_error)
{
	const struct importer *importer = find_importer(source->kind);
	struct trace *trace;
	int r;

	if (!importer) {
		refuse(source, ret_error);
		return -EINVAL;
	}
	trace = calloc(1, sizeof(*trace));
	if (!trace)
		return -ENOMEM;
	trace->importer = importer;
	trace->source = source;
	if (options)
		trace->options = *options;
	trace->facts.format = importer->format;
	trace->facts.complete = true;
	trace->facts.map_every = 1;
	r = importer->open(trace);
	if (r) {
		*ret_error = trace->error;
		trace_close(trace);
		return r;
	}
	*ret_trace = trace;
	return 0;
}

int trace_next(struct trace *trace, struct event *ret_event)
{
	return trace->importer->next(trace, ret_event);
}

const struct trace_error *trace_last_error(const struct trace *trace)
{
	return &trace->error;
}

const struct trace_facts *trace_facts(const struct trace *trace)
{
	return &trace->facts;
}

const struct trace_file *trace_file(const struct trace *trace, uint32_t id)
{
	if (trace->importer->file)
		return trace->importer->file(trace, id);
	return id && id <= trace->nr_files ? &trace->files[id - 1] : NULL;
}

const char *trace_stack(const struct trace *trace, uint32_t id)
{
	if (trace->importer->stack)
		return trace->importer->stack(trace, id);
	return intern_text(&trace->stacks, id);
}

void trace_free(struct trace *trace)
{
	for (uint32_t i = 0; i < trace->nr_files; i++)
		free((char *)trace->files[i].path);
	free(trace->files);
	intern_free(&trace->stacks);
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	trace->importer->close(trace);
	trace_free(trace);
	free(trace);
}

int trace_fail(struct trace_error *error, uint64_t line, const char *format, ...)
{
	va_list args;

	*error = (struct trace_error) { .line = line };
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -EINVAL;
}

void trace_incomplete(struct trace *trace, const char *reason)
{
	struct trace_facts *facts = &trace->facts;

	facts->complete = false;
	for (unsigned int i = 0; i < facts->nr_reasons; i++)
		if (!strcmp(facts->incomplete_because[i], reason))
			return;
	if (facts->nr_reasons < TRACE_MAX_REASONS)
		facts->incomplete_because[facts->nr_reasons++] = reason;
}

uint32_t trace_add_file(struct trace *trace, const struct trace_file *file, const char *path,
			size_t path_len)
{
	struct trace_file *entry;
	char *copy;

	if (grow(&trace->files, trace->nr_files, &trace->room_files, sizeof(*trace->files)))
		return 0;
	copy = strndup(path, path_len);
	if (!copy)
		return 0;
	entry = &trace->files[trace->nr_files++];
	*entry = *file;
	entry->path = copy;
	return trace->nr_files;
}
