/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/record_print.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/policy.h"
#include "face/call_text.h"
#include "replay/replay.h"
#include "trace/live.h"
#include "trace/thread.h"
#include "ui/plain.h"
#include "ui/table.h"

#define PAGE_SHIFT 12

struct record_print {
	struct live *live;
	struct record_watcher watcher;
	pthread_t thread;
	struct replay_kernel kernel;
	struct replay_report report; /* its trace names the files */
	/* before the call */
	uint64_t areas_before;
	struct seam_stats before;
	bool start_inside, end_inside; /* the borders of its range lay within an area */
};

/* ---- what a call did ---- */

static void print_causes(uint32_t causes)
{
	const char *between = " ";

	for (unsigned int bit = 0; bit < SEAM_NR_CAUSES; bit++) {
		if (!(causes >> bit & 1))
			continue;
		fprintf(stderr, "%s%s", between, seam_cause_name(bit));
		between = "+";
	}
}

/* What keeps the two sides of @at apart; 0 where there are no two. */
static uint32_t causes_at(const struct seam_space *space, uint64_t at)
{
	struct seam_area left, right;

	if (!seam_area_find_below(space, at, &left) || left.end != at ||
	    !seam_area_find(space, at, &right) || right.start != at)
		return 0;
	return seam_explain_pair(seam_space_policy(space), PAGE_SHIFT, &left, &right);
}

/* The memory that a call is about. False: no range. */
static bool range_of(const struct event *event, uint64_t *ret_start, uint64_t *ret_end)
{
	const uint64_t mask = (UINT64_C(1) << PAGE_SHIFT) - 1;
	uint64_t start = event->arg[0], len = event->arg[1];

	switch (event->call) {
	case TRACE_CALL_mmap:
		start = (uint64_t)event->result;
		break;
	case TRACE_CALL_mremap:
		start = (uint64_t)event->result;
		len = event->arg[2];
		break;
	case TRACE_CALL_uffd_ioctl:
	case TRACE_CALL_prctl:
		start = event->arg[2];
		len = event->arg[3];
		break;
	default:
		if (!trace_call_names_range(event->call))
			return false;
	}
	*ret_start = start;
	*ret_end = (start + len + mask) & ~mask;
	return true;
}

/* "split prot", "joined", "apart flags": what became of the borders of its range. */
static void print_effect(const struct record_print *print, const struct event *event,
			 const struct seam_space *space)
{
	struct seam_stats after;
	uint64_t start, end;
	uint32_t causes = 0;

	seam_space_get_stats(space, &after);
	if (range_of(event, &start, &end)) {
		bool split = after.splits > print->before.splits;

		/* borders that are new */
		causes |= !split || print->start_inside ? causes_at(space, start) : 0;
		causes |= !split || print->end_inside ? causes_at(space, end) : 0;
	}
	if (after.joins > print->before.joins)
		fputs(" joined", stderr);
	if (after.splits > print->before.splits) {
		fputs(" split", stderr);
		print_causes(causes);
	} else if (seam_space_areas(space) > print->areas_before && causes) {
		fputs(" apart", stderr);
		print_causes(causes);
	}
}

static bool is_inside(const struct seam_space *space, uint64_t addr)
{
	struct seam_area area;

	return seam_area_find(space, addr, &area) && area.start < addr;
}

static void before_call(void *ctx, unsigned int kernel, const struct event *event,
			const struct seam_space *space)
{
	struct record_print *print = ctx;
	uint64_t start, end;

	if (!space)
		return;
	print->start_inside = print->end_inside = false;
	if (range_of(event, &start, &end)) {
		print->start_inside = is_inside(space, start);
		print->end_inside = is_inside(space, end);
	}
	print->areas_before = seam_space_areas(space);
	seam_space_get_stats(space, &print->before);
}

static bool after_call(void *ctx, unsigned int kernel, const struct event *event,
		       const struct replay_outcome *outcome, const struct seam_space *space)
{
	struct record_print *print = ctx;

	if (event->call >= TRACE_CALL_kmmap)
		return true;
	fprintf(stderr, "%" PRIu32 " ", event->tid);
	call_text(stderr, event, trace_file(print->report.trace, event->file));
	if (space) {
		fprintf(stderr, "  areas %" PRIu64, print->areas_before);
		if (seam_space_areas(space) != print->areas_before)
			fprintf(stderr, "%s%" PRIu64, beyond_ascii("→", "->"),
				seam_space_areas(space));
		print_effect(print, event, space);
	}
	fputc('\n', stderr);
	return true;
}

static void after_begin(void *ctx, unsigned int kernel, const struct event *event,
			const struct seam_space *space)
{
	static const char *const how[] = { "attached", "exec", "fork" };

	char areas[COUNTED_TEXT];

	fprintf(stderr, "%" PRIu32 " %s: %s\n", event->tid,
		how[event->born <= BORN_FORK ? event->born : BORN_UNKNOWN],
		counted(areas, space ? seam_space_areas(space) : 0, "area", "areas"));
}

/* ---- the thread ---- */

static void *print_all(void *ctx)
{
	struct record_print *print = ctx;
	struct replay_watcher watcher = { .after_begin = after_begin,
					  .before_call = before_call,
					  .after_call = after_call,
					  .ctx = print };
	struct replay_options options = { .kernels = &print->kernel,
					  .nr_kernels = 1,
					  .watcher = &watcher };
	struct trace_error error;
	struct source source;
	int err;

	live_source(print->live, &source);
	err = replay_run(&source, &options, &print->report, &error);
	live_leave(print->live);
	if (err)
		cmd_fail(0, "--print ends here: %s", error.text[0] ? error.text : strerror(-err));
	replay_report_free(&print->report);
	return NULL;
}

static void give_event(void *ctx, const struct event *event, const struct record_stop *stop)
{
	live_give(((struct record_print *)ctx)->live, event);
}

static void give_file(void *ctx, uint32_t number, const struct trace_file *file)
{
	live_give_file(((struct record_print *)ctx)->live, number, file);
}

int record_print_start(const struct trace_host *host, struct record_print **ret_print)
{
	struct record_print *print = calloc(1, sizeof(*print));
	int status, err = -ENOMEM;

	if (!print)
		return cmd_fail(EXIT_SEAM_FAILED, "--print: %s", strerror(ENOMEM));
	print->watcher = (struct record_watcher) {
		.file = give_file,
		.event = give_event,
		.ctx = print,
	};
	print->kernel.recorded = true;
	status = cmd_policy_of_release(&cmd_record, host->release, &print->kernel.policy);
	if (status) {
		free(print);
		return EXIT_SEAM_FAILED;
	}
	print->live = live_new(host);
	if (print->live)
		err = thread_start(&print->thread, THREAD_STACK_USUAL, print_all, print);
	if (err) {
		live_free(print->live);
		free(print);
		return cmd_fail(EXIT_SEAM_FAILED, "--print: %s", strerror(-err));
	}
	*ret_print = print;
	return 0;
}

const struct record_watcher *record_print_watcher(const struct record_print *print)
{
	return &print->watcher;
}

void record_print_end(struct record_print *print)
{
	live_end(print->live);
	pthread_join(print->thread, NULL);
	live_free(print->live);
	free(print);
}
