/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "verify/generate.h"
#include "verify/shrink.h"
#include "verify/world.h"

#define PAGE UINT64_C(4096)
#define ALL_EVERY 2048	  /* calls between comparisons of the whole map */
#define LOOK_NS 100000000 /* between looks at how far it is */
#define SHRINK_MAX 3	  /* mismatches whose scripts are made short */

struct run *run_new(void)
{
	struct run *run = mmap(NULL, sizeof(*run), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return run == MAP_FAILED ? NULL : run;
}

void run_free(struct run *run)
{
	if (run)
		munmap(run, sizeof(*run));
}

static void say_failed(struct run *run, const char *what, int err)
{
	snprintf(run->failed, sizeof(run->failed), "%s: %s", what, strerror(-err));
}

/* Counted as a call: what enters the kernel by a system call. */
static bool is_call(const struct op *op)
{
	return op->call != TRACE_CALL_touch && op->call != TRACE_CALL_rtouch &&
	       op->call != TRACE_CALL_rlimit;
}

static void say_results(struct run *run, const struct op *op, const uint64_t *args,
			const struct outcome *model, const struct outcome *real)
{
	struct mismatch *now = &run->now;

	op_text_resolved(now->call, op, args);
	outcome_text(now->expected, op, model);
	outcome_text(now->found, op, real);
}

static void say_areas(struct run *run, const struct op *op, const uint64_t *args,
		      const struct outcome *real, const struct difference *difference)
{
	struct mismatch *now = &run->now;
	char result[OP_TEXT_SIZE];

	op_text_resolved(now->call, op, args);
	outcome_text(result, op, real);
	snprintf(now->expected, sizeof(now->expected), "%s, areas\n%s", result,
		 difference->expected);
	snprintf(now->found, sizeof(now->found), "%s, areas\n%s", result, difference->found);
}

/* What a call may have changed: up to two ranges; their number. */
static int reach(const struct op *op, const uint64_t *args, const struct outcome *real,
		 struct range *ranges)
{
	uint64_t result = (uint64_t)real->result;
	int nr = 0;

	if (args[1] < UINT64_C(1) << 47)
		ranges[nr++] = (struct range) { args[0], args[0] + args[1] };
	switch (op->call) {
	case TRACE_CALL_mmap:
		if (real->result >= 0)
			ranges[0] = (struct range) { result, result + args[1] };
		break;
	case TRACE_CALL_mremap:
		if (real->result >= 0)
			ranges[nr++] = (struct range) { result, result + args[2] };
		else if (args[3] & 2 && args[2] < UINT64_C(1) << 47)
			ranges[nr++] = (struct range) { args[4], args[4] + args[2] };
		break;
	case TRACE_CALL_brk:
		ranges[0] = (struct range) { result < args[0] || !args[0] ? result : args[0],
					     result > args[0] ? result : args[0] };
		break;
	default:
		break;
	}
	return nr;
}

/* 1: unlike; -errno. */
static int check_all(struct run *run, struct world *world, const struct op *op,
		     const uint64_t *args, const struct outcome *real)
{
	struct difference difference;
	int r = compare_all(world->space, &world->look, &difference);

	if (!r)
		r = compare_totals(world->space, 0, &difference);
	run->whole++;
	if (r > 0)
		say_areas(run, op, args, real, &difference);
	return r;
}

static int check_near(struct run *run, struct world *world, const struct op *op,
		      const uint64_t *args, const struct outcome *real)
{
	struct difference difference;
	struct range ranges[2];
	int nr = reach(op, args, real, ranges), r = 0;

	for (int i = 0; i < nr && !r; i++)
		r = compare_near(world->space, &world->look, ranges[i].start, ranges[i].end,
				 &difference);
	if (r > 0)
		say_areas(run, op, args, real, &difference);
	return r;
}

/*
 * Makes operation @number - 1 of run->script in both and compares. 0, 1 unlike, -errno; an
 * operation that refers to a failed one is passed over.
 */
static int step(struct run *run, struct world *world, struct script *script, uint32_t at,
		uint64_t *args)
{
	const struct op *op = &script->op[at];
	struct outcome real, model;

	script->result[at] = -ECANCELED;
	if (!op_resolve(op, script->result, args))
		return 0;
	if (!real_call(&world->real_files, op, args, &real) ||
	    !model_call(world->space, &world->model_files, op, args, &real, &model))
		return -ENOSYS;
	if (model.result == -SEAM_EALLOC)
		return -ENOMEM;
	script->result[at] = real.result;
	run->calls += is_call(op);
	run->checked += is_call(op);
	if (real.result != model.result || real.reached != model.reached) {
		say_results(run, op, args, &model, &real);
		return 1;
	}
	return check_near(run, world, op, args, &real);
}

/* In a child: found or failed are said in @run. */
static void end_script(struct run *run, uint32_t at, int r, bool in_all)
{
	run->found = r > 0;
	run->in_all = in_all;
	run->at = at;
	if (r < 0)
		say_failed(run, "a call could not be made or compared", r);
	_exit(0);
}

static void play_episode(struct run *run, struct world *world, struct generator *gen,
			 uint64_t wanted)
{
	struct script *script = &run->script;
	uint64_t args[OP_ARGS], last = run->calls + wanted;
	const struct outcome none = { 0 };
	uint32_t at;
	int r = 0;

	for (at = 0; at < SCRIPT_MAX && run->calls < last && !r; at++) {
		script->nr = at + 1;
		generate_next(gen, world, script, &script->op[at]);
		r = step(run, world, script, at, args);
		if (r)
			end_script(run, at, r, false);
		generate_learn(gen, at + 1, &script->op[at], args, script->result[at]);
		if (at % ALL_EVERY == ALL_EVERY - 1)
			r = check_all(run, world, &script->op[at], args, &none);
	}
	if (!r)
		r = check_all(run, world, &script->op[at - 1], args, &none);
	end_script(run, at - 1, r, true);
}

static void play_script(struct run *run, struct world *world, struct script *script,
			bool all_each_time)
{
	uint64_t args[OP_ARGS] = { 0 };
	const struct outcome none = { 0 };
	uint32_t at;
	int r;

	for (at = 0; at < script->nr; at++) {
		r = step(run, world, script, at, args);
		if (!r && all_each_time)
			r = check_all(run, world, &script->op[at], args, &none);
		if (r)
			end_script(run, at, r, false);
	}
	r = at ? check_all(run, world, &script->op[at - 1], args, &none) : 0;
	end_script(run, at - 1, r, true);
}

/* Waits for a child that ran a script. -errno when it came to grief. */
static int wait_script(struct run *run, pid_t pid)
{
	char text[OP_TEXT_SIZE];
	int status;

	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFSIGNALED(status)) {
		op_text(text, &run->script.op[run->script.nr ? run->script.nr - 1 : 0]);
		snprintf(run->failed, sizeof(run->failed),
			 "the process that made the calls was killed by signal %d (%s) at or after "
			 "operation %u, %s",
			 WTERMSIG(status), strsignal(WTERMSIG(status)), run->script.nr, text);
		return -EIO;
	}
	return run->failed[0] ? -EIO : 0;
}

