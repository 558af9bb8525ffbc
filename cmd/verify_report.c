/* SPDX-License-Identifier: BSD-2-Clause */
/* What seam verify says: text, JSON, KTAP, C. */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/verify.h"
#include "face/verify.h"
#include "trace/clock.h"
#include "ui/table.h"
#include "verify/emit.h"

void verify_print_marked(FILE *out, const char *title, const char *text)
{
	fprintf(out, "# %s: ", title);
	for (; *text; text++) {
		if (*text != '\n')
			fputc(*text, out);
		else if (text[1])
			fputs("\n#   ", out);
	}
	fputc('\n', out);
}

static void print_mismatch(const struct finding *finding, FILE *out)
{
	char kind[WORLD_TEXT_SIZE];

	fputc('\n', out);
	if (finding->name[0])
		verify_print_marked(out, "script", finding->name);
	if (finding->kind)
		verify_print_marked(out, "process (--as)", world_kind_text(kind, finding->kind));
	verify_print_marked(out, "call", finding->mismatch.call);
	verify_print_marked(out, "model", finding->mismatch.expected);
	verify_print_marked(out, "kernel", finding->mismatch.found);
	script_print(&finding->script, "", out);
}

static void print_random(const struct verify_session *session, const struct run *run, FILE *out)
{
	uint64_t rate = session->ns ? run->checked * NS_PER_S / session->ns : 0;
	char text[SHORT_TEXT], times[COUNTED_TEXT];

	fprintf(out,
		"seed %" PRIu64 ", %s calls/s, the whole map with all flags compared %s,\n"
		"anon_vma, offsets and policies as the kernel holds them ",
		session->options->seed, count_text(text, rate),
		counted(times, run->whole, "time", "times"));
	if (run->no_truth[0])
		fprintf(out, "not: %s\n", run->no_truth);
	else
		fprintf(out, "%s\n", counted(times, run->truths, "time", "times"));
}

static void print_text(const struct verify_session *session, const struct run *run, FILE *out)
{
	char calls[COUNTED_TEXT], mismatches[COUNTED_TEXT];

	if (run->failed[0])
		fputs("broken off: ", out);
	fprintf(out, "%s checked against %s under %s (vector %08" PRIx32 "): %s\n",
		counted(calls, run->checked, "call", "calls"), session->host.release,
		session->policy.name, seam_policy_vector(&session->policy),
		counted(mismatches, run->nr_findings, "mismatch", "mismatches"));
	if (session->options->random)
		print_random(session, run, out);
	if (run->skipped && !session->options->random)
		fprintf(out, "%s not made, naming what is not there or is seam's own\n",
			counted(calls, run->skipped, "operation", "operations"));
	for (uint32_t i = 0; i < run->nr_findings; i++)
		print_mismatch(&run->finding[i], out);
}

static int status_of(const struct run *run)
{
	if (run->failed[0])
		return EXIT_SEAM_FAILED;
	return run->nr_findings ? EXIT_FAILED : EXIT_DONE;
}

/* KTAP: one test, and what did not agree behind it. */
static void print_tap(const struct verify_session *session, const struct run *run, FILE *out)
{
	const char *what = session->options->random ? "random calls" : session->options->script;
	char calls[COUNTED_TEXT];

	fputs("KTAP version 1\n1..1\n", out);
	if (run->failed[0])
		fprintf(out, "not ok 1 %s # %s\n", what, run->failed);
	else
		fprintf(out, "%sok 1 %s: %s under %s, seed %" PRIu64 "\n",
			run->nr_findings ? "not " : "", what,
			counted(calls, run->checked, "call", "calls"), session->policy.name,
			session->options->seed);
	for (uint32_t i = 0; i < run->nr_findings; i++) {
		verify_print_marked(out, "call", run->finding[i].mismatch.call);
		verify_print_marked(out, "model", run->finding[i].mismatch.expected);
		verify_print_marked(out, "kernel", run->finding[i].mismatch.found);
		verify_print_marked(out, "script", "");
		script_print(&run->finding[i].script, "#   ", out);
	}
}

static void print_c(const struct run *run, FILE *out)
{
	if (run->nr_findings)
		emit_c(&run->finding[0].script, &run->finding[0].mismatch, out);
	else
		emit_c(&run->play.script, NULL, out);
}

int verify_report(const struct verify_session *session, const struct run *run)
{
	const struct verify_context context = {
		.policy = &session->policy,
		.release = session->host.release,
		.seed = session->options->seed,
		.ns = session->ns,
		.status = status_of(run),
	};
	FILE *out = cmd_open_output(session->options->output, stdout);

	if (!out)
		return EXIT_SEAM_FAILED;
	if (session->options->json)
		verify_json(&context, run, out);
	else if (session->options->tap)
		print_tap(session, run, out);
	else if (session->options->emit == EMIT_C)
		print_c(run, out);
	else if (session->options->emit == EMIT_OPS && run->nr_findings)
		print_mismatch(&run->finding[0], out);
	else
		print_text(session, run, out);
	if (cmd_close_output(out, session->options->output, EXIT_DONE))
		return EXIT_SEAM_FAILED;
	return context.status;
}
