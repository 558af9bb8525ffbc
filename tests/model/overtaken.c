/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overtaken: a lookup that is stopped after one of its instructions while the writer changes what
 * is looked up, and after any later one while it changes more nodes than are remembered. It finds
 * the area as it was when it began, or says that nobody knows any more.
 *
 * That is what a thread is in for that sleeps in mid-lookup, twice. tests/spin/ shows the same of a
 * model; here it is the code that runs.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <seam/seam.h>

#include "tests/model/step.h"
#include "tests/tap.h"

#if !CAN_STEP
int main(void)
{
	return cannot_step();
}
#else

#define PAGE UINT64_C(4096)
#define ARENA UINT64_C(0x50000000)
#define NR_AREAS 900 /* some 40 leaves */
#define LOOKED_UP 100
#define OTHERS 400	/* far from it: other leaves */
#define MORE_CHANGES 80 /* of nodes than readers are kept */
#define CHANGES 4	/* moments of the first change; a stop costs microseconds */

static struct seam_space *space;
static unsigned long steps, change_at, outgrow_at;

static uint64_t addr_of(unsigned int area)
{
	return ARENA + area * PAGE;
}

static void protect(unsigned int area, uint32_t prot)
{
	if (seam_space_mprotect(space, addr_of(area), PAGE, prot, -1))
		abort();
}

/* Each is another than its neighbours before and after. */
static uint32_t usual_prot(unsigned int area)
{
	return area % 2 ? SEAM_PROT_READ : SEAM_PROT_NONE;
}

static void outgrow(void)
{
	static unsigned int turn;

	turn++;
	for (unsigned int i = 0; i < MORE_CHANGES; i++) {
		unsigned int area = OTHERS + i * 5;

		protect(area, turn % 2 ? SEAM_PROT_EXEC : usual_prot(area));
	}
}

/* The writer, while the reader stands still. */
static void stopped(int signal, siginfo_t *info, void *context)
{
	if (steps == change_at)
		protect(LOOKED_UP, usual_prot(LOOKED_UP + 1)); /* joins three */
	if (steps == outgrow_at)
		outgrow();
	if (steps++ >= outgrow_at)
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

/* What the lookup gives when the writer comes after instructions @change and @more of it. */
static int look_up(unsigned long change, unsigned long more, struct seam_area *ret_area)
{
	struct seam_read read;
	int found;

	protect(LOOKED_UP, usual_prot(LOOKED_UP));
	steps = 0;
	change_at = change;
	outgrow_at = more;
	if (seam_read_begin(&read, space))
		abort();
	step(true);
	found = seam_read_find(&read, addr_of(LOOKED_UP), ret_area);
	step(false);
	return found;
}

static struct seam_space *make_space(void)
{
	struct seam_space_options options = { .size = sizeof(options),
					      .policy = seam_policy_find("linux-6.18"),
					      .flags = SEAM_SPACE_READERS };
	struct seam_mmap args = { .addr = ARENA,
				  .len = NR_AREAS * PAGE,
				  .flags = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS | SEAM_MAP_FIXED };
	struct seam_space *fresh;
	uint64_t addr;

	if (seam_space_create(&options, &fresh) || seam_space_mmap(fresh, &args, &addr))
		abort();
	return fresh;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = stopped, .sa_flags = SA_SIGINFO };
	unsigned long nr_steps, found = 0, gone = 0, wrong = 0;
	struct seam_area area, before;

	sigaction(SIGTRAP, &action, NULL);
	space = make_space();
	for (unsigned int i = 0; i < NR_AREAS; i++)
		protect(i, usual_prot(i));
	ok(look_up(-1ul, -1ul, &before) == 1 && before.start == addr_of(LOOKED_UP),
	   "undisturbed: found");
	nr_steps = steps;
	for (unsigned long change = 0; change < nr_steps; change += nr_steps / CHANGES) {
		for (unsigned long more = change; more < nr_steps; more++) {
			int r = look_up(change, more, &area);

			found += r == 1;
			gone += r == -SEAM_EAGAIN;
			wrong += r == 1 ? memcmp(&area, &before, sizeof(area)) != 0
					: r != -SEAM_EAGAIN;
		}
	}
	ok(!wrong, "a lookup of %lu instructions: %lu wrong", nr_steps, wrong);
	ok(found && gone, "%lu as it was, %lu gone", found, gone);
	seam_space_destroy(space);
	return tap_done();
}
#endif
