/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In which order did overlapping calls happen? A call that was interrupted in the log took effect
 * somewhere between its two halves. It is put before another call of its space when only that makes
 * both results possible, else where its second half stands; where the log leaves two orders open that
 * could differ, both calls are marked ambiguous.
 */
#include <errno.h>
#include <string.h>

#include "trace/grow.h"
#include "trace/strace.h"

/* More calls than this never wait: the oldest has to go first. */
#define MAX_PENDING 1024

static bool is_empty(struct range range)
{
	return range.start >= range.end;
}

static bool overlap(struct range a, struct range b)
{
	return !is_empty(a) && !is_empty(b) && a.start < b.end && b.start < a.end;
}

/* Is any of @range in @set, when [but] does not count? */
static bool overlaps_beside(const struct range_set *set, struct range range, struct range but)
{
	if (is_empty(range))
		return false;
	if (!overlap(range, but))
		return range_set_overlaps(set, range.start, range.end);
	return (range.start < but.start && range_set_overlaps(set, range.start, but.start)) ||
	       (but.end < range.end && range_set_overlaps(set, but.end, range.end));
}

static const struct range nothing;

/*
 * Can this call have had its result in this space, as far as is known, if first another call had
 * freed @freed and mapped @mapped?
 */
static bool possible_after(const struct strace_space *space, const struct strace_effect *call,
			   struct range freed, struct range mapped)
{
	if (call->needs_free &&
	    (overlap(call->makes, mapped) || overlaps_beside(&space->mapped, call->makes, freed)))
		return false;
	if (is_empty(call->needs))
		return true;
	if (call->needs_hole)
		return overlap(call->needs, freed) ||
		       !range_set_covers(&space->mapped, call->needs.start, call->needs.end);
	return !overlap(call->needs, freed) && !overlaps_beside(&space->freed, call->needs, mapped);
}

static bool possible(const struct strace_space *space, const struct strace_effect *call)
{
	return possible_after(space, call, nothing, nothing);
}

/* What a call leaves unmapped: what it freed and did not map itself. */
static struct range leaves_free(const struct strace_effect *call)
{
	return overlap(call->frees, call->makes) ? nothing : call->frees;
}

static bool possible_behind(const struct strace_space *space, const struct strace_effect *call,
			    const struct strace_effect *first)
{
	return possible_after(space, call, leaves_free(first), first->makes);
}

/*
 * Maps without a wish are placed one below the other, or upward in old layouts: of two that touch,
 * the one nearer to the base came first.
 */
static bool placed_before(const struct strace_space *space, const struct strace_effect *a,
			  const struct strace_effect *b)
{
	if (!a->placed || !b->placed)
		return false;
	return space->upward > 0 ? a->makes.end == b->makes.start : b->makes.end == a->makes.start;
}

/* Did @waiting happen before @now, which is whole? */
static bool must_precede(const struct strace_space *space, const struct strace_effect *waiting,
			 const struct strace_effect *now)
{
	if (!possible(space, waiting))
		return false;
	if (!possible(space, now))
		return possible_behind(space, now, waiting);
	return !possible_behind(space, waiting, now) || placed_before(space, waiting, now);
}

/* Calls on memory of their own may have come in any order. */
static bool concern_each_other(const struct strace_effect *a, const struct strace_effect *b)
{
	const struct range of_a[] = { a->makes, a->frees, a->needs };
	const struct range of_b[] = { b->makes, b->frees, b->needs };

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			if (overlap(of_a[i], of_b[j]))
				return true;
	return false;
}

/* Could @waiting as well have happened before @now? */
static bool may_precede(const struct strace_space *space, const struct strace_effect *waiting,
			const struct strace_effect *now)
{
	return possible(space, waiting) && possible_behind(space, now, waiting) &&
	       !placed_before(space, now, waiting) && concern_each_other(waiting, now);
}

/* Learns in which direction this layout fills: a new map lies right below or above another. */
static void learn_direction(struct strace_space *space, struct range made)
{
	if (range_set_overlaps(&space->mapped, made.end, made.end + 1))
		space->upward--;
	else if (made.start && range_set_overlaps(&space->mapped, made.start - 1, made.start))
		space->upward++;
}

/* [from] loses the range, [to] gains it. */
static int move_range(struct range_set *from, struct range_set *to, struct range range)
{
	int r = range_set_remove(from, range.start, range.end);

	return r ? r : range_set_add(to, range.start, range.end);
}

