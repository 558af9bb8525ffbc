/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam record: every change to the address spaces of a process tree, into a file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/attach.h"
#include "cmd/cmd.h"
#include "cmd/policy.h"
#include "cmd/record_output.h"
#include "cmd/record_print.h"
#include "face/record.h"
#include "probe/record.h"
#include "replay/replay.h"
#include "sym/unwind.h"
#include "ui/table.h"

struct options {
	const char *output; /* NULL: the default */
	uint64_t pid;
	bool yes, ptrace, survive, print, stacks, json;
	char **program;
};

static const struct cmd_option known_options[] = {
	OPTION_OUTPUT(struct options, output,
		      "to FILE, - is standard output; else to seam.data, and an earlier one is "
		      "kept as seam.data.old"),
	OPTION_PID(struct options, pid,
		   "a process that runs already, and the children that it makes from now on, until "
		   "it ends or seam is interrupted; stops it at every system call, so seam asks "
		   "first"),
	OPTION_YES(struct options, yes),
	{ .name = "ptrace",
	  OPTION_FLAG(struct options, ptrace),
	  .help = "-p: do not ask for a process of one's own" },
	{ .name = "survive",
	  OPTION_FLAG(struct options, survive),
	  .help = "stop at every call instead of setting a filter: slower, but the program goes on "
		  "when seam is killed" },
	{ .name = "stacks",
	  OPTION_FLAG(struct options, stacks),
	  .help = "the call stack of each call, by libdw: a tenth of a millisecond and more per "
		  "call; functions are named when the recording is read" },
	{ .name = "print",
	  OPTION_FLAG(struct options, print),
	  .help = "one line per call on standard error, as strace would, and what it did to the "
		  "map: how many areas it has now, what was split or joined" },
	{ .name = "json",
	  OPTION_FLAG(struct options, json),
	  .help = "the closing figures as JSON" },
	{ 0 },
};

static int parse_options(struct options *options, int argc, char **argv)
{
	int status;

	*options = (struct options) { .program = argv };
	status = options_parse(&cmd_record, argc, argv, options, &options->program);
	if (status)
		return status;
	if (!options->pid && !*options->program)
		return cmd_usage(&cmd_record, "no program to run and no process (-p)");
	if (options->pid && *options->program)
		return cmd_usage(&cmd_record, "-p and a program exclude each other");
	if (options->stacks && !unwind_is_possible())
		return cmd_usage(&cmd_record, "--stacks: not in this build or on this machine");
	return options->pid ? 0 : operands_program(&cmd_record, options->program);
}

/* ---- the closing line ---- */

#define REPLAYED_MAX (UINT64_C(16) << 20) /* bytes of a recording that take no time to speak of */

/*
 * The recorder looks at a map now and then; how large it was between is what the calls tell. A named
 * policy will do: to probe the running kernel would take longer than most recordings.
 */
static void count_peak(const struct record_output *output, uint64_t bytes,
		       struct record_result *result)
{
	struct replay_kernel kernel = { .recorded = true };
	const struct replay_options options = { .kernels = &kernel, .nr_kernels = 1 };
	struct replay_report report;
	struct trace_error error;
	struct source source;

	if (bytes > REPLAYED_MAX || !output->is_file ||
	    !cmd_named_policy(output->host->release, &kernel.policy) ||
	    source_open(output->path, &source))
		return;
	if (!replay_run(&source, &options, &report, &error))
		for (uint32_t i = 0; i < report.results[0].nr_mms; i++)
			if (report.results[0].mms[i].areas_peak > result->areas_peak)
				result->areas_peak = report.results[0].mms[i].areas_peak;
	replay_report_free(&report);
	source_close(&source);
}

static void print_closing(const struct record_result *result, const struct record_output *output,
			  uint64_t bytes)
{
	char calls[COUNTED_TEXT], processes[COUNTED_TEXT], areas[COUNTED_TEXT];
	char cost[SHORT_TEXT], size[SHORT_TEXT];
	double percent = result->elapsed_ns
				 ? 100.0 * (double)result->cpu_ns / (double)result->elapsed_ns
				 : 0;

	fprintf(stderr, "seam: %s of %s, at most %s, lost 0; %s in %s; recording took %s (%.1f %%)",
		counted(calls, result->calls, "call", "calls"),
		counted(processes, result->processes, "process", "processes"),
		counted(areas, result->areas_peak, "mapping", "mappings"), size_text(size, bytes),
		output->path, time_text(cost, result->cpu_ns), percent);
	if (!output->is_file)
		fputc('\n', stderr);
	else if (output->is_default)
		fputs("; next: seam report\n", stderr);
	else
		fprintf(stderr, "; next: seam report %s\n", output->path);
	if (result->no_descriptions)
		fputs("seam: open files could not be told apart here (pidfd_getfd, kcmp): files "
		      "are told by device and inode\n",
		      stderr);
	if (result->ambiguous)
		fprintf(stderr,
			"seam: %s overlapped others in one address space: in what order they came "
			"is a guess\n",
			counted(calls, result->ambiguous, "call", "calls"));
}

