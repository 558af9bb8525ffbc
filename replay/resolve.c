/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guessing what was touched. A border between two areas that only the truth has is a join that the
 * kernel refused; one that only the model has is a join that it made. Each was made by one call,
 * which worked on a range between two neighbours:
 *
 *	[ left ][ the call's memory ][ right ]
 *
 * Before this call the three get other histories (faulted or not, with whose anon_vma), so that
 * the policy itself comes to the other outcome. Guesses change what later calls do, so all is gone
 * through again until it fits, or nothing more helps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/call.h"
#include "replay/segment.h"
#include "trace/grow.h"

#define MAX_ROUNDS 24
/* Numbers of anon_vmas that a guess makes: far from those of the model. */
#define FIRST_GUESSED UINT32_C(0x80000000)

/* Sides of a call's range. */
enum side { SIDE_START, SIDE_END };
#define BIT(side) (1u << (side))

/* What is guessed about one call. */
struct guess {
	uint8_t joins; /* sides that join when nothing is guessed */
	uint8_t flips; /* sides that come out the other way */
	uint8_t tries; /* 0: nothing is guessed */
};

/* A place where the borders of model and truth differ, or once did. */
struct border {
	uint64_t at;
	bool in_truth;	     /* else only in the model */
	uint32_t call;	     /* that made it so, from 1; 0: none */
	unsigned int before; /* enum border_state, before the call that is being made */
};

struct resolution {
	struct lane lane; /* a copy: its results are of no interest */
	struct replay_result result;
	const struct lane_mm *mm; /* the one that is explained */
	const struct segment *segment;
	const struct seam_area *truth;
	size_t nr_truth;
	struct lane_mm again;
	struct guess *guesses;	/* [call - 1] */
	struct border *borders; /* in order of address */
	uint32_t nr_borders, room_borders;
	uint32_t next_guessed;
};

/* ---- the three areas of a call ---- */

/* The range that a call changes, and where its memory is before; made: it makes new memory. */
struct spot {
	uint64_t start, end, from;
	bool makes;
};

static struct spot spot_of(const struct lane_mm *mm, const struct event *event)
{
	const uint64_t *arg = event->arg;
	uint64_t mask = (UINT64_C(1) << seam_space_page_shift(mm->space)) - 1;
	struct spot spot = { .start = arg[0], .end = arg[0] + arg[1] };

	switch (event->call) {
	case TRACE_CALL_mmap:
		spot.start = (uint64_t)event->result;
		spot.end = spot.start + arg[1];
		spot.makes = true;
		break;
	case TRACE_CALL_brk:
		spot.start = (seam_space_get_brk(mm->space) + mask) & ~mask;
		spot.end = arg[0];
		spot.makes = true;
		break;
	case TRACE_CALL_mremap:
		spot.start = (uint64_t)event->result;
		spot.end = spot.start + arg[2];
		break;
	case TRACE_CALL_prctl:
	case TRACE_CALL_uffd_ioctl:
		spot.start = arg[2];
		spot.end = arg[2] + arg[3];
		break;
	default:
		break;
	}
	spot.start &= ~mask;
	spot.end = (spot.end + mask) & ~mask;
	spot.from = event->call == TRACE_CALL_mremap ? arg[0] & ~mask : spot.start;
	return spot;
}

/* Private memory, which alone has an anon_vma. */
static bool has_history(const struct seam_area *area)
{
	return !(area->flags & (SEAM_VM_SHARED | SEAM_VM_MAYSHARE));
}

/* The three areas, as far as they are there and have a history of their own. */
struct three {
	struct seam_area left, own, right;
	bool has_left, has_own, has_right;
};

static void find_three(const struct lane_mm *mm, const struct spot *spot, struct three *ret)
{
	const struct seam_space *space = mm->space;

	ret->has_left = seam_area_find_below(space, spot->start, &ret->left) &&
			ret->left.end == spot->start && has_history(&ret->left);
	ret->has_right = seam_area_find(space, spot->end, &ret->right) &&
			 ret->right.start == spot->end && has_history(&ret->right);
	ret->has_own = !spot->makes && seam_area_find(space, spot->from, &ret->own) &&
		       ret->own.start <= spot->from && has_history(&ret->own);
	/* the call's memory is part of a larger area: no border there */
	if (ret->has_own && spot->from == spot->start) {
		ret->has_left &= ret->own.start == spot->start;
		ret->has_right &= ret->own.end <= spot->end;
	}
}

/* The area's memory gets another history: @anon 0 is never faulted. */
static void set_anon(struct resolution *r, struct seam_area *area, uint32_t anon, int *err)
{
	struct range_map *untouched = &r->again.untouched;

	if (*err || area->anon_vma == anon)
		return;
	area->anon_vma = anon;
	area->anon_chain = anon ? 1 : 0;
	if (seam_space_adopt(r->again.space, area) == -SEAM_EALLOC)
		*err = -ENOMEM;
	else if (anon)
		*err = range_map_clear(untouched, area->start, area->end);
	else
		*err = range_map_set(untouched, area->start, area->end, 0);
}

static void set_fresh(struct resolution *r, struct seam_area *area, int *err)
{
	set_anon(r, area, ++r->next_guessed, err);
}

/* New memory, which has no history, joins left, right or both. */
static void guess_for_new(struct resolution *r, struct three *t, bool join_left, bool join_right,
			  int *err)
{
	if (!t->has_left || !t->has_right)
		return;
	if (join_left && join_right) {
		set_fresh(r, &t->left, err);
		set_anon(r, &t->right, t->left.anon_vma, err);
	} else {
		if (!t->left.anon_vma)
			set_fresh(r, &t->left, err);
		set_fresh(r, &t->right, err);
	}
}

/* The area at one side only is to join the call's memory, or to stay apart. */
static void guess_for_side(struct resolution *r, struct three *t, struct seam_area *other,
			   bool join, unsigned int tries, int *err)
{
	if (!join) {
		set_fresh(r, tries % 2 ? &t->own : other, err);
		if (!t->own.anon_vma)
			set_fresh(r, &t->own, err);
		if (!other->anon_vma)
			set_fresh(r, other, err);
	} else if (tries % 3 == 1) {
		set_anon(r, &t->own, 0, err);
	} else if (tries % 3 == 2) {
		set_fresh(r, other, err);
		set_anon(r, &t->own, other->anon_vma, err);
	} else {
		set_anon(r, &t->own, 0, err);
		set_anon(r, other, 0, err);
	}
}

/* @joined is to join the call's memory, @apart is not. */
static void guess_for_one_of_two(struct resolution *r, struct three *t, struct seam_area *joined,
				 struct seam_area *apart, unsigned int tries, int *err)
{
	bool left_joins = joined == &t->left;

	/* what is not faulted goes to the left where both would do */
	if (tries % 2 && left_joins) {
		set_anon(r, &t->own, 0, err);
		if (!joined->anon_vma)
			set_fresh(r, joined, err);
	} else {
		set_fresh(r, joined, err);
		set_anon(r, &t->own, joined->anon_vma, err);
	}
	if (!apart->anon_vma || apart->anon_vma == joined->anon_vma)
		set_fresh(r, apart, err);
}

static void guess_for_two(struct resolution *r, struct three *t, bool join_left, bool join_right,
			  unsigned int tries, int *err)
{
	if (join_left && join_right) {
		set_fresh(r, &t->left, err);
		set_anon(r, &t->right, t->left.anon_vma, err);
		set_anon(r, &t->own, tries % 2 ? 0 : t->left.anon_vma, err);
	} else if (join_left) {
		guess_for_one_of_two(r, t, &t->left, &t->right, tries, err);
	} else if (join_right) {
		guess_for_one_of_two(r, t, &t->right, &t->left, tries, err);
	} else {
		set_fresh(r, &t->own, err);
		if (!t->left.anon_vma)
			set_fresh(r, &t->left, err);
		if (!t->right.anon_vma)
			set_fresh(r, &t->right, err);
	}
}

static int make_guess(struct resolution *r, const struct guess *guess, const struct event *event)
{
	unsigned int joins = guess->joins ^ guess->flips;
	bool join_left = joins & BIT(SIDE_START), join_right = joins & BIT(SIDE_END);
	struct spot spot = spot_of(&r->again, event);
	struct three t;
	int err = 0;

	find_three(&r->again, &spot, &t);
	if (spot.makes)
		guess_for_new(r, &t, join_left, join_right, &err);
	else if (t.has_own && t.has_left && t.has_right)
		guess_for_two(r, &t, join_left, join_right, guess->tries, &err);
	else if (t.has_own && t.has_left)
		guess_for_side(r, &t, &t.left, join_left, guess->tries, &err);
	else if (t.has_own && t.has_right)
		guess_for_side(r, &t, &t.right, join_right, guess->tries, &err);
	return err;
}

/* ---- going through the segment again ---- */

/* What a call works on, at most: borders outside are none of its business. */
static void range_of(const struct lane_mm *mm, const struct event *event, uint64_t *ret_start,
		     uint64_t *ret_end)
{
	const uint64_t *arg = event->arg;
	uint64_t page = UINT64_C(1) << seam_space_page_shift(mm->space);
	uint64_t start = arg[0], end = arg[0] + arg[1], result = (uint64_t)event->result;

	switch (event->call) {
	case TRACE_CALL_mmap:
		start = result;
		end = start + arg[1];
		break;
	case TRACE_CALL_brk:
		start = 0;
		end = arg[0] > result ? arg[0] : result;
		break;
	case TRACE_CALL_prctl:
	case TRACE_CALL_uffd_ioctl:
		start = arg[2];
		end = start + arg[3];
		break;
	case TRACE_CALL_mremap: /* two ranges, and what lies between */
		if (event->result > 0 && result < start)
			start = result;
		end = arg[0] + arg[1];
		if (event->result > 0 && result + arg[2] > end)
			end = result + arg[2];
		break;
	case TRACE_CALL_shmdt:
	case TRACE_CALL_mlockall:
	case TRACE_CALL_munlockall:
		start = 0;
		end = UINT64_MAX - page;
		break;
	default:
		break;
	}
	*ret_start = start & ~(page - 1);
	*ret_end = (end + page - 1) & ~(page - 1);
}

enum border_state { BORDER_NONE, BORDER_INSIDE, BORDER_BETWEEN };

static enum border_state border_state(const struct seam_space *space, uint64_t at)
{
	struct seam_area area;

	if (!seam_area_find(space, at - 1, &area) || area.start >= at)
		return BORDER_NONE;
	if (area.end > at)
		return BORDER_INSIDE;
	return seam_area_find(space, at, &area) && area.start == at ? BORDER_BETWEEN : BORDER_NONE;
}

/* The first border at @addr or above. */
static uint32_t first_border(const struct resolution *r, uint64_t addr)
{
	uint32_t low = 0, high = r->nr_borders;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (r->borders[middle].at >= addr)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int make_call(struct resolution *r, const struct event *event)
{
	struct call call = {
		.lane = &r->lane,
		.mm = &r->again,
		.space = r->again.space,
		.event = event,
		.file = trace_file(r->lane.trace, event->file),
		.arg = event->arg,
		.known = !(event->flags & EVENT_NO_RESULT),
	};

	call.worked = call.known && !lane_is_failure(event, event->arg, event->result);
	call_apply(&call);
	lane_note_peak(&r->again);
	return call.error ? -ENOMEM : 0;
}

/* The last call that made the border what it should not be. */
static void note_maker(struct border *border, enum border_state after, uint32_t number)
{
	if (border->in_truth ? after == BORDER_INSIDE && border->before != BORDER_INSIDE
			     : after == BORDER_BETWEEN)
		border->call = number;
}

/* One call again, with the guess for it; it is noted which borders it makes. */
static int go_over(struct resolution *r, uint32_t number)
{
	const struct event *event = &r->segment->calls[number - 1];
	struct guess *guess = &r->guesses[number - 1];
	struct spot spot = spot_of(&r->again, event);
	uint64_t start, end;
	uint32_t first;
	int err = guess->tries ? make_guess(r, guess, event) : 0;

	if (err)
		return err;
	if (event->kind == EVENT_TOUCH)
		return lane_touch_in(&r->lane, &r->again, event);
	range_of(&r->again, event, &start, &end);
	first = first_border(r, start);
	for (uint32_t i = first; i < r->nr_borders && r->borders[i].at <= end; i++)
		r->borders[i].before = border_state(r->again.space, r->borders[i].at);
	err = make_call(r, event);
	for (uint32_t i = first; i < r->nr_borders && r->borders[i].at <= end; i++)
		note_maker(&r->borders[i], border_state(r->again.space, r->borders[i].at), number);
	if (guess->tries)
		return err;
	guess->joins = 0;
	if (border_state(r->again.space, spot.start) == BORDER_INSIDE)
		guess->joins |= BIT(SIDE_START);
	if (border_state(r->again.space, spot.end) == BORDER_INSIDE)
		guess->joins |= BIT(SIDE_END);
	return err;
}

static int go_through(struct resolution *r)
{
	int err;

	lane_mm_free(&r->again);
	err = segment_restore(r->mm, &r->again);
	for (uint32_t i = 0; i < r->nr_borders; i++)
		r->borders[i].call = 0;
	for (uint32_t number = 1; !err && number <= r->segment->nr_calls; number++)
		err = go_over(r, number);
	return err;
}

/* ---- where model and truth differ ---- */

static int add_border(struct resolution *r, uint64_t at, bool in_truth)
{
	uint32_t i = first_border(r, at);

	if (i < r->nr_borders && r->borders[i].at == at)
		return 0;
	if (grow(&r->borders, r->nr_borders, &r->room_borders, sizeof(*r->borders)))
		return -ENOMEM;
	memmove(&r->borders[i + 1], &r->borders[i], (r->nr_borders - i) * sizeof(*r->borders));
	r->borders[i] = (struct border) { .at = at, .in_truth = in_truth };
	r->nr_borders++;
	return 0;
}

static bool truth_is_inside(const struct resolution *r, size_t from, uint64_t at)
{
	for (size_t i = from; i < r->nr_truth && r->truth[i].start < at; i++)
		if (r->truth[i].end > at)
			return true;
	return false;
}

/* Adds the borders between touching areas that only one of space and truth has. */
static int add_wrong_borders(struct resolution *r, const struct seam_space *space)
{
	struct seam_area area, before = { 0 };
	uint64_t at = 0;
	size_t from = 0;
	int err = 0;

	for (size_t i = 1; !err && i < r->nr_truth; i++)
		if (r->truth[i].start == r->truth[i - 1].end &&
		    border_state(space, r->truth[i].start) == BORDER_INSIDE)
			err = add_border(r, r->truth[i].start, true);
	while (!err && seam_area_next(space, &at, &area)) {
		while (from < r->nr_truth && r->truth[from].end < area.start)
			from++;
		if (before.end && before.end == area.start && truth_is_inside(r, from, area.start))
			err = add_border(r, area.start, false);
		before = area;
	}
	return err;
}

/* Another guess about the call that made a border wrong. */
static bool guess_again(struct resolution *r, const struct border *border)
{
	const struct event *event = &r->segment->calls[border->call - 1];
	struct guess *guess = &r->guesses[border->call - 1];
	struct spot spot = spot_of(&r->again, event);
	unsigned int side;

	if (event->call == TRACE_CALL_brk || border->at == spot.start)
		side = BIT(SIDE_START);
	else if (border->at == spot.end)
		side = BIT(SIDE_END);
	else
		return false;
	if (!(guess->flips & side))
		guess->flips |= side;
	else if (guess->tries % 4 == 3)
		guess->flips &= (uint8_t)~side;
	guess->tries++;
	return guess->tries < MAX_ROUNDS;
}

/* False when there is none to guess about. */
static bool guess_all_again(struct resolution *r)
{
	bool more = false;

	for (uint32_t i = 0; i < r->nr_borders; i++) {
		struct border *border = &r->borders[i];
		unsigned int wrong = border->in_truth ? BORDER_INSIDE : BORDER_BETWEEN;

		if (border_state(r->again.space, border->at) != wrong)
			continue;
		/* one that was not looked at yet will be, the next time */
		more |= !border->call || guess_again(r, border);
	}
	return more;
}

/* A stack may have grown meanwhile. */
static bool same_borders(const struct resolution *r)
{
	struct seam_area area;
	uint64_t at = 0;
	size_t i = 0;

	while (seam_area_next(r->again.space, &at, &area)) {
		bool grown = area.flags & SEAM_VM_GROWSDOWN && i < r->nr_truth &&
			     r->truth[i].start < area.start;

		if (i == r->nr_truth || r->truth[i].end != area.end ||
		    (r->truth[i].start != area.start && !grown))
			return false;
		i++;
	}
	return i == r->nr_truth;
}

static uint64_t count_guesses(const struct resolution *r)
{
	uint64_t guessed = 0;

	for (uint32_t i = 0; i < r->segment->nr_calls; i++)
		guessed += r->guesses[i].tries != 0;
	return guessed;
}

int segment_resolve(struct lane *lane, struct lane_mm *mm, const struct seam_area *truth,
		    size_t nr_truth, uint64_t *ret_undetermined)
{
	struct resolution r = {
		.lane = *lane,
		.mm = mm,
		.segment = mm->segment,
		.truth = truth,
		.nr_truth = nr_truth,
		.next_guessed = FIRST_GUESSED,
	};
	bool found = false;
	int err;

	*ret_undetermined = 0;
	if (!r.segment || r.segment->overflowed || !r.segment->nr_calls)
		return 0;
	r.guesses = calloc(r.segment->nr_calls, sizeof(*r.guesses));
	if (!r.guesses)
		return -ENOMEM;
	r.lane.result = &r.result;
	err = add_wrong_borders(&r, mm->space);
	for (int round = 0; !err && !found && r.nr_borders && round < MAX_ROUNDS; round++) {
		err = go_through(&r);
		if (!err)
			err = add_wrong_borders(&r, r.again.space);
		found = !err && same_borders(&r);
		if (!found && !err && !guess_all_again(&r))
			break;
	}
	if (found) {
		*ret_undetermined = count_guesses(&r);
		lane_replace_space(lane, mm, &r.again);
	}
	lane_mm_free(&r.again);
	free(r.guesses);
	free(r.borders);
	return err;
}
