/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/play.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>

#include "probe/limits.h"
#include "probe/uapi.h"
#include "verify/admit.h"

#define STOP 2	       /* nothing is wrong, but the model cannot go on */
#define ALL_EVERY 2048 /* operations between comparisons of the whole map */
#define TEXT_EVERY 8   /* random calls between looks at areas, where they are read as text */

/* What became of a turn. */
enum step {
	STEP_DONE,   /* an operation was played */
	STEP_PASSED, /* and the turn is another's already */
	STEP_OVER,   /* nothing is left to play, or something was found or failed */
};

/* One process. */
struct player {
	struct play *play;
	struct world *world;
	uint32_t space;	       /* its number */
	struct generator *gen; /* NULL: the script is given */
	uint64_t last;	       /* with gen: calls to make */
	bool all_each_time;
	bool look_at_all; /* behind the next operation */
	bool shared;	  /* other processes come: the model must lie in shared memory */
};

static void fail(struct play *play, const char *what, int err)
{
	if (!play->failed[0])
		snprintf(play->failed, sizeof(play->failed), "%s: %s", what, strerror(-err));
}

static void fail_killed(struct play *play, int signal_number)
{
	char text[OP_TEXT_SIZE] = "the beginning";

	if (play->failed[0])
		return;
	if (play->next < play->script.nr)
		op_text(text, &play->script.op[play->next]);
	snprintf(play->failed, sizeof(play->failed),
		 "the process that made the calls was killed by signal %d (%s) at operation %u, %s",
		 signal_number, strsignal(signal_number), play->next + 1, text);
}

