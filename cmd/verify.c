/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam verify: the model held against the running kernel. Random calls are made for real by a child
 * and in the model, and errno and areas compared after each; or the calls of a program.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cmd/verify.h"
#include "probe/spec.h"
#include "trace/clock.h"
#include "verify/read.h"

/* "mmap,munmap,touch" */
static int read_calls(void *to, char *list)
{
	struct verify_options *options = to;
	size_t len;
	int call;

	options->only = 0;
	options->only_text = list;
	for (const char *word = list;; word += len + 1) {
		len = strcspn(word, ",");
		call = trace_call_by_name(word, len);
		if (call < 0)
			return -EINVAL;
		options->only |= UINT64_C(1) << call;
		if (!word[len])
			return 0;
	}
}

static int read_kind(void *to, char *text)
{
	struct verify_options *options = to;

	options->kind_text = text;
	return world_kind_read(text, &options->kind) ? 0 : -EINVAL;
}

static const char *const emits[] = { [EMIT_C] = "c", [EMIT_OPS] = "ops" };

static const struct cmd_option known_options[] = {
	{ .name = "random",
	  OPTION_NUMBER(struct verify_options, calls, 1, UINT64_MAX, "calls"),
	  .value = "N",
	  .help = "makes N random calls for real and in the model, and compares errno and areas "
		  "after each" },
	{ .name = "seed",
	  OPTION_NUMBER(struct verify_options, seed, 0, UINT64_MAX, NULL),
	  .value = "S",
	  .help = "the same calls again (default: a new one, which is told)" },
	{ .name = "ops",
	  OPTION_PARSED(read_calls),
	  .value = "LIST",
	  .expected = "calls as mmap,munmap,touch",
	  .help = "these calls only: mmap,munmap,touch" },
	OPTION_KERNEL(struct verify_options, kernel,
		      "holds the model to another policy or what-if (default linux-host)"),
	{ .name = "rules",
	  OPTION_FILE(struct verify_options, rules),
	  .help = "or to a vector from a text file, NAME=VALUE a line" },
	{ .name = "limit",
	  OPTION_NUMBER(struct verify_options, limit, 1, UINT64_MAX, NULL),
	  .value = "N",
	  .help = "every process may have N areas at most (default: some, now and then)" },
	{ .name = "mismatches",
	  OPTION_NUMBER(struct verify_options, mismatches, 1, UINT64_MAX, NULL),
	  .value = "N",
	  .help = "beside a program: after so many nothing more is compared" },
	{ .name = "as",
	  OPTION_PARSED(read_kind),
	  .value = "LIST",
	  .expected = "some of no-rights, merge-any, mdwe and read-exec",
	  .help = "processes of this kind: no-rights, merge-any, mdwe, read-exec (default: "
		  "ordinary for scripts, all in turn for random calls)" },
	{ .name = "stop",
	  OPTION_FLAG(struct verify_options, stop),
	  .help = "ends at the first mismatch" },
	{ .name = "emit",
	  OPTION_WORD(struct verify_options, emit, emits),
	  .value = "FORM",
	  .help = "the first mismatch as an operation script (ops), or it or the script as one C "
		  "file without dependencies (c)" },
	{ .name = "tap", OPTION_FLAG(struct verify_options, tap), .help = "the report as KTAP" },
	{ .name = "kernel-image",
	  OPTION_FILE(struct verify_options, image),
	  .help = "all this under that kernel, in a virtual machine (QEMU)" },
	{ .name = "append",
	  OPTION_TEXT(struct verify_options, append),
	  .value = "WORDS",
	  .expected = "words of a command line",
	  .help = "more words for its command line" },
	OPTION_PID(struct verify_options, pid,
		   "beside a process that runs, and the children that it makes from now on, until "
		   "it ends or seam is interrupted; stops it at every system call, so seam asks "
		   "first"),
	OPTION_YES(struct verify_options, yes),
	OPTION_JSON(struct verify_options, json),
	OPTION_REPORT_OUTPUT(struct verify_options, output),
	{ 0 },
};

/* Options that say what random calls and scripts are to be like. */
static bool has_options_of_scripts(const struct verify_options *options)
{
	return options->random || options->only || options->limit || options->kind_text ||
	       options->tap || options->image || options->emit == EMIT_C;
}

/* What is to be verified: the words behind the options, and whether "--" stood before them. */
static int take_subject(struct verify_options *options, char **operands)
{
	bool is_program = operands[0] && !strcmp(operands[-1], "--");

	if (options->pid && operands[0])
		return cmd_usage(&cmd_verify, "-p and a program or script exclude each other");
	if (is_program || options->pid) {
		if (has_options_of_scripts(options))
			return cmd_usage(
				&cmd_verify,
				"--random, --ops, --limit, --as, --tap, "
				"--kernel-image and --emit c are for random calls and scripts");
		options->program = is_program ? operands : NULL;
		return is_program ? operands_program(&cmd_verify, operands) : 0;
	}
	if (options->mismatches)
		return cmd_usage(&cmd_verify, "--mismatches is for programs");
	if (options->random == !!operands[0])
		return cmd_usage(&cmd_verify,
				 "--random N, one script, -p PID or -- PROGRAM expected");
	return operands_file(&cmd_verify, operands, NULL, &options->script);
}

