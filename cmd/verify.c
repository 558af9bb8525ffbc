/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam verify: the model held against the running kernel. Random calls are made for real by a child
 * and in the model, and errno and areas compared after each.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "cmd/verify.h"
#include "cmd/number.h"
#include "probe/spec.h"
#include "verify/read.h"

#define NS_PER_S UINT64_C(1000000000)

/* "mmap,munmap,touch" */
static int read_calls(const char *list, uint64_t *ret_only)
{
	size_t len;
	int call;

	*ret_only = 0;
	for (const char *word = list;; word += len + 1) {
		len = strcspn(word, ",");
		call = trace_call_by_name(word, len);
		if (call < 0)
			return cmd_usage(&cmd_verify, "--ops: no call '%.*s'", (int)len, word);
		*ret_only |= UINT64_C(1) << call;
		if (!word[len])
			return 0;
	}
}

static int parse_options(struct verify_options *options, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "random", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 's' },
		{ "ops", required_argument, NULL, 'c' },
		{ "kernel", required_argument, NULL, 'k' },
		{ "rules", required_argument, NULL, 'r' },
		{ "json", no_argument, NULL, 'j' },
		{ "stop", no_argument, NULL, 'S' },
		{ "limit", required_argument, NULL, 'l' },
		{ "as", required_argument, NULL, 'p' },
		{ "emit", required_argument, NULL, 'e' },
		{ "tap", no_argument, NULL, 't' },
		{ "kernel-image", required_argument, NULL, 'i' },
		{ "append", required_argument, NULL, 'a' },
		{ "output", required_argument, NULL, 'o' },
		{ 0 },
	};
	int option;

	*options = (struct verify_options) { .kernel = "linux-host" };
	if (getrandom(&options->seed, sizeof(uint32_t), 0) < 0)
		options->seed = (uint64_t)getpid();
	opterr = 0;
	optind = 0; /* of glibc: starts anew */
	while ((option = getopt_long(argc, argv, "+:o:", longs, NULL)) != -1) {
		switch (option) {
		case 'n':
			if (!number_parse(optarg, 0, 1, UINT64_MAX, &options->calls))
				return cmd_usage(&cmd_verify,
						 "--random %s: a number of calls expected", optarg);
			options->random = true;
			break;
		case 's':
			if (!number_parse(optarg, 0, 0, UINT64_MAX, &options->seed))
				return cmd_usage(&cmd_verify, "--seed %s: a number expected",
						 optarg);
			break;
		case 'c':
			if (read_calls(optarg, &options->only))
				return EXIT_USAGE;
			options->only_text = optarg;
			break;
		case 'k':
			options->kernel = optarg;
			break;
		case 'r':
			options->rules = optarg;
			break;
		case 'j':
			options->json = true;
			break;
		case 'S':
			options->stop = true;
			break;
		case 'i':
			options->image = optarg;
			break;
		case 'a':
			options->append = optarg;
			break;
		case 'l':
			if (!number_parse(optarg, 0, 0, UINT64_MAX, &options->area_limit))
				return cmd_usage(&cmd_verify,
						 "--limit %s: a number of areas expected", optarg);
			break;
		case 'p':
			if (!world_kind_read(optarg, &options->kind))
				return cmd_usage(&cmd_verify,
						 "--as %s: no-rights, merge-any, mdwe, read-exec "
						 "are known",
						 optarg);
			options->kind_text = optarg;
			break;
		case 'e':
			if (strcmp(optarg, "c"))
				return cmd_usage(&cmd_verify, "--emit %s: only c is known", optarg);
			options->emit_c = options->stop = true;
			break;
		case 't':
			options->tap = true;
			break;
		case 'o':
			options->output = optarg;
			break;
		case ':':
			return cmd_usage(&cmd_verify, "%s wants a value", argv[optind - 1]);
		default:
			return cmd_usage(&cmd_verify, "no option %s", argv[optind - 1]);
		}
	}
	if (options->json + options->emit_c + options->tap > 1)
		return cmd_usage(&cmd_verify, "one of --json, --emit and --tap");
	options->script = argv[optind];
	if (options->random ? options->script != NULL : !options->script || argv[optind + 1])
		return cmd_usage(&cmd_verify, "--random N or one script expected");
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void show_progress(uint64_t calls, uint64_t wanted)
{
	fprintf(stderr, "\r%3" PRIu64 " %%", wanted ? calls * 100 / wanted : 100);
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
		return cmd_fail(EXIT_SEAM_FAILED, "%s: %s", path, strerror(-err));
	err = scripts_read(&source, ret_scripts, &error);
	source_close(&source);
	if (err == -EINVAL && error.line)
		return cmd_fail(EXIT_SEAM_FAILED, "%s line %" PRIu64 ": %s", path, error.line,
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
		.area_limit = options->area_limit,
		.kind = options->kind,
		.any_kind = !options->kind_text,
		.stop = options->stop,
		.host = &session->host,
		.policy = &session->policy,
		.progress = isatty(STDERR_FILENO) ? show_progress : NULL,
	};
	struct run *run = run_new();
	struct scripts scripts = { 0 };
	uint64_t start = now_ns();
	int status;

	if (!run)
		return cmd_fail(EXIT_SEAM_FAILED, "no memory");
	status = options->script ? read_scripts(options->script, &scripts) : 0;
	if (status)
		return status;
	if (options->script)
		run_scripts(run, &run_options, scripts.list, scripts.nr);
	else
		run_random(run, &run_options);
	session->ns = now_ns() - start;
	if (run_options.progress)
		fputc('\r', stderr);
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
	return err ? err : verify(&session);
}

const struct cmd cmd_verify = {
	.name = "verify",
	.synopsis = "[options] --random N | SCRIPT",
	.summary = "holds the model against the running kernel",
	.help = "SCRIPT          plays an operation script (docs/ops.md) for real and in the "
		"model\n"
		"--random N      makes N random calls for real and in the model, and compares\n"
		"                errno and areas after each\n"
		"--seed S        the same calls again (default: a new one, which is told)\n"
		"--ops LIST      these calls only: mmap,munmap,touch\n"
		"--kernel K      holds the model to another policy or what-if (default "
		"linux-host)\n"
		"--rules FILE    or to a vector from a text file, NAME=VALUE a line\n"
		"--limit N       every process may have N areas at most (default: some, now and "
		"then)\n"
		"--as LIST       processes of this kind: no-rights, merge-any, mdwe, read-exec\n"
		"                (default: ordinary for scripts, all in turn for random calls)\n"
		"--stop          ends at the first mismatch\n"
		"--emit c        the first mismatch, or the script, as one C file without "
		"dependencies\n"
		"--tap           the report as KTAP\n"
		"--kernel-image FILE  all this under that kernel, in a virtual machine (QEMU)\n"
		"--append WORDS  more words for its command line\n"
		"--json          the report as JSON\n"
		"-o FILE         the report goes there (- for standard output)\n"
		"\n"
		"Exit status: 0 no mismatch, 1 some, 125 seam itself failed.\n",
	.run = run_verify,
};
