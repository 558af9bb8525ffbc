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

#include "cmd/cmd.h"
#include "cmd/number.h"
#include "face/json.h"
#include "probe/host.h"
#include "probe/spec.h"
#include "ui/table.h"
#include "verify/emit.h"
#include "verify/guest.h"
#include "verify/read.h"
#include "verify/run.h"

#define NS_PER_S UINT64_C(1000000000)

struct options {
	uint64_t calls, seed, only;
	uint64_t area_limit;
	bool random, json, stop, emit_c, tap;
	const char *kernel, *rules, *output, *script;
	const char *image, *append; /* another kernel */
	const char *only_text;
};

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

static int parse_options(struct options *options, int argc, char **argv)
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
		{ "emit", required_argument, NULL, 'e' },
		{ "tap", no_argument, NULL, 't' },
		{ "kernel-image", required_argument, NULL, 'i' },
		{ "append", required_argument, NULL, 'a' },
		{ "output", required_argument, NULL, 'o' },
		{ 0 },
	};
	int option;

	*options = (struct options) { .kernel = "linux-host" };
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

struct session {
	const struct options *options;
	struct host host;
	struct seam_policy policy;
	uint64_t ns;
};

/* "expected" and "found" may have lines: each behind a mark. */
static void print_marked(FILE *out, const char *title, const char *text)
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
	fputc('\n', out);
	if (finding->name[0])
		print_marked(out, "script", finding->name);
	print_marked(out, "call", finding->mismatch.call);
	print_marked(out, "model", finding->mismatch.expected);
	print_marked(out, "kernel", finding->mismatch.found);
	script_print(&finding->script, "", out);
}

static void print_random(const struct session *session, const struct run *run, FILE *out)
{
	uint64_t rate = session->ns ? run->checked * NS_PER_S / session->ns : 0;
	char text[SHORT_TEXT];

	fprintf(out,
		"seed %" PRIu64 ", %s calls/s, the whole map with all flags compared %" PRIu64
		" times\n",
		session->options->seed, count_text(text, rate), run->whole);
}

static void print_text(const struct session *session, const struct run *run, FILE *out)
{
	char calls[SHORT_TEXT], mismatches[SHORT_TEXT];

	if (run->failed[0])
		fputs("broken off: ", out);
	fprintf(out, "%s calls checked against %s under %s (vector %08" PRIx32 "): %s mismatch%s\n",
		count_text(calls, run->checked), session->host.release, session->policy.name,
		seam_policy_vector(&session->policy), count_text(mismatches, run->nr_findings),
		run->nr_findings == 1 ? "" : "es");
	if (session->options->random)
		print_random(session, run, out);
	if (run->skipped && !session->options->random)
		fprintf(out, "%" PRIu64 " operations not made: they name what is not there\n",
			run->skipped);
	for (uint32_t i = 0; i < run->nr_findings; i++)
		print_mismatch(&run->finding[i], out);
}

static int status_of(const struct run *run)
{
	if (run->failed[0])
		return EXIT_SEAM_FAILED;
	return run->nr_findings ? EXIT_FAILED : EXIT_DONE;
}

static void print_json_mismatch(struct json *json, const struct finding *finding)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	json_open(json, NULL, '{');
	if (finding->name[0])
		json_string(json, "name", finding->name);
	json_string(json, "call", finding->mismatch.call);
	json_string(json, "expected", finding->mismatch.expected);
	json_string(json, "found", finding->mismatch.found);
	if (memory) {
		script_print(&finding->script, "", memory);
		fclose(memory);
	}
	json_string(json, "script", text);
	free(text);
	json_close(json, '}');
}

static void print_json(const struct session *session, const struct run *run, FILE *out)
{
	struct json json;

	json_report(&json, out, "verify");
	json_string(&json, "kernel", session->policy.name);
	json_vector(&json, "vector", seam_policy_vector(&session->policy));
	json_string(&json, "release", session->host.release);
	json_uint(&json, "calls", run->calls);
	json_uint(&json, "checked", run->checked);
	json_uint(&json, "undetermined", run->undetermined);
	json_uint(&json, "whole_maps", run->whole);
	json_uint(&json, "seed", session->options->seed);
	json_uint(&json, "time_ns", session->ns);
	json_int(&json, "status", status_of(run));
	json_string(&json, "failed", run->failed[0] ? run->failed : NULL);
	json_open(&json, "mismatches", '[');
	for (uint32_t i = 0; i < run->nr_findings; i++)
		print_json_mismatch(&json, &run->finding[i]);
	json_close(&json, ']');
	json_close(&json, '}');
	json_end(&json);
}