static void say(const char *text)
{
	cmd_fail(0, "%s", text);
}

static int finish(const struct options *options, const struct record_output *output,
		  const struct record_result *result, uint64_t bytes, int write_err)
{
	if (options->json)
		record_json(result, output->path, bytes, stderr);
	else
		print_closing(result, output, bytes);
	if (write_err)
		return cmd_fail(EXIT_SEAM_FAILED,
				"%s: not written whole: %s; it is good up to there", output->path,
				strerror(-write_err));
	return options->pid ? EXIT_DONE : result->status;
}

/* Nothing was recorded: the program was not run, or was killed while that was tried. */
static int not_begun(const struct options *options, const struct record_result *result)
{
	if (result->exec_errno > 0)
		return cmd_fail(result->status, "%s: %s", options->program[0],
				strerror(result->exec_errno));
	if (result->exec_errno < 0)
		return cmd_fail(EXIT_SEAM_FAILED, "the seccomp filter: %s; --survive goes without",
				strerror(-result->exec_errno));
	return cmd_fail(result->status, "%s: ended before it had begun: nothing is recorded",
			options->program[0]);
}

static int record_into(const struct options *options, struct record_output *output,
		       struct record_print *print)
{
	const struct record_options record = { .argv = options->pid ? NULL : options->program,
					       .pid = (pid_t)options->pid,
					       .survive = options->survive,
					       .stacks = options->stacks,
					       .open_writer = record_output_begin,
					       .writer_ctx = output,
					       .watcher = print ? record_print_watcher(print)
								: NULL,
					       /* who looks on sees a call once it is done */
					       .exits = print && isatty(STDERR_FILENO),
					       .say = say };
	struct record_result result;
	uint64_t bytes;
	int err = record_run(&record, &result), write_err;

	if (print)
		record_print_end(print);
	if (err || !result.spaces) {
		record_output_drop(output);
		return err ? attach_failed(err, (pid_t)options->pid, options->program[0])
			   : not_begun(options, &result);
	}
	write_err = record_output_close(output, &bytes);
	if (!write_err)
		write_err = result.write_err;
	if (!write_err)
		count_peak(output, bytes, &result);
	return finish(options, output, &result, bytes, write_err);
}

static int run_record(int argc, char **argv)
{
	struct options options;
	struct record_output output;
	struct trace_host host;
	struct record_print *print = NULL;
	int status = parse_options(&options, argc, argv);

	if (!status && options.pid)
		status = attach_ask((pid_t)options.pid, options.yes, options.ptrace, "recording");
	if (status)
		return status;
	record_host(&host);
	status = record_output_open(options.output, &host, &output);
	if (status)
		return status;
	if (options.print)
		status = record_print_start(&host, &print);
	if (status) {
		record_output_drop(&output);
		return status;
	}
	return record_into(&options, &output, print);
}

const struct cmd cmd_record = {
	.name = "record",
	.synopsis =
		"[-o FILE] [--survive] [--stacks] [--print] [-p PID | [--] PROGRAM [ARGUMENT...]]",
	.summary = "every change to the address spaces of a process tree, into a file",
	.options = known_options,
	.options_first = true,
	.notes =
		"Needs no rights. A launched tree runs under a seccomp filter, so that only calls "
		"that can change a map stop; it is killed when seam is killed, since without its "
		"tracer these calls would fail.\n"
		"Interrupts end the program, not the recording. The file is good to its last block "
		"whenever seam ends.\n"
		"A setuid program runs without its rights under an unprivileged seam, which is "
		"then said. Programs that trace others cannot be recorded.\n"
		"The status is the program's own: 128 + N when signal N ended it, 126 not "
		"executable, 127 not found, 125 when seam failed.",
	.run = run_record,
};
