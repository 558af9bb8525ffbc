/* SPDX-License-Identifier: BSD-2-Clause */
#include "face/replay_ops.h"
#include "trace/scan.h"

#include <inttypes.h>
#include <string.h>

/* Objects behind shared anonymous memory are numbered from here, in order of creation. */
#define FIRST_OBJECT 100

static bool gives_address(unsigned int call)
{
	switch (call) {
	case TRACE_CALL_mmap:
	case TRACE_CALL_kmmap:
	case TRACE_CALL_mremap:
	case TRACE_CALL_brk:
	case TRACE_CALL_stack:
	case TRACE_CALL_shmat:
		return true;
	default:
		return false;
	}
}

static void print_result(const struct ops_writer *writer, const struct event *event,
			 const struct replay_outcome *outcome)
{
	const char *name;

	if (outcome->answer == ANSWER_SKIPPED) {
		fputs("skip", writer->out);
	} else if (outcome->result == -SEAM_EBUG) {
		fputs("BUG", writer->out);
	} else if (outcome->result < 0 && outcome->result > -SEAM_EALLOC) {
		name = strerrorname_np((int)-outcome->result);
		if (name)
			fprintf(writer->out, "-%s", name);
		else
			fprintf(writer->out, "%" PRId64, outcome->result);
	} else if (gives_address(event->call)) {
		fprintf(writer->out, "%08" PRIx64, (uint64_t)outcome->result);
	} else {
		fprintf(writer->out, "%" PRIx64, (uint64_t)outcome->result);
	}
}

static uint64_t file_number(const struct ops_writer *writer, uint64_t file)
{
	const struct trace_file *known;

	if (file & SEAM_FILE_OWN)
		return FIRST_OBJECT + (file & ~SEAM_FILE_OWN) - 1;
	known = trace_file(writer->report->trace, (uint32_t)file);
	return known && known->known ? known->description : file;
}

static void print_map(struct ops_writer *writer, const struct seam_space *space)
{
	struct seam_totals totals;
	struct seam_area area;
	uint64_t at = 0;

	while (seam_area_next(space, &at, &area)) {
		fprintf(writer->out,
			" %08" PRIx64 "-%08" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIu64, area.start,
			area.end, area.flags, area.pgoff, file_number(writer, area.file));
		if (writer->shows_anon_vma)
			fprintf(writer->out, " %" PRIu32, area.anon_vma);
		fputc('\n', writer->out);
	}
	seam_space_get_totals(space, &totals);
	fprintf(writer->out, "count %" PRIu64 " total %" PRIx64 " locked %" PRIx64 "\n",
		seam_space_areas(space), totals.total_pages, totals.locked_pages);
}

static bool after_call(void *ctx, unsigned int kernel, const struct event *event,
		       const struct replay_outcome *outcome, const struct seam_space *space)
{
	struct ops_writer *writer = ctx;
	uint32_t every = trace_facts(writer->report->trace)->map_every;

	fprintf(writer->out, "@%" PRIu64 " %s = ", ++writer->operations,
		event->text ? event->text : trace_call_name(event->call));
	print_result(writer, event, outcome);
	writer->stopped = outcome->answer == ANSWER_MADE && outcome->result == -SEAM_EBUG;
	if (every != 1 && space && !writer->stopped)
		fprintf(writer->out, " count %" PRIu64, seam_space_areas(space));
	fputc('\n', writer->out);
	writer->map_printed = every && space && writer->operations % every == 0;
	if (writer->map_printed && !writer->stopped)
		print_map(writer, space);
	return !writer->stopped;
}

static void before_end(void *ctx, unsigned int kernel, uint32_t number,
		       const struct seam_space *space)
{
	struct ops_writer *writer = ctx;
	bool only = writer->report->nr_processes == 1;

	if (writer->stopped || (only && writer->map_printed))
		return;
	if (!only)
		fprintf(writer->out, "# space %" PRIu32 "\n", number);
	print_map(writer, space);
}

/* The name without its folder and ".ops". */
static int stream_name(const char *file, const char **ret_name)
{
	size_t len;

	*ret_name = last_name(file);
	len = strlen(*ret_name);
	if (len > 4 && !strcmp(*ret_name + len - 4, ".ops"))
		len -= 4;
	return (int)len;
}

void ops_begin(struct ops_writer *writer, const struct seam_policy *policy, const char *file,
	       struct replay_watcher *ret_watcher)
{
	bool is_linux = !strncmp(policy->name, "linux-", 6);
	const char *name;
	int len = stream_name(file, &name);

	fprintf(writer->out, "# release %s stream %.*s\n", policy->name + (is_linux ? 6 : 0), len,
		name);
	writer->shows_anon_vma = policy->rule[SEAM_RULE_anon_vma];
	*ret_watcher = (struct replay_watcher) {
		.after_call = after_call,
		.before_end = before_end,
		.ctx = writer,
	};
}