static int parse_options(struct verify_options *options, int argc, char **argv)
{
	char **operands;
	int status;

	*options = (struct verify_options) { .kernel = "linux-host" };
	if (getrandom(&options->seed, sizeof(uint32_t), 0) < 0)
		options->seed = (uint64_t)getpid();
	status = options_parse(&cmd_verify, argc, argv, options, &operands);
	if (status)
		return status;
	if (options->json + (options->emit != EMIT_NOTHING) + options->tap > 1)
		return cmd_usage(&cmd_verify, "one of --json, --emit and --tap");
	options->stop |= options->emit != EMIT_NOTHING;
	options->random = options->calls;
	return take_subject(options, operands);
}

static void show_progress(uint64_t calls, uint64_t wanted)
{
	fprintf(stderr, "\r%3" PRIu64 " %%", wanted ? calls * 100 / wanted : 100);
	fflush(stderr);
}

static int find_policy(struct verify_session *session)
{
	char why[POLICY_ERROR_SIZE];
	int err;

	if (session->options->rules)
		err = policy_from_file(session->options->rules, &session->policy, why);
	else
		err = policy_from_spec(session->options->kernel, &session->policy, why);
	if (!err)
		return 0;
	return err == -EINVAL ? cmd_usage(&cmd_verify, "%s", why)
			      : cmd_fail(EXIT_SEAM_FAILED, "%s", why);
}

static int read_scripts(const char *path, struct scripts *ret_scripts)
{
	struct trace_error error;
	struct source source;
	int err = source_open(path, &source);

	if (err)
		return cmd_fail(EXIT_SEAM_FAILED, "%s: %s", path, source_error(err));
	err = scripts_read(&source, ret_scripts, &error);
	source_close(&source);
	if (err == -EINVAL && error.line)
		return cmd_fail(EXIT_SEAM_FAILED, "%s:%" PRIu64 ": %s", path, error.line,
				error.text);
	if (err == -EINVAL)
		return cmd_fail(EXIT_SEAM_FAILED, "%s: %s", path, error.text);
	if (err == -E2BIG)
		return cmd_fail(EXIT_SEAM_FAILED, "%s: over %d operations", path, SCRIPT_MAX);
	return err ? cmd_fail(EXIT_SEAM_FAILED, "%s: %s", path, strerror(-err)) : 0;
}

static int verify(struct verify_session *session)
{
	const struct verify_options *options = session->options;
	struct run_options run_options = {
		.calls = options->calls,
		.seed = options->seed,
		.only = options->only,
		.area_limit = options->limit,
		.kind = options->kind,
		.any_kind = !options->kind_text,
		.stop = options->stop,
		.host = &session->host,
		.policy = &session->policy,
		.progress = isatty(STDERR_FILENO) ? show_progress : NULL,
	};
	struct run *run = run_new();
	struct scripts scripts = { 0 };
	uint64_t start = clock_ns();
	int status;

	if (!run)
		return cmd_fail(EXIT_SEAM_FAILED, "out of memory");
	status = options->script ? read_scripts(options->script, &scripts) : 0;
	if (status)
		return status;
	if (options->script)
		run_scripts(run, &run_options, scripts.list, scripts.nr);
	else
		run_random(run, &run_options);
	session->ns = clock_ns() - start;
	if (run_options.progress) {
		fputc('\r', stderr);
		fflush(stderr);
	}
	if (run->failed[0])
		cmd_fail(EXIT_SEAM_FAILED, "%s", run->failed);
	status = verify_report(session, run);
	scripts_free(&scripts);
	run_free(run);
	return status;
}

static int run_verify(int argc, char **argv)
{
	struct verify_options options;
	struct verify_session session = { .options = &options };
	int err = parse_options(&options, argc, argv);

	if (err)
		return err;
	if (options.image)
		return verify_in_guest(&options);
	err = host_look(&session.host);
	if (err)
		return cmd_fail(EXIT_SEAM_FAILED, "looking at this system: %s", strerror(-err));
	err = find_policy(&session);
	if (err)
		return err;
	return options.program || options.pid ? verify_beside(&session) : verify(&session);
}

const struct cmd cmd_verify = {
	.name = "verify",
	.synopsis = "[options] --random N | SCRIPT | -p PID | -- PROGRAM [ARGUMENT...]",
	.summary = "holds the model against the running kernel",
	.about = "SCRIPT: plays an operation script (docs/ops.md) for real and in the "
		 "model.\n"
		 "PROGRAM: runs it, and all its children, with the model beside it; "
		 "what a call may have changed is compared after it, the whole map now "
		 "and then.",
	.options = known_options,
	.options_first = true,
	.notes = "Exit status: 0 no mismatch, 1 some, 125 seam itself failed.",
	.run = run_verify,
};
