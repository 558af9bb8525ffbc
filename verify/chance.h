/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/chance.h - the random choices of a generator (equal seeds, equal choices), and places. */
#ifndef VERIFY_CHANCE_H
#define VERIFY_CHANCE_H

#include "verify/generate.h"

#define PAGE UINT64_C(4096)
#define HUGE_PAGE (UINT64_C(1) << 21)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Memory that a call names. */
struct span {
	const struct region *region;
	uint64_t start, len;
};

static inline void set_addr(struct op *op, int i, const struct region *region, uint64_t addr)
{
	op->ref[i] = region->ref;
	op->arg[i] = region->ref ? addr - region->base : addr;
}

/* splitmix64 */
static inline uint64_t draw(struct generator *gen)
{
	uint64_t z = gen->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* 0 .. n - 1 */
static inline uint64_t below(struct generator *gen, uint64_t n)
{
	return draw(gen) % n;
}

static inline bool chance(struct generator *gen, unsigned int percent)
{
	return below(gen, 100) < percent;
}

/* 1, 2, 3 ... each half as likely as the one before, up to @max. */
static inline uint64_t small(struct generator *gen, uint64_t max)
{
	uint64_t n = 1;

	while (n < max && chance(gen, 60))
		n++;
	return n;
}

#endif
