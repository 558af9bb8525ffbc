/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "verify/shrink.h"

#define LOOK_NS 100000000     /* between looks at how far it is */
#define WORLD_EPISODES 64     /* then another kind of process */
#define MANY_AREAS_CALLS 8000 /* calls of an episode that begins by filling the map */

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

static void fail(struct run *run, const char *what, int err)
{
	if (!run->failed[0])
		snprintf(run->failed, sizeof(run->failed), "%s: %s", what, strerror(-err));
}

/* What a root process works with. */
struct root {
	struct run *run;
	const struct run_options *options;
	struct world *world;
	const struct named_script *scripts;
	uint32_t nr_scripts;
};

static void reset_counts(struct play *play)
{
	play->calls = play->undetermined = play->skipped = play->whole = 0;
	play->truths = 0;
}

static void count(struct run *run)
{
	run->calls += run->play.calls;
	run->checked += run->play.calls;
	run->undetermined += run->play.undetermined;
	run->skipped += run->play.skipped;
	run->whole += run->play.whole;
	run->truths += run->play.truths;
	reset_counts(&run->play);
}

/* Whether a script shows the mismatch that is sought. One that cannot be played does not. */
static bool shows(void *ctx, struct script *script, bool all_each_time)
{
	const struct root *root = ctx;
	struct play *play = &root->run->play;
	bool found;

	play->script = *script;
	found = !play_script(play, root->world, all_each_time) && play->found &&
		mismatch_alike(&play->mismatch,
			       &root->run->finding[root->run->nr_findings].mismatch);
	reset_counts(play);
	return found;
}

/* Keeps the mismatch that was found, with as short a script as can be had. */
static void keep_finding(const struct root *root)
{
	struct run *run = root->run;
	struct finding *finding = &run->finding[run->nr_findings];

	finding->mismatch = run->play.mismatch;
	finding->kind = root->world->kind;
	run->kept = run->play.script;
	run->kept.nr = finding->mismatch.at + 1;
	/* for shows(), and for what cannot be shown again */
	finding->script = run->kept;
	if (shrink(&run->kept, &run->tried, shows, (void *)root)) {
		finding->mismatch = run->play.mismatch;
		run->kept.nr = finding->mismatch.at + 1;
		finding->script = run->kept;
	}
	run->nr_findings++;
}

static uint64_t episode_calls(const struct generator *gen, uint64_t number, uint64_t left)
{
	static const uint16_t lengths[] = { 1000, 2000, 300, 4000 };
	uint64_t calls = gen->is.area_limit ? MANY_AREAS_CALLS : lengths[number % 4];

	return calls < left ? calls : left;
}

static void fail_choice(struct run *run)
{
	snprintf(run->failed, sizeof(run->failed),
		 "--ops: none of these is a call that is made at random here");
}

static void play_episode(const struct root *root, uint64_t number)
{
	const struct run_options *options = root->options;
	struct run *run = root->run;
	uint64_t before = run->calls;
	struct generator gen;
	int err;

	generate_begin(&gen, root->world, options->seed * UINT64_C(0x100000001b3) + number,
		       options->only, options->area_limit);
	if (!gen.total_weight) {
		fail_choice(run);
		return;
	}
	err = play_random(&run->play, root->world, &gen,
			  episode_calls(&gen, number, options->calls - run->calls));
	count(run);
	if (err)
		memcpy(run->failed, run->play.failed, sizeof(run->failed));
	else if (run->play.found)
		keep_finding(root);
	else if (run->calls == before) /* it would never end */
		fail_choice(run);
}

static bool is_over(const struct run *run, const struct run_options *options)
{
	return run->failed[0] || run->calls >= options->calls ||
	       run->nr_findings == RANDOM_FINDINGS || (run->nr_findings && options->stop);
}

static void play_episodes(const struct root *root)
{
	for (int i = 0; i < WORLD_EPISODES && !is_over(root->run, root->options); i++)
		play_episode(root, root->run->episodes++);
}

