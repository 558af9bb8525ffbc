/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LIB_COMPILER_H
#define LIB_COMPILER_H

/* Has a frame of its own, which is gone when its caller goes deeper elsewhere. */
#define noinline_for_stack __attribute__((noinline))

/* Written out at each call, for what is a constant there. */
#define inline_for_constants inline __attribute__((always_inline))

/* -Os: what is written out once more for speed is left out. */
#ifdef __OPTIMIZE_SIZE__
#define FOR_SPEED 0
#else
#define FOR_SPEED 1
#endif

#endif