struct attempt {
	struct run *run;
	struct world *world;
};

/* Whether a script shows a mismatch. */
static bool try_script(void *ctx, struct script *script, bool all_each_time)
{
	struct attempt *attempt = ctx;
	struct run *run = attempt->run;
	uint64_t calls = run->calls, checked = run->checked, whole = run->whole;
	pid_t pid;

	run->found = false;
	run->failed[0] = 0;
	pid = fork();
	if (!pid) {
		if (world_forked(attempt->world))
			_exit(1);
		play_script(run, attempt->world, script, all_each_time);
	}
	if (wait_script(run, pid)) {
		run->failed[0] = 0;
		run->found = false;
	}
	run->calls = calls;
	run->checked = checked;
	run->whole = whole;
	return run->found;
}

/* Keeps the mismatch that the last episode found, with as short a script as can be had. */
static void keep_mismatch(struct run *run, struct world *world)
{
	struct attempt attempt = { run, world };
	struct mismatch *kept = &run->mismatch[run->nr_mismatches];

	*kept = run->now;
	run->script.nr = run->at + 1;
	if (run->nr_mismatches < SHRINK_MAX &&
	    shrink(&run->script, &run->tried, try_script, &attempt)) {
		/* the last try was the short script: it says what it showed */
		*kept = run->now;
		run->script.nr = run->at + 1;
	}
	kept->script = run->script;
	run->nr_mismatches++;
}

static uint64_t episode_length(uint64_t number)
{
	static const uint16_t lengths[] = { 1000, 2000, 300, 4000 };

	return lengths[number % 4];
}

/* In a process of its own. */
static void run_episodes(struct run *run, const struct run_options *options, struct world *world)
{
	struct generator gen;

	while (run->calls < options->calls && run->nr_mismatches < MAX_MISMATCHES) {
		uint64_t number = run->episodes++, wanted = episode_length(number);
		pid_t pid;

		if (wanted > options->calls - run->calls)
			wanted = options->calls - run->calls;
		run->found = false;
		run->script.nr = 0;
		generate_begin(&gen, options->seed * UINT64_C(0x100000001b3) + number,
			       options->only);
		pid = fork();
		if (!pid) {
			if (world_forked(world))
				_exit(1);
			play_episode(run, world, &gen, wanted);
		}
		if (wait_script(run, pid))
			return;
		if (run->found)
			keep_mismatch(run, world);
		if (run->nr_mismatches && options->stop)
			return;
	}
}

static void be_root(struct run *run, const struct run_options *options, struct world *world)
{
	const char *what;
	int err = world_begin(world, options->host, options->policy, &what);

	if (err)
		say_failed(run, what, err);
	else
		run_episodes(run, options, world);
	_exit(0);
}

static void wait_root(struct run *run, const struct run_options *options, pid_t pid)
{
	const struct timespec pause = { 0, LOOK_NS };
	int status;

	while (!waitpid(pid, &status, options->progress ? WNOHANG : 0)) {
		if (options->progress)
			options->progress(run->calls, options->calls);
		nanosleep(&pause, NULL);
	}
	if (WIFSIGNALED(status) && !run->failed[0])
		snprintf(run->failed, sizeof(run->failed), "killed by signal %d", WTERMSIG(status));
}

int run_random(struct run *run, const struct run_options *options)
{
	static struct world world;
	int err = world_open_files(&world);
	pid_t pid;

	if (err) {
		say_failed(run, "files for the calls", err);
		return err;
	}
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		say_failed(run, "fork", -errno);
	else if (!pid)
		be_root(run, options, &world);
	else
		wait_root(run, options, pid);
	return run->failed[0] ? -EIO : 0;
}