static void play_given(const struct root *root, const struct named_script *given)
{
	struct run *run = root->run;
	int err;

	run->play.script.nr = given->nr;
	memcpy(run->play.script.op, given->ops, given->nr * sizeof(*given->ops));
	run->episodes++;
	err = play_script(&run->play, root->world, true);
	count(run);
	if (err) {
		memcpy(run->failed, run->play.failed, sizeof(run->failed));
	} else if (run->play.found && run->nr_findings < MAX_FINDINGS) {
		snprintf(run->finding[run->nr_findings].name, sizeof(run->finding[0].name), "%s",
			 given->name);
		keep_finding(root);
	}
}

static void play_all_given(const struct root *root)
{
	const struct run *run = root->run;

	for (uint32_t i = 0; i < root->nr_scripts && !run->failed[0]; i++) {
		play_given(root, &root->scripts[i]);
		if (run->nr_findings && root->options->stop)
			break;
	}
}

/* In a process of its own, which is the world's. */
static void be_root(const struct root *root, uint32_t kind, void (*work)(const struct root *root))
{
	const char *what;
	int err = world_begin(root->world, root->options->host, root->options->policy, kind, &what);

	if (err)
		fail(root->run, what, err);
	else
		work(root);
	_exit(0);
}

static void wait_root(struct run *run, const struct run_options *options, pid_t pid)
{
	const struct timespec pause = { 0, LOOK_NS };
	pid_t ended;
	int status = 0;

	while ((ended = waitpid(pid, &status, options->progress ? WNOHANG : 0)) != pid) {
		if (ended < 0 && errno != EINTR)
			break;
		if (options->progress)
			options->progress(run->calls + run->play.calls, options->calls);
		nanosleep(&pause, NULL);
	}
	if (WIFSIGNALED(status) && !run->failed[0])
		snprintf(run->failed, sizeof(run->failed), "killed by signal %d", WTERMSIG(status));
}

static int in_world(const struct root *root, uint32_t kind, void (*work)(const struct root *root))
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		fail(root->run, "fork", -errno);
	else if (!pid)
		be_root(root, kind, work);
	else
		wait_root(root->run, root->options, pid);
	return root->run->failed[0] ? -EIO : 0;
}

/* Most runs of episodes are by an ordinary process, with and without rights; some by odd ones. */
static uint32_t kind_of(uint64_t number)
{
	uint32_t rights = number % 2 ? WORLD(no_rights) : 0;

	return rights | (number % 4 == 3 ? (uint32_t)(number / 4) % WORLD_KINDS & ~1u : 0);
}

/* What all roots share. */
static int begin(const struct root *root, struct truth *truth)
{
	int err = world_open_files(root->world);

	if (err) {
		fail(root->run, "files for the calls", err);
		return err;
	}
	truth_begin(truth);
	memcpy(root->run->no_truth, truth->why_not, sizeof(root->run->no_truth));
	root->world->truth = truth->why_not[0] ? NULL : truth;
	return 0;
}

int run_random(struct run *run, const struct run_options *options)
{
	static struct world world;
	const struct root root = { .run = run, .options = options, .world = &world };
	struct truth truth;
	int err = begin(&root, &truth);

	if (err)
		return err;
	for (uint64_t i = 0; !err && !is_over(run, options); i++)
		err = in_world(&root,
			       options->any_kind ? kind_of(i + options->seed) : options->kind,
			       play_episodes);
	truth_end(&truth);
	return err;
}

int run_scripts(struct run *run, const struct run_options *options,
		const struct named_script *scripts, uint32_t nr)
{
	static struct world world;
	const struct root root = { run, options, &world, scripts, nr };
	struct truth truth;
	int err = begin(&root, &truth);

	if (err)
		return err;
	err = in_world(&root, options->kind, play_all_given);
	truth_end(&truth);
	return err;
}
