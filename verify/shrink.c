/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/shrink.h"

#include "trace/clock.h"

#define MAX_TRIES 2000
#define MAX_SECONDS 15
#define MAX_PLAYS 100 /* or as long as so many plays of the whole script take, where all is slow */

struct work {
	struct script *script, *room;
	shows_fn shows;
	void *ctx;
	unsigned int tries;
	uint64_t until_ns;
};

static bool is_over(const struct work *work)
{
	return work->tries >= MAX_TRIES || clock_ns() >= work->until_ns;
}

static bool try_without(struct work *work, uint32_t start, uint32_t nr)
{
	if (is_over(work))
		return false;
	work->tries++;
	script_without(work->script, start, nr, work->room);
	if (work->room->nr == work->script->nr || !work->shows(work->ctx, work->room, false))
		return false;
	*work->script = *work->room;
	return true;
}

/* Takes out runs of @nr operations, from the end on; whether any could go. */
static bool pass(struct work *work, uint32_t nr)
{
	bool any = false;

	for (uint32_t end = work->script->nr; end > 0;) {
		uint32_t start = end > nr ? end - nr : 0;

		any |= try_without(work, start, end - start);
		end = start < work->script->nr ? start : work->script->nr;
	}
	return any;
}

/* What only the look at the end shows may have come long before: the shortest beginning with it. */
static void cut_tail(struct work *work)
{
	uint32_t low = 0, high = work->script->nr;

	while (low + 1 < high) {
		uint32_t middle = (low + high) / 2;

		*work->room = *work->script;
		work->room->nr = middle;
		if (work->shows(work->ctx, work->room, false))
			high = middle;
		else
			low = middle;
	}
	work->script->nr = high;
}

bool shrink(struct script *script, struct script *room, shows_fn shows, void *ctx)
{
	uint64_t start_ns = clock_ns(), wanted_ns = MAX_SECONDS * NS_PER_S;
	struct work work = { script, room, shows, ctx, 0, 0 };

	if (!shows(ctx, script, false))
		return false;
	if ((clock_ns() - start_ns) * MAX_PLAYS > wanted_ns)
		wanted_ns = (clock_ns() - start_ns) * MAX_PLAYS;
	work.until_ns = start_ns + wanted_ns;
	cut_tail(&work);
	for (uint32_t nr = script->nr / 2; nr > 1; nr /= 2)
		pass(&work, nr);
	while (pass(&work, 1))
		;
	/* seen by the whole map, it may be seen earlier still */
	return (script->nr <= 64 && shows(ctx, script, true)) || shows(ctx, script, false);
}