/* Once all is over it stays so. */
static void give_turn(struct play *play, uint32_t space)
{
	uint32_t turn = __atomic_load_n(&play->turn, __ATOMIC_RELAXED);

	while (turn != NOBODY && !__atomic_compare_exchange_n(&play->turn, &turn, space, false,
							      __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	if (play->nr_spaces > 1)
		syscall(SYS_futex, &play->turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/*
 * A process that was killed in its turn gives it to nobody: that is the end. One that has ended in
 * order had given it to another before.
 */
static void look_after(struct play *play, uint32_t space)
{
	int status;

	if (play->pid[space] <= 0 || waitpid(play->pid[space], &status, WNOHANG) <= 0)
		return;
	play->pid[space] = 0;
	if (WIFSIGNALED(status))
		fail_killed(play, WTERMSIG(status));
	if (WIFSIGNALED(status) || __atomic_load_n(&play->turn, __ATOMIC_ACQUIRE) == space)
		give_turn(play, NOBODY);
}

/* False when all is over. */
static bool wait_turn(const struct player *player)
{
	const struct timespec patience = { 1, 0 };
	struct play *play = player->play;
	uint32_t turn;

	for (;;) {
		turn = __atomic_load_n(&play->turn, __ATOMIC_ACQUIRE);
		if (turn == player->space || turn == NOBODY)
			return turn != NOBODY;
		if (syscall(SYS_futex, &play->turn, FUTEX_WAIT, turn, &patience, NULL, 0) &&
		    errno == ETIMEDOUT)
			look_after(play, turn);
	}
}

/* Counted as a call: what enters the kernel by a system call of the map's own. */
static bool is_call(const struct op *op)
{
	switch (op->call) {
	case TRACE_CALL_touch:
	case TRACE_CALL_rtouch:
	case TRACE_CALL_rlimit:
	case TRACE_CALL_limit:
	case OP_EXIT:
		return false;
	default:
		return true;
	}
}

/* An operation that is not made. */
static int skip(struct play *play)
{
	play->skipped++;
	return 0;
}

bool mismatch_alike(const struct mismatch *a, const struct mismatch *b)
{
	if (a->late || b->late)
		return true;
	/* what only the whole map shows, any call may have brought about */
	if (a->in_all || b->in_all)
		return a->in_all == b->in_all;
	return a->kind == b->kind && a->errors[0] == b->errors[0] && a->errors[1] == b->errors[1];
}

static int32_t error_of(const struct outcome *outcome)
{
	return outcome->result < 0 ? (int32_t)outcome->result : 0;
}

/*
 * Where one area cannot be asked for all are read, as text (look_find), which takes a hundred times
 * as long as the call: random calls are then looked at a few at a time.
 */
static bool looks_late(const struct player *player)
{
	return player->gen && !player->world->look.query;
}

static struct mismatch *new_mismatch(struct player *player, const struct op *op,
				     const uint64_t *args, const struct outcome *model,
				     const struct outcome *real)
{
	struct play *play = player->play;
	struct mismatch *mismatch = &play->mismatch;

	play->found = true;
	mismatch->at = play->next;
	mismatch->in_all = false;
	mismatch->late = looks_late(player);
	mismatch->kind = op->call;
	mismatch->errors[0] = error_of(model);
	mismatch->errors[1] = error_of(real);
	op_text_resolved(mismatch->call, op, args);
	return mismatch;
}

static void say_results(struct player *player, const struct op *op, const uint64_t *args,
			const struct outcome *model, const struct outcome *real)
{
	struct mismatch *mismatch = new_mismatch(player, op, args, model, real);

	outcome_text(mismatch->expected, op, model);
	outcome_text(mismatch->found, op, real);
}

static void say_areas(struct player *player, const struct op *op, const uint64_t *args,
		      const struct outcome *real, const struct difference *difference, bool in_all)
{
	struct mismatch *mismatch = new_mismatch(player, op, args, real, real);
	char result[OP_TEXT_SIZE];

	mismatch->in_all = in_all;
	outcome_text(result, op, real);
	snprintf(mismatch->expected, sizeof(mismatch->expected), "%s, areas\n%s", result,
		 difference->expected);
	snprintf(mismatch->found, sizeof(mismatch->found), "%s, areas\n%s", result,
		 difference->found);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What a call may have changed: up to two ranges; their number. */
static int reach(const struct op *op, const uint64_t *args, const struct outcome *real,
		 struct range *ranges)
{
	uint64_t result = (uint64_t)real->result;
	bool failed = real->result < 0;

	switch (op->call) {
	case TRACE_CALL_mmap:
		ranges[0].start = failed ? args[0] : result;
		ranges[0].end = ranges[0].start + args[1];
		return 1;
	case TRACE_CALL_mremap:
		ranges[0] = (struct range) { args[0], args[0] + args[1] };
		ranges[1].start = failed ? args[4] : result;
		ranges[1].end = ranges[1].start + args[2];
		return 2;
	case TRACE_CALL_brk:
		ranges[0] = (struct range) { least(result, args[0] ? args[0] : result), result };
		return 1;
	case TRACE_CALL_shmat:
		ranges[0].start = failed ? args[1] : result;
		ranges[0].end = ranges[0].start + args[3];
		return 1;
	case TRACE_CALL_shmdt:
		ranges[0] = (struct range) { args[0], args[0] + MAX_SEGMENT_LEN };
		return 1;
	case TRACE_CALL_prctl:
		if (args[0] != PR_SET_VMA)
			return 0;
		__attribute__((fallthrough));
	case TRACE_CALL_uffd_ioctl:
		ranges[0] = (struct range) { args[2], args[2] + args[3] };
		return 1;
	case TRACE_CALL_mlockall:
	case TRACE_CALL_munlockall:
	case TRACE_CALL_rlimit:
	case TRACE_CALL_set_mempolicy:
		return 0;
	default:
		ranges[0] = (struct range) { args[0], args[0] + args[1] };
		return 1;
	}
}

/* 1 unlike, -errno. */
static int check_near(struct player *player, const struct op *op, const uint64_t *args,
		      const struct outcome *real)
{
	struct world *world = player->world;
	struct difference difference;
	struct range ranges[2];
	int nr = reach(op, args, real, ranges), r = 0;

	for (int i = 0; i < nr && !r; i++)
		if (ranges[i].start <= ranges[i].end)
			r = compare_near(world->space, &world->look, ranges[i].start, ranges[i].end,
					 &difference);
	if (r > 0)
		say_areas(player, op, args, real, &difference, false);
	return r;
}

/* All areas, but none of the flags that maps does not show. 1 unlike, -errno. */
static int check_areas(struct player *player, const struct op *op, const uint64_t *args,
		       const struct outcome *real)
{
	const struct world *world = player->world;
	struct difference difference;
	int r = compare_range(world->space, &player->world->look,
			      world->filled ? world->filled_to : 0, UINT64_MAX, &difference);

	if (r > 0)
		say_areas(player, op, args, real, &difference, false);
	return r;
}

static int check_all(struct player *player, const struct op *op, const uint64_t *args)
{
	struct world *world = player->world;
	const struct outcome none = { 0 };
	struct difference difference;
	int r;

	/* tens of thousands of areas that only fill are too many to look at again and again */
	if (world->filled)
		r = compare_range(world->space, &world->look, world->filled_to, UINT64_MAX,
				  &difference);
	else
		r = compare_all(world->space, &world->look, &difference);
	if (!r)
		r = compare_totals(world->space, 0, &difference);
	player->play->whole++;
	if (!r && world->truth && !world->filled) {
		r = truth_compare(world->truth, world->space, world->kept, world->nr_kept,
				  &difference);
		player->play->truths++;
	}
	if (r > 0)
		say_areas(player, op, args, &none, &difference, true);
	return r;
}

/*
 * Whether an outcome hangs on guard markers, of which the model keeps no more than the area's flag,
 * or on the end of a SysV segment: a fault in the range stopped for the kernel alone, or sooner,
 * and there is one.
 */
static bool hangs_on_pages(struct player *player, const struct op *op, const uint64_t *args,
			   const struct outcome *model, const struct outcome *real)
{
	struct world *world = player->world;
	uint64_t at = real->reached ? real->reached : args[0];
	uint64_t len = real->reached ? 1 : args[1];

	if (!op_faults_in(op, args) || real->result >= 0 ||
	    (model->result && model->reached <= real->reached))
		return false;
	return look_for_guards(&world->look, at, len) ||
	       model_beyond_segment(world->space, &world->model_files, at, len);
}

/*
 * Whether a refusal hangs on what all other processes have been promised (overcommit mode 2), which
 * the model does not know.
 */
static bool hangs_on_commit(const struct op *op, const uint64_t *args, const struct outcome *model,
			    const struct outcome *real)
{
	bool works = op->call == TRACE_CALL_brk ? model->result == (int64_t)args[0]
						: model->result >= 0;
	uint64_t bytes = limits_refused_bytes(op->call, args, real->result);

	return works && bytes && limits_commit_short(bytes);
}

/* A call that the process makes itself. */
static int play_call(struct player *player, const struct op *op, const uint64_t *args)
{
	struct play *play = player->play;
	struct world *world = player->world;
	struct outcome real, model;

	if (!real_call(&world->real_files, op, args, &real) ||
	    !model_call(world->space, &world->model_files, op, args, &real, &model)) {
		return skip(play);
	}
	if (model.result == -SEAM_EALLOC)
		return -ENOMEM;
	play->script.result[play->next] = real.result;
	play->calls += is_call(op);
	if (real.result != model.result || real.reached != model.reached) {
		if (hangs_on_pages(player, op, args, &model, &real) ||
		    hangs_on_commit(op, args, &model, &real)) {
			play->undetermined++;
			return STOP;
		}
		say_results(player, op, args, &model, &real);
		return 1;
	}
	if (!looks_late(player))
		return check_near(player, op, args, &real);
	return play->calls % TEXT_EVERY ? 0 : check_areas(player, op, args, &real);
}

/* Limits the areas for real and in the model: no call of the map, so nothing is compared. */
static int play_limit(struct player *player, uint64_t nr)
{
	int err = world_limit(player->world, nr);

	if (err == -E2BIG && !player->gen)
		return skip(player->play);
	if (err == -E2BIG)
		snprintf(player->play->failed, sizeof(player->play->failed),
			 "a limit of %" PRIu64 " areas: the process has %" PRIu64 " of its own", nr,
			 seam_space_areas(player->world->space));
	player->play->script.result[player->play->next] = err;
	return err;
}

/* In the child: the turn is its own, and the fork has been played. */
static int begin_child(struct player *player, uint32_t number)
{
	struct play *play = player->play;

	player->world->space = play->space[number];
	player->space = number;
	player->look_at_all = true;
	if (player->gen)
		generate_forked(player->gen, number);
	return world_forked(player->world);
}

/* A fork that the model refuses: if there is a child after all, it goes at once. */
static int fork_refused(struct player *player, const struct op *op, const uint64_t *args,
			const struct outcome *model)
{
	struct outcome real = { 0 };
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid < 0)
		real.result = -errno;
	else
		waitpid(pid, NULL, 0);
	player->play->script.result[player->play->next] = real.result;
	player->play->calls++;
	if (real.result == model->result)
		return 0;
	say_results(player, op, args, model, &real);
	return 1;
}

/* A child is promised what its parent was, once more: see hangs_on_commit(). */
static bool fork_hangs_on_commit(const struct player *player, int err)
{
	struct seam_totals totals;

	seam_space_get_totals(player->world->space, &totals);
	return err == ENOMEM && limits_commit_short(totals.total_pages
						    << seam_space_page_shift(player->world->space));
}

/*
 * Forks for real and in the model. 0 in the child, whose turn is next; *ret_parent is true in the
 * parent.
 */
static int play_fork(struct player *player, const struct op *op, const uint64_t *args,
		     bool *ret_parent)
{
	struct play *play = player->play;
	const struct outcome model = { 0 };
	uint32_t number = play->nr_spaces;
	struct outcome real;
	pid_t pid;
	int err;

	if (number == MAX_SPACES) {
		return skip(play);
	}
	err = seam_space_fork(player->world->space, &play->space[number]);
	if (err == -SEAM_EALLOC)
		return -ENOMEM;
	if (err)
		return fork_refused(player, op, args, &(struct outcome) { .result = err });
	play->parent[number] = player->space;
	play->alive[number] = true;
	play->script.result[play->next] = 0;
	play->calls++;
	play->nr_spaces++;
	give_turn(play, number);
	pid = fork();
	if (!pid)
		return begin_child(player, number);
	if (pid > 0) {
		play->pid[number] = pid;
		*ret_parent = true;
		return 0;
	}
	real = (struct outcome) { .result = -errno };
	if (fork_hangs_on_commit(player, errno)) {
		play->undetermined++;
		return STOP;
	}
	say_results(player, op, args, &model, &real);
	return 1;
}

/* Ends this process and its space; its parent waits until its memory is really gone. */
static void play_exit(struct player *player)
{
	struct play *play = player->play;
	uint32_t turn;

	seam_space_destroy(player->world->space);
	play->alive[player->space] = false;
	play->next++;
	turn = play->parent[player->space];
	if (!player->gen && play->next < play->script.nr)
		turn = play->script.op[play->next].space;
	/* the first process is always there */
	give_turn(play, turn < play->nr_spaces && play->alive[turn] ? turn : 0);
	_exit(0);
}

/* Children that have ended since the last turn. */
static void reap(const struct player *player)
{
	struct play *play = player->play;

	for (uint32_t i = 0; i < play->nr_spaces; i++) {
		if (play->parent[i] != player->space || play->alive[i] || play->pid[i] <= 0)
			continue;
		waitpid(play->pid[i], NULL, 0);
		play->pid[i] = 0;
	}
}

static int play_op(struct player *player, const struct op *op, bool *ret_parent)
{
	struct play *play = player->play;
	uint64_t args[OP_ARGS];
	int r;

	play->script.result[play->next] = -ECANCELED;
	if (!op_resolve(op, play->script.result, args))
		return skip(play);
	if (op->call == OP_EXIT) /* of the first process: it stays to the end */
		return skip(play);
	/* a script that was made shorter refers to other places than it did, seam's own among them */
	if (!player->gen && !admit_harmless(player->world, op, args))
		return skip(play);
	if (op->call == TRACE_CALL_limit)
		r = play_limit(player, args[0]);
	else if (op->call == TRACE_CALL_fork)
		r = play_fork(player, op, args, ret_parent);
	else
		r = play_call(player, op, args);
	if (r || *ret_parent)
		return r;
	if (player->all_each_time || player->look_at_all || play->next % ALL_EVERY == ALL_EVERY - 1)
		r = check_all(player, op, args);
	player->look_at_all = false;
	if (!r && player->gen)
		generate_learn(player->gen, player->world, play->next + 1, op, args,
			       play->script.result[play->next]);
	return r;
}

/* Random processes end in order: a parent waits for its children. */
static bool may_exit(const struct player *player)
{
	const struct play *play = player->play;

	for (uint32_t i = 0; i < play->nr_spaces; i++)
		if (play->alive[i] && play->parent[i] == player->space && i)
			return false;
	return player->space != 0;
}

/* The next operation of the script or the generator; NULL at the end. */
static const struct op *next_op(struct player *player)
{
	struct play *play = player->play;
	struct op *op = &play->script.op[play->next];

	if (!player->gen)
		return play->next < play->script.nr ? op : NULL;
	if (play->next == SCRIPT_MAX || play->calls >= player->last)
		return NULL;
	do
		generate_next(player->gen, player->world, &play->script, op);
	while (op->call == OP_EXIT && !may_exit(player));
	op->space = (uint8_t)player->space;
	play->script.nr = play->next + 1;
	return op;
}

/* Whose turn it is after an operation. */
static uint32_t next_turn(const struct player *player)
{
	const struct play *play = player->play;

	if (player->gen)
		return generate_turn(player->gen, play->alive, play->nr_spaces, player->space);
	if (play->next >= play->script.nr)
		return player->space;
	return play->script.op[play->next].space;
}

/* The end of the script: the whole map once more. */
static void look_back(struct player *player)
{
	struct play *play = player->play;
	const uint64_t none[OP_ARGS] = { 0 };
	int r;

	if (!play->next)
		return;
	play->next--;
	r = check_all(player, &play->script.op[play->next], none);
	if (r < 0)
		fail(play, "comparing the maps", r);
}

static enum step take_turn(struct player *player)
{
	struct play *play = player->play;
	const struct op *op;
	bool parent = false;
	uint32_t turn;
	int r;

	reap(player);
	op = next_op(player);
	if (!op) {
		look_back(player);
		return STEP_OVER;
	}
	if (op->call == OP_EXIT && player->space)
		play_exit(player);
	r = play_op(player, op, &parent);
	if (r < 0)
		fail(play, "making or comparing a call", r);
	if (r)
		return STEP_OVER;
	if (parent)
		return STEP_PASSED;
	play->next++;
	turn = next_turn(player);
	if (turn >= play->nr_spaces || !play->alive[turn]) {
		fail(play, "an operation of a process that is not there", -ESRCH);
		return STEP_OVER;
	}
	if (turn == player->space)
		return STEP_DONE;
	give_turn(play, turn);
	return STEP_PASSED;
}

/* Plays until all is over, then waits for the processes that came of this one. */
static void be_player(struct player *player)
{
	enum step step = STEP_PASSED;

	while (step != STEP_OVER) {
		if (step == STEP_PASSED && !wait_turn(player))
			break;
		step = take_turn(player);
	}
	if (step == STEP_OVER)
		give_turn(player->play, NOBODY);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	_exit(0);
}

static int play_in_child(struct player *player)
{
	struct play *play = player->play;
	int status = 0;
	pid_t pid;

	play->next = play->turn = 0;
	play->nr_spaces = 1;
	play->alive[0] = true;
	play->found = false;
	play->failed[0] = 0;
	pid = fork();
	if (pid < 0) {
		fail(play, "fork", -errno);
		return -EAGAIN;
	}
	if (!pid) {
		int err = world_forked(player->world);

		if (!err && player->shared)
			err = world_share(player->world);
		if (err)
			fail(play, "making a world of its own", err);
		else
			be_player(player);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		fail_killed(play, WTERMSIG(status));
	return play->failed[0] ? -EIO : 0;
}

static bool has_forks(const struct script *script)
{
	for (uint32_t i = 0; i < script->nr; i++)
		if (script->op[i].call == TRACE_CALL_fork)
			return true;
	return false;
}

int play_script(struct play *play, struct world *world, bool all_each_time)
{
	struct player player = {
		.play = play,
		.world = world,
		.all_each_time = all_each_time,
		.shared = has_forks(&play->script),
	};

	return play_in_child(&player);
}

int play_random(struct play *play, struct world *world, struct generator *gen, uint64_t calls)
{
	struct player player = {
		.play = play,
		.world = world,
		.gen = gen,
		.last = play->calls + calls,
		.shared = gen->is.weight[TRACE_CALL_fork] > 0,
	};

	play->script.nr = 0;
	return play_in_child(&player);
}
