/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dump [--skip-bad] FILE...: what the importers make of a file, a record a line, for the tests to
 * compare: its kind; the events; the areas. Errors go to standard output too: they are results.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/mail.h"
#include "trace/snapshot.h"
#include "trace/trace.h"

static const char *const kinds[] = { "space", "call", "truth", "touch", "change",
				     "lost",  "end",  "comm",  "note" };
static const char *const borns[] = { "unknown", "exec", "fork" };

static void print_args(const struct event *event)
{
	for (int i = 0; i < trace_call_args(event->call); i++) {
		printf("%s", i ? ", " : "");
		if (event->ref[i])
			printf("$%" PRIu32 "+", event->ref[i]);
		printf("%" PRIx64, event->arg[i]);
	}
}

static void print_file(const struct trace *trace, uint32_t id)
{
	const struct trace_file *file = trace_file(trace, id);

	if (file)
		printf(" file=%" PRIu32 ":%" PRIu64 ":%x:%s", id, file->description, file->traits,
		       file->path);
}

static void print_stack(const struct trace *trace, uint32_t id)
{
	const char *text = trace_stack(trace, id);

	if (!text)
		return;
	printf(" stack=%" PRIu32 ":%.*s", id, (int)strcspn(text, "\n"), text);
}

static void print_event(const struct trace *trace, const struct event *event)
{
	printf("%s line=%" PRIu32 " space=%" PRIu32 " pid=%" PRIu32 " tid=%" PRIu32,
	       kinds[event->kind], event->line, event->space, event->pid, event->tid);
	if (event->time_ns || event->duration_ns)
		printf(" time=%" PRIu64 "+%" PRIu64, event->time_ns, event->duration_ns);
	if (event->flags)
		printf(" flags=%x", event->flags);
	if (event->kind == EVENT_SPACE)
		printf(" born=%s", borns[event->born]);
	if (event->kind == EVENT_CALL) {
		printf(" %s(", trace_call_name(event->call));
		print_args(event);
		printf(") = ");
		if (event->result < 0 && event->result > -4096)
			printf("%" PRId64, event->result);
		else
			printf("%" PRIx64, (uint64_t)event->result);
		print_file(trace, event->file);
		print_stack(trace, event->stack);
	} else {
		printf(" %" PRIx64 " %" PRIx64, event->arg[0], event->arg[1]);
	}
	if (event->text)
		printf(" '%s'", event->text);
	putchar('\n');
	for (size_t i = 0; i < event->nr_areas; i++)
		printf("holds %" PRIx64 "-%" PRIx64 " flags=%" PRIx64 " pgoff=%" PRIx64
		       " file=%" PRIu64 " name=%" PRIu32 "\n",
		       event->areas[i].start, event->areas[i].end, event->areas[i].flags,
		       event->areas[i].pgoff, event->areas[i].file, event->areas[i].name);
}

static void print_facts(const struct trace_facts *facts)
{
	printf("facts format=%s complete=%d calls=%" PRIu64 " bad=%" PRIu64 " reused=%" PRIu64
	       " map_every=%" PRIu32,
	       facts->format, facts->complete, facts->calls, facts->bad_lines,
	       facts->reused_addresses, facts->map_every);
	for (unsigned int i = 0; i < facts->nr_reasons; i++)
		printf("%s%s", i ? "; " : " because: ", facts->incomplete_because[i]);
	putchar('\n');
}

static void dump_trace(struct source *source, const struct trace_options *options)
{
	struct trace_error error = { 0 };
	struct trace *trace;
	struct event event;
	int r = trace_open(source, options, &trace, &error);

	if (r) {
		printf("trace refused %d line=%" PRIu64 " %s\n", r, error.line, error.text);
		return;
	}
	while ((r = trace_next(trace, &event)) > 0)
		print_event(trace, &event);
	if (r)
		printf("trace error %d line=%" PRIu64 " %s\n", r, trace_last_error(trace)->line,
		       trace_last_error(trace)->text);
	print_facts(trace_facts(trace));
	trace_close(trace);
}

static void dump_areas(const struct source *source, bool skip_bad)
{
	struct snapshot snapshot;
	struct trace_error error = { 0 };
	int r = snapshot_from_source(source, skip_bad, &snapshot, &error);

	if (r) {
		printf("maps refused %d line=%" PRIu64 " %s\n", r, error.line, error.text);
		return;
	}
	printf("maps source=%s areas=%zu counted=%" PRIu64 " cut=%" PRIu64 " bad=%" PRIu64
	       " sees=%x\n",
	       snapshot.source, snapshot.nr_areas, snapshot.counted, snapshot.cut,
	       snapshot.bad_lines, snapshot.sees);
	for (size_t i = 0; i < snapshot.nr_areas; i++) {
		const struct snapshot_area *a = &snapshot.areas[i];

		printf("area %" PRIx64 "-%" PRIx64 " flags=%" PRIx64 " pgoff=%" PRIx64
		       " file=%" PRIu64 " dev=%x:%x inode=%" PRIu64 " anonymous=%" PRIu64
		       " numa=%" PRIu32 " name=%" PRIu32 " traits=%" PRIx32 " '%s'\n",
		       a->area.start, a->area.end, a->area.flags, a->area.pgoff, a->area.file,
		       a->dev_major, a->dev_minor, a->inode, a->anonymous_bytes, a->area.numa,
		       a->area.name, a->area.traits, a->name);
	}
	for (unsigned int i = 0; i < snapshot.nr_notes; i++)
		printf("note %s\n", snapshot.notes[i]);
	snapshot_free(&snapshot);
}

static void dump_timings(const struct source *source)
{
	struct mail_timing timings[8];
	size_t nr = mail_timings(source, timings, 8);

	for (size_t i = 0; i < nr && i < 8; i++)
		printf("timing line=%" PRIu64 " real=%" PRIu64 " user=%" PRIu64 " sys=%" PRIu64
		       " '%.*s'\n",
		       timings[i].line, timings[i].real_ns, timings[i].user_ns, timings[i].sys_ns,
		       (int)timings[i].title_len, timings[i].title);
}

static int dump(const char *path, const struct trace_options *options)
{
	struct source source;
	int r = source_open(path, &source);

	if (r) {
		printf("cannot open %d\n", r);
		return 1;
	}
	printf("kind %s\n", source_kind_name(source.kind));
	dump_trace(&source, options);
	dump_areas(&source, options->skip_bad);
	dump_timings(&source);
	source_close(&source);
	return 0;
}

int main(int argc, char **argv)
{
	struct trace_options options = { 0 };
	int status = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--skip-bad"))
			options.skip_bad = true;
		else
			status |= dump(argv[i], &options);
	}
	return status;
}
