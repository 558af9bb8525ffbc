/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program starts, and then does what it does: the first quarter of its calls says little. In the
 * rest the floor counts, the fewest areas of a quarter: what comes and goes leaves no floor behind,
 * what is never given back raises it.
 */
#include "findings/growth.h"

#include <errno.h>
#include <stdlib.h>

#define FEWEST_CALLS 64
/* A floor has moved when it moved by so many areas, and by a twentieth. */
#define MOVED_AREAS 8
/* What a program does in its first seconds says nothing about hours. */
#define FEWEST_MINUTES (10.0 / 60)

int series_add(struct series *series, uint64_t time_ns, uint64_t call, uint64_t areas)
{
	struct series_point *point;

	if (!series->points) {
		series->points = calloc(SERIES_POINTS, sizeof(*series->points));
		if (!series->points)
			return -ENOMEM;
		series->stride = 1;
	}
	if (series->nr == SERIES_POINTS && series->in_last == series->stride) {
		for (uint32_t i = 0; i < SERIES_POINTS / 2; i++) {
			struct series_point *left = &series->points[2 * i], joined = left[1];

			joined.least = left->least < joined.least ? left->least : joined.least;
			joined.most = left->most > joined.most ? left->most : joined.most;
			series->points[i] = joined;
		}
		series->nr /= 2;
		series->stride *= 2;
		series->in_last = series->stride;
	}
	if (!series->nr || series->in_last == series->stride) {
		series->in_last = 0;
		series->points[series->nr++] =
			(struct series_point) { .least = areas, .most = areas };
	}
	point = &series->points[series->nr - 1];
	series->in_last++;
	point->time_ns = time_ns;
	point->call = call;
	point->areas = areas;
	point->least = areas < point->least ? areas : point->least;
	point->most = areas > point->most ? areas : point->most;
	return 0;
}

void series_free(struct series *series)
{
	free(series->points);
	*series = (struct series) { 0 };
}

static const char *const names[] = {
#define GROWTH_NAME(name, json, text) json,
	GROWTHS(GROWTH_NAME)
#undef GROWTH_NAME
};

static const char *const texts[] = {
#define GROWTH_TEXT(name, json, text) text,
	GROWTHS(GROWTH_TEXT)
#undef GROWTH_TEXT
};

const char *growth_name(enum growth_kind kind)
{
	return names[kind];
}

const char *growth_text(enum growth_kind kind)
{
	return texts[kind];
}

/* One quarter of the series. */
struct quarter {
	uint64_t least, most;
	double middle_ns; /* mean of its times */
};

static struct quarter quarter_of(const struct series *series, unsigned int number)
{
	uint32_t first = series->nr * number / 4, end = series->nr * (number + 1) / 4;
	struct quarter quarter = { .least = UINT64_MAX };

	for (uint32_t i = first; i < end; i++) {
		const struct series_point *point = &series->points[i];

		quarter.least = point->least < quarter.least ? point->least : quarter.least;
		quarter.most = point->most > quarter.most ? point->most : quarter.most;
		quarter.middle_ns += (double)point->time_ns / (end - first);
	}
	return quarter;
}

static bool moved_up(uint64_t from, uint64_t to)
{
	return to > from && to - from >= MOVED_AREAS && to - from >= from / 20;
}

static enum growth_kind kind_of(const struct quarter *quarters)
{
	const struct quarter *second = &quarters[1], *third = &quarters[2], *last = &quarters[3];
	uint64_t swing = third->most - third->least;

	if (last->most - last->least < swing)
		swing = last->most - last->least;
	if (moved_up(second->least, last->least) && third->least >= second->least &&
	    last->least >= third->least)
		return GROWTH_growing;
	if (moved_up(last->most, second->most) && moved_up(last->least, second->least))
		return GROWTH_falling;
	if (swing >= MOVED_AREAS && swing > last->most / 4)
		return GROWTH_waves;
	return GROWTH_plateau;
}

struct growth growth_judge(const struct series *series, uint64_t limit)
{
	struct growth growth = { .kind = GROWTH_short };
	struct quarter quarters[4];
	double minutes, areas;

	if (series->nr < FEWEST_CALLS)
		return growth;
	for (unsigned int i = 0; i < 4; i++)
		quarters[i] = quarter_of(series, i);
	growth.kind = kind_of(quarters);
	minutes = (quarters[3].middle_ns - quarters[1].middle_ns) / 60e9;
	if (minutes <= 0)
		return growth;
	growth.brief = minutes < FEWEST_MINUTES;
	growth.has_rate = true;
	growth.per_minute = ((double)quarters[3].least - (double)quarters[1].least) / minutes;
	areas = (double)series->points[series->nr - 1].areas;
	if (growth.kind == GROWTH_growing && !growth.brief && growth.per_minute > 0 &&
	    areas < (double)limit) {
		growth.reaches_limit = true;
		growth.minutes_to_limit = ((double)limit - areas) / growth.per_minute;
	}
	return growth;
}
