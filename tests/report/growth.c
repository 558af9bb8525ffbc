/* SPDX-License-Identifier: BSD-2-Clause */
/* Curves of a known shape, and what is said of them. */
#include "findings/growth.h"

#include <string.h>

#include "tests/tap.h"

#define MINUTE_NS UINT64_C(60000000000)

/* So many calls, ten a second. */
static struct growth judge(uint64_t calls, uint64_t (*areas)(uint64_t call, uint64_t calls),
			   uint64_t limit)
{
	struct series series = { 0 };
	struct growth growth;

	for (uint64_t call = 1; call <= calls; call++)
		if (series_add(&series, call * MINUTE_NS / 600, call, areas(call, calls)))
			return (struct growth) { 0 };
	growth = growth_judge(&series, limit);
	series_free(&series);
	return growth;
}

static uint64_t rest(uint64_t call, uint64_t calls)
{
	return call < calls / 5 ? 20 + call * 100 / calls : 40 + call % 3;
}

/* 60 areas a minute */
static uint64_t leak(uint64_t call, uint64_t calls)
{
	return 100 + call / 10 + call % 7;
}

static uint64_t saw(uint64_t call, uint64_t calls)
{
	return 30 + call % 500;
}

static uint64_t fall(uint64_t call, uint64_t calls)
{
	return 20 + 1000 - call * 1000 / calls;
}

/* A saw whose floor rises. */
static uint64_t rising_saw(uint64_t call, uint64_t calls)
{
	return 30 + call % 50 + call / 20;
}

static void is(struct growth growth, enum growth_kind kind, const char *what)
{
	if (!ok(growth.kind == kind, "%s: they %s", what, growth_text(kind)))
		printf("# %s\n", growth_name(growth.kind));
}

static void test_kinds(void)
{
	is(judge(63, leak, 0), GROWTH_short, "63 calls");
	for (uint64_t calls = 1000; calls <= 1000000; calls *= 10) {
		is(judge(calls, rest, 0), GROWTH_plateau, "a start and then nothing");
		is(judge(calls, leak, 0), GROWTH_growing, "a leak");
		is(judge(calls, fall, 0), GROWTH_falling, "given back");
		is(judge(calls, rising_saw, 0), GROWTH_growing, "a saw that rises");
	}
	is(judge(100000, saw, 0), GROWTH_waves, "a saw");
}

static void test_rate(void)
{
	struct growth growth = judge(60000, leak, 65530);

	ok(growth.has_rate && growth.per_minute > 58 && growth.per_minute < 62,
	   "60 areas a minute: %.1f", growth.per_minute);
	ok(growth.reaches_limit && growth.minutes_to_limit > 950 && growth.minutes_to_limit < 1050,
	   "59,430 below the limit: %.0f minutes", growth.minutes_to_limit);
	growth = judge(180, leak, 65530);
	ok(growth.kind == GROWTH_growing && growth.brief && !growth.reaches_limit,
	   "a leak seen for a moment: nothing is said of hours");
	growth = judge(60000, rest, 65530);
	ok(!growth.reaches_limit, "what is at rest reaches no limit");
}

static void test_series(void)
{
	struct series series = { 0 };
	uint64_t calls = 0, most = 0;

	for (uint64_t call = 1; call <= 100000; call++)
		series_add(&series, 0, call, call == 77777 ? 5000 : 10);
	for (uint32_t i = 0; i < series.nr; i++)
		most = series.points[i].most > most ? series.points[i].most : most;
	calls = (series.nr - 1) * series.stride + series.in_last;
	ok(series.nr <= SERIES_POINTS && series.nr > SERIES_POINTS / 3, "%u points", series.nr);
	ok(calls == 100000, "all calls are in them");
	ok(most == 5000, "one peak among 100,000 is not lost");
	series_free(&series);
}

int main(void)
{
	test_kinds();
	test_rate();
	test_series();
	return tap_done();
}
