/* SPDX-License-Identifier: BSD-2-Clause */
/* seam verify beside a program: its calls made in the model too, and what came of it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/attach.h"
#include "cmd/verify.h"
#include "face/verify.h"
#include "ui/table.h"
#include "verify/beside.h"
#include "verify/scene.h"

struct beside_run {
	const struct verify_session *session;
	struct trace_host host;
	struct beside *beside;
	const struct beside_result *result;
	struct record_result recorded;
};

static int status_of(const struct beside_result *result)
{
	if (result->failed)
		return EXIT_SEAM_FAILED;
	return result->nr_mismatches ? EXIT_FAILED : EXIT_DONE;
}

/* ---- what was found ---- */

/* The mismatch as a script that shows it, where there is one. */
static void print_scene(const struct beside_run *run, const struct beside_mismatch *mismatch,
			FILE *out)
{
	struct script *script = NULL;
	int err = -EOPNOTSUPP;

	if (mismatch->when == BESIDE_CALL) {
		script = malloc(sizeof(*script));
		err = script ? scene_make(&mismatch->before, &mismatch->call, &run->session->policy,
					  script)
			     : -ENOMEM;
	}
	if (err == -EOPNOTSUPP)
		fputs("# no script makes these areas\n", out);
	else if (!err)
		script_print(script, "", out);
	free(script);
}

static void print_mismatch(const struct beside_run *run, const struct beside_mismatch *mismatch,
			   FILE *out)
{
	char *call = beside_call_text(run->beside, mismatch);

	fprintf(out, "\n# call %" PRIu64 " of process %" PRIu32 "\n", mismatch->number,
		mismatch->call.pid);
	verify_print_marked(out, "call", call ? call : "");
	verify_print_marked(out, "model", mismatch->expected);
	verify_print_marked(out, "kernel", mismatch->found);
	print_scene(run, mismatch, out);
	free(call);
}

static void print_changes(const struct beside_result *result, FILE *out)
{
	for (unsigned int i = 0; i < result->nr_changes; i++)
		fprintf(out, "%s%s %" PRIu64, i ? ", " : "by no call: ", result->change[i].what,
			result->change[i].count);
	if (result->nr_changes)
		fputc('\n', out);
}

static void print_unchecked(const struct beside_result *result, FILE *out)
{
	if (!result->overlapped && !result->not_modelled && !result->unseen)
		return;
	fprintf(out,
		"not checked: %" PRIu64 " that ran at the same time, %" PRIu64
		" that the model does not know, %" PRIu64 " whose map could not be seen\n",
		result->overlapped, result->not_modelled, result->unseen);
}

static void print_text(const struct beside_run *run, FILE *out)
{
	const struct beside_result *result = run->result;
	const struct verify_session *session = run->session;
	char checked[COUNTED_TEXT], mismatches[COUNTED_TEXT], processes[COUNTED_TEXT];
	char whole[COUNTED_TEXT];

	if (result->failed)
		fprintf(out, "broken off (%s): ", result->failed);
	fprintf(out, "%s of %s checked against %s under %s (vector %08" PRIx32 "): %s\n",
		counted(checked, result->checked, "call", "calls"),
		counted(processes, run->recorded.processes, "process", "processes"),
		session->host.release, session->policy.name, seam_policy_vector(&session->policy),
		counted(mismatches, result->nr_mismatches, "mismatch", "mismatches"));
	fprintf(out, "%" PRIu64 " of them undetermined; the whole map compared %s\n",
		result->undetermined, counted(whole, result->whole, "time", "times"));
	print_unchecked(result, out);
	if (result->ended)
		fputs("nothing was compared after the last mismatch\n", out);
	if (!session->options->pid)
		fprintf(out, "the program's own status: %d\n", run->recorded.status);
	print_changes(result, out);
	for (unsigned int i = 0; i < result->nr_kept; i++)
		print_mismatch(run, result->mismatch[i], out);
}

/* A script in any case: of what did not agree first, or of nothing. */
static void print_ops(const struct beside_run *run, FILE *out)
{
	if (run->result->nr_kept)
		print_mismatch(run, run->result->mismatch[0], out);
	else
		fprintf(out, "# %" PRIu64 " calls checked under %s: no mismatch\n#map-every 0\n",
			run->result->checked, run->session->policy.name);
}

static int report(const struct beside_run *run)
{
	const struct verify_session *session = run->session;
	const struct verify_context context = {
		.policy = &session->policy,
		.release = session->host.release,
		.has_status = !session->options->pid,
		.status = run->recorded.status,
	};
	FILE *out = cmd_open_output(session->options->output, stderr);

	if (!out)
		return EXIT_SEAM_FAILED;
	if (session->options->json)
		beside_json(&context, run->beside, &run->recorded, out);
	else if (session->options->emit == EMIT_OPS)
		print_ops(run, out);
	else
		print_text(run, out);
	if (cmd_close_output(out, session->options->output, EXIT_DONE))
		return EXIT_SEAM_FAILED;
	return status_of(run->result);
}

/* ---- the run ---- */

static void say(const char *text)
{
	cmd_fail(0, "%s", text);
}

static int follow(struct beside_run *run)
{
	const struct verify_options *options = run->session->options;
	const struct record_options record = {
		.argv = options->pid ? NULL : options->program,
		.pid = (pid_t)options->pid,
		.watcher = beside_watcher(run->beside),
		.truth_calls = BESIDE_WHOLE_CALLS,
		.exits = true,
		.say = say,
	};
	int err = record_run(&record, &run->recorded);

	if (err)
		return attach_failed(err, (pid_t)options->pid,
				     options->pid ? NULL : *options->program);
	if (run->recorded.exec_errno > 0)
		return cmd_fail(EXIT_SEAM_FAILED, "%s: %s", options->program[0],
				strerror(run->recorded.exec_errno));
	if (run->recorded.exec_errno < 0)
		return cmd_fail(EXIT_SEAM_FAILED, "the seccomp filter: %s",
				strerror(-run->recorded.exec_errno));
	return report(run);
}

int verify_beside(const struct verify_session *session)
{
	const struct verify_options *options = session->options;
	struct beside_run run = { .session = session };
	struct beside_options beside = {
		.policy = &session->policy,
		.host = &run.host,
		.commit_limit_pages = session->host.options.commit_limit_pages,
		.exec_only_pkey = session->host.options.exec_only_pkey,
		.max_mismatches = options->stop ? 1 : options->mismatches,
	};
	int status = options->pid
			     ? attach_ask((pid_t)options->pid, options->yes, false, "verifying")
			     : 0;
	int err;

	if (status)
		return status;
	record_host(&run.host);
	beside.eager = !run.host.tells_touches;
	err = beside_new(&beside, &run.beside);
	if (err)
		return cmd_fail(EXIT_SEAM_FAILED, "%s", strerror(-err));
	run.result = beside_result(run.beside);
	status = follow(&run);
	beside_free(run.beside);
	return status;
}
