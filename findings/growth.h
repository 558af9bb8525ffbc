/* SPDX-License-Identifier: BSD-2-Clause */
/* findings/growth.h - the number of areas over time: does it grow, or has it come to rest? */
#ifndef FINDINGS_GROWTH_H
#define FINDINGS_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

/* So many points are kept, however long it goes on: neighbours are put together when they are full. */
#define SERIES_POINTS 256

struct series_point {
	uint64_t time_ns; /* of its last call; 0: not told */
	uint64_t call;	  /* number of its last call */
	uint64_t areas;	  /* after that */
	uint64_t least, most;
};

/* All zero is empty. */
struct series {
	struct series_point *points;
	uint32_t nr;
	uint64_t stride;  /* calls a point */
	uint64_t in_last; /* calls in the last point */
};

/* The number of areas after a call. 0 or -ENOMEM. */
int series_add(struct series *series, uint64_t time_ns, uint64_t call, uint64_t areas);
void series_free(struct series *series);

/* X(name, "name in JSON", "for people: they ...") */
#define GROWTHS(X)                                                                                 \
	X(short, "short", "made too few calls to tell")                                            \
	X(plateau, "plateau", "came to rest")                                                      \
	X(growing, "growing", "kept growing")                                                      \
	X(falling, "falling", "became fewer")                                                      \
	X(waves, "waves", "come and go in waves")

enum growth_kind {
#define GROWTH_ENUM(name, json, text) GROWTH_##name,
	GROWTHS(GROWTH_ENUM)
#undef GROWTH_ENUM
};

struct growth {
	enum growth_kind kind;
	bool brief; /* too short a time to say how it would go on */
	bool has_rate;
	double per_minute; /* over the last three quarters */
	bool reaches_limit;
	double minutes_to_limit; /* at this rate */
};

/* As JSON has it, and for people. */
const char *growth_name(enum growth_kind kind);
const char *growth_text(enum growth_kind kind);

/* What the series says; @limit 0: not known. */
struct growth growth_judge(const struct series *series, uint64_t limit);

#endif
