/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/random.h - random numbers for tests (xorshift): equal seeds, equal numbers. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

/* Where the numbers begin; anything but 0. */
static uint64_t random_state = 88172645463325252;

static inline uint64_t random_bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* 0 .. limit - 1 */
static inline uint64_t random_below(uint64_t limit)
{
	return random_bits() % limit;
}

#endif