static int apply(struct strace_space *space, const struct strace_effect *call)
{
	int r = 0;

	if (!call->needs_hole)
		r = move_range(&space->freed, &space->mapped, call->needs);
	if (!r)
		r = move_range(&space->mapped, &space->freed, call->frees);
	if (!r && call->placed)
		learn_direction(space, call->makes);
	return r ? r : move_range(&space->freed, &space->mapped, call->makes);
}

/* An address was handed out twice: what was there has gone in a call that is not in the log. */
static int free_reused(struct strace *s, const struct event *event, struct strace_space *space,
		       struct range range)
{
	struct event change = {
		.kind = EVENT_CHANGE,
		.space = event->space,
		.pid = event->pid,
		.tid = event->tid,
		.line = event->line,
		.time_ns = event->time_ns,
		.sees = SEES_RANGE,
		.arg = { range.start, range.end },
	};
	int r = range_set_remove(&space->mapped, range.start, range.end);

	if (r)
		return r;
	if (!s->trial) {
		s->trace->facts.reused_addresses++;
		trace_incomplete(s->trace, "addresses handed out twice");
	}
	return strace_emit(s, &change);
}

/* Puts a call behind all that was put so far. */
static int put(struct strace *s, const struct event *event, const struct strace_effect *effect)
{
	struct strace_space *space = &s->spaces[event->space];
	int r = 0;

	if (effect->needs_free &&
	    range_set_overlaps(&space->mapped, effect->makes.start, effect->makes.end))
		r = free_reused(s, event, space, effect->makes);
	if (!r)
		r = apply(space, effect);
	return r ? r : strace_emit(s, event);
}

static int put_pending(struct strace *s, struct strace_pending *pending)
{
	pending->done = true;
	return put(s, &pending->event, &pending->effect);
}

static void drop_done(struct strace *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->nr_pending; i++)
		if (!s->pending[i].done)
			s->pending[kept++] = s->pending[i];
	s->nr_pending = kept;
}

int strace_commit(struct strace *s, struct event *event, const struct strace_effect *effect)
{
	int r;

	for (uint32_t i = 0; i < s->nr_pending; i++) {
		struct strace_pending *waiting = &s->pending[i];
		const struct strace_space *space = &s->spaces[event->space];

		if (waiting->done || waiting->event.space != event->space)
			continue;
		if (must_precede(space, &waiting->effect, effect)) {
			r = put_pending(s, waiting);
			if (r)
				return r;
		} else if (may_precede(space, &waiting->effect, effect)) {
			waiting->event.flags |= EVENT_AMBIGUOUS;
			event->flags |= EVENT_AMBIGUOUS;
		}
	}
	if (s->nr_pending)
		drop_done(s);
	return put(s, event, effect);
}

int strace_defer(struct strace *s, const struct event *event, const struct strace_effect *effect,
		 const char *tail_line)
{
	int r = 0;

	if (s->nr_pending >= MAX_PENDING) {
		s->pending[0].event.flags |= EVENT_AMBIGUOUS;
		r = put_pending(s, &s->pending[0]);
		drop_done(s);
	}
	if (r || grow(&s->pending, s->nr_pending, &s->room_pending, sizeof(*s->pending)))
		return -ENOMEM;
	s->pending[s->nr_pending++] = (struct strace_pending) {
		.event = *event,
		.effect = *effect,
		.tail_line = tail_line,
	};
	return 0;
}

/* The waiting call @i has ended: it is now as whole as any other. */
static int settle(struct strace *s, uint32_t i)
{
	struct strace_pending ended = s->pending[i];

	s->pending[i].done = true;
	drop_done(s);
	return strace_commit(s, &ended.event, &ended.effect);
}

int strace_settle(struct strace *s, const char *tail_line)
{
	for (uint32_t i = 0; i < s->nr_pending; i++)
		if (s->pending[i].tail_line == tail_line)
			return settle(s, i);
	return 0;
}

int strace_settle_space(struct strace *s, uint32_t space)
{
	for (uint32_t i = 0; i < s->nr_pending;) {
		int r;

		if (s->pending[i].event.space != space) {
			i++;
			continue;
		}
		r = settle(s, i);
		if (r)
			return r;
		i = 0;
	}
	return 0;
}