/* KTAP: one test, and what did not agree behind it. */
static void print_tap(const struct session *session, const struct run *run, FILE *out)
{
	const char *what = session->options->random ? "random calls" : session->options->script;

	fputs("KTAP version 1\n1..1\n", out);
	if (run->failed[0])
		fprintf(out, "not ok 1 %s # %s\n", what, run->failed);
	else
		fprintf(out, "%sok 1 %s: %" PRIu64 " calls under %s, seed %" PRIu64 "\n",
			run->nr_findings ? "not " : "", what, run->checked, session->policy.name,
			session->options->seed);
	for (uint32_t i = 0; i < run->nr_findings; i++) {
		print_marked(out, "call", run->finding[i].mismatch.call);
		print_marked(out, "model", run->finding[i].mismatch.expected);
		print_marked(out, "kernel", run->finding[i].mismatch.found);
		print_marked(out, "script", "");
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

static int find_policy(struct session *session)
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

static int report(const struct session *session, const struct run *run)
{
	FILE *out = cmd_open_output(session->options->output, stdout);

	if (!out)
		return EXIT_SEAM_FAILED;
	if (session->options->json)
		print_json(session, run, out);
	else if (session->options->tap)
		print_tap(session, run, out);
	else if (session->options->emit_c)
		print_c(run, out);
	else
		print_text(session, run, out);
	if (cmd_close_output(out, session->options->output))
		return EXIT_SEAM_FAILED;
	return status_of(run);
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

static int verify(struct session *session)
{
	const struct options *options = session->options;
	struct run_options run_options = {
		.calls = options->calls,
		.seed = options->seed,
		.only = options->only,
		.area_limit = options->area_limit,
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
	status = report(session, run);
	scripts_free(&scripts);
	run_free(run);
	return status;
}

#define MAX_WORDS 24

/* The same request to the seam in a guest: file names are those of its root there. */
static int verify_in_guest(const struct options *options)
{
	char calls[24], seed[24], limit[24], script[256], rules[256], why[GUEST_ERROR_SIZE];
	char *words[MAX_WORDS];
	unsigned int nr = 0;
	struct guest guest = {
		.image = options->image,
		.append = options->append,
		.command = words,
	};
	FILE *out;
	int status, err;

#define WORD(word) (words[nr++] = (char *)(uintptr_t)(word))
#define FILE_WORD(buf, path)                                                                       \
	do {                                                                                       \
		const char *name = strrchr(path, '/');                                             \
		snprintf(buf, sizeof(buf), "/%s", name ? name + 1 : path);                         \
		guest.files[guest.nr_files++] = path;                                              \
		WORD(buf);                                                                         \
	} while (0)
	WORD("verify");
	WORD("--kernel");
	WORD(options->kernel);
	if (options->json)
		WORD("--json");
	if (options->tap)
		WORD("--tap");
	if (options->stop)
		WORD("--stop");
	if (options->emit_c) {
		WORD("--emit");
		WORD("c");
	}
	if (options->only_text) {
		WORD("--ops");
		WORD(options->only_text);
	}
	if (options->rules) {
		WORD("--rules");
		FILE_WORD(rules, options->rules);
	}
	if (options->area_limit) {
		snprintf(limit, sizeof(limit), "%" PRIu64, options->area_limit);
		WORD("--limit");
		WORD(limit);
	}
	if (options->random) {
		snprintf(calls, sizeof(calls), "%" PRIu64, options->calls);
		snprintf(seed, sizeof(seed), "%" PRIu64, options->seed);
		WORD("--random");
		WORD(calls);
		WORD("--seed");
		WORD(seed);
	} else {
		FILE_WORD(script, options->script);
	}
#undef WORD
#undef FILE_WORD
	words[nr] = NULL;
	out = cmd_open_output(options->output, stdout);
	if (!out)
		return EXIT_SEAM_FAILED;
	err = guest_run(&guest, out, &status, why);
	if (cmd_close_output(out, options->output))
		return EXIT_SEAM_FAILED;
	return err ? cmd_fail(EXIT_SEAM_FAILED, "%s: %s", options->image, why) : status;
}

static int run_verify(int argc, char **argv)
{
	struct options options;
	struct session session = { .options = &options };
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
